"""Named arrays in one uncompressed zip archive of .npy files: what ``numpy.load(path, allow_pickle=False)`` opens.

Compression and overlap are refused on the way in, so that all arrays together fit in the size of the file; the
checksums of the archive reveal any damage, and no objects are ever made. Results have a header, a mark and a JSON text.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, within
from cotherm.io import atomic
from cotherm.io.array_file import parse
from cotherm.io.text import excerpt

T = TypeVar("T")

# Bytes before the name of a member, and the bit that says a password is needed, in the zip format.
_LOCAL_HEADER = 30
_ENCRYPTED = 0x1
# The header of a result may hold at most this many lists and objects, however short its text; they take 50 MB.
_MOST_BRACKETS = 500_000


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The archive of some arrays, the same bytes for the same arrays."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for field, array in arrays.items():
            with archive.open(f"{field}.npy", "w", force_zip64=True) as member:
                npy_format.write_array(member, array, allow_pickle=False)
    return buffer.getvalue()


def unpack(data: bytes, require: Callable[[list[str]], None]) -> dict[str, NDArray[Any]]:
    """The arrays by name; ``require`` gets the names first, without repetition, and raises if they are unexpected."""
    return {field: parse(field, member) for field, member in _members(data, require).items()}


def require_width(arrays: Mapping[str, NDArray[Any]], least: Mapping[str, int]) -> None:
    """Refuse numbers narrower than those stored here: converted, they would take many times the file's size."""
    for field, width in least.items():
        if field in arrays and arrays[field].dtype.itemsize < width:
            given = f"dtype {arrays[field].dtype}"
            raise CothermError(field, given, f"numbers of at least {width} bytes, as they are stored")


def names(data: bytes) -> list[str]:
    """The names of the arrays; empty if the data are not a readable archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [_field(entry) for entry in archive.infolist()]
    except Exception:  # damaged archives make zipfile raise a dozen kinds
        return []


def _members(data: bytes, require: Callable[[list[str]], None]) -> dict[str, bytes]:
    """The files in the archive by name, checked against their checksums."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            require([_field(entry) for entry in entries])
            _require_stored(entries)
            _require_apart(entries, len(data))
            return {_field(entry): archive.read(entry) for entry in entries}
    except (CothermError, MemoryError):
        raise
    except Exception as error:  # damaged archives make zipfile raise a dozen kinds
        given = f"unreadable ({' '.join(str(error).split())[:120]})"
        raise CothermError("zip archive", given, "a complete .npz file", "The file is damaged.") from None


def _field(entry: zipfile.ZipInfo) -> str:
    return entry.filename.removesuffix(".npy")


def _require_stored(entries: list[zipfile.ZipInfo]) -> None:
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED:
            raise CothermError("zip archive", f"{entry.filename} is compressed", "arrays stored uncompressed")
        if entry.flag_bits & _ENCRYPTED:
            raise CothermError("zip archive", f"{entry.filename} is encrypted", "arrays anyone can read")


def _require_apart(entries: list[zipfile.ZipInfo], size: int) -> None:
    """No byte of the file belongs to two arrays, so that all of them together fit in the size of the file.

    An archive may list the same bytes under many names, or one array within another, and so unfold a small file into
    more than memory holds.
    """
    free = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        stop = entry.header_offset + _LOCAL_HEADER + len(entry.orig_filename) + entry.file_size
        if entry.header_offset < free or stop > size or entry.compress_size != entry.file_size:
            raise CothermError(
                "zip archive",
                f"{entry.filename} of {entry.file_size} bytes does not fit among the others",
                "arrays one after the other in the file",
                "The file is damaged.",
            )
        free = stop


def load(path: str | os.PathLike[str], parsed: Callable[[bytes], T]) -> T:
    """The content of a file; errors name the file."""
    place = atomic.as_path(path)
    try:
        with within(place):
            return parsed(atomic.load(place))
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
