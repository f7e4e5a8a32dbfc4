"""Imports matplotlib; the other modules here are imported after this one."""

from cotherm.optional import import_matplotlib

import_matplotlib()
