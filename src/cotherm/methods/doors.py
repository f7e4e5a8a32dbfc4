"""What all methods ask of their arguments, and what they note down for a methods section."""

from __future__ import annotations

import platform

import numpy as np
from numpy.typing import ArrayLike

from cotherm import checks
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.heat.coupling import checked_graphs, checked_views

__all__ = ["checked_graphs", "checked_views", "positive", "versions"]


def positive(argument: str, values: ArrayLike | None, count: int, of: str) -> Floats:
    """A number > 0 for each of ``count`` things; by default 1."""
    if values is None:
        return np.ones(count)
    array = checks.numeric(argument, values, ndim=(1,))
    if array.shape != (count,) or not np.all(array > 0.0):
        raise CothermError(argument, checks.describe(array), f"{count} numbers > 0, one for each of the {of}")
    return array


def versions() -> dict[str, str]:
    """Of everything that computes."""
    from importlib.metadata import version

    return {"python": platform.python_version()} | {
        name: version(name) for name in ("cotherm", "numpy", "scipy", "numba")
    }
