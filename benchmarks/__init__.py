"""Measurements of cotherm beside others; not installed."""
