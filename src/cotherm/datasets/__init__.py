"""Data to try things on: made by our own code, or loaded from a data directory."""

from cotherm.datasets.digits import digits
from cotherm.datasets.man import man, man_remeshed
from cotherm.datasets.nus import nus
from cotherm.datasets.synthetic import circles, ring
from cotherm.datasets.views import Views

__all__ = ["Views", "circles", "digits", "man", "man_remeshed", "nus", "ring"]
