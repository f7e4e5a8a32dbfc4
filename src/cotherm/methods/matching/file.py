"""A match in one ``.npz`` file, to be read back whole, or its vertices in a ``.csv`` table.

The arrays: ``header``, the text ``cotherm match`` and a JSON object with everything that is not an array; ``hard``,
``hard_back``, ``round_trip``, ``agreement``, ``functional_map``; of each sparse matrix ``data``, ``indices`` and
``indptr``; of each basis ``values`` and ``vectors``. ``numpy.load(path, allow_pickle=False)`` opens it too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.heat.spectrum import Spectrum
from cotherm.io import archive, atomic
from cotherm.io.text import csv_bytes, excerpt
from cotherm.methods.matching.result import STATUSES, Match

_MARK = "cotherm match"
_VERSION = 1
_PLAIN = ("source", "target", "status", "exact_agreement", "chance", "settings", "versions", "seconds")
_VECTORS = ("hard", "hard_back", "round_trip", "agreement", "functional_map")
_SPARSE = ("soft", "soft_back")
_PARTS = ("data", "indices", "indptr")
_BASES = ("values", "vectors")
_ARRAYS = (
    "header",
    *_VECTORS,
    *(f"{name}.{part}" for name in _SPARSE for part in _PARTS),
    *(f"{k}.{part}" for k in range(2) for part in _BASES),
)
# Bytes of a number in them: places in sparse matrices may have four.
_WIDTHS = {name: 4 if name.endswith(("indices", "indptr")) else 8 for name in _ARRAYS[1:]}
# Shares of a row sum to 1 but for rounding.
_ROUNDING = 1e-9


def save(match: Match, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    place = atomic.as_path(path)
    atomic.save(place, content(match, place), overwrite=overwrite)


def content(match: Match, place: Path) -> bytes:
    """What a file of this name holds for the match."""
    makers = {".npz": render, ".csv": table}
    if place.suffix.lower() not in makers:
        raise CothermError("path", f"the ending {place.suffix!r}", ".npz for everything, or .csv for the matches alone")
    return makers[place.suffix.lower()](match)


def table(match: Match, source: Sequence[str] | None = None, target: Sequence[str] | None = None) -> bytes:
    """The vertices by number, or by the names that are given; agreement that was not judged is left empty."""
    rows = []
    found = zip(match.hard.tolist(), match.agreement.tolist(), match.round_trip.tolist(), strict=True)
    for v, (w, a, r) in enumerate(found):
        ends = (v if source is None else source[v], w if target is None else target[w])
        rows.append((*ends, "" if math.isnan(a) else f"{a:.6g}", f"{r:.6g}"))
    return csv_bytes(("source", "target", "agreement", "round_trip"), rows)


def render(match: Match) -> bytes:
    head = {"version": _VERSION} | {field: getattr(match, field) for field in _PLAIN}
    arrays: dict[str, NDArray[Any]] = {"header": archive.header(_MARK, head)}
    arrays |= {field: getattr(match, field) for field in _VECTORS}
    arrays |= {f"{name}.{part}": getattr(getattr(match, name), part) for name in _SPARSE for part in _PARTS}
    arrays |= {f"{k}.{part}": getattr(basis, part) for k, basis in enumerate(match.bases) for part in _BASES}
    return archive.pack(arrays)


def load(path: str | os.PathLike[str]) -> Match:
    return archive.load(path, parse)


def parse(data: bytes) -> Match:
    arrays = archive.unpack(data, _require_names)
    archive.require_width(arrays, _WIDTHS)
    head = archive.read_header(arrays["header"], _MARK, _VERSION, _complete)
    bases = (_basis(0, arrays), _basis(1, arrays))
    n_s, n_t = (len(basis.vectors) for basis in bases)
    k = len(bases[0].values)
    numbers = {name: archive.number(name, head[name]) for name in ("exact_agreement", "chance", "seconds")}
    return Match(
        hard=_vertices("hard", arrays, n_s, n_t),
        soft=_shares("soft", arrays, n_s, n_t),
        round_trip=_floats("round_trip", arrays, n_s),
        agreement=_floats("agreement", arrays, n_s),
        hard_back=_vertices("hard_back", arrays, n_t, n_s),
        soft_back=_shares("soft_back", arrays, n_t, n_s),
        functional_map=_floats("functional_map", arrays, k, k),
        bases=bases,
        source=validation.integer("source", head["source"], least=0),
        target=validation.integer("target", head["target"], least=0),
        status=validation.choice("status", head["status"], STATUSES),
        settings=head["settings"],
        versions=head["versions"],
        **numbers,
    )


def _require_names(found: list[str]) -> None:
    if sorted(found) != sorted(_ARRAYS):
        raise CothermError("arrays", excerpt(", ".join(sorted(found))), "those that Match.save stores")


def _complete(head: dict[str, Any]) -> bool:
    mappings = isinstance(head.get("settings"), dict) and archive.words(head.get("versions"))
    return set(head) == {"version", *_PLAIN} and mappings


def _basis(k: int, arrays: dict[str, NDArray[Any]]) -> Spectrum:
    m = arrays[f"{k}.values"].size
    vectors = _floats(f"{k}.vectors", arrays, len(np.atleast_1d(arrays[f"{k}.vectors"])), m)
    return Spectrum(_floats(f"{k}.values", arrays, m), vectors)


def _floats(name: str, arrays: dict[str, NDArray[Any]], *shape: int) -> Floats:
    """Numbers that were computed; NaN and infinities are kept, since ``save`` keeps what a computation gave."""
    return _of_shape(name, validation.as_float64(name, arrays[name]), shape)


def _vertices(name: str, arrays: dict[str, NDArray[Any]], n: int, below: int) -> Ints:
    return _of_shape(name, validation.indices(name, arrays[name], below=below), (n,))


def _of_shape(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if array.shape != shape:
        raise CothermError(name, f"shape {array.shape}", f"shape {shape}", "The file is damaged.")
    return array


def _shares(name: str, arrays: dict[str, NDArray[Any]], rows: int, columns: int) -> sp.csr_array:
    indices = validation.indices(f"{name}.indices", arrays[f"{name}.indices"], below=columns)
    p = _floats(f"{name}.data", arrays, len(indices))
    order = validation.indices(f"{name}.indptr", arrays[f"{name}.indptr"], below=len(p) + 1)
    whole = len(order) == rows + 1 and order[0] == 0 and order[-1] == len(p) and bool(np.all(np.diff(order) > 0))
    if not whole or not p.size or not p.min() >= 0.0:
        raise CothermError(name, "rows that do not fit together", "shares of every vertex", "The file is damaged.")
    soft = sp.csr_array((p, indices, order), shape=(rows, columns))
    if not np.abs(np.asarray(soft.sum(axis=1)).ravel() - 1.0).max() <= _ROUNDING:
        raise CothermError(name, "rows that do not sum to 1", "shares of every vertex", "The file is damaged.")
    return soft
