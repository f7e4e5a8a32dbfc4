"""``cotherm show`` and ``cotherm view``: pictures of graphs and couplings, and pages for the browser."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cotherm as ct
from cotherm.cli import options as declare
from cotherm.cli import outputs
from cotherm.cli.correspondence import labels_of_items, read_labels
from cotherm.cli.inputs import View, items_of, name_of, read_coupling, read_headers, read_points, read_result
from cotherm.errors import CothermError
from cotherm.graphs.files import MESH_SUFFIXES
from cotherm.io import atomic
from cotherm.progress import is_terminal
from cotherm.viewer.page import Page, make_page, open_file, private_file

_SHOW = """\
Draws a coupling: each view before and after, with classes in color and weights as the width and
gray level of edges. Every view is laid out once and keeps its positions. Edges that were cut,
weakened, strengthened or are new are marked and counted. Graphs without coordinates are laid out
by their diffusion distances.

  --kind graphs       before and after (the default)
  --kind heat         heat from one function at the coupling's times, before and after, in one color
                      scale
  --kind coupling     how much heat differs between the views at each time, before and after
  --kind convergence  how the views come to agree step by step, and how far they move for it

With a name that ends in .html, all of this in one page for the browser, as `cotherm view` writes it.
"""
_SHOW_EXAMPLES = """\
  cotherm couple images.csv words.csv --labels labels.csv --out coupled.npz --force
  cotherm show coupled.npz --out coupled.png
  cotherm show coupled.npz --kind heat --function 1 --out heat.pdf
  cotherm show coupled.npz --out coupled.html
"""
_SHOW_OPTIONS = (
    declare.file("a coupling or a graph"),
    declare.out("the picture: .png, .pdf or .svg; or a page: .html"),
    {
        "--kind": declare.choice(
            ["graphs", "heat", "coupling", "convergence"], "what to draw (graphs)", default="graphs"
        ),
        "--function": declare.value(
            declare.integer, "C", "for --kind heat: the function, counted from 1 (1)", default=1
        ),
    },
    declare.LABELS,
    declare.HEADERS,
)


def _show(options: argparse.Namespace) -> None:
    place = outputs.free_place(options.out, (".png", ".pdf", ".svg", ".html"), force=options.force)
    if place.suffix.lower() == ".html":
        if options.kind != "graphs":
            given = f"{options.kind}, with a page"
            raise CothermError("--kind", given, "a page without it: it shows all of them")
        page = _page(options)
        outputs.write(place, page.html.encode(), force=options.force)
        report = {"out": str(place), "kind": "page", "notes": list(page.notes)}
        outputs.say(report, "\n".join([*page.notes, f"Page: {place}"]), as_json=options.json)
        return
    figure = _picture(read_result(options.file), options)
    outputs.write(place, outputs.figure_bytes(place, figure), force=options.force)
    outputs.say({"out": str(place), "kind": options.kind}, f"Picture: {place}", as_json=options.json)


def _picture(result: ct.Coupling | ct.Graph, options: argparse.Namespace) -> Any:
    from cotherm.draw.panels import views_figure
    from cotherm.draw.result import places

    if isinstance(result, ct.Graph):
        if options.kind != "graphs":
            raise CothermError("--kind", options.kind, "graphs, for a file with one graph")
        stored = None if result.labels is None else [result.labels]
        labels = labels_of_items([result], options)[0] or stored
        at, name = places(result), name_of(result, 0)
        return views_figure([[result]], [[at]], [[None]], rows=[name], columns=[], labels=labels)
    q = result.functions[0].shape[1]
    if options.kind == "heat" and not 1 <= options.function <= q:
        raise CothermError("--function", str(options.function), f"a function from 1 to {q}")
    labels, _ = labels_of_items(result.originals, options)
    return ct.draw.draw_result(result, options.kind, labels=labels, function=max(options.function - 1, 0))


_VIEW = """\
Writes one HTML page that shows a coupling: all graphs before and after, side by side. Heat flows on
all of them from a function or from any vertex; edges that were cut, weakened, strengthened or are
new are marked and listed. The page opens from disk. It needs no server and no network, and nothing
in the data can run in it.

On a terminal the page is opened in a browser. Without --out it is a temporary file; where the page
is, is always printed.

Pages stay below 25 MB. Of graphs with more than 50,000 vertices or 500,000 edges a part is shown,
and the page says which.
"""
_VIEW_EXAMPLES = """\
  cotherm couple images.csv words.csv --out viewed.npz --force
  cotherm view viewed.npz --out viewed.html --labels labels.csv --no-open
"""
_VIEW_OPTIONS = (
    declare.file("a coupling written by `cotherm couple`"),
    declare.out("the page: .html (a temporary file)", required=False),
    {
        "--no-open": declare.flag("do not open a browser"),
        "--title": declare.value(str, "TEXT", "title of the page"),
    },
    declare.LABELS,
    {
        "--names": declare.files("names of items (default: those stored in FILE)"),
        "--positions": declare.files(
            "where vertices are: a table of two or three columns, or a mesh, one file for all views or one for each"
        ),
        "--pairs": declare.choice(["same", "names"], "which vertices are the same item in all views"),
    },
    declare.HEADERS,
)


def _view(options: argparse.Namespace) -> None:
    given = None if options.out is None else outputs.free_place(options.out, (".html", ".htm"), force=options.force)
    page = _page(options)
    if given is None:
        place = private_file(page.html.encode())  # that only the user can read
    else:
        place = given
        outputs.write(place, page.html.encode(), force=options.force)
    opened = not options.no_open and not options.json and is_terminal(sys.stdout) and open_file(place)
    report = {"out": str(place), "bytes": len(page.html.encode()), "notes": list(page.notes), "opened": opened}
    outputs.say(report, "\n".join([*page.notes, f"Page: {place}"]), as_json=options.json)


def _page(options: argparse.Namespace) -> Page:
    """The page of a file; options that the command lacks have their defaults."""
    result = read_coupling(options.file, advice="`cotherm show` draws a graph.")
    graphs = result.originals
    positions, faces = _places(getattr(options, "positions", None), graphs)
    return make_page(
        result,
        labels=labels_of_items(graphs, options)[0],
        names=_names(graphs, options),
        positions=positions,
        faces="auto" if faces is None else faces,
        pairs=getattr(options, "pairs", None),
        title=getattr(options, "title", None),
    )


def _names(graphs: Sequence[ct.Graph], options: argparse.Namespace) -> list[Any] | None:
    """The same for names; items that the files do not name keep theirs."""
    paths = getattr(options, "names", None)
    if not paths:
        return None
    views = [View(graph) for graph in graphs]
    found = read_labels(views, paths, None, read_headers(options), option="--names", shared=False).of
    return [
        [name or own for name, own in zip(names.tolist(), items_of(graph), strict=True)]
        for names, graph in zip(found, graphs, strict=True)
    ]


def _places(paths: Sequence[str] | None, graphs: Sequence[ct.Graph]) -> tuple[list[Any] | None, list[Any] | None]:
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
        mesh = ct.read_mesh(place)
        return mesh.vertices, mesh.faces if len(mesh.faces) else None
    return read_points(place).values, None


COMMANDS = {
    "show": declare.Command(_SHOW, _SHOW_EXAMPLES, _SHOW_OPTIONS, _show),
    "view": declare.Command(_VIEW, _VIEW_EXAMPLES, _VIEW_OPTIONS, _view),
}
