"""pandas: edge lists, a row per edge, vertices by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Ints
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import require_graph
from cotherm.interop.named import named_graph, require_keys
from cotherm.optional import require

if TYPE_CHECKING:
    import pandas as pd


def from_pandas(
    frame: pd.DataFrame,
    source: Hashable = "source",
    target: Hashable = "target",
    weight: Hashable | None = "weight",
    *,
    names: Iterable[Hashable] | ArrayLike | None = None,
) -> Graph:
    """Convert an edge list, a table with a row for each edge.

    The ends become ``vertex_names``: integers if all are, otherwise strings, those of other objects by ``repr``. Edges
    keep the order of the rows; the direction of an edge has no meaning. It needs pandas:
    ``pip install 'cotherm[pandas]'``.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, without repeated pairs, loops, negative weights or missing values.
    source : hashable, default "source"
        Column with one end of each edge, strings or numbers.
    target : hashable, default "target"
        Column with the other end.
    weight : hashable or None, default "weight"
        Column with the weights. None gives every edge weight 1.
    names : iterable of hashable, optional
        Names of the vertices in their order, also of those without edges; ``range(n)`` where the ends are vertex
        numbers. By default all names that occur, sorted.

    Returns
    -------
    Graph
        The graph.

    See Also
    --------
    to_pandas : The other direction.
    cotherm.read_graph : Read an edge list from a file.

    Examples
    --------
    >>> import pandas as pd
    >>> import cotherm as ct
    >>> frame = pd.DataFrame({"source": ["b", "b"], "target": ["c", "a"], "weight": [2.0, 0.5]})
    >>> graph = ct.interop.from_pandas(frame)
    >>> graph.edges.tolist(), graph.vertex_names.tolist()
    ([[1, 2], [0, 1]], ['a', 'b', 'c'])
    >>> ct.interop.to_pandas(graph)["target"].tolist()
    ['c', 'b']
    """
    pd = require("pandas", "pandas")
    if not isinstance(frame, pd.DataFrame):
        raise CothermError("frame", validation.describe(frame), "a pandas.DataFrame")
    require_keys(source=source, target=target, weight=weight)
    ends = [_column(frame, argument, name) for argument, name in (("source", source), ("target", target))]
    w = np.ones(len(frame))
    if weight is not None:
        column = _column(frame, "weight", weight)
        # pandas' own types, such as Int64, become NumPy's, since missing values are refused.
        column = column.to_numpy(dtype=getattr(column.dtype, "numpy_dtype", None))
        w = validation.numeric("weight", column, ndim=(1,))
    order = _sorted_names(pd, ends) if names is None else _checked_names(names)
    index = pd.Index(order)
    pairs = zip(("source", "target"), ends, strict=True)
    numbers = np.column_stack([_numbers(argument, column, index) for argument, column in pairs])
    return named_graph("frame", order, numbers, w)


def to_pandas(graph: Graph) -> pd.DataFrame:
    """Convert a graph to an edge list, with a row for each edge in the order of the graph.

    The ends are the names of the vertices, or 0 to n − 1 if they have none. Edges of weight 0 are rows too. A vertex
    without edges is in no row.

    Parameters
    ----------
    graph : Graph
        The graph.

    Returns
    -------
    pandas.DataFrame
        The table, with the columns "source", "target" and "weight".

    See Also
    --------
    from_pandas : The other direction.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.interop.to_pandas(ct.Graph(2, [0], [1], [2.0])).iloc[0].tolist()
    [0.0, 1.0, 2.0]
    """
    pd = require("pandas", "pandas")
    require_graph(graph)
    index = pd.Index(range(graph.n) if graph.vertex_names is None else graph.vertex_names.tolist())
    return pd.DataFrame({"source": index[graph.i], "target": index[graph.j], "weight": graph.w})


def _column(frame: Any, argument: str, name: Hashable) -> Any:
    where = np.flatnonzero(frame.columns == name)
    if len(where) != 1:
        given = f"{name!r}, which {len(where)} columns are called"
        raise CothermError(argument, given, f"one of the columns {list(frame.columns)}")
    column = frame.iloc[:, where[0]]
    absent = np.flatnonzero(column.isna().to_numpy())
    if len(absent):
        given = f"a missing value in row {absent[0]} ({len(absent)} such row(s))"
        raise CothermError(argument, given, "a value in every row")
    return column


def _checked_names(names: Iterable[Hashable] | ArrayLike) -> list[Any]:
    """Different names."""
    if isinstance(names, str) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) == 0:
        raise CothermError("names", validation.describe(names), "a name for every vertex")
    given = [name.item() if isinstance(name, np.generic) else name for name in names]
    try:
        different = len(set(given))
    except TypeError:
        raise CothermError("names", "a name that cannot be hashed", "names such as strings or numbers") from None
    if different != len(given):
        raise CothermError("names", f"{different} different names", f"{len(given)}, a name of its own for every vertex")
    return given


def _sorted_names(pd: Any, ends: list[Any]) -> list[Any]:
    every = pd.concat([end.astype(object) for end in ends], ignore_index=True).unique().tolist()
    try:
        return sorted(every)
    except TypeError:
        given = "names of several kinds, which have no order"
        raise CothermError("source, target", given, "all strings or all numbers", "Give names=.") from None


def _numbers(argument: str, column: Any, index: Any) -> Ints:
    numbers = np.asarray(index.get_indexer(column.astype(object)), dtype=np.int64)
    strange = np.flatnonzero(numbers < 0)
    if len(strange):
        raise CothermError(argument, f"{column.iloc[strange[0]]!r} in row {strange[0]}", "one of names")
    return numbers
