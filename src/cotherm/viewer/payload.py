"""Everything a page holds of a coupling: the header, which is JSON, and the arrays it names.

A plan says how much of it: how many vertices and edges of each graph, and in which precision. ``plans`` come in the
order in which they are to be tried until a page is small enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.errors import visible
from cotherm.methods.coupling.result import Coupling
from cotherm.progress import working
from cotherm.version import __version__
from cotherm.viewer import contents
from cotherm.viewer.blocks import Blocks, shown_name
from cotherm.viewer.given import Given
from cotherm.viewer.heat import LEVELS, TOLERANCE, checks_of, frames_of, stops_of
from cotherm.viewer.places import Places, near_together, places_of
from cotherm.viewer.reduction import Edges, Part, edges_of, parts_of

FORMAT, VERSION = "cotherm-viewer", 1
# Stops of the time slider; fewer where the page holds a frame for each.
_STOPS, _FRAME_STOPS = 48, 16
# Approximate bytes of an edge and of a number of heat after compression; the factor by which each attempt shows less.
_EDGE_BYTES, _FRAME_BYTES, _LESS, _ATTEMPTS = 10.0, 0.85, 0.8, 16
# Arrays of a page that shows graphs in part, in parts of the most bytes. Base64 would leave room for three quarters,
# but such a page opens in half the time.
_REDUCED_PAGE = 0.45
# The most bytes of functions in a page.
_FUNCTION_BYTES = 6_000_000
_FEWEST_FUNCTIONS = 4


@dataclass(frozen=True)
class Plan:
    """How much of each graph goes into the page, and at which precision."""

    vertices: int
    edges: int
    single: bool


@dataclass(frozen=True)
class Source:
    """The data that every plan starts from, computed once."""

    result: Coupling
    given: Given
    names: list[str]  # of the views
    title: str
    edges: list[Edges]
    places: list[Places]
    labels: contents.Labels
    weights: list[Floats] | None


def source_of(result: Coupling, given: Given, title: str | None) -> Source:
    """Edges, places, labels and weights of all views."""
    with working("comparing edges"):
        edges = edges_of(result)
    places = places_of(result.originals, given.positions)
    with working("comparing views item by item"):
        weights = contents.weights_of(result)
    names = [shown_name(graph.name or f"view {k + 1}") for k, graph in enumerate(result.originals)]
    if title is None:
        title = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) + ", before and after coupling"
    return Source(result, given, names, shown_name(title), edges, places, contents.labels_of(given.labels), weights)


def plans(source: Source) -> Iterator[Plan]:
    """Plans, from everything in double precision to ever smaller parts in single precision."""
    graphs = source.result.graphs
    if all(graph.n <= limits.VIEWER_VERTICES and graph.m <= limits.VIEWER_EDGES for graph in graphs):
        yield Plan(limits.VIEWER_VERTICES, limits.VIEWER_EDGES, single=False)
        yield Plan(limits.VIEWER_VERTICES, limits.VIEWER_EDGES, single=True)
    share = _REDUCED_PAGE * limits.PAGE_BYTES / len(graphs)
    functions = min(source.result.functions[0].shape[1], limits.REDUCED_FUNCTIONS)
    density = max(graph.m / graph.n for graph in graphs)
    vertex_bytes = 2 * (_FRAME_STOPS + 1) * functions * _FRAME_BYTES + _EDGE_BYTES * density + 30.0
    vertices = min(share / vertex_bytes, limits.VIEWER_VERTICES)
    for attempt in range(_ATTEMPTS):
        part = _LESS**attempt
        edges = min(part * share / _EDGE_BYTES, limits.VIEWER_EDGES)
        yield Plan(max(int(part * vertices), 10), max(int(edges), 10), single=True)


def payload(source: Source, plan: Plan) -> tuple[dict[str, Any], Blocks]:
    """The header and the arrays."""
    result, blocks = source.result, Blocks()
    with working("choosing what is shown"):
        parts = parts_of(source.edges, [g.n for g in result.graphs], source.given.pairs, plan.vertices, plan.edges)
    shown = [  # in the order of the page: as in the graph, or near ones together if only a part is shown
        part.vertices if part.whole else part.vertices[near_together(place.points[part.vertices])]
        for part, place in zip(parts, source.places, strict=True)
    ]
    whole = [part.whole for part in parts]
    reduced = [k for k, one in enumerate(whole) if not one]
    functions = _function_count(result, shown, all(whole))
    names, shortened = contents.names_of(source.given.names, shown, whole)
    stops = stops_of([*result.originals, *result.graphs], result.times, _STOPS if all(whole) else _FRAME_STOPS)
    with working("packing graphs"):
        views = [
            _view(blocks, source, k, parts[k], shown[k], names[k], functions, single=plan.single)
            for k in range(len(parts))
        ]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "title": source.title,
        "made_by": f"cotherm {__version__}",
        "notes": _notes(source, plan, parts, shortened, functions),
        "views": views,
        "functions": [{"name": name} for name in contents.function_names(result, source.given.labels, functions)],
        "pairs": _pairs(blocks, source.given, shown, [graph.n for graph in result.graphs]),
        "times": {
            **{"least": stops.least, "most": stops.most, "count": stops.count, "unit": stops.unit},
            "coupled": [float(t) for t in result.times],
        },
        "heat": {
            "tolerance": TOLERANCE,
            "weights": "single" if plan.single else "double",
            "frames": frames_of(blocks, result, reduced, shown, functions, stops) if reduced else None,
        },
        "summary": contents.summary_of(result),
        "curve": contents.curve_of(result, stops),
        "agreement": contents.agreement_of(result),
        "history": contents.history_of(result),
        "checks": checks_of(result, reduced, shown, stops),
    }
    return {**header, "blocks": blocks.index}, blocks


def _function_count(result: Coupling, shown: list[Ints], whole: bool) -> int:
    q = int(result.functions[0].shape[1])
    if not whole:
        return min(q, limits.REDUCED_FUNCTIONS)
    fitting = _FUNCTION_BYTES // (8 * sum(map(len, shown)))
    return min(q, limits.PAGE_FUNCTIONS, max(fitting, _FEWEST_FUNCTIONS))


def _view(
    blocks: Blocks, source: Source, k: int, part: Part, shown: Ints, names: Any, functions: int, *, single: bool
) -> dict[str, Any]:
    graph, place = source.result.originals[k], source.places[k]
    number = np.full(graph.n, -1, dtype=np.int64)
    number[shown] = np.arange(len(shown))
    edges = source.edges[k] if part.whole else source.edges[k].chosen(part.edges, number)
    real = "f4" if single else "f8"
    faces, pictures = source.given.faces[k], source.given.thumbnails[k]
    codes, classes = source.labels.codes[k], source.labels.classes
    corners = np.empty((0, 3), dtype=np.int64) if faces is None else number[faces]
    corners = corners[np.all(corners >= 0, axis=1)]  # of faces that are shown as a whole

    def add(name: str, values: Any, dtype: str) -> str:
        return blocks.add(f"{k}.{name}", values, dtype)

    return {
        "name": source.names[k],
        "n": len(shown),
        "m": len(edges.i),
        "whole": {"n": graph.n, "m": graph.m},
        "dimensions": place.dimensions,
        "layout": "given" if place.given else "computed",
        "position": add("position", place.points[shown], "f4"),
        "faces": add("faces", corners, "u4") if len(corners) else None,
        "i": add("i", edges.i, "u4"),
        "j": add("j", edges.j, "u4"),
        "before": add("before", edges.before, real),
        "after": add("after", edges.after, real),
        "kind": add("kind", edges.kind, "u1"),
        "names": names,
        "labels": None if codes is None else {"codes": add("labels", codes[shown], "i4"), "classes": classes},
        "believed": None if source.weights is None else add("believed", source.weights[k][shown], "f4"),
        "thumbnails": pictures and [pictures[v] for v in shown.tolist()],
        "functions": add("functions", source.result.functions[k][shown, :functions].T, real) if functions else None,
    }


def _pairs(blocks: Blocks, given: Given, shown: list[Ints], sizes: list[int]) -> list[dict[str, Any]]:
    """For every two views, the items that are shown in both."""
    found: list[dict[str, Any]] = []
    if given.pairs is None:
        return found
    numbers = [np.full(n, -1, dtype=np.int64) for n in sizes]
    for number, vertices in zip(numbers, shown, strict=True):
        number[vertices] = np.arange(len(vertices))
    for k, other in combinations(range(len(shown)), 2):
        a, b = given.pairs.shared(k, other)
        a, b = numbers[k][a], numbers[other][b]
        both = (a >= 0) & (b >= 0)
        if both.any():
            ends = {name: blocks.add(f"{k}.{other}.{name}", end[both], "u4") for name, end in (("a", a), ("b", b))}
            found.append({"views": [k, other], **ends})
    return found


def _notes(source: Source, plan: Plan, parts: list[Part], shortened: str, functions: int) -> list[str]:
    """Notes on what is not shown as it is, and those of the result."""
    notes = [part.note(name) for part, name in zip(parts, source.names, strict=True) if not part.whole]
    if notes:
        notes.append(
            "Of graphs that are shown in part, heat from functions is that of the whole graph, stored to "
            f"{1.0 / LEVELS:.1e} of its range; heat from a vertex flows on what is shown alone."
        )
    if plan.single:
        notes.append("Weights are stored in single precision: each is exact to 6e-8 of itself.")
    q = source.result.functions[0].shape[1]
    if functions < q:
        notes.append(f"The first {functions} of {q:,} functions can be chosen.")
    remarks = [visible(remark) for remark in source.result._remarks()]
    return [*notes, *filter(None, [shortened, source.labels.note]), *remarks]
