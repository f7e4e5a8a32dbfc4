"""Where results go: places are looked at before the work, files are written whole or not at all."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs import disk


def free_place(path: str, suffixes: Sequence[str], *, force: bool) -> Path:
    """The path of a file to be written later; all that can be known now is refused now."""
    place = disk.as_path(path)
    if place.suffix.lower() not in suffixes:
        raise CothermError(str(place), f"the suffix {place.suffix or 'none'}", " or ".join(suffixes))
    if place.is_dir():
        raise CothermError(str(place), "a directory", "the name of a file")
    if not place.parent.is_dir():
        raise CothermError(str(place), f"no directory {place.parent}", "an existing directory", "Make it first.")
    disk.require_writable(place.parent)
    if place.exists() and not force:
        raise CothermError(str(place), "the file exists", "a new name", "Pass --force to replace it.")
    return place


def free_places(paths: Sequence[str], count: int, suffixes: Sequence[str], *, force: bool) -> list[Path]:
    """As many, all different."""
    if len(paths) != count or len({Path(path).resolve() for path in paths}) != count:
        raise CothermError("--out", f"{len(paths)} files", f"a file of its own for each of {count} views")
    return [free_place(path, suffixes, force=force) for path in paths]


def write(place: Path, data: bytes, *, force: bool) -> None:
    disk.save(place, data, overwrite=force)


def csv_bytes(titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """A table as text; numbers to their last digit."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


def matrix_bytes(place: Path, matrix: Floats, titles: Iterable[str]) -> bytes:
    """A matrix for .npy or .csv."""
    if place.suffix.lower() == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, matrix, allow_pickle=False)
        return buffer.getvalue()
    return csv_bytes(titles, matrix.tolist())


def figure_bytes(place: Path, figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=place.suffix[1:].lower(), dpi=140)
    return buffer.getvalue()


def say(report: dict[str, Any], text: str, *, as_json: bool) -> None:
    """The report for machines, or the text for people."""
    print(json.dumps(report, indent=2) if as_json else text)


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need be; words to the left, numbers to the right."""
    widths = [max(len(row[c]) for row in (header, *rows)) for c in range(len(header))]
    lines = []
    for row in (header, *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)
