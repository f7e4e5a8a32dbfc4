"""Stanford polygon files, ``.ply``: a header that describes the records, then these, as text or binary.

Read are text and binary files of either byte order, with positions x, y, z of any type and faces in a list
``vertex_indices`` or ``vertex_index``; all other properties and elements are passed over. In every list of a
file all rows must be equally long, so that records can be read in bulk. Written is little-endian binary with
double positions, which keeps every bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from cotherm.errors import CothermError
from cotherm.graphs.mesh import TRIANGLE, TRIANGULATE, Mesh, corners_of
from cotherm.io.text import LineReader, Lines, as_counts, number_rows, require_finite, require_rows, utf8

_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_LONGEST_LIST = 10**6  # NumPy's records must stay below 2 GiB
_LONGEST_RECORD = 2**31 - 1
_LONGEST_HEADER = 10**5  # lines; programs write far fewer than a thousand
_TRIANGLE = np.dtype([("corners", "u1"), ("vertex_indices", "<i4", (3,))])


class _Property(NamedTuple):
    name: str
    type: str
    length: str | None  # the type of the number of entries, for a list


class _Element(NamedTuple):
    name: str
    size: int
    properties: dict[str, _Property]


# The records of one element: a vector for a property, a matrix for a list.
_Columns = dict[str, NDArray[Any]]
# The properties that are kept.
_KEPT = {"vertex": ("x", "y", "z"), "face": ("vertex_indices", "vertex_index")}


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
    vertices = _vertices(found.pop("vertex", {}))
    f = sum(element.size for element in elements if element.name == "face")
    return Mesh(vertices, _faces(found.pop("face", {}), f))


def _split(data: bytes) -> tuple[int, Lines]:
    """Where the records start, and the lines of the header above them."""
    first = re.match(rb"ply[ \t]*(\r\n|\n|\r)", data)
    if first is None:
        raise CothermError("line 1", repr(data[:20]), "the word ply, alone on its line")
    # All lines end like the first: a binary record may start with the byte of another line end.
    end = re.escape(first.group(1))
    last = re.search(end + rb"end_header[ \t]*" + end, data)
    if last is None:
        raise CothermError("header", "no line end_header", "a complete header", "The file may have been cut short.")
    lines = Lines([], [])
    for block in LineReader(utf8(data[: last.start()]), comment=None).blocks():
        lines.rows.extend(block.rows)
        lines.numbers.extend(block.numbers)
        if len(lines.rows) > _LONGEST_HEADER:
            raise CothermError("header", f"more than {_LONGEST_HEADER} lines", "a header of a PLY file")
    return last.end(), lines


def _header(lines: Lines) -> tuple[str, list[_Element]]:
    """The byte order ('' for text) and the elements a file declares."""
    order: str | None = None
    elements: dict[str, _Element] = {}
    properties: dict[str, _Property] = {}
    for k, row in enumerate(lines.rows[1:], 1):
        match row.split():
            case ["format", form, "1.0"] if form in _ORDERS and order is None:
                order = _ORDERS[form]
            case ["comment" | "obj_info", *_]:
                pass
            case ["element", name, count] if name not in elements:
                properties = {}
                size = as_counts(lines, k, [count], "the number of records")[0]
                elements[name] = _Element(name, size, properties)
            case ["property", *words] if elements:
                found = _property(lines, k, words)
                if found.name in properties:
                    lines.refuse(k, "a different name for every property of an element")
                properties[found.name] = found
            case _:
                lines.refuse(k, "a PLY header line: format, element, property or comment")
    if order is None:
        raise CothermError("header", "no line 'format ...'", "format " + ", ".join(_ORDERS) + " 1.0")
    for element in elements.values():
        if not element.properties:
            raise CothermError("header", f"element {element.name!r} without properties", "at least one")
    return order, list(elements.values())


def _property(lines: Lines, k: int, words: list[str]) -> _Property:
    match words:
        case [kind, name] if kind in _TYPES:
            return _Property(name, _TYPES[kind], None)
        case ["list", length, kind, name] if kind in _TYPES and _TYPES.get(length, "f4")[0] in "iu":
            return _Property(name, _TYPES[kind], _TYPES[length])
        case _:
            lines.refuse(k, "property, a type and a name, or property list, two types and a name")


def _text(data: bytes, start: int, elements: list[_Element], header: Lines) -> dict[str, _Columns]:
    content = LineReader(utf8(data[start:]), comment=None, first=header.numbers[-1] + 2)
    sizes = [element.size for element in elements]
    require_rows(content, len(content), sum(sizes), "records")
    found: dict[str, _Columns] = {}
    n = next((element.size for element in elements if element.name == "vertex"), 0)
    record: np.dtype[Any] = np.dtype(float)
    for group, which, lines in content.groups(sizes):
        element = elements[group]
        if which.start == 0:
            record = _text_record(lines, element)
            found[element.name] = {}
        needed = f"{record.itemsize // 8} numbers, as in the first record of {element.name!r}"
        advice = TRIANGULATE if element.name == "face" else ""
        rows = number_rows(lines, record.itemsize // 8, needed, advice).view(record)[:, 0]
        for name, lengths in _lengths(rows, element):
            lines.refuse_where(lengths != rows[name].shape[1], needed, advice)
        for name, kept in _kept(rows, element).items():
            if element.name == "vertex":
                require_finite(lines, kept)
            is_triangle = element.name == "face" and kept.shape[1:] == (3,)
            values = corners_of(lines, kept, n).astype(np.int32) if is_triangle else kept
            column = found[element.name].setdefault(name, np.empty((element.size, *values.shape[1:]), values.dtype))
            column[which] = values
    return found


def _text_record(lines: Lines, element: _Element) -> np.dtype[Any]:
    """The numbers of a record, by the first."""
    words = lines.rows[0].split()
    fields: list[Any] = []
    at = 0
    for p in element.properties.values():
        length = 0
        if p.length is not None:
            word = words[at] if at < len(words) else "missing"
            length = min(as_counts(lines, 0, [word], f"the length of {p.name!r}")[0], len(words))
        fields += _fields(p, "<f8", "<f8", length)
        at += 1 + length
    if at != len(words):
        lines.refuse(0, f"{at} numbers for a record of {element.name!r}")
    return np.dtype(fields)


def _fields(p: _Property, kind: str, count: str, length: int) -> list[Any]:
    """A property in a record. A space makes the name of its length unique: property names have none."""
    return [(p.name, kind)] if p.length is None else [(f"{p.name} length", count), (p.name, kind, (length,))]


def _lengths(rows: NDArray[Any], element: _Element) -> Iterator[tuple[str, NDArray[Any]]]:
    """The lists of the records, and how long each is said to be."""
    return ((p.name, rows[f"{p.name} length"]) for p in element.properties.values() if p.length is not None)


def _kept(rows: NDArray[Any], element: _Element) -> _Columns:
    return {p.name: rows[p.name] for p in element.properties.values() if p.name in _KEPT.get(element.name, ())}


def _binary(data: bytes, start: int, elements: list[_Element], order: str) -> dict[str, _Columns]:
    found = {}
    for element in elements:
        record = _record(data, start, element, order)
        stop = start + element.size * record.itemsize
        if stop > len(data):
            _refuse_short(element)
        rows = np.frombuffer(data, record, element.size, start)
        advice = TRIANGULATE if element.name == "face" else ""
        for name, lengths in _lengths(rows, element):
            odd = np.flatnonzero(lengths != lengths[:1])
            if len(odd):
                given = f"a list {name!r} of length {lengths[odd[0]]} after lists of length {lengths[0]}"
                raise CothermError(f"{element.name} {odd[0]}", given, "lists of one length", advice)
        found[element.name] = _kept(rows, element)
        start = stop
    if start != len(data):
        raise CothermError("content", f"{len(data) - start} bytes after the last record", "nothing after it")
    return found


def _record(data: bytes, start: int, element: _Element, order: str) -> np.dtype[Any]:
    """The layout of one record; lists are as long as in the first."""
    fields: list[Any] = []
    at, where = start, f"first record of {element.name!r}"
    for p in element.properties.values():
        length = 0
        if p.length is not None and element.size:
            kind = np.dtype(order + p.length)
            if at + kind.itemsize > len(data):
                _refuse_short(element)
            length = int(np.frombuffer(data, kind, 1, at)[0])
            room = (len(data) - at - kind.itemsize) // np.dtype(p.type).itemsize
            if not 0 <= length <= min(room, _LONGEST_LIST):
                raise CothermError(where, f"a list of length {length}", "a length that the file has room for")
        added = _fields(p, order + p.type, order + (p.length or ""), length)
        fields += added
        at += np.dtype(added).itemsize
    if at - start > _LONGEST_RECORD:
        raise CothermError(where, f"{at - start} bytes", f"at most {_LONGEST_RECORD}")
    return np.dtype(fields)


def _refuse_short(element: _Element) -> NoReturn:
    given, needed = f"the file ends among the records of {element.name!r}", f"{element.size} of them, as declared"
    raise CothermError("content", given, needed, "The file may have been cut short.")


def _vertices(vertex: _Columns) -> NDArray[Any]:
    axes = [vertex[axis] for axis in "xyz" if axis in vertex]
    if len(axes) != 3 or any(axis.ndim != 1 for axis in axes):
        raise CothermError("header", "no vertices with x, y and z", "an element vertex with these properties")
    return np.column_stack(axes)


def _faces(face: _Columns, f: int) -> NDArray[Any]:
    lists = list(face.values())
    if not f:
        return np.empty((0, 3), dtype=np.int32)
    if len(lists) != 1 or lists[0].ndim != 2:
        raise CothermError("header", "faces without a list vertex_indices", "the corners of the faces")
    corners = lists[0]
    if corners.shape[1] != 3:
        given = f"polygons with {corners.shape[1]} corners"
        raise CothermError("faces", given, TRIANGLE, TRIANGULATE)
    return corners
