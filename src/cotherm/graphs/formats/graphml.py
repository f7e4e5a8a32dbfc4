"""GraphML, ``.graphml``: read and written by Gephi, Cytoscape, yEd, igraph and networkx; it holds all of a graph.

Nodes come in their order, edges as well. What we write: the edge attribute ``weight``, and of nodes ``name``, ``label``
and the coordinates ``x``, ``y``, ``z``, as far as there are any; node ids are the names, or n0, n1, ... without any.
What we read: the same attributes, by name, whatever their keys are. Where no edge has a weight all have weight 1.
Other attributes are passed over.

Read here and not by networkx (3.6), which silently merges nodes with one id, makes nodes of unknown ends, drops all
graphs but the first and takes 1_0 for 10, and needs memory for twenty times the file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.io.cells import is_finite, whole_number
from cotherm.io.text import excerpt

_AXES = ("x", "y", "z")
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
_TYPES = {"U": "string", "i": "long", "u": "long", "b": "boolean"}


def render(graph: Graph) -> bytes:
    _require_drawable(graph)
    return "".join(_written(graph)).encode("utf-8", "surrogatepass")


def _require_drawable(graph: Graph) -> None:
    if graph.coordinates is not None and graph.coordinates.shape[1] > len(_AXES):
        d = graph.coordinates.shape[1]
        raise CothermError("graph.coordinates", f"{d} dimensions", "at most three in a .graphml file")
    texts = [graph.vertex_names, graph.labels, np.array([graph.name or ""])]
    for text in (one for one in texts if one is not None and one.dtype.kind == "U"):
        for value in text.tolist():
            if any(not (character >= " " or character in "\t\n") for character in value):
                raise CothermError("graph", f"{excerpt(value)}, with control characters", "text that XML can hold")


def _written(graph: Graph) -> Iterator[str]:
    columns = _columns(graph)
    yield _HEAD
    yield '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>\n'
    for name, kind, _ in columns:
        yield f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n'
    title = "" if graph.name is None else f" id={quoteattr(graph.name)}"
    yield f'<graph{title} edgedefault="undirected">\n'
    names = graph.vertex_names
    ids = [quoteattr(str(one)) for one in ([f"n{v}" for v in range(graph.n)] if names is None else names.tolist())]
    for v in range(graph.n):
        data = "".join(f'<data key="{name}">{escape(values[v])}</data>' for name, _, values in columns)
        yield f"<node id={ids[v]}>{data}</node>\n" if data else f"<node id={ids[v]}/>\n"
    for i, j, w in zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True):
        yield f'<edge source={ids[i]} target={ids[j]}><data key="weight">{w!r}</data></edge>\n'
    yield "</graph>\n</graphml>\n"


def _columns(graph: Graph) -> list[tuple[str, str, list[str]]]:
    """The attributes of nodes: their names, types and values as text."""
    found: list[tuple[str, str, list[str]]] = []
    for name, values in (("name", graph.vertex_names), ("label", graph.labels)):
        if values is not None:
            kind = _TYPES[values.dtype.kind]
            text = [str(one).lower() if kind == "boolean" else str(one) for one in values.tolist()]
            found.append((name, kind, text))
    places = np.zeros((graph.n, 0)) if graph.coordinates is None else graph.coordinates
    found += [(axis, "double", list(map(repr, column))) for axis, column in zip(_AXES, places.T.tolist(), strict=False)]
    return found


@dataclass
class _Found:
    """The parts of the file read so far."""

    keys: dict[str, tuple[str, str]] = field(default_factory=dict)  # by id: name and type
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)  # by id: the values of attributes
    edges: list[tuple[str, str, str | None]] = field(default_factory=list)  # ends and weight
    name: str | None = None
    graphs: int = 0


def parse(data: bytes) -> Graph:
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise CothermError("content", "a document type or entities", "plain GraphML, without them")
    found = _Found()
    try:
        for element in _elements(data):
            _read(element, found)
    except ElementTree.ParseError as error:
        raise CothermError("content", f"no XML ({error})", "a GraphML file") from None
    except CothermError:
        raise
    except (LookupError, ValueError) as error:  # encodings unknown to Python, or not allowed here
        raise CothermError("content", f"an encoding that cannot be read ({error})", "a GraphML file in UTF-8") from None
    if not found.graphs or not found.nodes:
        raise CothermError("content", "no graph with nodes", "a GraphML file with one graph")
    number = {name: v for v, name in enumerate(found.nodes)}
    strange = next((end for edge in found.edges for end in edge[:2] if end not in number), None)
    if strange is not None:
        raise CothermError("content", f"an edge to {excerpt(strange)}, which is not a node", "edges between nodes")
    ends = np.array([[number[a], number[b]] for a, b, _ in found.edges], dtype=np.int64).reshape(-1, 2)
    more: dict[str, Any] = {"labels": _column(found, "label"), "vertex_names": _names(found), "name": found.name}
    return Graph(len(number), ends[:, 0], ends[:, 1], _weights(found), coordinates=_coordinates(found), **more)


def _elements(data: bytes) -> Iterator[Any]:
    """Yield the start of graphs, and complete keys, nodes and edges, which are then freed."""
    inside: list[Any] = []
    for event, element in ElementTree.iterparse(io.BytesIO(data), events=("start", "end")):
        tag = element.tag.rpartition("}")[2]
        if event == "start":
            inside.append(element)
            if tag == "graph":
                yield element
            continue
        inside.pop()
        if tag in ("key", "node", "edge"):
            yield element
            element.clear()
            if inside:
                inside[-1].remove(element)


def _read(element: Any, found: _Found) -> None:
    tag = element.tag.rpartition("}")[2]
    if tag == "graph":
        found.graphs += 1
        if found.graphs > 1:
            raise CothermError("content", "several graphs, or a graph in a graph", "one graph")
        if element.get("edgedefault") == "directed":
            raise CothermError("content", "a directed graph", 'edgedefault="undirected"')
        found.name = element.get("id")
    elif tag == "key":
        found.keys[element.get("id", "")] = (element.get("attr.name", ""), element.get("attr.type", "string"))
    elif tag == "node":
        name = element.get("id")
        if name is None or name in found.nodes:
            raise CothermError("content", f"a node with the id {name!r} again, or without", "an id for each node")
        found.nodes[name] = _data(element, found)
    else:
        if element.get("directed") == "true":
            raise CothermError("content", "a directed edge", "undirected edges")
        ends = element.get("source", ""), element.get("target", "")
        found.edges.append((*ends, _data(element, found).get("weight")))


def _data(element: Any, found: _Found) -> dict[str, str]:
    """The values of an element by the names of their attributes."""
    values = {}
    for child in element:
        if child.tag.rpartition("}")[2] == "data":
            key = child.get("key", "")
            values[found.keys.get(key, (key, ""))[0]] = child.text or ""
    return values


def _weights(found: _Found) -> Any:
    if all(weight is None for _, _, weight in found.edges):
        return np.ones(len(found.edges))
    for a, b, weight in found.edges:
        if weight is None or not is_finite(weight.strip()):
            given = f"{'none' if weight is None else excerpt(weight)} on the edge from {excerpt(a)} to {excerpt(b)}"
            raise CothermError("weight", given, "a number on every edge, or on none")
    return [float(weight or 0) for _, _, weight in found.edges]


def _names(found: _Found) -> Any:
    own = _column(found, "name")
    ids = list(found.nodes)
    if own is not None and len(set(own)) == len(own) and "" not in own:
        return own
    return None if ids == [f"n{v}" for v in range(len(ids))] else ids


def _column(found: _Found, name: str) -> Sequence[Any] | None:
    """The values of an attribute that all nodes have, as integers if its type says so."""
    values = [one.get(name) for one in found.nodes.values()]
    if any(value is None for value in values):
        return None
    kind = next((kind for attribute, kind in found.keys.values() if attribute == name), "string")
    texts = [value or "" for value in values]
    if kind == "boolean":
        return [text == "true" for text in texts]
    if kind in ("int", "long") and all(whole_number(text.removeprefix("-")) is not None for text in texts):
        return [int(text) for text in texts]
    return texts


def _coordinates(found: _Found) -> Any:
    columns = [_column(found, axis) for axis in _AXES]
    count = next((c for c, column in enumerate(columns) if column is None), len(columns))
    texts = [[str(value) for value in column or ()] for column in columns[:count]]
    if not count or not all(is_finite(value) for column in texts for value in column):
        return None
    return np.array([[float(value) for value in column] for column in texts]).T
