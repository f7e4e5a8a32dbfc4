"""Stanford polygon files, ``.ply``: a header that describes the records, then these, as text or binary.

Read are text and binary files of either byte order, with positions x, y, z of any type and faces in a list
``vertex_indices`` or ``vertex_index``; all other properties and elements are passed over. In every list of a
file all rows must be equally long, so that records can be read in bulk. Written is little-endian binary with
double positions, which keeps every bit.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from cotherm.errors import CothermError
from cotherm.graphs.formats import triangles
from cotherm.graphs.formats.text import Lines, content, counts, decode, finite, require_rows, table
from cotherm.graphs.mesh import Mesh

_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_LONGEST_LIST = 10**6  # NumPy's records must stay below 2 GiB
_TRIANGLE = np.dtype([("corners", "u1"), ("vertex_indices", "<i4", (3,))])


class _Property(NamedTuple):
    name: str
    type: str
    length: str | None  # the type of the number of entries, for a list


class _Element(NamedTuple):
    name: str
    size: int
    properties: list[_Property]


class _Columns(NamedTuple):
    """The records of one element: a vector for a property, a matrix for a list; the lines if it was text."""

    values: dict[str, NDArray[Any]]
    lines: Lines | None


_NOTHING = _Columns({}, None)


def render(mesh: Mesh) -> bytes:
    header = [
        "ply",
        "format binary_little_endian 1.0",
        f"element vertex {len(mesh.vertices)}",
        *(f"property double {axis}" for axis in "xyz"),
        f"element face {len(mesh.faces)}",
        "property list uchar int vertex_indices",
        "end_header",
        "",
    ]
    faces = np.empty(len(mesh.faces), dtype=_TRIANGLE)
    faces["corners"] = 3
    faces["vertex_indices"] = mesh.faces
    return "\n".join(header).encode("ascii") + mesh.vertices.astype("<f8").tobytes() + faces.tobytes()


def parse(data: bytes) -> Mesh:
    start, header = _split(data)
    order, elements = _header(header)
    found = _binary(data, start, elements, order) if order else _text(data, start, elements, header)
    if any(element.name == "tristrips" and element.size for element in elements):
        raise CothermError("header", "triangle strips", "faces", "Convert the strips to triangles first.")
    vertices = _vertices(found.get("vertex", _NOTHING))
    return Mesh(vertices, _faces(found.get("face", _NOTHING), len(vertices)))


def _split(data: bytes) -> tuple[int, Lines]:
    """Where the records start, and the lines of the header above them."""
    first = re.match(rb"ply[ \t]*(\r\n|\n|\r)", data)
    if first is None:
        raise CothermError("line 1", repr(data[:20]), "the word ply, alone on its line")
    # The first line's end holds for all: a binary record may start with the byte of another line end.
    end = re.escape(first.group(1))
    last = re.search(end + rb"end_header[ \t]*" + end, data)
    if last is None:
        raise CothermError("header", "no line end_header", "a complete header", "The file may have been cut short.")
    return last.end(), content(decode(data[: last.start()]), comment=None)


def _header(lines: Lines) -> tuple[str, list[_Element]]:
    """The byte order ('' for text) and the elements a file declares."""
    order: str | None = None
    elements: list[_Element] = []
    for k, row in enumerate(lines.rows[1:], 1):
        match row.split():
            case ["format", form, "1.0"] if form in _ORDERS and order is None:
                order = _ORDERS[form]
            case ["comment" | "obj_info", *_]:
                pass
            case ["element", name, count] if all(name != e.name for e in elements):
                size = counts(lines, k, [count], "the number of records")[0]
                elements.append(_Element(name, size, []))
            case ["property", *words] if elements:
                elements[-1].properties.append(_property(lines, k, words, elements[-1]))
            case _:
                lines.refuse(k, "a PLY header line: format, element, property or comment")
    if order is None:
        raise CothermError("header", "no line 'format ...'", "format " + ", ".join(_ORDERS) + " 1.0")
    for element in elements:
        if not element.properties:
            raise CothermError("header", f"element {element.name!r} without properties", "at least one")
    return order, elements


def _property(lines: Lines, k: int, words: list[str], element: _Element) -> _Property:
    match words:
        case [kind, name] if kind in _TYPES:
            found = _Property(name, _TYPES[kind], None)
        case ["list", length, kind, name] if kind in _TYPES and _TYPES.get(length, "f4")[0] in "iu":
            found = _Property(name, _TYPES[kind], _TYPES[length])
        case _:
            lines.refuse(k, "property, a type and a name, or property list, two types and a name")
    if any(found.name == p.name for p in element.properties):
        lines.refuse(k, "a different name for every property of an element")
    return found


def _text(data: bytes, start: int, elements: list[_Element], header: Lines) -> dict[str, _Columns]:
    lines = content(decode(data[start:]), comment=None, first=header.numbers[-1] + 2)
    require_rows(lines, len(lines.rows), sum(e.size for e in elements), "records")
    found = {}
    done = 0
    for element in elements:
        found[element.name] = _text_columns(lines.part(done, done + element.size), element)
        done += element.size
    return found


def _text_columns(lines: Lines, element: _Element) -> _Columns:
    if not element.size:
        return _Columns({}, lines)
    starts = _text_layout(lines, element)
    needed = f"{starts[-1]} numbers, as in the first record of {element.name!r}"
    advice = triangles.ADVICE if element.name == "face" else ""
    numbers = table(lines, starts[-1], needed, advice)
    values: dict[str, NDArray[Any]] = {}
    for p, a, b in zip(element.properties, starts, starts[1:], strict=False):
        if p.length is None:
            values[p.name] = numbers[:, a]
        else:
            lines.refuse_where(np.not_equal(numbers[:, a], b - a - 1), needed, advice)
            values[p.name] = numbers[:, a + 1 : b]
    return _Columns(values, lines)


def _text_layout(lines: Lines, element: _Element) -> list[int]:
    """The columns where the properties start, by the first record, and one past the last."""
    words = lines.rows[0].split()
    starts = [0]
    for p in element.properties:
        width = 1
        if p.length is not None:
            width += counts(lines, 0, words[starts[-1] :][:1] or ["missing"], f"the length of {p.name!r}")[0]
        starts.append(starts[-1] + width)
    if starts[-1] != len(words):
        lines.refuse(0, f"{starts[-1]} numbers for a record of {element.name!r}")
    return starts


def _binary(data: bytes, start: int, elements: list[_Element], order: str) -> dict[str, _Columns]:
    found = {}
    for element in elements:
        record = _record(data, start, element, order)
        stop = start + element.size * record.itemsize
        if stop > len(data):
            _refuse_short(element)
        rows = np.frombuffer(data, record, element.size, start)
        found[element.name] = _binary_columns(rows, element)
        start = stop
    if start != len(data):
        raise CothermError("content", f"{len(data) - start} bytes after the last record", "nothing after it")
    return found


def _record(data: bytes, start: int, element: _Element, order: str) -> np.dtype[Any]:
    """The layout of one record; lists are as long as in the first."""
    fields: list[Any] = []
    for p in element.properties:
        if p.length is None:
            fields.append((p.name, order + p.type))
            continue
        at = start + np.dtype(fields).itemsize
        length = _length(data, at, p, element, order) if element.size else 0
        # A space keeps the name apart: property names have none.
        fields += [(f"{p.name} length", order + p.length), (p.name, order + p.type, (length,))]
    return np.dtype(fields)


def _length(data: bytes, at: int, p: _Property, element: _Element, order: str) -> int:
    """The length of a list in the first record, whose bytes must be there."""
    kind = np.dtype(f"{order}{p.length}")
    entries = at + kind.itemsize
    if entries > len(data):
        _refuse_short(element)
    length = int(np.frombuffer(data, kind, 1, at)[0])
    room = (len(data) - entries) // np.dtype(p.type).itemsize
    if not 0 <= length <= min(room, _LONGEST_LIST):
        given = f"a list of length {length}"
        raise CothermError(f"first record of {element.name!r}", given, "a length that the file has room for")
    return length


def _binary_columns(rows: NDArray[Any], element: _Element) -> _Columns:
    for p in element.properties:
        if p.length is None or not len(rows):
            continue
        lengths = rows[f"{p.name} length"]
        odd = np.flatnonzero(lengths != lengths[0])
        if len(odd):
            raise CothermError(
                f"{element.name} {odd[0]}",
                f"a list {p.name!r} of length {lengths[odd[0]]} after lists of length {lengths[0]}",
                "lists of one length",
                triangles.ADVICE if element.name == "face" else "",
            )
    return _Columns({p.name: rows[p.name] for p in element.properties}, None)


def _refuse_short(element: _Element) -> NoReturn:
    raise CothermError(
        "content",
        f"the file ends among the records of {element.name!r}",
        f"{element.size} of them, as the header declares",
        "The file may have been cut short.",
    )


def _vertices(vertex: _Columns) -> NDArray[np.float64]:
    axes = [vertex.values[axis] for axis in "xyz" if axis in vertex.values]
    if len(axes) != 3 or any(axis.ndim != 1 for axis in axes):
        raise CothermError("header", "no vertices with x, y and z", "an element vertex with these properties")
    vertices = np.column_stack(axes).astype(np.float64)
    return vertices if vertex.lines is None else finite(vertex.lines, vertices)


def _faces(face: _Columns, n: int) -> NDArray[Any]:
    if not any(len(column) for column in face.values.values()):
        return np.empty((0, 3), dtype=np.int32)
    lists = [face.values[name] for name in ("vertex_indices", "vertex_index") if name in face.values]
    if len(lists) != 1 or lists[0].ndim != 2:
        raise CothermError("header", "faces without a list vertex_indices", "the corners of the faces")
    corners = lists[0]
    if corners.shape[1] != 3:
        given = f"polygons with {corners.shape[1]} corners"
        raise CothermError("faces", given, triangles.NEEDED, triangles.ADVICE)
    return corners if face.lines is None else triangles.corners(face.lines, corners, n)
