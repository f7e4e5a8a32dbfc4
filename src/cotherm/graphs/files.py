"""Graphs and meshes in and out of files: the suffix chooses the format, and nothing is ever unpickled.

Graphs: ``.npz`` holds everything; ``.csv`` (edge list) and ``.mtx`` (Matrix Market) hold the vertices,
edges, weights and name. Meshes: ``.off``, ``.obj`` and ``.ply``, and more with the extra ``cotherm[mesh]``. What is
written is read back to the last bit. Each file in ``cotherm.graphs.formats`` documents one format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.formats import by_meshio, edge_list, matrix_market, npz, obj, off, ply
from cotherm.graphs.graph import Graph
from cotherm.graphs.mesh import Mesh
from cotherm.io import atomic

S = TypeVar("S")
T = TypeVar("T")


# For every suffix, from bytes and to bytes. A parser names a place in the file; the path is added here.
_GRAPHS: Mapping[str, tuple[Callable[[bytes], Graph], Callable[[Graph], bytes]]] = {
    ".csv": (edge_list.parse, edge_list.render),
    ".mtx": (matrix_market.parse, matrix_market.render),
    ".npz": (npz.parse, npz.render),
}
# Edge lists with tabs are read and never written.
_READABLE_GRAPHS = {**_GRAPHS, ".tsv": _GRAPHS[".csv"]}
_MESHES: Mapping[str, tuple[Callable[[bytes], Mesh], Callable[[Mesh], bytes]]] = {
    ".obj": (obj.parse, obj.render),
    ".off": (off.parse, off.render),
    ".ply": (ply.parse, ply.render),
}
MESH_SUFFIXES = (*_MESHES, *by_meshio.READ)


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """The graph in a ``.npz``, ``.csv``, ``.tsv`` or ``.mtx`` file.

    An edge list ``.csv`` or a ``.mtx`` file may come from any program; a ``.npz`` file must come from ``write_graph``.
    """
    place = atomic.as_path(path)
    parse, _ = _format(place, _READABLE_GRAPHS)
    return _convert(place, parse, atomic.load(place))


def write_graph(graph: Graph, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a graph to a ``.npz``, ``.csv`` or ``.mtx`` file, complete or not at all.

    Only ``.npz`` holds coordinates and labels; the others refuse a graph that has them. An existing file is
    kept unless ``overwrite`` is given.
    """
    place = atomic.as_path(path)
    atomic.save(place, graph_bytes(graph, place), overwrite=validation.boolean("overwrite", overwrite))


def graph_bytes(graph: Graph, place: Path) -> bytes:
    """What a file of this name holds for the graph."""
    if not isinstance(graph, Graph):
        raise CothermError("graph", validation.describe(graph), "a Graph")
    _, render = _format(place, _GRAPHS)
    return _convert(place, render, graph)


def read_mesh(path: str | os.PathLike[str]) -> Mesh:
    """The vertices and triangles in a ``.off``, ``.obj`` or ``.ply`` file.

    With the extra ``cotherm[mesh]``, also in a ``.stl``, ``.vtk``, ``.vtu``, ``.msh`` or ``.mesh`` file. Colors,
    normals, textures and so on are passed over; polygons with more than three corners are refused.
    """
    place = atomic.as_path(path)
    if place.suffix.lower() in by_meshio.READ:
        atomic.require_content(place)
        return _convert(place, by_meshio.read, place)
    parse, _ = _format(place, _MESHES, MESH_SUFFIXES)
    return _convert(place, parse, atomic.load(place))


def write_mesh(mesh: Mesh, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a mesh to a ``.off``, ``.obj`` or ``.ply`` file, complete or not at all.

    With the extra ``cotherm[mesh]``, also to a ``.vtk`` or ``.vtu`` file. An existing file is kept unless
    ``overwrite`` is given.
    """
    place = atomic.as_path(path)
    if not isinstance(mesh, Mesh):
        raise CothermError("mesh", validation.describe(mesh), "a Mesh")
    suffix = place.suffix.lower()
    if suffix in by_meshio.WRITTEN:
        render: Callable[[Mesh], bytes] = partial(by_meshio.render, suffix=suffix)
    else:
        _, render = _format(place, _MESHES, (*_MESHES, *by_meshio.WRITTEN))
    atomic.save(place, _convert(place, render, mesh), overwrite=validation.boolean("overwrite", overwrite))


def _format(path: Path, formats: Mapping[str, T], suffixes: Iterable[str] | None = None) -> T:
    """The format of a file; ``suffixes`` are all to choose from, where there are more."""
    suffix = path.suffix.lower()
    if suffix in formats:
        return formats[suffix]
    advice = ""
    if suffix in _MESHES or suffix in by_meshio.WRITTEN:
        advice = "Meshes are for read_mesh and write_mesh."
    elif suffix in _GRAPHS:
        advice = "Graphs are for read_graph and write_graph."
    raise CothermError(str(path), f"suffix {path.suffix!r}", "one of " + ", ".join(suffixes or formats), advice)


def _convert(path: Path, convert: Callable[[S], T], value: S) -> T:
    try:
        return convert(value)
    except CothermError as error:
        raise CothermError(f"{path}: {error.argument}", error.given, error.needed, error.advice) from None
    except MemoryError:
        raise CothermError(str(path), "more data than memory holds", "less data, or more memory") from None
