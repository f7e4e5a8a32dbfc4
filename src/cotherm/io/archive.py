"""Named arrays in one uncompressed zip archive of .npy files: what ``numpy.load(path, allow_pickle=False)`` opens.

Compression and overlap are refused on the way in, so that all arrays together fit in the size of the file; the
checksums of the archive reveal any damage, and no objects are ever made.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from numpy.lib import format as npy_format
from numpy.typing import NDArray

from cotherm.errors import CothermError
from cotherm.io import npy
from cotherm.io.array_file import ArrayFile, describe_within, opened

# Bytes before the name of a member, and the bit that says a password is needed, in the zip format.
_LOCAL_HEADER = 30
_ENCRYPTED = 0x1
# Bytes looked at together while checksums are compared.
_PIECE = 2**22


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
    return {field: npy.parse(field, member) for field, member in _members(data, require).items()}


def located(path: Path, require: Callable[[list[str]], None]) -> dict[str, ArrayFile]:
    """The place of each array in a file that is not read whole. Checksums are compared in pieces."""
    try:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            require([_field(entry) for entry in entries])
            _require_stored(entries)
            _require_apart(entries, path.stat().st_size)
            spans = {_field(entry): (_begin(file, entry), entry.file_size) for entry in entries}
            for entry in entries:
                with archive.open(entry) as member:
                    while member.read(_PIECE):  # raises at its end where the checksum is another
                        pass
    except (CothermError, MemoryError):
        raise
    except Exception as error:  # damaged archives make zipfile raise a dozen kinds
        given = f"unreadable ({' '.join(str(error).split())[:120]})"
        raise CothermError("zip archive", given, "a complete .npz file", "The file is damaged.") from None
    return {field: describe_within(path, *span) for field, span in spans.items()}


def _begin(file: IO[bytes], entry: zipfile.ZipInfo) -> int:
    """The first byte of a member, after its local header, whose name and extra field vary in length."""
    file.seek(entry.header_offset)
    head = file.read(_LOCAL_HEADER)
    return entry.header_offset + _LOCAL_HEADER + sum(struct.unpack("<HH", head[26:30]))


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
