"""Checks of other libraries' objects that become graphs: their types, names of vertices, and edges."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.optional import require

Names = Sequence[Any]


def checked_names(names: Iterable[Hashable] | ArrayLike | None, n: int) -> list[Any]:
    """n different names; by default the numbers from 0."""
    if names is None:
        return list(range(n))
    if isinstance(names, str) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) == 0:
        raise CothermError("names", validation.describe(names), f"{n} names, one per vertex")
    given = [name.item() if isinstance(name, np.generic) else name for name in names]
    if len(given) != n:
        raise CothermError("names", f"{len(given)} names", f"one per vertex, {n}")
    try:
        different = len(set(given))
    except TypeError:
        raise CothermError("names", "a name that cannot be hashed", "names such as strings or numbers") from None
    if different != n:
        raise CothermError("names", f"{different} different names", f"{n}, a name of its own for every vertex")
    return given


def named(argument: str, value: Any, what: str = "an attribute") -> Any:
    """Require a hashable object, which can name an attribute or a column."""
    try:
        hash(value)
    except TypeError:
        raise CothermError(argument, validation.describe(value), f"the name of {what}") from None
    return value


def refuse_loops(argument: str, names: Names, low: Ints, high: Ints) -> None:
    loops = np.flatnonzero(low == high)
    if len(loops):
        raise CothermError(
            argument,
            f"an edge from {names[low[loops[0]]]!r} to itself ({len(loops)} such edge(s))",
            "two different ends for every edge",
            "Drop the self-loops; they carry no heat.",
        )


def refuse_repeats(argument: str, names: Names, low: Ints, high: Ints) -> None:
    pair, count = np.unique(low * len(names) + high, return_counts=True)
    repeated = np.flatnonzero(count > 1)
    if len(repeated):
        a, b = divmod(int(pair[repeated[0]]), len(names))
        raise CothermError(
            argument,
            f"{count[repeated[0]]} edges between {names[a]!r} and {names[b]!r} ({len(repeated)} such pair(s))",
            "every pair of vertices at most once",
            "Add up or choose among the repeated weights first.",
        )


def refuse_negative(names: Names, low: Ints, high: Ints, w: Floats) -> None:
    if len(w) and w.min() < 0.0:
        e = int(np.argmin(w))
        raise CothermError(
            "weight",
            f"{w[e]:g} between {names[low[e]]!r} and {names[high[e]]!r} ({int(np.sum(w < 0.0))} negative weight(s))",
            "weights >= 0",
        )


def require_anndata(argument: str, adata: Any) -> None:
    """Refuse objects that are not AnnData; this needs the package anndata."""
    if not isinstance(adata, require("anndata", "anndata").AnnData):
        needed = "an anndata.AnnData"
        advice = "Take its modalities one by one: mdata.mod." if is_mudata(adata) else ""
        raise CothermError(argument, f"a {type(adata).__name__}", needed, advice)


def is_mudata(value: object) -> bool:
    # A caller with a MuData has imported the library; others need not have it installed.
    library = sys.modules.get("mudata")
    return library is not None and isinstance(value, library.MuData)


def require_undirected(G: object) -> None:
    igraph = require("igraph", "igraph")
    if not isinstance(G, igraph.Graph):
        raise CothermError("G", validation.describe(G), "an igraph.Graph")
    if G.is_directed():
        raise CothermError(
            "G", "a directed graph", "an undirected one", 'G.as_undirected(combine_edges="max") makes one.'
        )


def require_simple(G: object) -> None:
    nx = require("networkx", "networkx")
    if not isinstance(G, nx.Graph):
        raise CothermError("G", validation.describe(G), "a networkx.Graph")
    if G.is_multigraph():
        raise CothermError(
            "G", f"a {type(G).__name__}", "a networkx.Graph", "Add up or choose among parallel edges; then nx.Graph(G)."
        )
    if G.is_directed():
        raise CothermError(
            "G", f"a {type(G).__name__}", "an undirected networkx.Graph", "G.to_undirected() keeps one of two weights."
        )
