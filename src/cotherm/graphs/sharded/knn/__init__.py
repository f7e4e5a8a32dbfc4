"""Nearest neighbors of points that no process could hold: cells of space, searched one pair of blocks at a time."""
