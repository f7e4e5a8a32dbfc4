"""Graphs and functions in, graphs that agree out: one file a method."""
