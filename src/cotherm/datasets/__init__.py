"""Data sets with several views: generated, or loaded from a data directory."""

from cotherm.datasets.ambiguous import ambiguous
from cotherm.datasets.digits import digits
from cotherm.datasets.human import human
from cotherm.datasets.man import man, man_remeshed
from cotherm.datasets.nus import nus, nus_class_names
from cotherm.datasets.scgem import scgem
from cotherm.datasets.scnmt import scnmt
from cotherm.datasets.shortcuts import shortcuts
from cotherm.datasets.sources import sources
from cotherm.datasets.synthetic import circles, ring
from cotherm.datasets.views import Views

__all__ = [
    "Views",
    "ambiguous",
    "circles",
    "digits",
    "human",
    "man",
    "man_remeshed",
    "nus",
    "nus_class_names",
    "ring",
    "scgem",
    "scnmt",
    "shortcuts",
    "sources",
]
