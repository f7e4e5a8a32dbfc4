"""The paper's experiments and some beyond it, one file each: data, run, judge, draw, compare."""

import cotherm.draw  # noqa: F401 (imports matplotlib, which the experiments then import from)
