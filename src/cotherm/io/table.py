"""Tables of numbers for users: one call, from a file to an array with titles, names and labels beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io import array_file, atomic, ids, kinds
from cotherm.io.cells import PERHAPS_TITLES, shown
from cotherm.io.columns import Numbers, Request, choose, laid_out, opened_columns
from cotherm.io.labels import require_classes
from cotherm.io.single_cells import read_modalities

# Ways to complete missing values.
_WAYS = ("drop", "median")
_ADVICE = 'missing="drop" leaves out such rows, missing="median" fills in the median of the column.'
# Rows and columns in messages.
_SHOWN = 5


@dataclass(frozen=True)
class Table:
    """A table of finite numbers.

    Attributes
    ----------
    values : ndarray of float64, shape (rows, columns)
        The numbers.
    names : tuple of str or None
        The names of the rows, where the file has any. Where rows were left out of a file without names, these are the
        numbers of the others, from 0.
    titles : tuple of str or None
        The titles of the columns, where the file has any.
    reading : str
        How the file was read, for people.
    labels : ndarray of str, shape (rows,), or None
        The labels of the rows, with ``label_column``; unknown ones are empty.

    See Also
    --------
    read_table : Read a table from a file.
    """

    values: Floats = field(repr=False)
    names: tuple[str, ...] | None = field(repr=False)
    titles: tuple[str, ...] | None = field(repr=False)
    reading: str
    labels: NDArray[np.str_] | None = field(default=None, repr=False)


def read_table(
    path: str | os.PathLike[str],
    *,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    label_column: str | None = None,
    id_column: str | Literal[False] | None = None,
    missing: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    rep: str | None = None,
    modality: str | None = None,
) -> Table:
    r"""Read a table of numbers from a file.

    Text may be comma, semicolon, tab or space separated, in UTF-8, with or without titles in the first row and names in
    the first column; ``Table.reading`` says what was taken for titles and names. What could be read in two ways is
    refused, and so are cells other than finite numbers. A first column of eight or more whole numbers that are all
    different could be ids or a feature, unless half of the other columns, or three, are like it: say which with
    ``id_column``, or choose it with ``columns``.

    Parameters
    ----------
    path : str or path-like
        Text (``.csv``, ``.tsv``, ``.txt``, each also compressed as ``.gz``), an array (``.npy``), a spreadsheet
        (``.xlsx``, which needs the extra ``tables``), a ``.parquet`` file, or single cells (``.h5ad``, ``.h5mu``, which
        need the extra ``anndata``).
    header : bool, optional
        Whether the first row of text or of a sheet holds titles. By default its cells tell.
    columns : sequence of str, optional
        Titles of the columns to take, in this order. By default all.
    drop : sequence of str, default ()
        Titles of columns to leave out.
    label_column : str, optional
        Title of a column that holds the classes of the rows, which become ``Table.labels``. Of single cells it is a
        column of ``obs``.
    id_column : str or False, optional
        Title of the column that holds the names of the rows, which become ``Table.names``; False says that no column
        does. By default it is the first column, if its title or its cells tell.
    missing : {"drop", "median"}, optional
        What to do about missing values, which are empty cells, ``NA``, ``nan`` and the like: leave out their rows, or
        fill in the median of the column. By default they are refused.
    decimal : {".", ","}, optional
        The decimal mark in text. By default the cells tell, unless commas separate them.
    sheet : str, optional
        The sheet of a spreadsheet, by default the first.
    rep : str, optional
        The representation of single cells: a key of ``obsm`` such as "X_pca". By default it is X.
    modality : str, optional
        The modality of an ``.h5mu`` file; it may be left out if there is only one.

    Returns
    -------
    Table
        The numbers, names, titles and labels.

    Raises
    ------
    CothermError
        For a file that cannot be read, with the line and the column.

    See Also
    --------
    read_labels : Labels of items from a table.
    cotherm.knn_graph : A graph from the rows of a table.

    Notes
    -----
    Distances between rows depend on the units of the columns. Where these differ by orders of magnitude, divide every
    column by its standard deviation before :func:`cotherm.knn_graph`, which takes numbers as they are.

    Examples
    --------
    >>> import cotherm as ct
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "points.csv"
    >>> _ = path.write_text("id;x;y;kind\na;1,5;2;red\nb;3;;red\nc;2,5;4;blue\n")
    >>> table = ct.io.read_table(path, label_column="kind", missing="drop")
    >>> table.names, table.titles, table.labels.tolist()
    (('a', 'c'), ('x', 'y'), ['red', 'blue'])
    >>> table.values.tolist()
    [[1.5, 2.0], [2.5, 4.0]]
    """
    place = atomic.as_path(path)
    request = Request(
        None if columns is None else _titles("columns", columns),
        _titles("drop", drop),
        _text("label_column", label_column, "the title of a column"),
        _ids(id_column),
        header=None if header is None else validation.boolean("header", header),
        missing=None if missing is None else validation.choice("missing", missing, _WAYS),
        decimal=None if decimal is None else validation.choice("decimal", decimal, (".", ",")),
        sheet=_text("sheet", sheet, "the name of a sheet"),
        rep=_text("rep", rep, "X or a key of obsm"),
        modality=_text("modality", modality, "the name of a modality"),
    )
    _require_sense(place, request)
    tables = read_tables(place, request)
    if len(tables) > 1:
        names = ", ".join(repr(one.modality) for one in tables)
        raise CothermError(str(place), f"{len(tables)} modalities, {names}", "one", "Choose it with modality=.")
    (found,) = tables
    ids.refuse_first(found)
    return Table(found.values, found.names, found.titles, found.reading, found.labels)


def read_tables(place: Path, request: Request) -> list[Numbers]:
    """All tables in a file: one, or the modalities of single cells; what has no meaning for the file is not used."""
    suffix = kinds.suffix_of(place)
    if suffix not in kinds.TABLES:
        raise CothermError(str(place), f"the suffix {suffix or 'none'}", kinds.NEEDED, kinds.advice_for(suffix))
    if suffix in kinds.SINGLE_CELLS:
        read = read_modalities(place, request)
    elif suffix == kinds.ARRAY:
        read = [_from_npy(place, request)]
    else:
        with opened_columns(place, request) as columns:
            read = [laid_out(columns, request).read()]
    return [_told_of_doubts(completed(one, request.missing), request) for one in read]


def _told_of_doubts(read: Numbers, request: Request) -> Numbers:
    """The same with features that may be ids, unless the user named the features or ids; cells have their names."""
    if read.labels is not None:
        require_classes(read.path, read.labels)
    named = request.ids == () or any(title not in read.absent for title in request.ids or ())
    if request.columns is not None or named or kinds.suffix_of(read.path) in kinds.SINGLE_CELLS:
        return read
    doubtful = ids.distinct_whole(read.values)
    return replace(read, doubtful=doubtful, reading=read.reading + ids.note_of(doubtful, read.titles))


def _from_npy(place: Path, request: Request) -> Numbers:
    array = array_file.parse(str(place), atomic.load(place))
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise CothermError(str(place), "no matrix of numbers", "an array of numbers (points, features)")
    choice = choose(place, None, array.shape[1], request)
    values = validation.as_float64(str(place), array)
    # The array shares the bytes of the file, which cannot be written to.
    values = values.copy() if values.base is not None else values

    def where(row: int, column: int) -> tuple[str, str]:
        return f"{place}: row {row}, column {column}", str(values[row, column])

    reading = f"{len(values)} rows, {values.shape[1]} columns"
    return Numbers(place, values, None, None, None, reading, where, choice.absent)


def _require_sense(place: Path, request: Request) -> None:
    """Refuse what has no meaning for this kind of file."""
    suffix = kinds.suffix_of(place)
    given = {name: getattr(request, name) for name in kinds.MEANT_FOR} | {"id_column": request.ids or None}
    if given["header"] is False:
        given["header"] = None  # an array has no titles indeed
    for argument, value in given.items():
        suffixes = kinds.MEANT_FOR.get(argument, (*kinds.CELLS, kinds.COLUMNS))
        if value is not None and suffix in kinds.TABLES and suffix not in suffixes:
            raise CothermError(argument, f"{value} for a {suffix} file", f"to be left out, but for {suffixes[0]} files")


def _titles(argument: str, value: object) -> tuple[str, ...]:
    needed = "a list of titles"
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise CothermError(argument, validation.describe(value), needed)
    titles = tuple(value)
    if not all(isinstance(title, str) for title in titles) or len(set(titles)) != len(titles):
        raise CothermError(argument, validation.describe(value), f"{needed}, each once")
    return titles


def _ids(value: object) -> tuple[str, ...] | None:
    if value is False:
        return ()
    title = _text("id_column", value, "the title of a column, or False if no column holds ids")
    return None if title is None else (title,)


def _text(argument: str, value: object, needed: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise CothermError(argument, validation.describe(value), needed)
    return value


def completed(read: Numbers, way: str | None) -> Numbers:
    """The table without missing values: they are refused unless ``way``, one of ``_WAYS``, is given."""
    holes = np.isnan(read.values)
    infinite = np.isinf(read.values)
    if infinite.any():
        row, column = np.unravel_index(np.argmax(infinite), holes.shape)
        place, cell = read.where(int(row), int(column))
        raise CothermError(place, cell, "a finite number")
    if not holes.any() and (read.names is None or all(read.names)):
        return read
    if way is not None or len(holes) > 1:  # the place of a single row says it all
        _refuse_empty(read, holes)
    if way is None:
        raise _refused(read, holes)
    return _dropped(read, holes) if way == "drop" else _filled(read, holes)


def _refuse_empty(read: Numbers, holes: NDArray[np.bool_]) -> None:
    empty = np.flatnonzero(holes.all(axis=0))
    if len(empty):
        columns = shown([_column(read, int(c)) for c in empty], _SHOWN)
        advice, code = ("Leave it out with drop=.", "empty-column") if read.titles else ("", "")
        given = f"nothing but missing values in {columns}"
        raise CothermError(str(read.path), given, "numbers in every column", advice, code=code)


def _refused(read: Numbers, holes: NDArray[np.bool_]) -> CothermError:
    row, column = np.unravel_index(np.argmax(holes), holes.shape)
    place, cell = read.where(int(row), int(column))
    count = int(holes.sum())
    rows, columns = int(holes.any(axis=1).sum()), int(holes.any(axis=0).sum())
    more = f", the first of {count:,} missing values in {_many(rows, 'row')} and {_many(columns, 'column')}"
    given = cell + (more if count > 1 else ", the only missing value")
    advice, code = _ADVICE, "missing-value"
    if row == 0 and read.untitled:
        advice, code = f"{advice} {PERHAPS_TITLES}", f"{code}+perhaps-titles"
    return CothermError(place, given, "a finite number", advice, code=code, about=str(read.path))


def _dropped(read: Numbers, holes: NDArray[np.bool_]) -> Numbers:
    """Drop the rows with missing values; remaining rows without names are named by their numbers."""
    lost_rows = holes.any(axis=1)
    if read.names is not None:
        lost_rows |= np.array([not name for name in read.names])
    kept = np.flatnonzero(~lost_rows)
    if not len(kept):
        advice = 'Fill them in with missing="median".'
        given = "a missing value in every row"
        raise CothermError(str(read.path), given, "rows without any", advice, code="missing-in-every-row")
    lost = np.flatnonzero(lost_rows)
    known = read.names or tuple(map(str, range(len(holes))))
    which = shown([known[k] or f"row {k} from 0, which has no name" for k in lost], _SHOWN)
    reading = f"{read.reading}, less {_many(len(lost), 'row')} with missing values ({which})"
    if read.names is None:
        reading += ", the others named by their numbers from 0"
    labels = None if read.labels is None else read.labels[kept]
    return replace(read, values=read.values[kept], names=tuple(known[k] for k in kept), labels=labels, reading=reading)


def _filled(read: Numbers, holes: NDArray[np.bool_]) -> Numbers:
    values = read.values.copy()
    some = np.flatnonzero(holes.any(axis=0))
    for c in some:
        values[holes[:, c], c] = _median(values[~holes[:, c], c])
    which = shown([f"{int(holes[:, c].sum()):,} in {_column(read, int(c))}" for c in some], _SHOWN)
    reading = f"{read.reading}, {_many(int(holes.sum()), 'missing value')} replaced by the median ({which})"
    return replace(read, values=values, reading=reading)


def _median(values: Floats) -> float:
    """The median, even if the sum of two numbers would overflow."""
    low, high = (len(values) - 1) // 2, len(values) // 2
    ordered = np.partition(values, (low, high))
    return float(ordered[low] if low == high else 0.5 * ordered[low] + 0.5 * ordered[high])


def _column(read: Numbers, c: int) -> str:
    return read.titles[c] if read.titles else f"column {c + 1}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
