"""Loaders of real data, which lie in a directory given by ``data=`` or the environment variable COTHERM_DATA."""

from paper.data.digits import digits
from paper.data.man import man, man_remeshed
from paper.data.nus import nus, nus_class_names
from paper.data.scgem import scgem
from paper.data.scnmt import scnmt
from paper.data.sources import sources

__all__ = ["digits", "man", "man_remeshed", "nus", "nus_class_names", "scgem", "scnmt", "sources"]
