"""Views from files: tables of points, meshes and graphs become graphs; a coupling gives the graphs it holds."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.cli.advice import in_options
from cotherm.cli.outputs import announce, tell
from cotherm.errors import CothermError, renamed, visible
from cotherm.graphs import build
from cotherm.graphs.files import MESH_SUFFIXES, read_graph, read_mesh
from cotherm.graphs.formats import by_meshio, edge_list
from cotherm.graphs.graph import Graph
from cotherm.heat.times import diffusion_time
from cotherm.io import archive, atomic, ids, kinds
from cotherm.io.cells import shown, whole_number
from cotherm.io.columns import EVERYTHING, Numbers, Request
from cotherm.io.kinds import stem_of, suffix_of
from cotherm.io.single_cells import count_modalities
from cotherm.io.table import read_tables
from cotherm.io.text import excerpt
from cotherm.io.text_table import first_line
from cotherm.methods.coupling.result import Coupling
from cotherm.progress import working
from cotherm.spelling import near_miss

# Whether the first rows of tables are titles, by the real paths of the files, as far as the user said so.
Headers = Mapping[str, bool]
NO_HEADERS: Headers = {}

# From this ratio of standard deviations on, the largest columns alone decide nearly all distances.
_UNLIKE = 100.0
# In wide tables, the few columns that vary least say little.
_LEAST = 0.1
# The word that says that no column holds ids.
_NONE = "none"

KINDS = (
    "points (.csv, .tsv, .txt, .npy, .xlsx, .parquet, .h5ad, .h5mu), a mesh (.off, .obj, .ply, with meshio "
    f"{', '.join(by_meshio.READ)}) or a graph (.npz, .mtx, .graphml, edge list .csv or .tsv)"
)
_SCALE_FROM = 7
_GRAPHS = (".npz", ".mtx", ".graphml")
# The statuses of couplings that were stopped from outside.
_STOPPED = ("interrupted", "time limit")
# Default times, in moves along edges: heat has left its neighborhood and is not yet everywhere.
_MOVES = (5.0, 10.0, 20.0)
# Arguments of knn_graph, and the options they come from; those of the second kind are not about any file.
_OPTIONS = {"k": "--neighbors", "scale": "--scale"}
_ELSEWHERE = {"engine": "--engine", "cupy": "--engine gpu"}


@dataclass(frozen=True)
class View:
    """A graph, and how its file was read."""

    graph: Graph
    reading: str = ""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the items, where the file had any."""
        return names_of(self.graph)


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
    own, title = view.names, view.graph.name or "VIEW"
    if own == names:
        return view
    if own is None:
        given = "no names of items, though another view has some"
        raise CothermError(title, given, "names in every view, or in none")
    known, here = set(names), set(own)
    if here != known:
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
    request, header = request_of(options, len(paths)), read_headers(options)
    places = [atomic.as_path(path) for path in paths]
    views: list[list[View]] = []
    tables: list[Numbers] = []
    for place in places:
        whole = _graph_view(place, options)
        if whole is not None:
            announce([whole.reading], as_json=silent)
            views.append([whole])
            continue
        new = tables_in(place, request, header)
        for one, two in product(tables, new):
            with in_options(points=True):
                ids.refuse_shared(one, two)
        tables += new
        views.append([_table_view(one, place, options, silent=silent) for one in new])
    require_use(request, places, tables)
    return views


def _graph_view(place: Path, options: argparse.Namespace) -> View | None:
    """The view in a file of a graph or a mesh; None for all others."""
    if place.suffix.lower() in _GRAPHS or is_edge_list(place):
        with working(f"reading {visible(place.name)}"):
            graph = _titled(read_graph(place), place)
        return View(graph, f"{place}: a graph of {graph.n} vertices and {graph.m} edges")
    if place.suffix.lower() not in MESH_SUFFIXES:
        return None
    mesh = read_mesh(place)
    if len(mesh.faces):
        graph = build.mesh_graph(mesh.vertices, mesh.faces, weights="gaussian", name=place.stem)
    else:
        graph = _of_points(mesh.vertices, place, options, name=place.stem)
    return View(graph, f"{place}: a mesh of {graph.n} vertices")


def _table_view(table: Numbers, place: Path, options: argparse.Namespace, *, silent: bool) -> View:
    source = str(place) if table.modality is None else f"{place}: modality {table.modality!r}"
    hint = "" if options.standardize else hint_of_scales(table.values, table.titles)
    reading = f"{source}: {table.reading}" + (f". {hint}" if hint else "")
    announce([reading], as_json=silent)
    name = table.modality or stem_of(place)
    graph = _of_points(table.values, place, options, labels=table.labels, vertex_names=table.names, name=name)
    return View(graph, reading)


def _longer_name(graph: Graph, path: str) -> str:
    """A view's name, prefixed by the directory, or by the file if that holds several views."""
    place = atomic.as_path(path)
    if graph.name != stem_of(place):
        return f"{stem_of(place)}/{graph.name}"
    return "/".join(place.with_name(stem_of(place)).parts[-2:])


def read_points(place: Path, header: Headers = NO_HEADERS) -> Numbers:
    """A table of numbers, read without the options for tables of points."""
    found = tables_in(place, headers=header, points=False)
    if len(found) > 1:
        raise CothermError(str(place), f"{len(found)} modalities", "a table")
    return found[0]


def is_edge_list(place: Path) -> bool:
    """Whether a table begins like an edge list: with our mark, or with titles of ends and weights."""
    return place.suffix.lower() in kinds.TEXT and edge_list.begins_like_one(first_line(place))


def read_result(path: str, *, told: bool = True) -> Coupling | Graph:
    """A file of `cotherm couple` or `cotherm graph`, or a graph from elsewhere; says if a coupling is unfinished."""
    place = atomic.as_path(path)
    if is_coupling(place):
        result = Coupling.load(place)
        if told and result.status in _STOPPED:
            tell(f"note: {place}: status {result.status}. {result.advice}")
        return result
    if place.suffix.lower() in _GRAPHS or is_edge_list(place):
        return _titled(read_graph(place), place)
    raise CothermError(
        str(place),
        "neither a coupling nor a graph",
        "a file from `cotherm couple` or `cotherm graph`, .mtx, or an edge list .csv",
    )


def read_coupling(path: str, needed: str = "a coupling, from `cotherm couple`", advice: str = "") -> Coupling:
    """A file of `cotherm couple`."""
    result = read_result(path)
    if isinstance(result, Graph):
        raise CothermError(path, "a graph", needed, advice)
    return result


def is_coupling(place: Path) -> bool:
    """Whether a file is a coupling, by the names of its arrays."""
    return place.suffix.lower() == ".npz" and b"header" in (data := atomic.load(place)) and "0.u" in archive.names(data)


def graphs_of(result: Coupling | Graph, view: str | None) -> list[tuple[str, Graph]]:
    """The graphs to work on with names to print: the coupled ones of a coupling, or the one that is asked for."""
    graphs = [result] if isinstance(result, Graph) else list(result.graphs)
    named = list(zip(view_names(graphs), graphs, strict=True))
    return named if view is None else [named[view_number(view, [name for name, _ in named])]]


def name_of(graph: Graph, k: int) -> str:
    """What to call view k."""
    return graph.name or f"view {k + 1}"


def view_names(graphs: Sequence[Graph]) -> list[str]:
    """The names of views, to print and to choose by."""
    return [name_of(graph, k) for k, graph in enumerate(graphs)]


def view_number(text: str, names: Sequence[str], option: str = "--view") -> int:
    """The number from 0 of a view given by its name, or by its number from 1."""
    if text in names:
        return list(names).index(text)
    number = whole_number(text)
    if number is None or not 1 <= number <= len(names):
        raise CothermError(option, excerpt(text), f"one of {', '.join(names)}, or a number from 1 to {len(names)}")
    return number - 1


def names_of(graph: Graph) -> tuple[str, ...] | None:
    """The names of the vertices as text; None where they have none."""
    return None if graph.vertex_names is None else tuple(map(str, graph.vertex_names.tolist()))


def items_of(graph: Graph) -> list[str]:
    """What to call each vertex: its name, or its number from 0."""
    return list(names_of(graph) or map(str, range(graph.n)))


class Lookup:
    """Look up vertices of a graph by name, or by number from 0 unless a name could be a number."""

    def __init__(self, graph: Graph, view: str) -> None:
        self._n, self._view = graph.n, view
        self._places = {name: v for v, name in enumerate(names_of(graph) or ())}
        self._numbers = not any(whole_number(name) is not None for name in self._places)

    def find(self, text: str) -> int | None:
        """The vertex with this name or number; None if it does not exist."""
        if text in self._places or not self._numbers:
            return self._places.get(text)
        number = whole_number(text)
        return number if number is not None and number < self._n else None

    def require(self, text: str, option: str) -> int:
        """Like :meth:`find`, but a missing vertex is an error."""
        found = self.find(text)
        if found is None:
            raise CothermError(option, excerpt(text), self.needed)
        return found

    @property
    def needed(self) -> str:
        """The valid names and numbers, for a message."""
        numbers = f"a number from 0 to {self._n - 1}"
        example = next(iter(self._places), None)
        if example is None:
            return f"a vertex of {self._view}: {numbers}"
        if not self._numbers:
            return f"the name of an item of {self._view}, such as {example!r}"
        return f"an item of {self._view}: a name such as {example!r}, or {numbers}"


def comparison_times(given: Sequence[float] | None, result: Coupling | Graph, option: str = "--times") -> list[float]:
    """The times asked for, or those that suit the graphs."""
    if given is not None:
        return validation.times(option, given).tolist()
    graphs = [result] if isinstance(result, Graph) else list(result.originals)
    # Two digits, because times are printed and may be passed to the next command.
    return [float(f"{diffusion_time(moves, *graphs, without_edges=moves):.2g}") for moves in _MOVES]


def _of_points(values: Floats, place: Path, options: argparse.Namespace, **named: Any) -> Graph:
    points = _standardized(values, place) if options.standardize else values
    with _told_of(place):
        return build.knn_graph(
            points,
            options.neighbors,
            # The scale of a point is its distance to the 7th neighbor, or to the last where there are fewer.
            scale_neighbor=max(1, min(_SCALE_FROM, len(points) - 1)),
            scale=None if options.scale == "none" else options.scale,
            metric=options.metric,
            symmetrize=options.symmetrize,
            engine=getattr(options, "engine", "cpu"),
            **named,
        )


def _standardized(points: Floats, place: Path) -> Floats:
    spread = points.std(axis=0)
    if not np.all(spread > 0.0):
        given = f"feature {int(np.argmin(spread)) + 1} is constant"
        raise CothermError(str(place), given, "features that vary, to standardize them")
    return np.asarray((points - points.mean(axis=0)) / spread)


def _titled(graph: Graph, place: Path) -> Graph:
    """Read a graph and name it after its file if unnamed. A forged number of vertices is refused before allocation."""
    edge_list.require_proportion(str(place), graph.n, graph.m, "Leave out vertices without neighbors.")
    return graph if graph.name is not None else graph.replace(name=place.stem)


@contextmanager
def _told_of(place: Path) -> Iterator[None]:
    """Add the file to errors about points."""
    try:
        yield
    except CothermError as error:
        option = _OPTIONS.get(error.argument)
        where = f"{place}: {error.argument}" if option is None else f"{option} ({place})"
        raise renamed(error, _ELSEWHERE.get(error.argument, where)) from None


def read_headers(options: argparse.Namespace) -> Headers:
    """What --header and --no-header say; every file in them must be one that the command reads."""
    values = [value for name, value in vars(options).items() if name not in ("header", "no_header", "out")]
    flat = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    read = {os.path.realpath(entry) for entry in flat if isinstance(entry, str) and "\0" not in entry}
    said: dict[str, bool] = {}
    paths = {"--header": options.header, "--no-header": options.no_header}
    for option, path in ((option, path) for option, several in paths.items() for path in several or []):
        place, titled = os.path.realpath(path), option == "--header"
        if place not in read:
            raise CothermError(f"{option} {path}", "not a table of this command", "one of the files it reads")
        if said.setdefault(place, titled) != titled:
            raise CothermError("--header", f"{place}, which is under --no-header too", "one of the two")
    return said


def header_of(place: Path, headers: Headers) -> bool | None:
    """Whether the first row of a table holds titles; None where nothing was said."""
    return headers.get(os.path.realpath(place))


def request_of(options: argparse.Namespace, files: int) -> Request:
    """What the options say about ``files`` files; if there are several, a column need not be in all of them."""
    columns, ids = options.columns, options.id_column
    return Request(
        None if columns is None else tuple(columns),
        tuple(options.drop_columns or ()),
        options.label_column,
        None if ids is None else () if ids == [_NONE] else tuple(ids),
        strict=files == 1,
        **{name: getattr(options, name) for name in ("missing", "decimal", "sheet", "rep", "modality")},
    )


def tables_in(
    place: Path, request: Request = EVERYTHING, headers: Headers = NO_HEADERS, *, points: bool = True
) -> list[Numbers]:
    """The tables in a file; ``points`` says whether the command has the options of tables for it."""
    suffix = suffix_of(place)
    if suffix not in kinds.TABLES:
        raise CothermError(str(place), f"the suffix {suffix or 'none'}", KINDS, kinds.advice_for(suffix))
    if suffix in kinds.PACKED and edge_list.begins_like_one(first_line(place)):
        raise CothermError(str(place), "an edge list, compressed", "an edge list as it is", "Unpack it first.")
    said = header_of(place, headers) if suffix in kinds.CELLS else None
    with in_options(points=points):
        found = read_tables(place, replace(request, header=said))
        for one in found if points else ():
            ids.refuse_first(one)
        return found


def require_use(request: Request, places: Sequence[Path], found: Sequence[Numbers]) -> None:
    """Refuse options that concern none of the files."""
    for name in ("decimal", "sheet", "rep", "modality"):
        value, suffixes = getattr(request, name), kinds.MEANT_FOR[name]
        if value is not None and not any(suffix_of(place) in suffixes for place in places):
            raise CothermError(f"--{name}", f"{value}, and no file that has it", f"a {suffixes[0]} file")
    nowhere = set(request.asked).intersection(*(set(one.absent) for one in found))
    if not nowhere:
        return
    title = next(title for title in request.asked if title in nowhere)
    by_option = {"--columns": request.columns, "--id-column": request.ids, "--drop-columns": request.drop}
    option = next((name for name, titles in by_option.items() if title in (titles or ())), "--label-column")
    known = [title for one in found for title in one.known or ()]
    needed = f"some of {shown(known)}" if known else "tables with titles"
    raise CothermError(option, f"no column {title!r} in any table", needed)


def hint_of_scales(points: Floats, titles: Sequence[str] | None) -> str:
    """A hint if a few columns decide nearly all distances by their units alone; otherwise empty."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers past the square root of the largest
        spread = points.std(axis=0)
    varied = np.flatnonzero((spread > 0.0) & np.isfinite(spread))
    if len(varied) < 2:
        return ""
    order = varied[np.argsort(spread[varied], kind="stable")]
    least, greatest = order[int(_LEAST * (len(order) - 1))], order[-1]
    if not float(spread[greatest] / spread[least]) > _UNLIKE:
        return ""
    said = [f"{spread[c]:.3g} of {titles[c] if titles else f'column {c + 1}'}" for c in (greatest, least)]
    return (
        f"Hint: its columns differ in scale, standard deviations are {' and '.join(said)}; --standardize gives all the "
        "same weight."
    )
