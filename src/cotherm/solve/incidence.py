"""C = |B|, the unsigned incidence matrix of a graph, as the form 2I + CᵀC needs it: products and systems."""

from __future__ import annotations

from cotherm import limits
from cotherm.engines import Engine
from cotherm.engines.interface import Array, Pattern, SystemSolver
from cotherm.solve.tall_matrix import TallMatrix

# Relative residual of systems that are solved to the last digits.
_ROUNDING = 1e-15


class Incidence:
    """|B| (vertices, edges): a 1 at both ends of every edge."""

    def __init__(self, n: int, pattern: Pattern, engine: Engine) -> None:
        self.engine, self._pattern = engine, pattern
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

    def solver(self, active: Array) -> SystemSolver:
        """Y ↦ (2I + C_F C_Fᵀ)⁻¹Y, F the edges that are not active."""
        if not self._is_small:
            return self.iterative_solver(active)
        if self.engine.is_distributed:  # as exact as the factors that one process has
            solve = self.iterative_solver(active)
            return lambda Y, _tolerance, _start: solve(Y, _ROUNDING, None)
        exact = self.engine.cholesky_solver(self._signless(~active))
        return lambda Y, _tolerance, _start: exact(Y)

    def iterative_solver(self, active: Array) -> SystemSolver:
        """The same by conjugate gradients, whatever the size: for few right-hand sides."""
        return self.engine.signless_solver(self._pattern, ~active)

    def _signless(self, free: Array) -> Array:
        """2I + C_F C_Fᵀ as a small dense matrix."""
        i, j, n, xp = self._pattern.i[free], self._pattern.j[free], self._pattern.n, self.engine.xp
        S = xp.zeros((n, n))
        S[i, j] = S[j, i] = 1.0
        diagonal = xp.arange(n)
        S[diagonal, diagonal] = 2.0 + S.sum(axis=1)
        return S
