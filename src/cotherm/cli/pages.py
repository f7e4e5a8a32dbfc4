"""Pages of couplings, with data about their items from files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cotherm.cli.header import header_of
from cotherm.cli.inputs import View, read_points, read_result
from cotherm.cli.labels import labels_of_items, read_labels
from cotherm.cli.names import items_of
from cotherm.errors import CothermError
from cotherm.graphs.files import MESH_SUFFIXES, read_mesh
from cotherm.graphs.graph import Graph
from cotherm.io import atomic
from cotherm.methods.coupling.result import Coupling
from cotherm.viewer.browser import private_file
from cotherm.viewer.page import Page, make_page


def coupling_page(path: str, options: argparse.Namespace) -> Page:
    """The page of a file; options that the command lacks have their defaults."""
    result = read_result(path)
    if isinstance(result, Graph):
        advice = "`cotherm show` draws a graph."
        raise CothermError(path, "a graph", "a coupling, from `cotherm couple`", advice)
    return page_of(result, options)


def page_of(result: Coupling, options: argparse.Namespace) -> Page:
    graphs = result.originals
    positions, faces = _places(getattr(options, "positions", None), graphs)
    return make_page(
        result,
        labels=labels_of_items(graphs, options),
        names=_names(graphs, options),
        positions=positions,
        faces="auto" if faces is None else faces,
        pairs=getattr(options, "pairs", None),
        title=getattr(options, "title", None),
    )


def is_terminal() -> bool:
    """Whether output goes to a terminal; a stream that cannot tell does not count as one."""
    try:
        return bool(sys.stdout.isatty())
    except (AttributeError, ValueError):
        return False


def temporary_place(page: Page) -> Path:
    """Make a file that only the user can read."""
    return private_file(page.html.encode())


def _names(graphs: Sequence[Graph], options: argparse.Namespace) -> list[Any] | None:
    """The same for names; items that the files do not name keep theirs."""
    paths = getattr(options, "names", None)
    if not paths:
        return None
    views = [View(graph) for graph in graphs]
    found = read_labels(views, paths, None, header_of(options), option="--names", shared=False).of
    return [
        [name or own for name, own in zip(names.tolist(), items_of(graph), strict=True)]
        for names, graph in zip(found, graphs, strict=True)
    ]


def _places(paths: Sequence[str] | None, graphs: Sequence[Graph]) -> tuple[list[Any] | None, list[Any] | None]:
    """Positions of the vertices of every view, and the faces of those that are meshes."""
    if not paths:
        return None, None
    if len(paths) not in (1, len(graphs)):
        raise CothermError("--positions", f"{len(paths)} files", f"one for all views, or one for each of {len(graphs)}")
    read = [_read_places(atomic.as_path(path)) for path in paths]
    read *= len(graphs) // len(read)
    for (points, _), graph, path in zip(read, graphs, list(paths) * len(graphs), strict=False):
        if len(points) != graph.n:
            given = f"{len(points)} rows in {path}"
            raise CothermError("--positions", given, f"one for each of the {graph.n} vertices of {graph.name}")
    faces = [own for _, own in read]
    return [points for points, _ in read], faces if any(own is not None for own in faces) else None


def _read_places(place: Path) -> tuple[Any, Any]:
    if place.suffix.lower() in MESH_SUFFIXES:
        mesh = read_mesh(place)
        return mesh.vertices, mesh.faces if len(mesh.faces) else None
    return read_points(place).values, None
