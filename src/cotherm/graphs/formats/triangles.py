"""Checks of faces for every mesh format: three corners, all among the vertices."""

from __future__ import annotations

from cotherm.arrays import Floats, Ints
from cotherm.io.text import Lines, as_integers

NEEDED = "a triangle: 3 and three vertex numbers"
ADVICE = "Triangulate the mesh first; how to cut a polygon is not for a reader to choose."


def corners(lines: Lines, numbers: Floats, n: int) -> Ints:
    """Check corners numbered from 0: all must be below n."""
    return as_integers(lines, numbers, least=0, most=n - 1, needed=f"vertex numbers from 0 to {n - 1}")
