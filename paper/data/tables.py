"""Reading the plain tables of numbers data sets come in."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.io import atomic


def read_table(path: Path, shape: tuple[int, int], what: str) -> Floats:
    """The numbers in a file, a row on every line, or an error that says what the file should be.

    The shape is checked because a truncated file is valid text.
    """
    content = atomic.load(path)
    try:
        text = content.decode("ascii")
        table = np.loadtxt(io.StringIO(text), ndmin=2) if text.strip() else np.empty((0, 0))
    except ValueError as error:
        raise CothermError(str(path), f"unreadable ({error})", f"{what} as published") from None
    if table.shape != shape:
        raise CothermError(str(path), f"a table of shape {table.shape}", f"{what} as published, of shape {shape}")
    if not np.all(np.isfinite(table)):
        raise CothermError(str(path), "numbers that are not finite", f"{what} as published")
    return table


def read_labels(path: Path, n: int, what: str) -> Ints:
    """The labels in a file, a whole number on each of n lines."""
    numbers = read_table(path, (n, 1), what)[:, 0]
    if np.any(numbers != np.round(numbers)):
        raise CothermError(str(path), "numbers that are not whole", f"{what} as published, labels")
    return numbers.astype(np.int64)
