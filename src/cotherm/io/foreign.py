"""Foreign files: unpacked within limits; what other libraries raise about them becomes a CothermError."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cotherm import limits, memory
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.array_file import opened

_LONGEST_REASON = 120
_PIECE = 2**20


@contextmanager
def readable(path: Path, needed: str, library: str = "", advice: str = "The file may be damaged.") -> Iterator[None]:
    """Turn whatever a library raises about a damaged file into an error that the file is not what is needed."""
    try:
        yield
    except (CothermError, MemoryError):
        raise
    except Exception as error:
        reason = _reason(error)
        given = f"unreadable for {library} ({reason})" if library else f"unreadable ({reason})"
        raise CothermError(str(path), given, needed, advice) from None


def unpack(path: Path, *, most: int = -1) -> bytes:
    """The content of a ``.gz`` file, which must fit into memory; with ``most``, at most its first ``most`` bytes."""
    atomic.require_content(path)
    text = io.BytesIO()
    for piece in unpacked(path):
        text.write(piece)
        require_proportion(path, text.tell(), path.stat().st_size)
        if 0 <= most <= text.tell():
            return text.getvalue()[:most]
    if not text.tell():
        raise CothermError(str(path), "an empty file, compressed", "a file with content")
    return text.getvalue()


def unpacked(path: Path) -> Iterator[bytes]:
    """The same in pieces, for a file of any length."""
    packed, size = path.stat().st_size, 0
    try:
        with opened(path) as file, gzip.GzipFile(fileobj=file) as source:
            while piece := source.read(_PIECE):
                size += len(piece)
                _require_ratio(path, size, packed)
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        given = f"no complete gzip file ({_reason(error)})"
        raise CothermError(str(path), given, "a .gz file", "The file may have been cut short.") from None


def require_proportion(path: Path, size: int, packed: int, advice: str = "Unpack it first if you trust it.") -> None:
    """Refuse a file whose content takes ``size`` bytes, if that is more than memory holds or than files unpack to."""
    free = memory.available()
    if free is not None and size > free:
        given = f"more data than memory holds, {memory.words(free)}"
        raise CothermError(str(path), given, "a smaller file")
    _require_ratio(path, size, packed, advice)


def _require_ratio(path: Path, size: int, packed: int, advice: str = "Unpack it first if you trust it.") -> None:
    if size > limits.UNPACKED_BYTES and size > limits.UNPACKED_RATIO * packed:
        given = f"at least {memory.words(size)} of data in {memory.words(packed)}"
        needed = f"at most {limits.UNPACKED_RATIO} times the size of the file"
        raise CothermError(str(path), given, needed, advice)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
