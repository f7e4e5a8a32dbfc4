"""The project's own format, ``.npz``: all that a graph holds, as NumPy arrays in an uncompressed archive.

``numpy.load(path, allow_pickle=False)`` opens it too. The arrays are ``header`` (see ``header``: version, n,
name), ``i``, ``j``, ``w`` and, where the graph has them, ``coordinates`` and ``labels``. Compression is
refused, so that no array can be larger than the file; the checksums of the archive reveal any damage.
"""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from cotherm.errors import CothermError
from cotherm.graphs.formats import header
from cotherm.graphs.formats.text import shown
from cotherm.graphs.graph import Graph

_REQUIRED = ("header", "i", "j", "w")


def render(graph: Graph) -> bytes:
    arrays = {"header": np.array(header.render(graph))}
    arrays |= {field: getattr(graph, field) for field in (*_REQUIRED[1:], *header.extras(graph))}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for field, array in arrays.items():
            with archive.open(f"{field}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)
    return buffer.getvalue()


def parse(data: bytes) -> Graph:
    members = _members(data)
    present = [field for field in header.EXTRAS if field in members]
    head = _header(_array("header", members.pop("header")), present)
    arrays = {field: _array(field, member) for field, member in members.items()}
    if arrays["w"].shape != (head.m,):
        raise CothermError("w", f"shape {arrays['w'].shape}", f"one weight per edge, {head.m}")
    i, j, w = (arrays.pop(field) for field in ("i", "j", "w"))
    return Graph(head.n, i, j, w, **arrays, name=head.name)


def _members(data: bytes) -> dict[str, bytes]:
    """The files in the archive by name, checked against their checksums."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _require_fields([entry.filename.removesuffix(".npy") for entry in entries])
            _require_stored(entries)
            return {entry.filename.removesuffix(".npy"): archive.read(entry) for entry in entries}
    except CothermError:
        raise
    except Exception as error:  # damaged archives make zipfile raise a dozen kinds
        given = f"unreadable ({error})"
        raise CothermError("zip archive", given, "a complete .npz file", "The file is damaged.") from None


def _require_fields(found: list[str]) -> None:
    """Known names, each once; checked before anything is read, so that an archive cannot repeat itself."""
    repeated = len(set(found)) != len(found)
    if repeated or not set(_REQUIRED) <= set(found) <= {*_REQUIRED, *header.EXTRAS}:
        raise CothermError(
            "arrays",
            shown(", ".join(sorted(found))),
            f"{', '.join(_REQUIRED)} and perhaps {', '.join(header.EXTRAS)}, as write_graph stores them",
            "Load arrays of another program with NumPy and pass them to Graph().",
        )


def _require_stored(entries: list[zipfile.ZipInfo]) -> None:
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED:
            raise CothermError("zip archive", f"{entry.filename} is compressed", "arrays stored uncompressed")


def _header(array: NDArray[Any], present: list[str]) -> header.Header:
    text = array.item() if array.dtype.kind == "U" and array.ndim == 0 else ""
    if not text.startswith(header.MARK):
        raise CothermError("header", shown(str(text)), f"a text starting with {header.MARK!r}")
    return header.parse(text, "header", present)


def _array(field: str, member: bytes) -> NDArray[Any]:
    """The array in a .npy file; its size is checked before its shape is believed, and no objects are made."""
    try:
        shape, fortran, dtype, start = _layout(member)
        if dtype.hasobject or dtype.itemsize == 0:
            raise CothermError(field, f"dtype {dtype}, perhaps of pickled objects", "numbers or strings")
        if math.prod(shape) * dtype.itemsize != len(member) - start:
            declared = f"an array of shape {shape} and dtype {dtype}, as declared"
            raise CothermError(field, f"{len(member) - start} bytes", declared)
        array: NDArray[Any] = np.ndarray(shape, dtype, buffer=member, offset=start, order="F" if fortran else "C")
        if dtype.kind == "U":
            array.tolist()  # makes every string once, so that an impossible character is found now
    except CothermError:
        raise
    except Exception as error:  # a forged description makes NumPy raise many kinds
        raise CothermError(field, f"not an array ({error})", "an array in .npy form") from None
    return array


def _layout(member: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order, dtype and first byte of the data, as a .npy file describes itself."""
    stream = io.BytesIO(member)
    version = npy.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f".npy version {version}")
    shape, fortran, dtype = npy.read_array_header_1_0(stream)
    return shape, fortran, dtype, stream.tell()
