"""What all methods ask of their arguments, and what they note down for a methods section."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.heat.coupling import checked_graphs, checked_views

__all__ = ["checked_graphs", "checked_views", "is_auto", "moderate", "positive", "share", "sized", "versions"]

# Between these, squares and their squares neither overflow nor vanish.
_LEAST, _MOST = 1e-70, 1e70


def is_auto(argument: str, value: Any) -> bool:
    """Whether a parameter is left to be chosen from the data; of all words "auto" alone says so."""
    if isinstance(value, str) and value != "auto":
        raise CothermError(argument, validation.describe(value), 'numbers, or "auto"')
    return isinstance(value, str)


def positive(argument: str, values: ArrayLike | None, count: int, of: str) -> Floats:
    """A number > 0 for each of ``count`` things; by default 1."""
    if values is None:
        return np.ones(count)
    array = validation.numeric(argument, values, ndim=(1,))
    if array.shape != (count,) or not np.all(array > 0.0):
        raise CothermError(argument, validation.describe(array), f"{count} numbers > 0, one for each of the {of}")
    for value in array:
        moderate(argument, float(value))
    return array


def share(argument: str, values: ArrayLike | None, count: int, of: str) -> Floats:
    """The same, scaled to sum to 1."""
    numbers = positive(argument, values, count, of)
    return numbers / numbers.sum()


def moderate(argument: str, value: float) -> float:
    """A number whose powers computers can hold; zero is one of them."""
    if value != 0.0 and not _LEAST <= abs(value) <= _MOST:
        raise CothermError(argument, f"{value:.3g}", f"a size between {_LEAST:.0e} and {_MOST:.0e}", "Rescale it.")
    return value


def sized(argument: str, array: Floats) -> Floats:
    """An array whose largest entry is such a number."""
    moderate(argument, float(np.abs(array).max(initial=0.0)))
    return array


def versions() -> dict[str, str]:
    """Of everything that computes."""
    from importlib.metadata import version

    return {"python": platform.python_version()} | {
        name: version(name) for name in ("cotherm", "numpy", "scipy", "numba")
    }
