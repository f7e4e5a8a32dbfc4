"""pandas: edge lists, a row per edge, vertices by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import require_graph
from cotherm.interop.named import named_graph
from cotherm.interop.optional import require
from cotherm.interop.validation import checked_names

if TYPE_CHECKING:
    import pandas as pd


class EdgeList(NamedTuple):
    """A graph and what its vertices are called: vertex v is ``names[v]``."""

    graph: Graph
    names: list[Any]


def from_pandas(
    frame: pd.DataFrame,
    source: Hashable = "source",
    target: Hashable = "target",
    weight: Hashable | None = "weight",
    *,
    names: Iterable[Hashable] | ArrayLike | None = None,
) -> EdgeList:
    """The graph of a table with a row per edge, and the names of its vertices.

    Edges keep the order of the rows; which end is the source says nothing.

    Parameters
    ----------
    frame : the table; no pair of vertices twice, no loops, no negative weights, nothing missing.
    source, target : the columns with the names of both ends, strings or numbers.
    weight : the column with the weights; None, every weight is 1.
    names : the vertices in their order, those without edges among them, ``range(n)`` where the ends are vertex numbers;
        by default all names that occur, sorted.

    It needs pandas: ``pip install 'cotherm[pandas]'``.

    Examples
    --------
    >>> import pandas as pd
    >>> import cotherm as ct
    >>> frame = pd.DataFrame({"source": ["b", "b"], "target": ["c", "a"], "weight": [2.0, 0.5]})
    >>> graph, names = ct.interop.from_pandas(frame)
    >>> graph.edges.tolist(), names
    ([[1, 2], [0, 1]], ['a', 'b', 'c'])
    >>> ct.interop.to_pandas(graph, names)["target"].tolist()
    ['c', 'b']
    """
    pd = require("pandas", "pandas")
    if not isinstance(frame, pd.DataFrame):
        raise CothermError("frame", validation.describe(frame), "a pandas.DataFrame")
    ends = [_column(frame, argument, name) for argument, name in (("source", source), ("target", target))]
    w = np.ones(len(frame)) if weight is None else _weights(_column(frame, "weight", weight))
    order = _sorted_names(pd, ends) if names is None else _given_names(names)
    index = pd.Index(order)
    pairs = zip(("source", "target"), ends, strict=True)
    numbers = np.column_stack([_numbers(argument, column, index) for argument, column in pairs])
    return EdgeList(named_graph("frame", order, numbers, w), order)


def to_pandas(graph: Graph, names: Iterable[Hashable] | ArrayLike | None = None) -> pd.DataFrame:
    """A table with the columns "source", "target" and "weight", a row per edge in the graph's order.

    Parameters
    ----------
    graph : its edges of weight 0 are rows too. A vertex without edges is in no row: keep the names or their number.
    names : what the vertices are called; by default 0 to n − 1.
    """
    pd = require("pandas", "pandas")
    require_graph(graph)
    index = pd.Index(checked_names(names, graph.n))
    return pd.DataFrame({"source": index[graph.i], "target": index[graph.j], "weight": graph.w})


def _column(frame: Any, argument: str, name: Hashable) -> Any:
    where = np.flatnonzero(frame.columns == name)
    if len(where) != 1:
        given = f"{name!r}, which {len(where)} columns are called"
        raise CothermError(argument, given, f"one of the columns {list(frame.columns)}")
    column = frame.iloc[:, where[0]]
    absent = np.flatnonzero(column.isna().to_numpy())
    if len(absent):
        raise CothermError(
            argument, f"a missing value in row {absent[0]} ({len(absent)} such row(s))", "a value in every row"
        )
    return column


def _weights(column: Any) -> Any:
    # Types of pandas' own, such as Int64, become those of NumPy; nothing is missing any more.
    plain = column.to_numpy(dtype=column.dtype.numpy_dtype) if hasattr(column.dtype, "numpy_dtype") else column
    return validation.numeric("weight", np.asarray(plain), ndim=(1,))


def _given_names(names: Any) -> list[Any]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise CothermError("names", validation.describe(names), "the names of all vertices")
    listed = list(names)
    return checked_names(listed, len(listed))


def _sorted_names(pd: Any, ends: list[Any]) -> list[Any]:
    every = pd.concat([end.astype(object) for end in ends], ignore_index=True).unique().tolist()
    try:
        return sorted(every)
    except TypeError:
        raise CothermError(
            "source, target",
            "names of several kinds, which have no order",
            "all strings or all numbers",
            "Give names=.",
        ) from None


def _numbers(argument: str, column: Any, index: Any) -> Ints:
    numbers = np.asarray(index.get_indexer(column.astype(object)), dtype=np.int64)
    strange = np.flatnonzero(numbers < 0)
    if len(strange):
        raise CothermError(argument, f"{column.iloc[strange[0]]!r} in row {strange[0]}", "one of names")
    return numbers
