"""Graphs and meshes in and out of files: the suffix chooses the format, and nothing is ever unpickled.

Graphs: ``.npz`` and ``.graphml`` hold everything; ``.csv`` (edge list) and ``.mtx`` (Matrix Market) hold the vertices,
edges, weights and name. Meshes: ``.off``, ``.obj`` and ``.ply``, and more with the extra ``cotherm[mesh]``. What is
written is read back to the last bit. Each file in ``cotherm.graphs.formats`` documents one format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from cotherm import validation
from cotherm.errors import CothermError, within
from cotherm.graphs.formats import by_meshio
from cotherm.graphs.graph import Graph
from cotherm.graphs.mesh import Mesh
from cotherm.io import atomic

S = TypeVar("S")
T = TypeVar("T")


# The module in formats of every suffix. Errors of its parse name a place in the file; the path is added here.
_GRAPHS = {".csv": "edge_list", ".graphml": "graphml", ".mtx": "matrix_market", ".npz": "npz"}
# Edge lists with tabs are read but never written.
_READABLE_GRAPHS = {**_GRAPHS, ".tsv": "edge_list"}
_MESHES = {".obj": "obj", ".off": "off", ".ply": "ply"}
MESH_SUFFIXES = (*_MESHES, *by_meshio.READ)


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """Read a graph from a file.

    Parameters
    ----------
    path : str or path-like
        A ``.npz``, ``.graphml``, ``.csv``, ``.tsv`` or ``.mtx`` file. All but ``.npz`` may come from any program; the
        ends in an edge list (``.csv``, ``.tsv``) may be numbers or names. A ``.npz`` file must come from
        :func:`cotherm.write_graph`. Nothing is unpickled.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    CothermError
        If the file is missing or does not hold a graph. The message names the place in the file.

    See Also
    --------
    write_graph : Write a graph.
    read_mesh : Read a triangle mesh.

    Examples
    --------
    >>> import cotherm as ct
    >>> import tempfile, pathlib
    >>> g = ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "graph.csv"
    ...     ct.write_graph(g, path)
    ...     ct.read_graph(path) == g
    True
    """
    place = atomic.as_path(path)
    return _convert(place, _format(place, _READABLE_GRAPHS).parse, atomic.load(place))


def write_graph(graph: Graph, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a graph to a file, completely or not at all.

    What is written is read back to the last bit.

    Parameters
    ----------
    graph : Graph
        The graph.
    path : str or path-like
        The suffix chooses the format: ``.npz`` and ``.graphml`` store everything, ``.csv`` (edge list) and ``.mtx``
        (Matrix Market) store vertices, edges, weights and name.
    overwrite : bool, default False
        Whether to replace an existing file.

    Raises
    ------
    CothermError
        If the file exists, or if the format cannot store the coordinates, labels or names of vertices of the graph;
        :meth:`Graph.bare` drops them.

    See Also
    --------
    read_graph : Read a graph.

    Examples
    --------
    >>> import cotherm as ct
    >>> import tempfile, pathlib
    >>> g = ct.Graph(2, [0], [1], [1.0], labels=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "graph.npz"
    ...     ct.write_graph(g, path)
    ...     ct.read_graph(path).labels.tolist()
    ['a', 'b']
    """
    place = atomic.as_path(path)
    atomic.save(place, graph_bytes(graph, place), overwrite=validation.boolean("overwrite", overwrite))


def graph_bytes(graph: Graph, place: Path) -> bytes:
    """The content of a file of this name for the graph."""
    if not isinstance(graph, Graph):
        raise CothermError("graph", validation.describe(graph), "a Graph")
    return _convert(place, _format(place, _GRAPHS).render, graph)


def read_mesh(path: str | os.PathLike[str]) -> Mesh:
    """Read a triangle mesh from a file.

    Parameters
    ----------
    path : str or path-like
        A ``.off``, ``.obj`` or ``.ply`` file; with the extra ``cotherm[mesh]`` also ``.stl``, ``.vtk``, ``.vtu``,
        ``.msh`` (Gmsh) or ``.mesh`` (Medit). Colors, normals, textures and so on are ignored.

    Returns
    -------
    Mesh
        Vertices and triangles.

    Raises
    ------
    CothermError
        If the file is missing or is not a mesh, or if it has polygons with more than three corners.

    See Also
    --------
    write_mesh : Write a mesh.
    mesh_graph : Graph of the edges of a mesh.

    Examples
    --------
    >>> import cotherm as ct
    >>> import tempfile, pathlib
    >>> mesh = ct.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "triangle.off"
    ...     ct.write_mesh(mesh, path)
    ...     ct.read_mesh(path) == mesh
    True
    """
    place = atomic.as_path(path)
    if place.suffix.lower() in by_meshio.READ:
        atomic.require_content(place)
        return _convert(place, by_meshio.read, place)
    return _convert(place, _format(place, _MESHES, MESH_SUFFIXES).parse, atomic.load(place))


def write_mesh(mesh: Mesh, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a triangle mesh to a file, completely or not at all.

    Parameters
    ----------
    mesh : Mesh
        The mesh.
    path : str or path-like
        The suffix chooses the format: ``.off``, ``.obj`` or ``.ply``; with the extra ``cotherm[mesh]`` also ``.vtk``
        or ``.vtu``.
    overwrite : bool, default False
        Whether to replace an existing file.

    Raises
    ------
    CothermError
        If the file exists.

    See Also
    --------
    read_mesh : Read a mesh.

    Examples
    --------
    >>> import cotherm as ct
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "points.ply"
    ...     ct.write_mesh(ct.Mesh([[0, 0, 0], [1, 0, 0]]), path)
    ...     ct.read_mesh(path)
    Mesh(2 vertices, 0 faces)
    """
    place = atomic.as_path(path)
    if not isinstance(mesh, Mesh):
        raise CothermError("mesh", validation.describe(mesh), "a Mesh")
    suffix = place.suffix.lower()
    if suffix in by_meshio.WRITTEN:
        render: Callable[[Mesh], bytes] = partial(by_meshio.render, suffix=suffix)
    else:
        render = _format(place, _MESHES, (*_MESHES, *by_meshio.WRITTEN)).render
    atomic.save(place, _convert(place, render, mesh), overwrite=validation.boolean("overwrite", overwrite))


def _format(path: Path, formats: Mapping[str, str], suffixes: Iterable[str] | None = None) -> Any:
    """The format of a file; ``suffixes`` lists all choices for the error, if there are more."""
    suffix = path.suffix.lower()
    if suffix in formats:
        return import_module(f"cotherm.graphs.formats.{formats[suffix]}")
    advice = ""
    if suffix in _MESHES or suffix in by_meshio.WRITTEN:
        advice = "Meshes are for read_mesh and write_mesh."
    elif suffix in _GRAPHS:
        advice = "Graphs are for read_graph and write_graph."
    raise CothermError(str(path), f"suffix {path.suffix!r}", "one of " + ", ".join(suffixes or formats), advice)


def _convert(path: Path, convert: Callable[[S], T], value: S) -> T:
    try:
        with within(path):
            return convert(value)
    except MemoryError:
        raise CothermError(str(path), "more data than memory holds", "less data, or more memory") from None
