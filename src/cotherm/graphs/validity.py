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
    inside = off.multiply(graph.with_weights(np.ones(graph.m)).adjacency())
    found = (
        _worst("i", abs(off - off.T), slack, "l[{0}, {1}] and l[{1}, {0}] differ by {2:.3g}"),
        _worst("i", off, slack, "l[{0}, {1}] = {2:.3g} is positive"),
        _worst("ii", abs(off - inside), slack, "l[{0}, {1}] is {2:.3g} off zero, but no edge"),
        _row_sums(L, slack),
    )
    return Validity(tuple(f for f in found if f is not None))


def _worst(condition: str, excess: Any, slack: float, text: str) -> Failure | None:
    """The largest entry, where it is larger than it may be."""
    coo = excess.tocoo()
    bad = coo.data > slack
    if not bad.any():
        return None
    k = int(np.argmax(coo.data))
    i, j, size = int(coo.row[k]), int(coo.col[k]), float(coo.data[k])
    pairs = np.unique(np.sort(np.column_stack([coo.row, coo.col])[bad], axis=1), axis=0)
    return Failure(condition, (i, j), size, len(pairs), text.format(i, j, size))


def _row_sums(L: sp.csr_array, slack: float) -> Failure | None:
    sums = np.abs(np.asarray(L.sum(axis=1)).ravel())
    # Rounding in a sum of k terms is allowed k times over.
    bad = sums > slack * np.maximum(np.diff(L.indptr), 1)
    if not bad.any():
        return None
    r = int(np.argmax(np.where(bad, sums, 0.0)))
    size = float(sums[r])
    return Failure("iii", (r,), size, int(bad.sum()), f"row {r} sums to {size:.3g} in absolute value")
