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
from cotherm.graphs.mesh import Mesh
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
    properties: list[_Property]


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
    elements: list[_Element] = []
    names: set[tuple[str, ...]] = set()  # of elements, and of elements and their properties
    for k, row in enumerate(lines.rows[1:], 1):
        match row.split():
            case ["format", form, "1.0"] if form in _ORDERS and order is None:
                order = _ORDERS[form]
            case ["comment" | "obj_info", *_]:
                pass
            case ["element", name, count] if (name,) not in names:
                names.add((name,))
                size = as_counts(lines, k, [count], "the number of records")[0]
                elements.append(_Element(name, size, []))
            case ["property", *words] if elements:
                found = _property(lines, k, words)
                if (elements[-1].name, found.name) in names:
                    lines.refuse(k, "a different name for every property of an element")
                names.add((elements[-1].name, found.name))
                elements[-1].properties.append(found)
            case _:
                lines.refuse(k, "a PLY header line: format, element, property or comment")
    if order is None:
        raise CothermError("header", "no line 'format ...'", "format " + ", ".join(_ORDERS) + " 1.0")
    for element in elements:
        if not element.properties:
            raise CothermError("header", f"element {element.name!r} without properties", "at least one")
    return order, elements


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
    starts: list[int] = []
    for group, which, lines in content.groups(sizes):
        element = elements[group]
        if which.start == 0:
            starts = _text_layout(lines, element)
            found[element.name] = {}
        for name, values in _text_columns(lines, element, starts, n).items():
            column = found[element.name].setdefault(name, np.empty((element.size, *values.shape[1:]), values.dtype))
            column[which] = values
    return found


def _text_columns(lines: Lines, element: _Element, starts: list[int], n: int) -> _Columns:
    """The kept part of some records, checked line by line."""
    needed = f"{starts[-1]} numbers, as in the first record of {element.name!r}"
    advice = triangles.ADVICE if element.name == "face" else ""
    numbers = number_rows(lines, starts[-1], needed, advice)
    values: _Columns = {}
    for p, a, b in zip(element.properties, starts, starts[1:], strict=False):
        if p.length is not None:
            lines.refuse_where(np.not_equal(numbers[:, a], b - a - 1), needed, advice)
        if p.name in _KEPT.get(element.name, ()):
            values[p.name] = numbers[:, a] if p.length is None else numbers[:, a + 1 : b]
    for name, column in values.items():
        if element.name == "vertex":
            require_finite(lines, column)
        elif column.ndim == 2 and column.shape[1] == 3:
            values[name] = triangles.corners(lines, column, n).astype(np.int32)
    return values


def _text_layout(lines: Lines, element: _Element) -> list[int]:
    """The columns where the properties start, by the first record, and one past the last."""
    words = lines.rows[0].split()
    starts = [0]
    for p in element.properties:
        width = 1
        if p.length is not None:
            at = starts[-1]
            length = words[at] if at < len(words) else "missing"
            width += as_counts(lines, 0, [length], f"the length of {p.name!r}")[0]
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
    at = start
    for p in element.properties:
        if p.length is None:
            fields.append((p.name, order + p.type))
            at += np.dtype(p.type).itemsize
            continue
        length = _length(data, at, p, element, order) if element.size else 0
        # A space makes the name unique: property names have none.
        fields += [(f"{p.name} length", order + p.length), (p.name, order + p.type, (length,))]
        at += np.dtype(p.length).itemsize + length * np.dtype(p.type).itemsize
    if at - start > _LONGEST_RECORD:
        raise CothermError(f"first record of {element.name!r}", f"{at - start} bytes", f"at most {_LONGEST_RECORD}")
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
    return {p.name: rows[p.name] for p in element.properties if p.name in _KEPT.get(element.name, ())}


def _refuse_short(element: _Element) -> NoReturn:
    raise CothermError(
        "content",
        f"the file ends among the records of {element.name!r}",
        f"{element.size} of them, as the header declares",
        "The file may have been cut short.",
    )


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
        raise CothermError("faces", given, triangles.NEEDED, triangles.ADVICE)
    return corners
