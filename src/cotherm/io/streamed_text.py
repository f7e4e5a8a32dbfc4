"""Lines of a text file, plain or compressed, some megabytes at a time: a file of any length takes the same memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from cotherm.errors import CothermError
from cotherm.io.array_file import opened
from cotherm.io.foreign import unpacked
from cotherm.io.text import require_utf8
from cotherm.memory import words

# Bytes of text at a time.
_CHUNK = 2**21
# A text with a longer line than this is not a table of numbers.
_LONGEST_LINE = 2**24


def line_chunks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines as UTF-8 that end in line feeds (the last one perhaps in none), and the number of the first."""
    number, first = 1, True
    for raw in _whole_lines(path):
        chunk = raw.removeprefix(codecs.BOM_UTF8) if first else raw
        first = False
        text = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in chunk else chunk
        require_utf8(text, number)
        yield number, text
        number += text.count(b"\n")


def _whole_lines(path: Path) -> Iterator[bytes]:
    rest = b""
    for block in _blocks(path):
        rest += block
        stop = rest.rfind(b"\n") + 1 or rest.rfind(b"\r", 0, len(rest) - 1) + 1
        if stop:
            yield rest[:stop]
            rest = rest[stop:]
        elif len(rest) > _LONGEST_LINE:
            raise CothermError(str(path), f"no end of a line in {words(len(rest))}", "lines of numbers")
    if rest:
        yield rest


def _blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, unpacked where it is compressed."""
    if path.is_dir():
        raise CothermError(str(path), "a directory", "a file to read")
    if path.suffix.lower() == ".gz":
        yield from unpacked(path)
        return
    with opened(path) as file:
        # Read what is there, not a full chunk: a signal between two reads of one call would go unheard until the pipe
        # brings more.
        yield from iter(lambda: file.read1(_CHUNK), b"")
