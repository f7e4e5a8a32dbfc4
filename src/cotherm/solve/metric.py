"""Symmetric positive definite forms A that are cheap to invert on any subset of the unknowns.

*Gram*: A = ρ(2I + CᵀC) with C the incidence matrix of a graph, inverted through (2I + CCᵀ)⁻¹ (Woodbury). *Diagonal*:
A = Diag(s). The active set (the unknowns fixed at zero) changes a little at a time, so sums over the free unknowns are
updated from those before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from cotherm.engines import Engine
from cotherm.engines.interface import Array, SystemSolver
from cotherm.lazy import lazy
from cotherm.solve.incidence import Incidence
from cotherm.solve.tall_matrix import TallMatrix

# Relative residual of the systems with 2I + CCᵀ, where they are solved iteratively: below what the signs of the
# unknowns can see, and, for the many right-hand sides of the small system, below what its solution can.
_CG_TOLERANCE, _CG_ROUGH = 1e-12, 1e-9
# Rows that enter and leave may carry this many times a sum for the difference to keep enough of its digits for a step.
_SAFE_PART = 1e4
# From this many unknowns on the blocks of a system are solved side by side.
_WORTH_THREADS = 20_000


class Restricted(Protocol):
    """A_FF for the free unknowns F, the active ones P being zero. Vectors have all unknowns, and zeros in P."""

    gram: Array  # E_FᵀA_FF⁻¹E_F, where there are equations E

    def inverse(self, y: Array) -> Array:
        """A_FF⁻¹y_F."""

    def nearest(self, center: Array) -> Array:
        """The point nearest to the center in the form A: c_F + A_FF⁻¹A_FP c_P."""


# Restricts a form with equations to the unknowns that are not active; the next may overwrite the last one's gram.
Prepared = Callable[[Array], Restricted]


class Metric(Protocol):
    """A symmetric positive definite form A = Diag(s) + RᵀR."""

    @property
    def engine(self) -> Engine: ...

    @property
    def diagonal(self) -> Array:
        """s."""

    def root(self, d: Array) -> Array:
        """R d."""

    def root_transposed(self, y: Array) -> Array:
        """Rᵀy."""

    def apply(self, d: Array) -> Array:
        """A d."""

    def restricted(self, active: Array) -> Restricted:
        """On the unknowns that are not active, without equations."""

    def prepared(self, E: TallMatrix) -> Prepared:
        """For the equations in the columns of E."""


def _square(engine: Engine, size: int) -> Array:
    """Zeros, for a small matrix that every rank has whole."""
    return engine.small_array(np.zeros((size, size)))


class Diagonal:
    """A = Diag(s)."""

    def __init__(self, s: Array, engine: Engine) -> None:
        self.diagonal, self.engine = s, engine

    def root(self, d: Array) -> Array:
        return d[:0]

    def root_transposed(self, y: Array) -> Array:  # noqa: ARG002, R has no rows
        return self.engine.xp.zeros(len(self.diagonal))

    def apply(self, d: Array) -> Array:
        return self.engine.elementwise(np.multiply, self.diagonal, d)

    def restricted(self, active: Array) -> Restricted:
        return _DiagonalRestricted(self, active)

    def prepared(self, E: TallMatrix) -> Prepared:
        free_gram = _FreeGram(E, self.engine.elementwise(lambda s: 1.0 / np.sqrt(s), self.diagonal))
        return lambda active: _DiagonalRestricted(self, active, free_gram.without(active))


class _DiagonalRestricted:
    def __init__(self, metric: Diagonal, active: Array, gram: Array = None) -> None:
        self._metric, self._active, self.gram = metric, active, gram

    def inverse(self, y: Array) -> Array:
        elementwise, s = self._metric.engine.elementwise, self._metric.diagonal
        return elementwise(lambda active, y, s: np.where(active, 0.0, y / s), self._active, y, s)

    def nearest(self, center: Array) -> Array:
        return self._metric.engine.elementwise(_free_part, self._active, center)


def _free_part(active: Array, x: Array) -> Array:
    return np.where(active, 0.0, x)


class Gram:
    """A with diagonal blocks ρ(2I + CᵀC), one for each incidence matrix C with its number ρ > 0."""

    def __init__(self, incidences: Sequence[Incidence], rho: Sequence[float]) -> None:
        self.engine = incidences[0].engine
        self.blocks = [_Block(C, factor) for C, factor in zip(incidences, rho, strict=True)]
        ends = np.cumsum([0, *(C.shape[1] for C in incidences)]).tolist()
        self.slices = [slice(lo, hi) for lo, hi in pairwise(ends)]
        rows = np.cumsum([0, *(C.shape[0] for C in incidences)]).tolist()
        self._rows = [slice(lo, hi) for lo, hi in pairwise(rows)]

    @lazy
    def diagonal(self) -> Array:
        parts = zip(self.blocks, self.slices, strict=True)
        full = self.engine.xp.full
        return np.concatenate([full(at.stop - at.start, 2.0 * block.rho) for block, at in parts])

    def root(self, d: Array) -> Array:
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([math.sqrt(block.rho) * block.C.matvec(d[at]) for block, at in parts])

    def root_transposed(self, y: Array) -> Array:
        parts = zip(self.blocks, self._rows, strict=True)
        return np.concatenate([math.sqrt(block.rho) * block.C.rmatvec(y[at]) for block, at in parts])

    def apply(self, d: Array) -> Array:
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([block.apply(d[at]) for block, at in parts])

    def restricted(self, active: Array) -> Restricted:
        pairs = zip(self.blocks, self.slices, strict=True)
        parts = [_BlockRestricted(block, active[at], block.C.iterative_solver(active[at])) for block, at in pairs]
        return _GramRestricted(parts, self.slices)

    def prepared(self, E: TallMatrix) -> Prepared:
        pairs = zip(self.blocks, self.slices, strict=True)
        blocks = [_BlockPrepared(block, E.row_slice(at.start, at.stop)) for block, at in pairs]

        def restricted(active: Array) -> Restricted:
            gram = _square(self.engine, E.shape[1])
            parts = [block.restricted(active[at], gram) for block, at in zip(blocks, self.slices, strict=True)]
            return _GramRestricted(parts, self.slices, 0.5 * (gram + gram.T))

        return restricted

    def warm_starts(self) -> list[Array | None]:
        """The last solutions of the blocks' systems, where iterations begin at them."""
        return [block.last if block.C.is_iterative else None for block in self.blocks]

    def restore_warm_starts(self, solutions: Sequence[Array | None]) -> None:
        for block, solution in zip(self.blocks, solutions, strict=True):
            block.last = solution


class _Block:
    """C and ρ, and the last solution of its systems."""

    def __init__(self, C: Incidence, rho: float) -> None:
        self.C, self.rho = C, rho
        self.last: Array | None = None

    def apply(self, d: Array) -> Array:
        y = self.C.rmatvec(self.C.matvec(d))
        return self.C.engine.elementwise(lambda d, y: self.rho * (2.0 * d + y), d, y)


class _BlockPrepared:
    def __init__(self, block: _Block, E: TallMatrix) -> None:
        self.block, self._E = block, E
        self._free_gram = _FreeGram(E)
        self._CE = block.C.matmat(E)

    def restricted(self, active: Array, gram: Array) -> _BlockRestricted:
        """Adds this block's part to the gram."""
        block = self.block
        solve = block.C.solver(active)
        rows = np.flatnonzero(active)
        CE = block.C.matmat_without(self._CE, self._E, rows) if active.any() else self._CE
        # The last solution is near this one: equations and active set change little from one system to the next.
        start = block.last if block.last is not None and block.last.shape == CE.shape else None
        block.last = solve(CE, _CG_ROUGH, start)
        # In place, because these matrices are the largest where there are many equations.
        part = CE.T @ block.last
        np.subtract(self._free_gram.without(active), part, out=part)
        part *= 0.5 / block.rho
        gram += part
        return _BlockRestricted(block, active, solve)


class _BlockRestricted:
    def __init__(self, block: _Block, active: Array, solve: SystemSolver) -> None:
        self._block, self._active, self._solve = block, active, solve
        self.engine, self.vertices = block.C.engine, block.C.shape[0]
        self._elementwise = self.engine.elementwise

    def inverse(self, y: Array) -> Array:
        C, half = self._block.C, 0.5 / self._block.rho
        y = self._elementwise(_free_part, self._active, y)
        x = C.rmatvec(self._solve_one(C.matvec(y)))
        return self._elementwise(lambda active, y, x: np.where(active, 0.0, half * (y - x)), self._active, y, x)

    def nearest(self, center: Array) -> Array:
        # A_FP = ρ C_FᵀC_P, and A_FF⁻¹C_Fᵀ = C_Fᵀ(2I + C_FC_Fᵀ)⁻¹/ρ.
        if not self._active.any():
            return center.copy()
        C = self._block.C
        fixed = self._elementwise(lambda active, c: np.where(active, c, 0.0), self._active, center)
        x = C.rmatvec(self._solve_one(C.matvec(fixed)))
        return self._elementwise(lambda active, c, x: np.where(active, 0.0, c + x), self._active, center, x)

    def _solve_one(self, y: Array) -> Array:
        return self._solve(y[:, np.newaxis], _CG_TOLERANCE, None)[:, 0]


class _GramRestricted:
    def __init__(self, parts: list[_BlockRestricted], slices: list[slice], gram: Array = None) -> None:
        self._parts, self._slices, self.gram = parts, slices, gram
        self._engine = parts[0].engine

    def inverse(self, y: Array) -> Array:
        def inverse(part: _BlockRestricted, at: slice) -> Array:
            return part.inverse(y[at])

        largest = max(part.vertices for part in self._parts) if len(y) > _WORTH_THREADS else 0
        return np.concatenate(self._engine.for_each(inverse, largest, self._parts, self._slices))

    def nearest(self, center: Array) -> Array:
        return np.concatenate([part.nearest(center[at]) for part, at in zip(self._parts, self._slices, strict=True)])


class _FreeGram:
    """E_FᵀE_F for many active sets, updated from the last unless that would be rounding; ``scale`` multiplies rows."""

    def __init__(self, E: TallMatrix, scale: Array | None = None) -> None:
        self._E, self._scale, self._engine = E, scale, E.engine
        self._sizes = (
            E.row_squares if scale is None else self._engine.elementwise(lambda x, a: x * a**2, E.row_squares, scale)
        )
        self._active: Array | None = None
        self._gram = _square(self._engine, E.shape[1])

    def without(self, active: Array) -> Array:
        if self._active is None or not self._updated(self._active, active):
            self._compute(active)
        self._active = active
        return self._gram

    def _updated(self, before: Array, active: Array) -> bool:
        left, entered = np.flatnonzero(active & ~before), np.flatnonzero(before & ~active)
        carried = float(self._sizes[left].sum() + self._sizes[entered].sum())
        if carried > _SAFE_PART * float(np.trace(self._gram)):
            return False
        for numbers, rows in self._E.row_blocks(entered):
            self._gram += self._of(numbers, rows)
        for numbers, rows in self._E.row_blocks(left):
            self._gram -= self._of(numbers, rows)
        return True

    def _compute(self, active: Array) -> None:
        """Block by block, so that E is not copied."""
        self._gram[:] = 0.0
        for first, block in self._E.blocks():
            free = np.flatnonzero(~active[first : first + len(block)])
            self._gram += self._of(first + free, block if len(free) == len(block) else block[free])

    def _of(self, numbers: Array, block: Array) -> Array:
        if self._scale is not None:
            block = block * self._scale[numbers, np.newaxis]
        return block.T @ block
