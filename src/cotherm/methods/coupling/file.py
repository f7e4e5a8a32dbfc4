"""A coupling in one ``.npz`` file.

The arrays: ``header``, the text ``cotherm coupling`` and a JSON object with everything that is not an array; for each
graph k the fields of the original, ``k.i``, ``k.j``, ``k.w``, perhaps ``k.coordinates``, ``k.labels`` and
``k.vertex_names``; ``k.new``, the ends of edges that only the coupled graph has, (2, m); ``k.u``, the weights of the
coupled graph, those of new edges last; ``k.functions``, the functions that were coupled, (n, q). For a coupling by
pairs of items ``pairs``, the table of the items.
``numpy.load(path, allow_pickle=False)`` opens it too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.formats import npz
from cotherm.graphs.formats.npz import EXTRAS, extras
from cotherm.graphs.graph import Graph
from cotherm.io import archive, atomic
from cotherm.io.text import excerpt
from cotherm.methods.coupling.result import STATUSES, Coupling
from cotherm.methods.pairs.agreement import Agreement, PairReport
from cotherm.pairs import checked_pairs

_MARK = "cotherm coupling"
_VERSION = 4
_NUMBERS = ("cost", "distance", "mismatch", "optimality", "seconds")
_PLAIN = ("alpha", "status", "history", "settings", "versions")
_VECTORS = ("times", "coupling_before", "coupling")
# Checks a value that has this name.
Check = Callable[[str, Any], Any]
_NAME = re.compile(r"header|pairs|(0|[1-9][0-9]{0,8})\.(i|j|w|u|new|functions|coordinates|labels|vertex_names)")


# How to write files with other suffixes.
_EDGES = (
    "write_graph(result.graphs[0], path) writes the edges of one graph, result.common_graph().graph those of all items."
)
_ARRAYS = "Write what you need of it: result.graphs, result.embedding() and others."
_ELSEWHERE = {
    **dict.fromkeys(
        (".h5ad", ".h5mu"), "interop.to_anndata puts the result into AnnData or MuData, which are written."
    ),
    **dict.fromkeys((".csv", ".tsv", ".txt", ".mtx", ".graphml", ".xlsx", ".parquet"), _EDGES),
    **dict.fromkeys((".html", ".htm"), "result.save_page(path) writes a page."),
    **dict.fromkeys((".png", ".pdf", ".svg", ".jpg", ".jpeg"), "result.plot().savefig(path) writes a picture."),
    **dict.fromkeys((".npy", ".json", ".pkl", ".pickle", ".h5", ".hdf5", ".zarr", ".mat", ".zip", ".gz"), _ARRAYS),
}


def save(result: Coupling, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    place = atomic.as_path(path)
    suffix = place.suffix.lower()
    if suffix in _ELSEWHERE:
        raise CothermError(str(place), f"the suffix {suffix}", ".npz", _ELSEWHERE[suffix])
    atomic.save(place, render(result), overwrite=overwrite)


def render(result: Coupling) -> bytes:
    head: dict[str, Any] = {"version": _VERSION, "graphs": [{"n": g.n, "name": g.name} for g in result.originals]}
    head |= {field: getattr(result, field) for field in (*_NUMBERS, *_PLAIN)}
    head |= {field: np.asarray(getattr(result, field)).tolist() for field in _VECTORS}
    table = {}
    if result.pairs is not None:
        head["pairs"] = {name: one for name, one in asdict(result.pairs).items() if name != "table"}
        table["pairs"] = result.pairs.table
    arrays = {"header": archive.header(_MARK, head), **table}
    views = zip(result.originals, result.graphs, result.functions, strict=True)
    for k, (old, new, F) in enumerate(views):
        arrays |= {f"{k}.{field}": getattr(old, field) for field in ("i", "j", "w", *extras(old))}
        borrowed = np.stack([new.i[old.m :], new.j[old.m :]])
        arrays |= {f"{k}.u": new.w, f"{k}.new": borrowed, f"{k}.functions": F}
    return archive.pack(arrays)


def least_size(graphs: Sequence[Graph], functions: Sequence[Floats]) -> int:
    """A lower bound on the bytes of a coupling's file, before it is made; history and names add some."""
    sizes = []
    for graph, F in zip(graphs, functions, strict=True):
        extra = sum(getattr(graph, field).nbytes for field in extras(graph))
        sizes.append(graph.i.nbytes + graph.j.nbytes + 2 * graph.w.nbytes + 8 * F.size + extra)
    return sum(sizes)


def load(path: str | os.PathLike[str]) -> Coupling:
    return archive.load(path, parse)


def parse(data: bytes) -> Coupling:
    arrays = archive.unpack(data, _require_header)
    head = archive.read_header(arrays.pop("header"), _MARK, _VERSION, _complete)
    views = [_view(k, about, arrays) for k, about in enumerate(head["graphs"])]
    pairs = _pairs(head.get("pairs"), arrays, [view[0].n for view in views])
    if len(views) < 2 or arrays:
        raise CothermError("arrays", excerpt(", ".join(sorted(arrays))), "two or more graphs, and nothing else")
    originals, graphs, functions = zip(*views, strict=True)
    if len({F.shape[1] for F in functions}) > 1:
        raise CothermError("functions", "more on one graph than on another", "as many on each")
    times = validation.times("times", archive.numbers("times", head["times"]))
    before, after = (archive.numbers(field, head[field]) for field in _VECTORS[1:])
    if not len(before) == len(after) == len(times):
        raise CothermError("coupling", f"{len(after)} errors", f"one for each of {len(times)} times")
    return Coupling(
        graphs=graphs,
        originals=originals,
        functions=functions,
        times=tuple(times.tolist()),
        coupling_before=before,
        coupling=after,
        alpha=validation.real("alpha", head["alpha"], positive=True),
        status=validation.choice("status", head["status"], STATUSES),
        history=tuple(_checked(f"history[{k}]", row, _STEP) for k, row in enumerate(head["history"])),
        settings=head["settings"],
        versions=head["versions"],
        pairs=pairs,
        **{field: archive.number(field, head[field]) for field in _NUMBERS},
    )


def _require_header(found: list[str]) -> None:
    if "header" not in found or len(set(found)) != len(found) or not all(map(_NAME.fullmatch, found)):
        raise CothermError(
            "arrays", excerpt(", ".join(sorted(found))), "a header and graphs, as Coupling.save stores them"
        )


def _complete(head: dict[str, Any]) -> bool:
    kinds_hold = (
        isinstance(head.get("graphs"), list)
        and all(isinstance(about, dict) and about.keys() == {"n", "name"} for about in head["graphs"])
        and isinstance(head.get("history"), list)
        and isinstance(head.get("settings"), dict)
        and archive.words(head.get("versions"))
    )
    return set(head) - {"pairs"} == {"version", "graphs", *_NUMBERS, *_PLAIN, *_VECTORS} and kinds_hold


def _pairs(about: object, arrays: dict[str, NDArray[Any]], sizes: list[int]) -> PairReport | None:
    """The report of a coupling by pairs; None for one by functions."""
    if about is None and "pairs" not in arrays:
        return None
    if "pairs" not in arrays:
        raise CothermError("pairs", "no table", "a table and what was found, as Coupling.save stores it")
    last = len(sizes) - 1
    views = _list_of(partial(validation.integer, least=0, most=last), 2)
    agreement = _list_of(lambda where, row: Agreement(**_checked(where, row, {**_AGREEMENT, "views": views})))
    kinds: dict[str, Check] = {
        "n_modes": partial(validation.integer, least=1),
        "strength": archive.number,
        "shares": _list_of(validation.real, len(sizes)),
        "rigidity": _list_of(validation.real, len(sizes)),
        "agreement": agreement,
        "notes": _list_of(_text),
    }
    return PairReport(table=checked_pairs(arrays.pop("pairs"), sizes).table, **_checked("pairs", about, kinds))


def _checked(where: str, about: object, kinds: Mapping[str, Check]) -> dict[str, Any]:
    """An object of JSON with just these fields, each of its kind."""
    if not isinstance(about, dict) or set(about) != set(kinds):
        raise CothermError(where, validation.describe(about), ", ".join(kinds))
    return {field: check(f"{where}: {field}", about[field]) for field, check in kinds.items()}


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise CothermError(where, validation.describe(value), "text")
    return value


def _list_of(check: Check, count: int | None = None) -> Check:
    def checked(where: str, values: object) -> tuple[Any, ...]:
        if not isinstance(values, list) or count not in (None, len(values)):
            raise CothermError(
                where, validation.describe(values), f"a list of {'any length' if count is None else count}"
            )
        return tuple(check(f"{where}[{k}]", value) for k, value in enumerate(values))

    return checked


# What a step of the history and an agreement say.
_WHOLE = partial(validation.integer, least=0)
_STEP: Mapping[str, Check] = {
    "route": _text,
    **dict.fromkeys(("stage", "iteration"), _WHOLE),
    **dict.fromkeys(("cost", "coupling", "optimality"), archive.number),
}
_AGREEMENT: Mapping[str, Check] = {
    **{field.name: archive.number for field in fields(Agreement)},
    **dict.fromkeys(("shared", "kept_back"), _WHOLE),
    "coupled": validation.boolean,
}


def _view(k: int, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[Graph, Graph, Floats]:
    """The original, the coupled graph and the functions on both."""
    fields = ("i", "j", "w", "u", "new", "functions")
    widths = {**npz.WIDTHS, "u": 8, "new": 4, "functions": 8}
    archive.require_width(arrays, {f"{k}.{field}": width for field, width in widths.items()})
    missing = [f"{k}.{field}" for field in fields if f"{k}.{field}" not in arrays]
    if missing:
        raise CothermError("arrays", f"no {missing[0]}", f"the arrays of graph {k}", "The file is damaged.")
    i, j, w, u, new, F = (arrays.pop(f"{k}.{field}") for field in fields)
    more = {field: arrays.pop(f"{k}.{field}") for field in EXTRAS if f"{k}.{field}" in arrays}
    original = Graph(about["n"], i, j, w, **more, name=about["name"])
    if new.ndim != 2 or len(new) != 2:
        raise CothermError(f"{k}.new", f"an array of shape {new.shape}", "both ends of each edge")
    coupled = original.with_edges(np.concatenate([original.i, new[0]]), np.concatenate([original.j, new[1]]), u)
    return original, coupled, validation.functions(f"{k}.functions", F, original.n)
