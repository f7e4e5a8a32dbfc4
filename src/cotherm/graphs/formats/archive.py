"""Named arrays in one uncompressed zip archive of .npy files: what ``numpy.load(path, allow_pickle=False)`` opens.

Compression is refused on the way in, so that no array can be larger than the file; the checksums of the archive reveal
any damage, and no objects are ever made.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from cotherm.errors import CothermError


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The archive of some arrays, the same bytes for the same arrays."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for field, array in arrays.items():
            with archive.open(f"{field}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)
    return buffer.getvalue()


def unpack(data: bytes, require: Callable[[list[str]], None]) -> dict[str, NDArray[Any]]:
    """The arrays by name; ``require`` sees the names first, each once, and raises where they are not as expected."""
    return {field: _array(field, member) for field, member in _members(data, require).items()}


def _members(data: bytes, require: Callable[[list[str]], None]) -> dict[str, bytes]:
    """The files in the archive by name, checked against their checksums."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            # Before anything is read, so that an archive cannot repeat itself.
            require([entry.filename.removesuffix(".npy") for entry in entries])
            _require_stored(entries)
            return {entry.filename.removesuffix(".npy"): archive.read(entry) for entry in entries}
    except CothermError:
        raise
    except Exception as error:  # damaged archives make zipfile raise a dozen kinds
        given = f"unreadable ({error})"
        raise CothermError("zip archive", given, "a complete .npz file", "The file is damaged.") from None


def _require_stored(entries: list[zipfile.ZipInfo]) -> None:
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED:
            raise CothermError("zip archive", f"{entry.filename} is compressed", "arrays stored uncompressed")


def _array(field: str, member: bytes) -> NDArray[Any]:
    """The array in a .npy file; its size is checked before its shape is believed, and no objects are made."""
    try:
        shape, fortran, dtype, start = _layout(member)
        if dtype.hasobject or dtype.itemsize == 0:
            raise CothermError(field, f"dtype {dtype}, perhaps of pickled objects", "numbers or strings")
        if math.prod(shape) * dtype.itemsize != len(member) - start:
            declared = f"an array of shape {shape} and dtype {dtype}, as declared"
            raise CothermError(field, f"{len(member) - start} bytes", declared)
        array: NDArray[Any] = np.ndarray(shape, dtype, buffer=member, offset=start, order="F" if fortran else "C")
        if dtype.kind == "U":
            array.tolist()  # makes every string once, so that an impossible character is found now
    except CothermError:
        raise
    except Exception as error:  # a forged description makes NumPy raise many kinds
        raise CothermError(field, f"not an array ({error})", "an array in .npy form") from None
    return array


def _layout(member: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order, dtype and first byte of the data, as a .npy file describes itself."""
    stream = io.BytesIO(member)
    version = npy.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f".npy version {version}")
    shape, fortran, dtype = npy.read_array_header_1_0(stream)
    return shape, fortran, dtype, stream.tell()
