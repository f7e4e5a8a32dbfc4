"""Compressed files from others: unpacked a piece at a time, and given up where they become out of proportion."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from cotherm import limits, memory
from cotherm.errors import CothermError
from cotherm.io import atomic

_PIECE = 2**20


def unpack(path: Path, *, most: int = -1) -> bytes:
    """What a ``.gz`` file holds; its first bytes with ``most``, the number of them."""
    packed = atomic.load(path)
    text = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as source:
            while piece := source.read(_PIECE if most < 0 else min(_PIECE, most - text.tell())):
                text.write(piece)
                require_proportion(path, text.tell(), len(packed))
    except (OSError, EOFError, zlib.error) as error:
        given = f"no complete gzip file ({' '.join(str(error).split())[:120]})"
        raise CothermError(str(path), given, "a .gz file", "The file may have been cut short.") from None
    if not text.tell():
        raise CothermError(str(path), "an empty file, compressed", "a file with content")
    return text.getvalue()


def require_proportion(path: Path, size: int, packed: int, advice: str = "Unpack it first if you trust it.") -> None:
    """Refuse a file whose content takes ``size`` bytes, if that is more than memory holds or than files unpack to."""
    free = memory.available()
    if free is not None and size > free:
        given = f"more data than memory holds, {memory.words(free)}"
        raise CothermError(str(path), given, "a smaller file")
    if size > limits.UNPACKED_BYTES and size > limits.UNPACKED_RATIO * packed:
        given = f"at least {memory.words(size)} of data in {memory.words(packed)}"
        needed = f"at most {limits.UNPACKED_RATIO} times the size of the file"
        raise CothermError(str(path), given, needed, advice)
