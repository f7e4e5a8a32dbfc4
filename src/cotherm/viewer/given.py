"""What may be given beside a result: labels, names, positions, faces, thumbnails and pairs, each for every view.

Thumbnails are small PNG, JPEG or WebP pictures of items, recognized by their bytes. Other kinds are refused: SVG in
particular is a document that may hold scripts and links.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.faces import faces_of, is_mesh, oriented
from cotherm.graphs.graph import Graph
from cotherm.indexed import rows_in_order
from cotherm.io import atomic
from cotherm.methods.coupling.result import Coupling
from cotherm.pairs import Pairs, checked_pairs

_NEEDED = "a PNG, JPEG or WebP: its bytes, a path, or None"
# Pictures with more pixels on a side are refused: they may be made to exhaust the memory of a browser.
_WIDEST = 1_024


@dataclass(frozen=True)
class Given:
    """Checked data: an entry for each view, None if nothing was given."""

    labels: list[NDArray[Any] | None]
    names: list[NDArray[Any] | None]
    positions: list[Floats | None]
    faces: list[Ints | None]
    thumbnails: list[list[str | None] | None]
    pairs: Pairs | None


def checked(
    result: Coupling,
    *,
    labels: Sequence[Any] | None,
    names: Sequence[Any] | None,
    positions: Sequence[Any] | None,
    faces: str | Sequence[Any],
    thumbnails: Sequence[Any] | None,
    pairs: Any,
) -> Given:
    """Check what was given; what is missing comes from the graphs."""
    graphs = result.originals
    places = _each("positions", positions, graphs, _positions)
    return Given(
        labels=_each("labels", labels, graphs, partial(_texts, "label"), [graph.labels for graph in graphs]),
        names=_each("names", names, graphs, partial(_texts, "name"), [graph.vertex_names for graph in graphs]),
        positions=places,
        faces=_all_faces(graphs, faces, places),
        thumbnails=_each("thumbnails", thumbnails, graphs, _thumbnail_urls),
        pairs=_pairs(result, pairs),
    )


def _each(argument: str, value: Any, graphs: Sequence[Graph], check: Callable[..., Any], own: Any = ()) -> list[Any]:
    """What was given for every view, checked; for views without what they have of their own, if anything."""
    none = [None] * len(graphs)
    given = none if value is None else validation.items(argument, value, len(graphs), each="graphs, None for none")
    views = enumerate(zip(given, graphs, own or none, strict=True))
    return [other if one is None else check(f"{argument}[{k}]", one, graph) for k, (one, graph, other) in views]


def _texts(word: str, argument: str, value: Any, graph: Graph) -> NDArray[Any]:
    array = validation.labels(argument, value, graph.vertex_names)
    if array.shape != (graph.n,):
        raise CothermError(argument, f"shape {array.shape}", f"a {word} for each of {graph.n} vertices")
    return array


def _positions(argument: str, value: Any, graph: Graph) -> Floats:
    points = validation.numeric(argument, rows_in_order(argument, value, graph.vertex_names), ndim=(2,))
    if len(points) != graph.n or points.shape[1] not in (2, 3):
        raise CothermError(argument, f"shape {points.shape}", f"shape ({graph.n}, 2) or ({graph.n}, 3)")
    return points


def _all_faces(
    graphs: Sequence[Graph], faces: str | Sequence[Any], places: Sequence[Floats | None]
) -> list[Ints | None]:
    if isinstance(faces, str):
        word = validation.choice("faces", faces, ["auto", "surface", "none"])
        placed = zip(graphs, places, strict=True)
        return [_found_faces(g if at is None else g.replace(coordinates=at), word) for g, at in placed]
    return _each("faces", faces, graphs, _faces)


def _found_faces(graph: Graph, word: str) -> Ints | None:
    """The faces of a mesh, or of a surface through any points in space if asked for."""
    if word == "none" or graph.coordinates is None or graph.coordinates.shape[1] != 3:
        return None
    mesh = is_mesh(graph)
    if word == "auto" and not mesh:
        return None
    found = faces_of(graph)
    if not len(found):
        return None
    # Edges do not say which side of a face is outside. Through samples there are triangles that run through the body.
    return oriented(graph.coordinates, found, only_flat=not mesh)


def _faces(argument: str, value: Any, graph: Graph) -> Ints:
    array = validation.as_array(argument, value)
    if array.ndim != 2 or array.shape[1:] != (3,) or array.dtype.kind not in "iu":
        raise CothermError(argument, f"{array.dtype} of shape {array.shape}", "triangles: whole numbers, shape (f, 3)")
    return validation.indices(argument, array.ravel(), below=graph.n).reshape(-1, 3)


def _pairs(result: Coupling, pairs: Any) -> Pairs | None:
    """The pairs given, or those the views were coupled by."""
    sizes = tuple(graph.n for graph in result.graphs)
    if pairs is not None:
        return checked_pairs(pairs, sizes, [graph.vertex_names for graph in result.originals])
    return None if result.pairs is None else Pairs(result.pairs.table, sizes)


def _thumbnail_urls(argument: str, pictures: Any, graph: Graph) -> list[str | None]:
    """A data URL for every item, None where there is no picture."""
    if isinstance(pictures, str | bytes) or not isinstance(pictures, Sequence) or len(pictures) != graph.n:
        needed = f"a list of {graph.n} pictures, one for each vertex"
        raise CothermError(argument, validation.describe(pictures), needed)
    return [None if one is None else _url(f"{argument}[{v}]", one) for v, one in enumerate(pictures)]


def _url(argument: str, picture: Any) -> str:
    from PIL import Image  # matplotlib needs it, too

    if isinstance(picture, bytes | bytearray | memoryview):
        data = bytes(picture)
    elif isinstance(picture, str | os.PathLike):
        data = atomic.load(atomic.as_path(picture), most=limits.THUMBNAIL_BYTES + 1)
    else:
        raise CothermError(argument, validation.describe(picture), _NEEDED)
    if len(data) > limits.THUMBNAIL_BYTES:
        given = f"a picture of {len(data):,} bytes"
        raise CothermError(argument, given, f"at most {limits.THUMBNAIL_BYTES:,} bytes", "Make it smaller.")
    try:  # its format and the size that it declares, without decoding its pixels
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as image:
            kind, (width, height) = image.format, image.size
    except Exception:  # a damaged picture may raise anything
        raise CothermError(argument, f"data that begin with {data[:12]!r}", _NEEDED) from None
    if max(width, height) > _WIDEST:
        raise CothermError(argument, f"a picture of {width} x {height} pixels", f"at most {_WIDEST} on a side")
    kind = kind.lower() if kind in ("PNG", "WEBP") else "jpeg"  # or several in one file, the first of which is shown
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
