"""Couplings in a browser: one page each, to look at heat and at what changed."""

from cotherm.viewer.page import Page, make_page

__all__ = ["Page", "make_page"]
