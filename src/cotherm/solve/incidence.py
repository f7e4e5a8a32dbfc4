"""C = |B|, the unsigned incidence matrix of a graph, as the form 2I + CᵀC needs it: products, and systems with
2I + C_F C_Fᵀ for some edges F."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.incidence import FreeEdges, add_at_vertices, sums_at_edges, sums_at_vertices
from cotherm.engines.cpu.pattern import Pattern
from cotherm.solve.cholesky import definite_solver
from cotherm.solve.tall_matrix import Tall

Mask = NDArray[np.bool_]

# Up to this many vertices a dense Cholesky factor is the faster way.
_DENSE = 300


class Solver(Protocol):
    """Y ↦ (2I + C_F C_Fᵀ)⁻¹Y; where it is found step by step, to a tolerance and from some start."""

    def __call__(self, Y: Floats, tolerance: float, start: Floats | None, /) -> Floats: ...


class Incidence:
    """|B| (vertices, edges): a 1 at both ends of every edge."""

    def __init__(self, n: int, i: NDArray[Any], j: NDArray[Any], pattern: Pattern | None = None) -> None:
        """``pattern`` is that of the edges, where it is at hand."""
        self._i, self._j = i, j
        self.shape = (n, len(i))
        self._pattern = Pattern.of(n, i, j) if pattern is None else pattern

    def dot(self, d: Floats) -> Floats:
        """C d."""
        return sums_at_vertices(self._pattern, d)

    def transposed_dot(self, y: Floats) -> Floats:
        """Cᵀy."""
        return sums_at_edges(self._i, self._j, y)

    def dot_rows(self, E: Tall) -> Floats:
        """C E."""
        out = np.zeros((self.shape[0], E.shape[1]))
        for first, block in E.blocks():
            at = slice(first, first + len(block))
            add_at_vertices(block, self._i[at], self._j[at], out)
        return out

    def dot_some(self, edges: NDArray[np.intp], rows: Floats) -> Floats:
        """C E for an E that is zero but in the rows of some edges."""
        out = np.zeros((self.shape[0], rows.shape[1]))
        add_at_vertices(rows, self._i[edges], self._j[edges], out)
        return out

    def solver(self, held: Mask) -> Solver:
        """For the edges that are not held."""
        if self.shape[0] > _DENSE:
            return FreeEdges(self._pattern, np.where(held, 0.0, 1.0)).solve
        exact = definite_solver(self._gram(~held))
        return lambda Y, _tolerance, _start: exact(Y)

    def _gram(self, free: Mask) -> Floats:
        i, j = self._i[free], self._j[free]
        S = np.zeros((self.shape[0], self.shape[0]))
        S[i, j] = S[j, i] = 1.0
        np.fill_diagonal(S, 2.0 + S.sum(axis=1))
        return S
