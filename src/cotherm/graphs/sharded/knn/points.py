"""Points in files: the rows of all files, one after the other, of which any can be read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import MOST_VERTICES
from cotherm.graphs.sharded.number_text import ADVICE, head_of, number_rows
from cotherm.io import array_file, atomic
from cotherm.io.array_file import ArrayFile
from cotherm.io.cells import is_numeral
from cotherm.io.kinds import PACKED, TEXT, suffix_of
from cotherm.io.text import LineReader, excerpt, utf8
from cotherm.progress import working

PointPaths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_MARKS = (",", ";", "\t", " ")


@dataclass(frozen=True)
class PointFiles:
    """n points in d dimensions, in one file or several."""

    files: tuple[ArrayFile, ...]
    first: Ints  # row at which each file begins, and n

    @classmethod
    def open(cls, points: PointPaths, scratch: Path) -> PointFiles:
        """The points of a file, of several, or of all ``.npy`` files in a directory in the order of their names.

        Text tables are parsed into ``scratch``.
        """
        places = _places(points)
        files = tuple(_described(place, scratch / f"points-{k}.bin") for k, place in enumerate(places))
        for file in files:
            if file.shape[1] != files[0].shape[1]:
                given = f"{file.shape[1]} columns"
                raise CothermError(str(file.path), given, f"as many as {files[0].path} has, {files[0].shape[1]}")
        first = np.concatenate([[0], np.cumsum([file.shape[0] for file in files])])
        if not 2 <= first[-1] <= MOST_VERTICES:
            needed = f"at least two points, to be neighbors, and at most {MOST_VERTICES}"
            raise CothermError(str(places[0]), f"{first[-1]} points", needed)
        return cls(files, first)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of dimensions."""
        return int(self.first[-1]), self.files[0].shape[1]

    def read(self, start: int, stop: int) -> Floats:
        """Some rows."""
        rows = [np.empty((0, self.shape[1]))]
        for k in np.flatnonzero((self.first[:-1] < stop) & (self.first[1:] > start)).tolist():
            low, high = (int(one) for one in self.first[k : k + 2])
            rows.append(self.files[k].read(max(start, low) - low, min(stop, high) - low).astype(np.float64))
        return np.concatenate(rows)


def require_finite(rows: NDArray[Any], numbers: Ints) -> None:
    """Refuse points with infinite or missing entries; ``numbers`` are those of the points."""
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        row = numbers[int(np.argmin(finite))]
        raise CothermError("points", f"an entry of point {row} that is not finite", "finite numbers")


def _places(points: PointPaths) -> list[Path]:
    if isinstance(points, str | os.PathLike):
        place = atomic.as_path(points)
        if not place.is_dir():
            return [place]
        places = sorted(one for one in place.iterdir() if one.suffix.lower() == ".npy")
        if not places:
            raise CothermError(str(place), "a directory without .npy files", "a directory of points")
        return places
    if not isinstance(points, Sequence):
        raise CothermError("points", validation.describe(points), "a path, or a list of paths")
    if not points:
        raise CothermError("points", "no files", "at least one .npy file")
    return [atomic.as_path(one) for one in points]


def _described(place: Path, scratch: Path) -> ArrayFile:
    if suffix_of(place) in (*TEXT, *PACKED):
        return _parsed(place, scratch)
    if place.suffix.lower() != ".npy":
        raise CothermError(str(place), f"the suffix {place.suffix or 'none'}", f".npy, {', '.join((*TEXT, *PACKED))}")
    file = array_file.describe(place)
    if len(file.shape) != 2 or file.shape[1] == 0 or file.dtype.kind not in "fiu" or file.dtype.itemsize > 8:
        given = f"an array of shape {file.shape} and dtype {file.dtype}"
        raise CothermError(str(place), given, "an array of real numbers of shape (n, d), a row for each point")
    return file


def _parsed(path: Path, place: Path) -> ArrayFile:
    """The rows of a text table, all cells numbers; its first line may be titles."""
    lines, others = LineReader(utf8(head_of(path)), comment="#").first()
    if not lines.rows:
        raise CothermError(str(path), "no rows", "a table of numbers")
    for found in (lines, others.first()[0]):
        if found.rows:
            lines = found
            mark = next((mark for mark in _MARKS if mark in lines.rows[0]), ",")
            cells = lines.rows[0].split(mark)
            if all(is_numeral(cell.strip()) for cell in cells):
                break
    else:
        raise CothermError(f"{path}: line {lines.numbers[0]}", excerpt(lines.rows[0]), "a row of numbers", ADVICE)
    count = 0
    with working(f"reading {path.name}"), atomic.writing(place), place.open("xb") as file:
        for rows in number_rows(path, len(cells), mark, lines.numbers[0] - 1):
            file.write(array_file.octets(rows))
            count += len(rows)
    return ArrayFile(place, (count, len(cells)), np.dtype(np.float64), 0)
