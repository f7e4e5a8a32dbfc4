"""Points in ``.npy`` files: the rows of all files, one after the other, of which any can be read."""

from __future__ import annotations

import json
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
from cotherm.graphs.sharded.knn import point_tables
from cotherm.io import array_file, atomic
from cotherm.io.array_file import ArrayFile
from cotherm.io.kinds import PACKED, TEXT, suffix_of

PointPaths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class PointFiles:
    """n points in d dimensions, in one file or several."""

    files: tuple[ArrayFile, ...]
    first: Ints  # row at which each file begins, and n

    @classmethod
    def open(cls, points: PointPaths, scratch: Path | None = None, *, parse: bool = True) -> PointFiles:
        """The points of a file, of several, or of all ``.npy`` files in a directory in the order of their names.

        Text tables are parsed into ``scratch``, unless another process has done so.
        """
        places = _places(points)
        files = tuple(_described(place, k, scratch, parse) for k, place in enumerate(places))
        for file in files:
            if file.shape[1] != files[0].shape[1]:
                given = f"{file.shape[1]} columns"
                raise CothermError(str(file.path), given, f"as many as {files[0].path} has, {files[0].shape[1]}")
        first = np.concatenate([[0], np.cumsum([file.shape[0] for file in files])])
        if not 2 <= first[-1] <= MOST_VERTICES:
            given = f"{first[-1]} points"
            raise CothermError(
                str(places[0]), given, f"at least two points, to be neighbors, and at most {MOST_VERTICES}"
            )
        return cls(files, first)

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of points and of dimensions."""
        return int(self.first[-1]), self.files[0].shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of points as read, float64."""
        return np.dtype(np.float64)

    def read(self, start: int, stop: int) -> Floats:
        """Some rows."""
        rows = []
        for k in np.flatnonzero((self.first[:-1] < stop) & (self.first[1:] > start)).tolist():
            low, high = (int(one) for one in self.first[k : k + 2])
            rows.append(self.files[k].read(max(start, low) - low, min(stop, high) - low).astype(np.float64))
        return np.concatenate(rows) if rows else np.empty((0, self.shape[1]))

    def rows_at(self, chosen: Ints) -> Floats:
        """Rows at ascending places, one by one: for a few of them."""
        rows = np.empty((len(chosen), self.shape[1]))
        for row, place in zip(rows, chosen.tolist(), strict=True):
            row[:] = self.read(place, place + 1)[0]
        return rows

    def key(self) -> list[tuple[str, tuple[int, ...]]]:
        """A description that must be the same on all ranks."""
        return [(str(file.path), file.shape) for file in self.files]


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
    places = [atomic.as_path(one) for one in points]
    if not places:
        raise CothermError("points", "no files", "at least one .npy file")
    return places


def _described(place: Path, k: int, scratch: Path | None, parse: bool) -> ArrayFile:
    if suffix_of(place) in (*TEXT, *PACKED) and scratch is not None:
        return _parsed(place, scratch / f"points-{k}", parse)
    if place.suffix.lower() != ".npy":
        raise CothermError(str(place), f"the suffix {place.suffix or 'none'}", f".npy, {', '.join((*TEXT, *PACKED))}")
    file = array_file.describe(place)
    if len(file.shape) != 2 or file.shape[1] == 0 or file.dtype.kind not in "fiu" or file.dtype.itemsize > 8:
        given = f"an array of shape {file.shape} and dtype {file.dtype}"
        raise CothermError(str(place), given, "an array of real numbers of shape (n, d), a row for each point")
    return file


def _parsed(place: Path, base: Path, parse: bool) -> ArrayFile:
    """A text table converted to rows in a file, with their number stored beside it."""
    sizes = base.with_suffix(".json")
    if parse:
        found = point_tables.parsed(place, base.with_suffix(".bin"))
        sizes.write_text(json.dumps(found.shape))
        return found
    return ArrayFile(base.with_suffix(".bin"), tuple(json.loads(sizes.read_text())), np.dtype(np.float64), 0)


def require_finite(rows: NDArray[Any], start: int) -> None:
    """Refuse points with infinite or missing entries."""
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        row = start + int(np.argmin(finite))
        raise CothermError("points", f"an entry of point {row} that is not finite", "finite numbers")
