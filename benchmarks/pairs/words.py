"""Texts of an array of objects in a NumPy archive, which ``np.load`` would unpickle: read word by word, nothing is run.

A pickle is a program. This reads its words and accepts none but those of one list of texts. What stands around the
list, how NumPy would make an array of it, is not looked at.
"""

from __future__ import annotations

import pickletools
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cotherm.errors import CothermError

_TEXT = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_SILENT = ("MARK", "MEMOIZE", "APPENDS", "APPEND")


def texts(path: Path, name: str) -> NDArray[np.str_]:
    """The texts of the array of this name, of one dimension."""
    with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise CothermError(str(path), f"{name} in another version of the format", "an array as published")
        (count,), _, _ = np.lib.format.read_array_header_1_0(file)
        found = _listed(file.read())
    if found is None or len(found) != count:
        raise CothermError(str(path), f"{name} with something else than texts", f"{count} texts")
    return np.array(found)


def _listed(pickled: bytes) -> list[str] | None:
    """The texts of the only list; None where there is anything else in it, or no list."""
    found: list[str] | None = None
    for word, value, _ in pickletools.genops(pickled):
        if word.name == "EMPTY_LIST":
            found = []
        elif found is not None and word.name in _TEXT:
            found.append(str(value))
        elif found is not None and word.name not in _SILENT:
            return found if word.name == "TUPLE" else None
    return None
