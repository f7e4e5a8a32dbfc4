"""The common format of result files: one .npz with arrays and a header of a mark and a JSON object."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, within
from cotherm.io import atomic
from cotherm.io.text import excerpt

T = TypeVar("T")

# A header may hold at most this many lists and objects, however short its text; they take 50 MB.
_MOST_BRACKETS = 500_000


def load(path: str | os.PathLike[str], parse: Callable[[bytes], T]) -> T:
    """The content of a file; errors name the file."""
    place = atomic.as_path(path)
    try:
        with within(place):
            return parse(atomic.load(place))
    except MemoryError:
        raise CothermError(str(place), "more data than memory holds", "less data, or more memory") from None


def header(mark: str, head: Mapping[str, Any]) -> NDArray[Any]:
    return np.array(f"{mark} {json.dumps(head)}")


def read_header(
    array: NDArray[Any], mark: str, version: int, valid: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """The JSON object behind the mark, of this version and with the fields it should have."""
    text = array.item() if array.dtype.kind == "U" and array.ndim == 0 else ""
    needed = f"the text {mark!r} and a JSON object, as the answer's own save writes them"
    try:
        head = json.loads(text.removeprefix(mark)) if text.startswith(mark) and _sparsely_nested(text) else None
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or not isinstance(head.get("version"), int):
        raise CothermError("header", excerpt(str(text)), needed)
    if head["version"] != version:
        advice = "A newer cotherm wrote it: update." if head["version"] > version else "An older cotherm wrote it."
        raise CothermError("header", f"version {head['version']}", f"version {version}", advice)
    if not valid(head):
        raise CothermError("header", excerpt(str(text)), needed)
    return head


def number(field: str, value: object) -> float:
    """A number that was computed; NaN and infinities are kept, since ``save`` keeps what a computation gave."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    except OverflowError:  # an integer beyond the largest float
        pass
    raise CothermError(field, validation.describe(value), "a number")


def numbers(field: str, value: object) -> Floats:
    """A vector of numbers that were computed."""
    if not isinstance(value, list):
        raise CothermError(field, validation.describe(value), "a list of numbers")
    return np.array([number(f"{field}[{k}]", item) for k, item in enumerate(value)], dtype=np.float64)


def words(value: object) -> bool:
    """Whether this is an object whose values are strings, such as the versions of what ran."""
    return isinstance(value, dict) and all(isinstance(word, str) for word in value.values())


def _sparsely_nested(text: str) -> bool:
    """Whether the JSON object takes no more memory than a few times its text: an empty list of two characters takes 72
    bytes. The rows of a history, the densest there is, have a bracket in a hundred characters."""
    return text.count("[") + text.count("{") <= _MOST_BRACKETS + len(text) // 16
