"""C = |B|, the unsigned incidence matrix of a graph, as the form 2I + CᵀC needs it: products and systems."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import Array, Pattern, SystemSolver
from cotherm.solve.tall_matrix import TallMatrix

# Relative residual of systems that are solved to single precision.
_ROUGH = 1e-6
# Panels of right-hand sides that ranks solve for at a time, where there are many.
ROUGH_PANELS = 4


class Incidence:
    """|B| (vertices, edges): a 1 at both ends of every edge."""

    def __init__(
        self,
        n: int,
        i: NDArray[Any],
        j: NDArray[Any],
        engine: Engine | None = None,
        *,
        pattern: Pattern | None = None,
    ) -> None:
        """``pattern`` is that of the same edges, where it has been laid out already."""
        self.engine = default_engine() if engine is None else engine
        self._pattern = self.engine.pattern(n, i, j) if pattern is None else pattern
        self.shape = (self._pattern.n, len(self._pattern.i))
        self._is_small = n <= limits.CHOLESKY
        self.is_iterative = not self._is_small

    def matvec(self, d: Array) -> Array:
        """C d."""
        return self.engine.sums_at_vertices(self._pattern, d)

    def rmatvec(self, y: Array) -> Array:
        """Cᵀy."""
        return self.engine.sums_at_edges(self._pattern, y)

    def matmat(self, E: TallMatrix) -> Array:
        """C E."""
        out = self.engine.xp.zeros((self.shape[0], E.shape[1]))
        for first, block in E.blocks():
            edges = slice(first, first + len(block))
            self.engine.add_at_vertices(block, self._pattern.i[edges], self._pattern.j[edges], out)
        return out

    def matmat_without(self, CE: Array, E: TallMatrix, edges: Array) -> Array:
        """C E without the rows of some edges, from all of C E."""
        out = CE.copy()
        for part, rows in E.row_blocks(edges):
            self.engine.add_at_vertices(-rows, self._pattern.i[part], self._pattern.j[part], out)
        return out

    def add_rows(self, rows: Array, edges: Array, out: Array) -> None:
        """Add to ``out`` what C makes of the rows of some edges."""
        self.engine.add_at_vertices(rows, self._pattern.i[edges], self._pattern.j[edges], out)

    def solver(self, active: Array) -> SystemSolver:
        """Y ↦ (2I + C_F C_Fᵀ)⁻¹Y, F the edges that are not active."""
        if not self._is_small:
            return self.iterative_solver(active)
        return self.engine.dense_signless_solver(self._pattern, ~active)

    def iterative_solver(self, active: Array) -> SystemSolver:
        """The same by conjugate gradients, whatever the size: for few right-hand sides."""
        return self.engine.signless_solver(self._pattern, ~active)

    def edge_gram(self, free: Array) -> Array:
        """C_FᵀC_F of float32 for few edges: how many ends each two of them share."""
        return self.engine.edge_gram(self._pattern, free)

    def subtract_inside(self, gram: Array, active: Array, Y: Array) -> None:
        """Subtract Yᵀ(2I + C_F C_Fᵀ)⁻¹Y, to single precision, for many columns."""
        if self.engine.is_distributed:
            # Some columns at a time: solutions for all would be as large as Y.
            host, solve, columns = self.engine.to_numpy, self.solver(active), Y.shape[1]
            single, width = host(Y).astype(np.float32).T, ROUGH_PANELS * self.engine.signless_panel(columns)
            for first in range(0, columns, width):
                some = slice(first, first + width)
                gram[:, some] -= single @ host(solve(Y[:, some], _ROUGH, None)).astype(np.float32)
        elif self.shape[0] > limits.ROUGH_CHOLESKY:
            inside = self.solver(active)(Y, _ROUGH, None).astype(np.float32)
            gram -= Y.astype(np.float32).T @ inside
        else:
            L = self.engine.factor_definite(self.engine.signless_matrix(self._pattern, ~active).astype(np.float32))
            self.engine.add_square(gram, self.engine.solve_lower(L, Y.astype(np.float32)), -1.0)
