"""Arrays in ``.npy`` form: one in bytes, or one in a file that is read and written in part, never through a map.

Sizes are checked before a shape is believed, and no objects are ever made.

A mapped file that is cut short, or a full disk under one, ends the process; reads and writes of bytes give errors.
"""

from __future__ import annotations

import errno
import io
import math
import os
import warnings
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from cotherm.errors import CothermError
from cotherm.io.atomic import opened, synchronize, writing

_HEADERS = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}
_LARGEST_CHARACTER = 0x10FFFF
# Bytes read at a time where all of a file is looked at.
_BLOCK = 2**22
# The description of an array is shorter than this.
_LONGEST_DESCRIPTION = 2**16 + 12


class ArrayFile(NamedTuple):
    """Where an array is: rows of ``dtype`` from the byte ``offset`` of a file on."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return math.prod(self.shape[1:]) * self.dtype.itemsize

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """The rows from ``start`` to ``stop``, as an array of its own."""
        stop = self.shape[0] if stop is None else stop
        array = np.empty((max(stop - start, 0), *self.shape[1:]), self.dtype)
        with opened(self.path) as file:
            file.seek(self.offset + start * self.row_bytes)
            found = file.readinto(octets(array))
        if found != array.nbytes:
            raise CothermError(str(self.path), "a file that became shorter", "a complete file", "It was changed.")
        require_characters(str(self.path), octets(array), self.dtype)
        return array

    def put(self, start: int, array: NDArray[Any]) -> None:
        """Put rows in their place in a file that ``allocate`` made, without waiting for the disk."""
        with writing(self.path), self.path.open("r+b") as file:
            file.seek(self.offset + start * self.row_bytes)
            file.write(octets(np.ascontiguousarray(array, dtype=self.dtype)))


def octets(array: NDArray[Any]) -> memoryview:
    """The bytes of a contiguous array, where they are."""
    return array.reshape(-1).view(np.uint8).data


def describe(path: Path) -> ArrayFile:
    """The array in a file by its own description; the file's size must agree."""
    with opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        head = file.read(_LONGEST_DESCRIPTION)
    shape, fortran, dtype, offset = _described(str(path), head)
    if (fortran and len(shape) > 1) or min(shape, default=0) < 0:
        order = " in the order of columns" if fortran else ""
        raise CothermError(str(path), f"an array of shape {shape}{order}", "rows, one after the other (C order)")
    if math.prod(shape) * dtype.itemsize != size - offset:
        declared = f"an array of shape {shape} and dtype {dtype}, as declared"
        raise CothermError(str(path), f"{size - offset} bytes", declared, "The file may have been cut short.")
    if not shape:
        raise CothermError(str(path), "an array without dimensions", "rows, one after the other")
    return ArrayFile(path, shape, dtype, offset)


def parse(field: str, data: bytes) -> NDArray[Any]:
    """The array, which shares the memory of ``data``; errors name the ``field``."""
    shape, fortran, dtype, start = _described(field, data)
    if math.prod(shape) * dtype.itemsize != len(data) - start or min(shape, default=0) < 0:
        declared = f"an array of shape {shape} and dtype {dtype}, as declared"
        raise CothermError(field, f"{len(data) - start} bytes", declared)
    require_characters(field, data, dtype, start)
    try:
        return np.ndarray(shape, dtype, buffer=data, offset=start, order="F" if fortran else "C")
    except (ValueError, TypeError) as error:  # too many dimensions, or more entries of no bytes than can be counted
        raise _no_array(field, error) from None


def _described(field: str, data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order, dtype and first byte of the data, as a file describes itself; no objects."""
    stream = io.BytesIO(data)
    try:
        version = npy_format.read_magic(stream)
        if version not in _HEADERS:
            raise ValueError(f".npy version {version}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a damaged description may look like one that Python 2 wrote
            shape, fortran, dtype = _HEADERS[version](stream)
    except Exception as error:  # a forged description makes NumPy and Python's parser raise many kinds, MemoryError too
        raise _no_array(field, error) from None
    if dtype.hasobject or dtype.itemsize == 0:
        raise CothermError(field, f"dtype {dtype}, perhaps of pickled objects", "numbers or strings")
    return shape, fortran, dtype, stream.tell()


def _no_array(field: str, error: Exception) -> CothermError:
    reason = " ".join(str(error).split())[:120] or type(error).__name__
    return CothermError(field, f"not an array ({reason})", "an array in .npy form")


def require_characters(field: str, data: bytes | memoryview, dtype: np.dtype[Any], start: int = 0) -> None:
    """Strings are stored as numbers of characters; one past the last character would only be found when it is used."""
    if dtype.kind != "U" or len(data) <= start:
        return
    codes = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder), offset=start)
    if codes.max() > _LARGEST_CHARACTER:
        given = f"not an array (a character of number {codes.max()}, past the last, {_LARGEST_CHARACTER})"
        raise CothermError(field, given, "an array in .npy form")


def description(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    """What a .npy file begins with."""
    buffer = io.BytesIO()
    fields = {"descr": npy_format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    npy_format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue()


def save(path: Path, array: NDArray[Any]) -> tuple[int, int]:
    """Write a new file, which is on the disk when this returns; its bytes and its CRC-32."""
    array = np.ascontiguousarray(array)
    head, body = description(array.shape, array.dtype), octets(array)
    with writing(path), path.open("xb") as file:
        file.write(head)
        file.write(body)
        file.flush()
        synchronize(file.fileno())
    return len(head) + len(body), zlib.crc32(body, zlib.crc32(head))


def allocate(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ArrayFile:
    """A new file for an array whose rows others put in place; its space is taken now where the system can do that."""
    head = description(shape, dtype)
    size = math.prod(shape) * dtype.itemsize
    with writing(path), path.open("xb") as file:
        file.write(head)
        file.flush()
        try:
            if size:
                os.posix_fallocate(file.fileno(), len(head), size)
        except (AttributeError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
            file.truncate(len(head) + size)
    return ArrayFile(path, shape, dtype, len(head))


def allocate_all(folder: Path, *columns: tuple[str, tuple[int, ...], str]) -> list[ArrayFile]:
    """The same of several, of which the names, shapes and dtypes are given."""
    return [allocate(folder / f"{name}.npy", shape, np.dtype(kind)) for name, shape, kind in columns]


def checksum(path: Path) -> tuple[int, int]:
    """The bytes of a file and their CRC-32."""
    size, crc = 0, 0
    with opened(path) as file:
        while block := file.read(_BLOCK):
            size, crc = size + len(block), zlib.crc32(block, crc)
    return size, crc
