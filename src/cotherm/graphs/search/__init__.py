"""Neighbor search: nearest neighbors and points within a radius, exact or approximate."""
