r"""The project's own format, ``.npz``: all that a graph holds, as NumPy arrays in an uncompressed archive.

``numpy.load(path, allow_pickle=False)`` opens it too. The arrays are ``header``, ``i``, ``j``, ``w`` and, where the
graph has them, ``coordinates``, ``labels`` and ``vertex_names``. The header marks all graph files as cotherm's own, in
other formats in a comment: ``cotherm graph`` and a JSON object, all in ASCII, such as
``cotherm graph {"version": 1, "n": 5, "m": 4, "name": "a \"quoted\" name", "extras": []}``. It carries what foreign
formats have no place for (isolated vertices in an edge list, the name), and the number of edges and which of
coordinates, labels and names of vertices are present, so that a file cut short is noticed. A new version is needed
whenever an old reader would misread a new file.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.io import archive
from cotherm.io.text import LONGEST_HEADER, excerpt

_REQUIRED = ("header", "i", "j", "w")
# Bytes of a number in the arrays of a graph.
WIDTHS = {"i": 4, "j": 4, "w": 8, "coordinates": 8}
MARK = "cotherm graph"
VERSION = 1
EXTRAS = ("coordinates", "labels", "vertex_names")

# Every character of a name may take twelve in the header.
_LONGEST_NAME = 10**5
_FIELDS = ("version", "n", "m", "name", "extras")


def render(graph: Graph) -> bytes:
    arrays = {"header": np.array(header_text(graph))}
    arrays |= {field: getattr(graph, field) for field in (*_REQUIRED[1:], *extras(graph))}
    return archive.pack(arrays)


def parse(data: bytes) -> Graph:
    arrays = archive.unpack(data, _require_fields)
    archive.require_width(arrays, WIDTHS)
    present = [field for field in EXTRAS if field in arrays]
    array = arrays.pop("header")
    text = array.item() if array.dtype.kind == "U" and array.ndim == 0 else ""
    if not text.startswith(MARK):
        raise CothermError("header", excerpt(text), f"a text starting with {MARK!r}")
    head = parse_header(text, "header", present)
    if arrays["w"].shape != (head.m,):
        raise CothermError("w", f"shape {arrays['w'].shape}", f"one weight per edge, {head.m}")
    i, j, w = (arrays.pop(field) for field in ("i", "j", "w"))
    return Graph(head.n, i, j, w, **arrays, name=head.name)


def _require_fields(found: list[str]) -> None:
    """Known names, each once."""
    if len(set(found)) != len(found) or not set(_REQUIRED) <= set(found) <= {*_REQUIRED, *EXTRAS}:
        needed = f"{', '.join(_REQUIRED)} and perhaps {', '.join(EXTRAS)}, as write_graph stores them"
        advice = "Load arrays of another program with NumPy and pass them to Graph()."
        raise CothermError("arrays", excerpt(", ".join(sorted(found))), needed, advice)


class Header(NamedTuple):
    n: int
    m: int
    name: str | None


def header_text(graph: Graph) -> str:
    """The header of a graph."""
    if len(graph.name or "") > _LONGEST_NAME:
        raise CothermError("graph.name", f"{len(graph.name or '')} characters", f"at most {_LONGEST_NAME}, in a file")
    values = (VERSION, graph.n, graph.m, graph.name, extras(graph))
    return f"{MARK} {json.dumps(dict(zip(_FIELDS, values, strict=True)))}"


def parse_header(text: str, where: str, present: list[str]) -> Header:
    """The header in a text that starts with MARK; ``where`` is its place, ``present`` the extras found."""
    needed = f"{MARK} and a JSON object with {', '.join(_FIELDS)}"
    if len(text) > LONGEST_HEADER:
        raise CothermError(where, f"a header of {len(text)} characters", needed)
    fields: Any = None
    with suppress(ValueError, RecursionError):
        fields = json.loads(text.removeprefix(MARK))
    if not isinstance(fields, dict) or "version" not in fields:
        raise CothermError(where, excerpt(text), needed)
    version = validation.integer(f"{where}: version", fields["version"], least=1)
    if version > VERSION:
        given = f"version {version} of the format"
        raise CothermError(where, given, f"version {VERSION}", "A newer cotherm wrote it: update.")
    if set(fields) != set(_FIELDS):
        raise CothermError(where, excerpt(text), needed)
    name = fields["name"]
    if name is not None and not isinstance(name, str):
        raise CothermError(f"{where}: name", validation.describe(name), "a string or null")
    if fields["extras"] != present:
        raise CothermError(f"{where}: extras", excerpt(str(fields["extras"])), f"what the file holds, {present}")
    n = validation.integer(f"{where}: n", fields["n"], least=1, most=MOST_VERTICES)
    return Header(n, validation.integer(f"{where}: m", fields["m"], least=0), name)


def header_in(line: str, comment: str, where: str) -> Header | None:
    """The header in a comment; None if the line is not ours."""
    words = line.removeprefix(comment).strip()
    return parse_header(words, where, []) if line.startswith(comment) and words.startswith(MARK) else None


def extras(graph: Graph) -> list[str]:
    """The extras a graph has, among coordinates, labels and names of vertices."""
    return [field for field in EXTRAS if getattr(graph, field) is not None]


def refuse_extras(graph: Graph) -> None:
    """Refuse to lose silently what a file of edges cannot hold."""
    for field in extras(graph):
        needed = "a graph without them, or a .npz file, which holds everything"
        advice = "graph.bare() leaves coordinates, labels and names of vertices out."
        raise CothermError(f"graph.{field}", "present, but this format cannot hold them", needed, advice)
