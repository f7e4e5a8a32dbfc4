"""Well-formed tables of numbers and labels in every way people write them, each with what it holds.

What a table holds is known from how it was made, and pandas is asked as well. A reader may give that or refuse;
anything else is a silent misreading. Texts that are the same for two contents are left out.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd

from cotherm import CothermError
from cotherm.cli.correspondence import read_labels
from cotherm.cli.inputs import View
from cotherm.graphs.graph import Graph
from cotherm.io.columns import Layout, Request, laid_out, opened_columns
from cotherm.io.table import completed

Cells = list[list[str]]

_WORDS = (
    "age",
    "height",
    "CD4",
    "Na",
    "gene A",
    "x y",
    "10x",
    "β-actin",
    "length (cm)",
    "2nd",
    "p53",
    "#3",
    "e",
    "inf1",
)
_KINDS = ("T cell", "B cell", "red", "blue", "0", "1", "2", "stage-1", "stage-2", "é", "x", "y")
_UNKNOWN = ("", "NA", "nan", "?", "None", "n/a")


@dataclass(frozen=True)
class Written:
    """A table as bytes, what it holds, and how pandas is to read it."""

    data: bytes
    values: Cells
    titles: list[str] | None
    names: list[str] | None
    mark: str
    decimal: str = "."


def numbers_table(random: Random) -> Written:
    """A table of numbers, with or without titles and names."""
    rows, columns = random.randint(2, 9), random.randint(1, 5)
    write = random.choice([_decimal, _whole, _small, _scientific, _binary])
    values = [[write(random) for _ in range(columns)] for _ in range(rows)]
    titles = _titles(random, columns) if random.random() < 0.6 else None
    names = _names(random, rows) if random.random() < 0.5 else None
    if names is None and titles in (["0"], ["0", "1"]):
        titles = None  # over whole numbers the same text as a row of data
    found = _written(random, values, titles, names)
    # In a single column decimal commas are the same text as two columns.
    several = columns + (found.names is not None) > 1 and found.mark != ","
    return _with_commas(found) if random.random() < 0.3 and several else found


def _with_commas(table: Written) -> Written:
    """The same with decimal commas; names and titles have no points."""
    return replace(table, data=table.data.replace(b".", b","), decimal=",")


def open_table(path: Path, header: bool | None = None) -> Layout:
    """A text table or a sheet and what its columns mean."""
    with opened_columns(path, Request(header=header)) as columns:
        return laid_out(columns)


def numbers_of(table: Layout) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """All numbers of a table, none of which may be missing."""
    return completed(table.read(), None).values


def judge_numbers(random: Random, directory: Path) -> str | None:
    """What is wrong with how a table of numbers is read; None where nothing is."""
    table = numbers_table(random)
    place = directory / "table.csv"
    place.write_bytes(table.data)
    expected = np.array(table.values, dtype=np.float64)
    if (found := _by_pandas(table)) is not None and not np.array_equal(found, expected):
        return f"pandas reads {found.tolist()} where {table.values} was written: {table.data!r}"
    try:
        read = open_table(place)
        numbers = numbers_of(read)
    except CothermError:
        return None
    if numbers.shape != expected.shape or not np.array_equal(numbers, expected):
        return f"{table.values} read as {numbers.tolist()}: {table.data!r}"
    if table.names is not None and read.names is not None and list(read.names) != table.names:
        return f"names {table.names} read as {read.names}: {table.data!r}"
    return None


def judge_labels(random: Random, directory: Path) -> str | None:
    """The same for labels, of which rows may have been lost or come twice: no item gets another one's label."""
    n = random.randint(5, 12)
    kinds = random.sample(_KINDS, random.randint(1, 4))
    labels = [random.choice(kinds) for _ in range(n)]
    written = [random.choice(_UNKNOWN) if random.random() < 0.1 else label for label in labels]
    written[-1] = written[-1] or "NA"  # a blank line at the end may be no row at all
    known = ["" if cell in _UNKNOWN else cell for cell in written]
    names = [f"item-{k}" for k in range(n)] if random.random() < 0.4 else None
    title = random.choice(["kind", "class", "x", "Diagnose", "red", "label", "stage", None])
    rows = [[cell] if names is None else [names[k], cell] for k, cell in enumerate(written)]
    damage = random.choice(["none", "none", "lost", "twice", "order"])
    if (title in written and damage == "lost") or (
        title is None and damage == "twice" and written.count(written[0]) == 1
    ):
        # A title like a label over one row too few is the same text as n labels; n + 1 labels of which the first occurs
        # once are the same as a title and n.
        damage = "none"
    rows, moved = _damaged(random, rows, damage)
    head = [] if title is None else [[title] if names is None else ["id", title]]
    data = _rendered(random, head + rows, random.choice(",;\t"), quoted=False)
    place = directory / "labels.csv"
    place.write_bytes(data)
    graph = Graph(n, np.arange(n - 1), np.arange(1, n), np.ones(n - 1), vertex_names=names)
    try:
        found = read_labels([View(graph)], [str(place)], None).of[0].tolist()
    except CothermError:
        return None
    if names is None and moved and found != known:
        return f"{n} items, {damage}, read as {found}: {data!r}"
    missing = {row[0] for row in rows} if names is not None else set()
    expected = [known[k] if names is None or names[k] in missing else "" for k in range(n)]
    return None if found == expected else f"{expected} read as {found}: {data!r}"


def _damaged(random: Random, rows: Cells, damage: str) -> tuple[Cells, bool]:
    """Rows of which one was lost, or came twice, or all were turned; whether that moves labels read row by row."""
    k = random.randrange(len(rows))
    if damage == "lost":
        return rows[:k] + rows[k + 1 :], True
    if damage == "twice" and len(rows[0]) == 1:
        return [*rows[: k + 1], *rows[k:]], True
    if damage == "order" and len(rows[0]) > 1:
        return rows[::-1], False
    return rows, False


def _titles(random: Random, columns: int) -> list[str]:
    kind = random.randrange(4)
    if kind == 0:
        return [str(k) for k in range(columns)]
    if kind == 1:
        return [f"feature {k + 1}" for k in range(columns)]
    return [random.choice(_WORDS) + ("" if kind == 2 else str(k)) for k in range(columns)]


def _names(random: Random, rows: int) -> list[str]:
    kind = random.randrange(4)
    if kind == 0:
        return [str(k) for k in range(rows)]
    if kind == 1:
        return [str(1_000 + 7 * k) for k in range(rows)]
    return [f"{random.choice(('photo-', 'cell ', 'AAAC', '7b'))}{k:03}" for k in range(rows)]


def _written(random: Random, values: Cells, titles: list[str] | None, names: list[str] | None) -> Written:
    mark = random.choice(",,,;\t")
    if names is not None and names[0].isdigit() and titles is None:
        names = None  # numbers without a title are numbers
    if names is not None and names[0].isdigit():
        corner = random.choice(["id", "sample_id", "", "Cell ID", "barcode"])
    else:
        counted = titles in (["0"], ["0", "1"])  # behind a word and over whole numbers the same text as a row of data
        corner = random.choice(["id", "", "name"] if counted else ["id", "", "name", "gene", "who"])
    rows = values if names is None else [[name, *row] for name, row in zip(names, values, strict=True)]
    if titles is not None:
        rows = [titles if names is None else [corner, *titles], *rows]
    return Written(_rendered(random, rows, mark, quoted=True), values, titles, names, mark)


def _rendered(random: Random, rows: Cells, mark: str, *, quoted: bool) -> bytes:
    style = random.randrange(3) if quoted else 0
    lines = []
    for row in rows:
        cells = [
            f'"{cell}"' if style == 1 or mark in cell or (style == 2 and k == 0) else cell for k, cell in enumerate(row)
        ]
        lines.append((mark + " " * (random.random() < 0.05 and mark == ",")).join(cells))
    if len(rows[0]) > 1 and random.random() < 0.1:
        lines.insert(random.randint(1, len(lines)), "")
    end = random.choice(["\n", "\n", "\n", "\r\n"])
    text = end.join(lines) + random.choice([end, end, ""] if lines[-1] else [end])
    return (b"\xef\xbb\xbf" if random.random() < 0.1 else b"") + text.encode()


def _by_pandas(table: Written) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    frame = pd.read_csv(
        io.BytesIO(table.data),
        sep=table.mark,
        decimal=table.decimal,
        header=None if table.titles is None else 0,
        index_col=False if table.names is None else 0,
        skipinitialspace=True,
        float_precision="round_trip",
    )
    return frame.to_numpy(dtype=np.float64)


def _decimal(random: Random) -> str:
    return repr(random.uniform(-100.0, 100.0))


def _whole(random: Random) -> str:
    return str(random.randint(-5, 300))


def _small(random: Random) -> str:
    return f"{random.random():.3f}"


def _scientific(random: Random) -> str:
    return f"{random.uniform(-1.0, 1.0) * 10.0 ** random.randint(-200, 200):.16e}"


def _binary(random: Random) -> str:
    return random.choice("01")
