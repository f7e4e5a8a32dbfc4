"""Data sets with several views, generated: no files are needed."""

from cotherm.datasets.ambiguous import ambiguous
from cotherm.datasets.human import human
from cotherm.datasets.shortcuts import shortcuts
from cotherm.datasets.synthetic import circles, ring
from cotherm.datasets.views import Views

__all__ = ["Views", "ambiguous", "circles", "human", "ring", "shortcuts"]
