"""What files of answers have in common: one .npz with a header, a mark and a JSON object, beside the arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cotherm.errors import CothermError
from cotherm.graphs import disk
from cotherm.graphs.formats.text import shown

T = TypeVar("T")


def load(path: str | os.PathLike[str], parse: Callable[[bytes], T]) -> T:
    """What a file holds; complaints name the file."""
    place = disk.as_path(path)
    try:
        return parse(disk.load(place))
    except CothermError as error:
        if error.argument == str(place):
            raise
        raise CothermError(f"{place}: {error.argument}", error.given, error.needed, error.advice) from None


def header(mark: str, head: Mapping[str, Any]) -> NDArray[Any]:
    return np.array(f"{mark} {json.dumps(head)}")


def read_header(
    array: NDArray[Any], mark: str, version: int, valid: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """The JSON object behind the mark, of this version and with the fields it should have."""
    text = array.item() if array.dtype.kind == "U" and array.ndim == 0 else ""
    needed = f"the text {mark!r} and a JSON object, as the answer's own save writes them"
    try:
        head = json.loads(text.removeprefix(mark)) if text.startswith(mark) else None
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or not isinstance(head.get("version"), int):
        raise CothermError("header", shown(str(text)), needed)
    if head["version"] != version:
        advice = "A newer cotherm wrote it: update." if head["version"] > version else "An older cotherm wrote it."
        raise CothermError("header", f"version {head['version']}", f"version {version}", advice)
    if not valid(head):
        raise CothermError("header", shown(str(text)), needed)
    return head
