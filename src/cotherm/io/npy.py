"""One array in a ``.npy`` file: its size is checked before its shape is believed, and no objects are ever made."""

from __future__ import annotations

import io
import math
import warnings
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from cotherm.errors import CothermError

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_LARGEST_CHARACTER = 0x10FFFF


def parse(field: str, data: bytes) -> NDArray[Any]:
    """The array, which shares the memory of ``data``; errors name the ``field``."""
    try:
        shape, fortran, dtype, start = layout(data)
    except Exception as error:  # a forged description makes NumPy and Python's parser raise many kinds, MemoryError too
        raise CothermError(field, f"not an array ({_first_line(error)})", "an array in .npy form") from None
    if dtype.hasobject or dtype.itemsize == 0:
        raise CothermError(field, f"dtype {dtype}, perhaps of pickled objects", "numbers or strings")
    if math.prod(shape) * dtype.itemsize != len(data) - start or min(shape, default=0) < 0:
        declared = f"an array of shape {shape} and dtype {dtype}, as declared"
        raise CothermError(field, f"{len(data) - start} bytes", declared)
    require_characters(field, data, dtype, start)
    try:
        return np.ndarray(shape, dtype, buffer=data, offset=start, order="F" if fortran else "C")
    except (ValueError, TypeError) as error:  # too many dimensions, or more entries of no bytes than can be counted
        raise CothermError(field, f"not an array ({_first_line(error)})", "an array in .npy form") from None


def layout(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order, dtype and first byte of the data, as the file describes itself."""
    stream = io.BytesIO(data)
    version = npy.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f".npy version {version}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a damaged description may look like one that Python 2 wrote
        shape, fortran, dtype = _HEADERS[version](stream)
    return shape, fortran, dtype, stream.tell()


def require_characters(field: str, data: bytes | memoryview, dtype: np.dtype[Any], start: int = 0) -> None:
    """Strings are stored as numbers of characters; one past the last character would only be found when it is used."""
    if dtype.kind != "U" or len(data) <= start:
        return
    codes = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder), offset=start)
    if codes.max() > _LARGEST_CHARACTER:
        given = f"not an array (a character of number {codes.max()}, past the last, {_LARGEST_CHARACTER})"
        raise CothermError(field, given, "an array in .npy form")


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
