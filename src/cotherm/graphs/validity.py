"""The paper's set L(V, E) of valid Laplacians, as a check that explains itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.validation import checked_csr

if TYPE_CHECKING:
    from cotherm.graphs.graph import Graph


@dataclass(frozen=True)
class Failure:
    """One condition of L(V, E) that does not hold.

    Attributes
    ----------
    condition : str
        Which condition: "i", "ii" or "iii", see :class:`cotherm.Validity`.
    where : tuple of int
        Where it is violated most: the entry (row, column), or the row.
    amount : float
        By how much.
    count : int
        Number of violations.
    explanation : str
        The worst violation in words.

    See Also
    --------
    Validity : All failed conditions of a matrix.
    """

    condition: str
    where: tuple[int, ...]
    amount: float
    count: int
    explanation: str

    def __str__(self) -> str:
        more = f", and {self.count - 1} more" if self.count > 1 else ""
        return f"({self.condition}) {self.explanation}{more}"


@dataclass(frozen=True)
class Validity:
    """Whether a matrix is in the set L(V, E) of valid Laplacians of a graph.

    The conditions are (i) l_ij ≤ 0 and l_ij = l_ji for i ≠ j, (ii) l_ij = 0 if (i, j) is not an edge, (iii) rows sum
    to zero. The object is true if all of them hold; print it for an explanation.

    Attributes
    ----------
    failures : tuple of Failure
        The conditions that do not hold.

    See Also
    --------
    Graph.validity : Check a matrix.

    Examples
    --------
    >>> import cotherm as ct
    >>> g = ct.Graph(3, [0], [1], [1.0])
    >>> print(g.validity([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]))
    not in L(V, E): (ii) l[1, 2] is 1 off zero, but no edge
    """

    failures: tuple[Failure, ...]

    @property
    def valid(self) -> bool:
        """Whether all conditions hold."""
        return not self.failures

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        if self.valid:
            return "valid Laplacian: conditions (i), (ii) and (iii) hold"
        return "not in L(V, E): " + "; ".join(map(str, self.failures))


def examine(graph: Graph, laplacian: Any, tolerance: float) -> Validity:
    """Check a dense or sparse matrix against L(V, E), to ``tolerance`` times its largest entry."""
    tolerance = validation.real("tolerance", tolerance)
    L = checked_csr("laplacian", laplacian)
    if L.shape != (graph.n, graph.n):
        raise CothermError("laplacian", f"shape {L.shape}", f"shape ({graph.n}, {graph.n}), one row per vertex")
    slack = tolerance * (np.abs(L.data).max() if L.nnz else 0.0)
    off = sp.csr_array(L - sp.diags_array(L.diagonal()))
    found = (
        _worst(
            "i",
            sp.csr_array(off - off.T),
            slack,
            "l[{0}, {1}] and l[{1}, {0}] differ by {2:.3g}",
            signed=False,
        ),
        _worst("i", off, slack, "l[{0}, {1}] = {2:.3g} is positive", signed=True),
        _worst("ii", _outside(graph, off), slack, "l[{0}, {1}] is {2:.3g} off zero, but no edge", signed=False),
        _row_sums(L, slack),
    )
    return Validity(tuple(f for f in found if f is not None))


def _outside(graph: Graph, off: sp.csr_array) -> sp.csr_array:
    """The off-diagonal entries where the graph has no edge."""
    coo = off.tocoo()
    row, column = coo.row.astype(np.int64), coo.col.astype(np.int64)
    key = np.minimum(row, column) * graph.n + np.maximum(row, column)
    edges = graph.i.astype(np.int64) * graph.n + graph.j
    stray = ~np.isin(key, edges)
    return sp.csr_array(sp.coo_array((coo.data[stray], (row[stray], column[stray])), shape=off.shape))


def _worst(condition: str, residual: sp.csr_array, slack: float, text: str, *, signed: bool) -> Failure | None:
    coo = residual.tocoo()
    amount = coo.data if signed else np.abs(coo.data)
    bad = np.flatnonzero(amount > slack)
    if not len(bad):
        return None
    k = bad[np.argmax(amount[bad])]
    i, j = int(coo.row[k]), int(coo.col[k])
    size = float(amount[k])
    pairs = {(min(a, b), max(a, b)) for a, b in zip(coo.row[bad].tolist(), coo.col[bad].tolist(), strict=True)}
    return Failure(condition, (i, j), size, len(pairs), text.format(i, j, size))


def _row_sums(L: sp.csr_array, slack: float) -> Failure | None:
    # Rounding in a sum of k terms is allowed k times over.
    terms = np.diff(L.indptr)
    sums = np.abs(np.asarray(L.sum(axis=1)).ravel())
    bad = np.flatnonzero(sums > slack * np.maximum(terms, 1))
    if not len(bad):
        return None
    r = int(bad[np.argmax(sums[bad])])
    size = float(sums[r])
    return Failure("iii", (r,), size, len(bad), f"row {r} sums to {size:.3g} in absolute value")
