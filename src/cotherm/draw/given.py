"""Checked input for figures: texts, graphs, grids of either, and numbers for curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph


def text(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise CothermError(argument, validation.describe(value), "a string")
    return value


def texts(argument: str, value: Any, count: int | None = None, *, each: str = "") -> list[str]:
    listed = enumerate(validation.items(argument, value, count, each=each))
    return [text(f"{argument}[{k}]", one) for k, one in listed]


def graph(argument: str, value: object) -> Graph:
    if not isinstance(value, Graph):
        raise CothermError(argument, validation.describe(value), "a cotherm.Graph")
    return value


def graphs(argument: str, value: Any, count: int | None = None, *, each: str = "") -> list[Graph]:
    listed = enumerate(validation.items(argument, value, count, each=each))
    return [graph(f"{argument}[{k}]", one) for k, one in listed]


def grid(argument: str, value: Any, lengths: list[int]) -> list[list[Any]]:
    """Check rows whose lengths must be ``lengths``."""
    rows = validation.items(argument, value, len(lengths), each="rows of graphs")
    return [validation.items(f"{argument}[{r}]", row, lengths[r], each="graphs") for r, row in enumerate(rows)]


def curve(argument: str, value: Any, length: int | None = None) -> Floats:
    """A vector of numbers, or a single number; values that are not finite leave a gap in the curve."""
    array = np.atleast_1d(validation.as_array(argument, value))
    if array.ndim > 1 or (length is not None and len(array) != length):
        needed = "a vector of numbers" if length is None else f"a vector of {length} numbers"
        raise CothermError(argument, f"an array of shape {np.shape(value)}", needed)
    return validation.as_float64(argument, array)
