"""Views from files: points, meshes and graphs all become graphs; a coupling gives the graphs it holds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.cli.header import NOTHING_SAID, Header, add_header, header_of
from cotherm.cli.names import names_of, view_number
from cotherm.cli.notices import announce, tell_unfinished
from cotherm.cli.parser import integer, number_or
from cotherm.cli.tables import add_tables, hint_of_scales, request_of, require_no_shared_ids, require_use, tables_in
from cotherm.errors import CothermError, visible
from cotherm.graphs.files import MESH_SUFFIXES, read_graph, read_mesh
from cotherm.graphs.formats import by_meshio, edge_list
from cotherm.graphs.formats.edges import require_proportion
from cotherm.graphs.graph import Graph
from cotherm.io import archive, atomic
from cotherm.io.kinds import PACKED, TABLES, TEXT, advice_for, stem_of, suffix_of
from cotherm.io.single_cells import count_modalities
from cotherm.io.table import Found, Request, Table
from cotherm.io.text_table import first_line
from cotherm.methods.coupling.result import Coupling
from cotherm.progress import working
from cotherm.spelling import near_miss

KINDS = (
    "points (.csv, .tsv, .txt, .npy, .xlsx, .parquet, .h5ad, .h5mu), a mesh (.off, .obj, .ply, with meshio "
    f"{', '.join(by_meshio.READ)}) or a graph (.npz, .mtx, .graphml, edge list .csv or .tsv)"
)
_SCALE_FROM = 7
_GRAPHS = (".npz", ".mtx", ".graphml")


@dataclass(frozen=True)
class View:
    """A graph, and how its file was read."""

    graph: Graph
    reading: str = ""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the items, where the file had any."""
        return names_of(self.graph)


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """How points become graphs."""
    group = parser.add_argument_group("graphs from points (graph files are used as they are)")
    group.add_argument(
        "--neighbors", "-k", type=integer, default=10, metavar="K", help="number of neighbors of each point (10)"
    )
    group.add_argument(
        "--scale",
        type=number_or("self-tuning", "median", "none"),
        default="self-tuning",
        metavar="S",
        help="scale of the Gaussian weights: self-tuning (one for each point, the default), median, none, or a number",
    )
    group.add_argument(
        "--metric", choices=["euclidean", "cosine"], default="euclidean", help="distance between points (euclidean)"
    )
    group.add_argument(
        "--symmetrize",
        choices=["max", "mean", "min"],
        default="max",
        help="weight of pairs that are not mutual neighbors (max)",
    )
    group.add_argument(
        "--standardize", action="store_true", help="scale every feature to mean 0 and standard deviation 1 first"
    )
    add_tables(parser)
    add_header(parser)


def read_views(paths: Sequence[str], options: argparse.Namespace, *, told: bool = True) -> list[View]:
    """The views in every file, with unique names; unless ``told`` is false, say how each file was read."""
    found = _views_in(paths, options, told=told)
    read = [(view, path) for path, views in zip(paths, found, strict=True) for view in views]
    names = [view.graph.name for view, _ in read]
    if len(set(names)) == len(names):
        return [view for view, _ in read]
    return [replace(view, graph=view.graph.replace(name=_longer_name(view.graph, path))) for view, path in read]


def view_count(paths: Sequence[str], options: argparse.Namespace) -> int:
    """How many views there are in the files, before they are read."""
    return sum(count_modalities(atomic.as_path(path), options.modality) for path in paths)


def read_same_items(paths: Sequence[str], options: argparse.Namespace) -> list[View]:
    """Views of the same items. Those with names are put in the order of the first, the others come row by row."""
    views = read_views(paths, options)
    first = next((view.names for view in views if view.names is not None), None)
    if first is None:
        return views
    ordered = [_in_order(view, first) for view in views]
    moved = [new.graph.name for old, new in zip(views, ordered, strict=True) if new is not old]
    announce((f"{name}: put in the order of the first view, by name" for name in moved), as_json=options.json)
    return ordered


def _in_order(view: View, names: tuple[str, ...]) -> View:
    own = view.names
    if own == names:
        return view
    if own is None:
        raise CothermError(
            view.graph.name or "VIEW",
            "no names of items, though another view has some",
            "names in every view, or in none",
        )
    known, here = set(names), set(own)
    if here != known:
        title = view.graph.name or "VIEW"
        near = near_miss([one for one in names if one not in here], [one for one in own if one not in known])
        cause = "" if near is None else f"{near.sentence('the first view', title)}. "
        raise CothermError(
            title,
            f"other items than in the first view, such as {min(here ^ known)!r}",
            "the same items in all views",
            f"{cause}`couple` takes views of different items.",
        )
    place = {name: row for row, name in enumerate(own)}
    graph = view.graph.subgraph([place[name] for name in names])
    return View(graph, f"{view.reading}; put in the order of the first view, by name")


def read_view(path: str, options: argparse.Namespace) -> View:
    """A graph from a file of points, a mesh or a graph."""
    views = _views_in([path], options)[0]
    if len(views) > 1:
        names = ", ".join(repr(view.graph.name) for view in views)
        raise CothermError(path, f"{len(views)} modalities, {names}", "one", "Choose it with --modality.")
    return views[0]


def _views_in(paths: Sequence[str], options: argparse.Namespace, *, told: bool = True) -> list[list[View]]:
    """The views in every file; refuses options that concern none of them."""
    silent = options.json or not told
    request, header = request_of(options, len(paths)), header_of(options)
    views: list[list[View]] = []
    tables: list[tuple[Path, Found]] = []
    for path in paths:
        place = atomic.as_path(path)
        whole = _graph_view(place, options, silent=silent)
        found = [] if whole is not None else _tables_in(place, request, header)
        new = [(place, one) for one in found]
        require_no_shared_ids(tables, new)
        tables += new
        views.append(
            [whole] if whole is not None else [_table_view(one, place, options, silent=silent) for one in found]
        )
    require_use(request, [atomic.as_path(path) for path in paths], [one for _, one in tables])
    return views


def _graph_view(place: Path, options: argparse.Namespace, *, silent: bool) -> View | None:
    """The view in a file of a graph or a mesh; None for all others."""
    suffix = place.suffix.lower()
    if suffix in _GRAPHS or is_edge_list(place):
        with working(f"reading {visible(place.name)}"):
            graph = _titled(read_graph(place), place)
        reading = f"{place}: a graph of {graph.n} vertices and {graph.m} edges"
        announce([reading], as_json=silent)
        return View(graph, reading=reading)
    if suffix in MESH_SUFFIXES:
        graph = _of_mesh(place, options)
        reading = f"{place}: a mesh of {graph.n} vertices"
        announce([reading], as_json=silent)
        return View(graph, reading=reading)
    return None


def _table_view(found: Found, place: Path, options: argparse.Namespace, *, silent: bool) -> View:
    table = found.table
    source = str(place) if found.name is None else f"{place}: modality {found.name!r}"
    hint = "" if options.standardize else hint_of_scales(table.values, table.titles)
    reading = f"{source}: {table.reading}" + (f". {hint}" if hint else "")
    announce([reading], as_json=silent)
    graph = _of_points(table, place, options, found.name or stem_of(place))
    return View(graph, reading)


def _longer_name(graph: Graph, path: str) -> str:
    """A view's name, prefixed by the directory, or by the file if that holds several views."""
    place = atomic.as_path(path)
    if graph.name != stem_of(place):
        return f"{stem_of(place)}/{graph.name}"
    return "/".join(place.with_name(stem_of(place)).parts[-2:])


def read_points(place: Path, header: Header = NOTHING_SAID) -> Table:
    """A table of numbers, read without the options for tables of points."""
    found = _tables_in(place, Request(), header, recipe=False)
    if len(found) > 1:
        raise CothermError(str(place), f"{len(found)} modalities", "a table")
    return found[0].table


def _tables_in(place: Path, request: Request, header: Header, *, recipe: bool = True) -> list[Found]:
    suffix = suffix_of(place)
    if suffix not in TABLES:
        raise CothermError(str(place), f"the suffix {suffix or 'none'}", KINDS, advice_for(suffix))
    if suffix in PACKED and edge_list.begins_like_one(first_line(place)):
        raise CothermError(str(place), "an edge list, compressed", "an edge list as it is", "Unpack it first.")
    return tables_in(place, request, header, recipe=recipe)


def is_edge_list(place: Path) -> bool:
    """Whether a table begins like an edge list: with our mark, or with titles of ends and weights."""
    return place.suffix.lower() in TEXT and edge_list.begins_like_one(first_line(place))


def read_result(path: str, *, told: bool = True) -> Coupling | Graph:
    """A file of `cotherm couple` or `cotherm graph`, or a graph from elsewhere; says if a coupling is unfinished."""
    place = atomic.as_path(path)
    if is_coupling(place):
        result = Coupling.load(place)
        if told:
            tell_unfinished(place, result)
        return result
    if place.suffix.lower() in _GRAPHS or is_edge_list(place):
        return _titled(read_graph(place), place)
    raise CothermError(
        str(place),
        "neither a coupling nor a graph",
        "a file from `cotherm couple` or `cotherm graph`, .mtx, or an edge list .csv",
    )


def is_coupling(place: Path) -> bool:
    return place.suffix.lower() == ".npz" and b"header" in (data := atomic.load(place)) and _has_member(data, "0.u")


def graphs_of(result: Coupling | Graph, view: str | None) -> list[tuple[str, Graph]]:
    """The graphs to work on with names to print: the coupled ones of a coupling, or the one that is asked for."""
    graphs = [result] if isinstance(result, Graph) else list(result.graphs)
    named = [(name_of(graph, k), graph) for k, graph in enumerate(graphs)]
    return named if view is None else [named[view_number(view, [name for name, _ in named])]]


def views_of(result: Coupling | Graph) -> list[str]:
    """The names of the views, to print and to choose by."""
    graphs = [result] if isinstance(result, Graph) else result.graphs
    return [name_of(graph, k) for k, graph in enumerate(graphs)]


def name_of(graph: Graph, k: int) -> str:
    return graph.name or f"view {k + 1}"


def _has_member(data: bytes, name: str) -> bool:
    return name in archive.names(data)


def _of_points(table: Table, place: Path, options: argparse.Namespace, name: str) -> Graph:
    from cotherm.graphs.build import knn_graph

    points = _standardized(table.values, place) if options.standardize else table.values
    # The scale of a point is its distance to the 7th neighbor, or to the last where there are fewer.
    scale_neighbor = max(1, min(_SCALE_FROM, len(points) - 1))
    with _told_of(place):
        return knn_graph(
            points,
            options.neighbors,
            scale_neighbor=scale_neighbor,
            **_kernel(options),
            engine=getattr(options, "engine", "cpu"),
            labels=table.labels,
            vertex_names=table.names,
            name=name,
        )


def _kernel(options: argparse.Namespace) -> dict[str, Any]:
    scale = None if options.scale == "none" else options.scale
    return {"scale": scale, "metric": options.metric, "symmetrize": options.symmetrize}


def _standardized(points: Floats, place: Path) -> Floats:
    spread = points.std(axis=0)
    if not np.all(spread > 0.0):
        raise CothermError(
            str(place), f"feature {int(np.argmin(spread)) + 1} is constant", "features that vary, to standardize them"
        )
    return np.asarray((points - points.mean(axis=0)) / spread)


def _of_mesh(place: Path, options: argparse.Namespace) -> Graph:
    from cotherm.graphs.build import mesh_graph

    mesh = read_mesh(place)
    if not len(mesh.faces):
        return _of_points(Table(mesh.vertices, None, None, ""), place, options, place.stem)
    return mesh_graph(mesh.vertices, mesh.faces, weights="gaussian", name=place.stem)


def _titled(graph: Graph, place: Path) -> Graph:
    """Read a graph and name it after its file if unnamed. A forged number of vertices is refused before allocation."""
    require_proportion(str(place), graph.n, graph.m, "Leave out vertices without neighbors.")
    return graph if graph.name is not None else graph.replace(name=place.stem)


# Arguments in knn_graph's errors, and the options they come from.
_OPTIONS = {"k": "--neighbors", "scale": "--scale"}
# Arguments that are not about any file.
_ELSEWHERE = {"engine": "--engine", "cupy": "--engine gpu"}


@contextmanager
def _told_of(place: Path) -> Iterator[None]:
    """Add the file to errors about points."""
    try:
        yield
    except CothermError as error:
        option = _OPTIONS.get(error.argument)
        where = f"{place}: {error.argument}" if option is None else f"{option} ({place})"
        where = _ELSEWHERE.get(error.argument, where)
        raise CothermError(where, error.given, error.needed, error.advice) from None
