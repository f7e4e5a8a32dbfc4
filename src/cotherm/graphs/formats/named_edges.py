"""Edge lists between names, ``.csv``: titles such as ``source,target,weight``, then one edge a line.

Vertices are the names in the order in which they first occur. Such a list has no place for vertices without edges, nor
for the order of the vertices, so ``write_graph`` writes numbers instead.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np

from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.io.cells import is_finite
from cotherm.io.text import excerpt


def render(graph: Graph) -> bytes:
    """The edges of a graph whose vertices have names; vertices without edges are not in it."""
    assert graph.vertex_names is not None
    names = graph.vertex_names.tolist()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("source", "target", "weight"))
    rows = zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True)
    writer.writerows((names[i], names[j], repr(w)) for i, j, w in rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def parse(text: str, columns: int, mark: str) -> Graph:
    """The graph of a list with titles in its first row."""
    vertices: dict[str, int] = {}
    ends, weights, lines = [], [], []
    for line, cells in _rows(text, mark):
        if len(cells) != columns:
            raise CothermError(f"line {line}", excerpt(mark.join(cells)), f"{columns} cells, as the titles")
        if not all(cells[:2]):
            raise CothermError(f"line {line}", excerpt(mark.join(cells)), "the names of two vertices")
        if columns > 2 and not is_finite(cells[2]):
            raise CothermError(f"line {line}", excerpt(cells[2]), "a finite weight >= 0")
        ends.append([vertices.setdefault(name, len(vertices)) for name in cells[:2]])
        weights.append(float(cells[2]) if columns > 2 else 1.0)
        lines.append(line)
    i, j = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    _refuse(lines, i, j, np.array(weights), list(vertices))
    return Graph(len(vertices), i, j, weights, vertex_names=list(vertices))


def _rows(text: str, mark: str) -> Iterator[tuple[int, list[str]]]:
    """The cells and the line of every row but the first; skips blank lines and comments."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    titled = False
    for row in reader:
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if titled:
            yield reader.line_num, cells
        titled = True


def _refuse(lines: list[int], i: np.ndarray, j: np.ndarray, w: np.ndarray, names: list[str]) -> None:
    """Refuse loops, negative weights and repeated pairs, and name their lines."""
    for bad, what, needed in (
        (i == j, "an edge from {0!r} to itself", "two different ends for every edge"),
        (w < 0.0, "a negative weight between {0!r} and {1!r}", "a finite weight >= 0"),
    ):
        if bad.any():
            e = int(np.argmax(bad))
            raise CothermError(f"line {lines[e]}", what.format(names[i[e]], names[j[e]]), needed)
    seen: dict[tuple[int, int], int] = {}
    for e, pair in enumerate(zip(np.minimum(i, j).tolist(), np.maximum(i, j).tolist(), strict=True)):
        if pair in seen:
            given = f"{names[pair[0]]!r} and {names[pair[1]]!r} again, as in line {lines[seen[pair]]}"
            raise CothermError(f"line {lines[e]}", given, "every pair of vertices at most once")
        seen[pair] = e
