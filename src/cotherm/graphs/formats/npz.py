"""The project's own format, ``.npz``: all that a graph holds, as NumPy arrays in an uncompressed archive.

``numpy.load(path, allow_pickle=False)`` opens it too. The arrays are ``header`` (see ``header``: version, n,
name), ``i``, ``j``, ``w`` and, where the graph has them, ``coordinates``, ``labels`` and ``vertex_names``.
"""

from __future__ import annotations

import numpy as np

from cotherm.errors import CothermError
from cotherm.graphs.formats import header
from cotherm.graphs.graph import Graph
from cotherm.io import archive
from cotherm.io.text import excerpt

_REQUIRED = ("header", "i", "j", "w")
# Bytes of a number in the arrays of a graph.
WIDTHS = {"i": 4, "j": 4, "w": 8, "coordinates": 8}


def render(graph: Graph) -> bytes:
    arrays = {"header": np.array(header.render(graph))}
    arrays |= {field: getattr(graph, field) for field in (*_REQUIRED[1:], *header.extras(graph))}
    return archive.pack(arrays)


def parse(data: bytes) -> Graph:
    arrays = archive.unpack(data, require_fields)
    archive.require_width(arrays, WIDTHS)
    present = [field for field in header.EXTRAS if field in arrays]
    array = arrays.pop("header")
    head = header_of(array.item() if array.dtype.kind == "U" and array.ndim == 0 else "", present)
    if arrays["w"].shape != (head.m,):
        raise CothermError("w", f"shape {arrays['w'].shape}", f"one weight per edge, {head.m}")
    i, j, w = (arrays.pop(field) for field in ("i", "j", "w"))
    return Graph(head.n, i, j, w, **arrays, name=head.name)


def require_fields(found: list[str]) -> None:
    """Known names, each once."""
    repeated = len(set(found)) != len(found)
    if repeated or not set(_REQUIRED) <= set(found) <= {*_REQUIRED, *header.EXTRAS}:
        raise CothermError(
            "arrays",
            excerpt(", ".join(sorted(found))),
            f"{', '.join(_REQUIRED)} and perhaps {', '.join(header.EXTRAS)}, as write_graph stores them",
            "Load arrays of another program with NumPy and pass them to Graph().",
        )


def header_of(text: str, present: list[str]) -> header.Header:
    """The header in a text; ``present`` are the extras found."""
    if not text.startswith(header.MARK):
        raise CothermError("header", excerpt(str(text)), f"a text starting with {header.MARK!r}")
    return header.parse(text, "header", present)
