"""Data to try things on: made by our own code, or loaded from a data directory."""

from cotherm.datasets.synthetic import Views, circles, ring

__all__ = ["Views", "circles", "ring"]
