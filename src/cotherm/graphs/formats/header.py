r"""The line that marks a graph file as cotherm's own: ``cotherm graph`` and a JSON object, all in ASCII.

For example ``cotherm graph {"version": 1, "n": 5, "m": 4, "name": "a \"quoted\" name", "extras": []}``. It
carries what the foreign formats have no place for (isolated vertices in an edge list, the name), and the
number of edges and which of coordinates, labels and names of vertices are present, so that a file cut short is
noticed. A new version is needed whenever an old reader would misread a new file.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.io.text import LONGEST_HEADER, excerpt

MARK = "cotherm graph"
VERSION = 1

EXTRAS = ("coordinates", "labels", "vertex_names")

# Every character of a name may take twelve in the header.
_LONGEST_NAME = 10**5
_FIELDS = ("version", "n", "m", "name", "extras")


class Header(NamedTuple):
    n: int
    m: int
    name: str | None


def render(graph: Graph) -> str:
    if len(graph.name or "") > _LONGEST_NAME:
        raise CothermError("graph.name", f"{len(graph.name or '')} characters", f"at most {_LONGEST_NAME}, in a file")
    values = (VERSION, graph.n, graph.m, graph.name, extras(graph))
    return f"{MARK} {json.dumps(dict(zip(_FIELDS, values, strict=True)))}"


def parse(text: str, where: str, present: list[str]) -> Header:
    """The header in a text that starts with MARK; ``where`` is its place, ``present`` the extras found."""
    needed = f"{MARK} and a JSON object with {', '.join(_FIELDS)}"
    if len(text) > LONGEST_HEADER:
        raise CothermError(where, f"a header of {len(text)} characters", needed)
    try:
        fields = json.loads(text.removeprefix(MARK))
    except (ValueError, RecursionError):
        raise CothermError(where, excerpt(text), needed) from None
    if not isinstance(fields, dict) or "version" not in fields:
        raise CothermError(where, excerpt(text), needed)
    version = validation.integer(f"{where}: version", fields["version"], least=1)
    if version > VERSION:
        raise CothermError(
            where,
            f"version {version} of the format",
            f"version {VERSION}",
            "A newer cotherm wrote it: update.",
        )
    if set(fields) != set(_FIELDS):
        raise CothermError(where, excerpt(text), needed)
    name = fields["name"]
    if name is not None and not isinstance(name, str):
        raise CothermError(f"{where}: name", validation.describe(name), "a string or null")
    if fields["extras"] != present:
        raise CothermError(f"{where}: extras", excerpt(str(fields["extras"])), f"what the file holds, {present}")
    n = validation.integer(f"{where}: n", fields["n"], least=1, most=MOST_VERTICES)
    return Header(n, validation.integer(f"{where}: m", fields["m"], least=0), name)


def extras(graph: Graph) -> list[str]:
    """The extras a graph has, among coordinates, labels and names of vertices."""
    return [field for field in EXTRAS if getattr(graph, field) is not None]


def refuse_extras(graph: Graph) -> None:
    """Refuse to lose silently what a file of edges cannot hold."""
    for field in extras(graph):
        raise CothermError(
            f"graph.{field}",
            "present, but this format cannot hold them",
            "a graph without them, or a .npz file, which holds everything",
            "graph.bare() leaves coordinates, labels and names of vertices out.",
        )
