"""Tables of numbers for users: one call, from text or ``.npy`` to an array with the titles and names beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io import atomic, npy
from cotherm.io.number_table import SUFFIXES, open_table

KINDS = f"a table: {', '.join(SUFFIXES)} or .npy"


@dataclass(frozen=True)
class Table:
    """A table of finite numbers.

    Attributes
    ----------
    values : ndarray of float64, shape (rows, columns)
        The numbers.
    names : tuple of str or None
        The names of the rows, where the file has any.
    titles : tuple of str or None
        The titles of the columns, where the file has any.
    reading : str
        How the file was read, for people.

    See Also
    --------
    read_table : Read a table from a file.
    """

    values: Floats = field(repr=False)
    names: tuple[str, ...] | None = field(repr=False)
    titles: tuple[str, ...] | None = field(repr=False)
    reading: str


def read_table(path: str | os.PathLike[str], *, header: bool | None = None) -> Table:
    r"""Read a table of numbers from a text file or a ``.npy`` file.

    Text may be comma, semicolon, tab or space separated, in UTF-8, with or without titles in the first row and names in
    the first column; ``Table.reading`` says what was taken for titles and names. What could be read in two ways is
    refused. So is every cell that is no finite number.

    Parameters
    ----------
    path : str or path-like
        A ``.csv``, ``.tsv``, ``.txt`` or ``.npy`` file.
    header : bool, optional
        Whether the first row holds titles. By default its cells tell.

    Returns
    -------
    Table
        The numbers, names and titles.

    Raises
    ------
    CothermError
        For a file that cannot be read, with the line and the column.

    See Also
    --------
    read_labels : Labels of items from a table.
    cotherm.knn_graph : A graph from the rows of a table.

    Examples
    --------
    >>> import cotherm as ct
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "points.csv"
    >>> _ = path.write_text("id,x,y\na,1,2\nb,3,4.5\n")
    >>> table = ct.io.read_table(path)
    >>> table.names, table.titles
    (('a', 'b'), ('x', 'y'))
    >>> table.values.tolist()
    [[1.0, 2.0], [3.0, 4.5]]
    """
    place = atomic.as_path(path)
    said = None if header is None else validation.boolean("header", header)
    suffix = place.suffix.lower()
    if suffix == ".npy":
        return _from_npy(place, said)
    if suffix not in SUFFIXES:
        raise CothermError(str(place), f"the suffix {suffix or 'none'}", KINDS)
    table = open_table(place, said)
    return Table(table.numbers(), table.names, table.titles, table.reading)


def _from_npy(place: Path, header: bool | None) -> Table:
    if header:
        raise CothermError("header", "True for a .npy file", "None or False: an array has no titles")
    array = npy.parse(str(place), atomic.load(place))
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise CothermError(str(place), "no matrix of numbers", "an array of numbers (points, features)")
    values = validation.as_float64(str(place), array)
    finite = np.isfinite(values)
    if not finite.all():
        row, column = np.unravel_index(np.argmin(finite), finite.shape)
        raise CothermError(f"{place}: row {row}, column {column}", str(values[row, column]), "a finite number")
    # The array shares the bytes of the file, which cannot be written to.
    values = values.copy() if values.base is not None else values
    return Table(values, None, None, f"{len(values)} rows, {values.shape[1]} columns")
