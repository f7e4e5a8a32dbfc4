"""Tables of numbers for users: one call, from a file to an array with titles, names and labels beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.io import atomic, ids, kinds, npy
from cotherm.io.labels import require_classes
from cotherm.io.missing import WAYS, Numbers, completed
from cotherm.io.number_table import open_table
from cotherm.io.selection import EVERYTHING, Selection, choose
from cotherm.io.single_cells import read_modalities


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


@dataclass(frozen=True)
class Request:
    """How a table is to be read; None where the file tells."""

    header: bool | None = None
    selection: Selection = EVERYTHING
    missing: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    rep: str | None = None
    modality: str | None = None


@dataclass(frozen=True)
class Found:
    """A table in a file: its name where the file holds several, titles asked for in vain, and those of all columns.

    ``doubtful`` are the features that may be ids: whole numbers, all different, about which nothing was said.
    """

    table: Table
    name: str | None
    absent: tuple[str, ...]
    known: tuple[str, ...] | None
    doubtful: Ints

    def require_features(self, place: Path) -> None:
        """Refuse a table without names whose first column may hold them."""
        if self.table.names is None:
            ids.refuse_first(place, self.table.values, self.doubtful, self.table.titles)


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
        None if header is None else validation.boolean("header", header),
        Selection(
            None if columns is None else _titles("columns", columns),
            _titles("drop", drop),
            _text("label_column", label_column, "the title of a column"),
            ids=_ids(id_column),
        ),
        None if missing is None else validation.choice("missing", missing, WAYS),
        None if decimal is None else validation.choice("decimal", decimal, (".", ",")),
        _text("sheet", sheet, "the name of a sheet"),
        _text("rep", rep, "X or a key of obsm"),
        _text("modality", modality, "the name of a modality"),
    )
    _require_sense(place, request)
    tables = read_tables(place, request)
    if len(tables) > 1:
        names = ", ".join(repr(one.name) for one in tables)
        raise CothermError(str(place), f"{len(tables)} modalities, {names}", "one", "Choose it with modality=.")
    tables[0].require_features(place)
    return tables[0].table


def read_tables(place: Path, request: Request) -> list[Found]:
    """All tables in a file: one, or the modalities of single cells; what has no meaning for the file is not used."""
    suffix = kinds.suffix_of(place)
    if suffix not in kinds.TABLES:
        raise CothermError(str(place), f"the suffix {suffix or 'none'}", kinds.NEEDED, kinds.advice_for(suffix))
    if suffix in kinds.SINGLE_CELLS:
        found = read_modalities(place, request.selection, rep=request.rep, modality=request.modality)
        return [_found(one.numbers, request, one.name) for one in found]
    return [_found(_numbers(place, suffix, request), request)]


def _numbers(place: Path, suffix: str, request: Request) -> Numbers:
    if suffix == kinds.ARRAY:
        return _from_npy(place, request)
    if suffix == kinds.COLUMNS:
        from cotherm.io.parquet import read_parquet

        return read_parquet(place, request.selection, nameless=request.missing == "drop")
    return open_table(
        place,
        request.header,
        decimal=request.decimal,
        sheet=request.sheet,
        selection=request.selection,
        nameless=request.missing == "drop",
    ).read()


def _found(read: Numbers, request: Request, name: str | None = None) -> Found:
    done = completed(read, request.missing)
    if done.labels is not None:
        require_classes(read.path, done.labels)
    doubtful = np.zeros(0, dtype=np.int64)
    if _nothing_said(read, request):
        doubtful = ids.distinct_whole(read.values)
    reading = done.reading + ids.note_of(doubtful, done.titles)
    table = Table(done.values, done.names, done.titles, reading, done.labels)
    return Found(table, name, read.absent, read.known, doubtful)


def _nothing_said(read: Numbers, request: Request) -> bool:
    """Whether features were taken without a word of the user; cells have their names beside the numbers."""
    selection = request.selection
    here = selection.ids == () or any(title not in read.absent for title in selection.ids or ())
    return selection.columns is None and not here and kinds.suffix_of(read.path) not in kinds.SINGLE_CELLS


def _from_npy(place: Path, request: Request) -> Numbers:
    array = npy.parse(str(place), atomic.load(place))
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise CothermError(str(place), "no matrix of numbers", "an array of numbers (points, features)")
    choice = choose(place, None, array.shape[1], request.selection)
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
    given = {
        "header": (request.header, kinds.CELLS),
        "decimal": (request.decimal, (*kinds.TEXT, *kinds.PACKED)),
        "sheet": (request.sheet, kinds.SHEETS),
        "rep": (request.rep, kinds.SINGLE_CELLS),
        "modality": (request.modality, (kinds.MUDATA,)),
        "id_column": (request.selection.ids or None, (*kinds.CELLS, kinds.COLUMNS)),
    }
    for argument, (value, suffixes) in given.items():
        meant = value is not None and not (argument == "header" and value is False)  # an array has no titles indeed
        if meant and suffix in kinds.TABLES and suffix not in suffixes:
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
