"""Symmetric positive definite forms A, cheap to invert on any subset of the unknowns.

The step of the solver is a nearest-point problem in such a form, with a few equations E. *Gram*: A = ρ(2I + CᵀC) with C
the incidence of a graph, inverted through (2I + CCᵀ)⁻¹ (Woodbury). *Diagonal*: A = Diag(s).

Unknowns come and go a few at a time, so sums over the free ones follow from those before, unless what came and went
carries nearly all of the sum and the difference would be rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines.cpu.elementwise import mapped
from cotherm.lazy import lazy
from cotherm.solve.incidence import Incidence, Solver
from cotherm.solve.tall_matrix import Tall

Mask = NDArray[np.bool_]

# Relative residual of the systems with 2I + CCᵀ, where they are solved step by step: below what the signs of the
# unknowns can see, and, for the many right-hand sides of the small system, below what its solution can.
_CG_TOLERANCE, _CG_ROUGH = 1e-12, 1e-9
# What comes and goes may carry this many times a sum for the difference to keep enough of its digits for a step.
_SAFE_PART = 1e4


class Restricted(Protocol):
    """A_FF for the free unknowns F, the others P being held at zero. Vectors have all unknowns, and zeros in P."""

    @property
    def gram(self) -> Floats:
        """E_FᵀA_FF⁻¹E_F."""

    def inverse(self, y: Floats) -> Floats:
        """A_FF⁻¹y_F."""

    def pulled(self, center: Floats) -> Floats:
        """The point nearest to the center: c_F + A_FF⁻¹A_FP c_P."""


class Prepared(Protocol):
    """A form and equations, ready for many sets of held unknowns."""

    def restricted(self, held: Mask) -> Restricted: ...


class Metric(Protocol):
    """A symmetric positive definite form A = Diag(s) + RᵀR."""

    @property
    def diagonal(self) -> Floats:
        """s."""

    def rows(self, d: Floats) -> Floats:
        """R d."""

    def rows_transposed(self, y: Floats) -> Floats:
        """Rᵀy."""

    def apply(self, d: Floats) -> Floats:
        """A d."""

    def prepared(self, E: Tall) -> Prepared:
        """For the equations in the columns of E."""


class Diagonal:
    """A = Diag(s)."""

    def __init__(self, s: Floats) -> None:
        self.diagonal = s

    def rows(self, d: Floats) -> Floats:
        return d[:0]

    def rows_transposed(self, y: Floats) -> Floats:  # noqa: ARG002, there are none
        return np.zeros_like(self.diagonal)

    def apply(self, d: Floats) -> Floats:
        return mapped(np.multiply, self.diagonal, d)

    def prepared(self, E: Tall) -> Prepared:
        return _DiagonalPrepared(self.diagonal, E)


class _DiagonalPrepared:
    def __init__(self, s: Floats, E: Tall) -> None:
        self.s = s
        self._square = _FreeSquare(E, mapped(lambda s: 1.0 / np.sqrt(s), s))

    def restricted(self, held: Mask) -> Restricted:
        return _DiagonalPart(self.s, held, self._square.without(held))


class _DiagonalPart:
    def __init__(self, s: Floats, held: Mask, gram: Floats) -> None:
        self._s, self._held, self.gram = s, held, gram

    def inverse(self, y: Floats) -> Floats:
        return mapped(lambda held, y, s: np.where(held, 0.0, y / s), self._held, y, self._s)

    def pulled(self, center: Floats) -> Floats:
        return mapped(_free, self._held, center)


def _free(held: Mask, x: Floats) -> Floats:
    return np.where(held, 0.0, x)


class Gram:
    """A with diagonal blocks ρ(2I + CᵀC), one for each incidence C with its number ρ > 0."""

    def __init__(self, incidences: Sequence[Incidence], rho: Sequence[float]) -> None:
        self.blocks = [_Block(C, factor) for C, factor in zip(incidences, rho, strict=True)]
        ends = np.cumsum([0, *(C.shape[1] for C in incidences)]).tolist()
        self.slices = [slice(lo, hi) for lo, hi in pairwise(ends)]
        self._cuts = np.cumsum([C.shape[0] for C in incidences])[:-1]

    @lazy
    def diagonal(self) -> Floats:
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([np.full(at.stop - at.start, 2.0 * block.rho) for block, at in parts])

    def rows(self, d: Floats) -> Floats:
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([math.sqrt(block.rho) * block.C.dot(d[at]) for block, at in parts])

    def rows_transposed(self, y: Floats) -> Floats:
        parts = zip(self.blocks, np.split(y, self._cuts), strict=True)
        return np.concatenate([math.sqrt(block.rho) * block.C.transposed_dot(part) for block, part in parts])

    def apply(self, d: Floats) -> Floats:
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([block.apply(d[at]) for block, at in parts])

    def prepared(self, E: Tall) -> Prepared:
        return _GramPrepared(self, E)


class _Block:
    """C and ρ, and the last solution of its systems."""

    def __init__(self, C: Incidence, rho: float) -> None:
        self.C, self.rho = C, rho
        self.last: Floats | None = None

    def apply(self, d: Floats) -> Floats:
        return mapped(lambda d, y: self.rho * (2.0 * d + y), d, self.C.transposed_dot(self.C.dot(d)))


class _GramPrepared:
    def __init__(self, metric: Gram, E: Tall) -> None:
        self._slices = metric.slices
        pairs = zip(metric.blocks, metric.slices, strict=True)
        self._parts = [_BlockPrepared(block, E.part(at.start, at.stop)) for block, at in pairs]

    def restricted(self, held: Mask) -> Restricted:
        parts = [part.restricted(held[at]) for part, at in zip(self._parts, self._slices, strict=True)]
        return _GramPart(parts, self._slices)


class _BlockPrepared:
    def __init__(self, block: _Block, E: Tall) -> None:
        self.block, self._E = block, E
        self._square = _FreeSquare(E)
        self._CE = block.C.dot_rows(E)

    def restricted(self, held: Mask) -> _BlockPart:
        block = self.block
        solve = block.C.solver(held)
        out = np.flatnonzero(held)
        CE = self._CE - block.C.dot_some(out, self._E.take(out)) if len(out) else self._CE
        # The last solution is near this one: equations and held unknowns change little from one system to the next.
        start = block.last if block.last is not None and block.last.shape == CE.shape else None
        block.last = solve(CE, _CG_ROUGH, start)
        gram = (0.5 / block.rho) * (self._square.without(held) - CE.T @ block.last)
        return _BlockPart(block, held, solve, 0.5 * (gram + gram.T))


class _BlockPart:
    def __init__(self, block: _Block, held: Mask, solve: Solver, gram: Floats) -> None:
        self._block, self._held, self._solve, self.gram = block, held, solve, gram

    def inverse(self, y: Floats) -> Floats:
        C, half = self._block.C, 0.5 / self._block.rho
        y = mapped(_free, self._held, y)
        pulled = C.transposed_dot(self._solve_one(C.dot(y)))
        return mapped(lambda held, y, x: np.where(held, 0.0, half * (y - x)), self._held, y, pulled)

    def pulled(self, center: Floats) -> Floats:
        # A_FP = ρ C_FᵀC_P, and A_FF⁻¹C_Fᵀ = C_Fᵀ(2I + C_FC_Fᵀ)⁻¹/ρ.
        if not self._held.any():
            return center.copy()
        C = self._block.C
        held = mapped(lambda held, c: np.where(held, c, 0.0), self._held, center)
        pull = C.transposed_dot(self._solve_one(C.dot(held)))
        return mapped(lambda held, c, p: np.where(held, 0.0, c + p), self._held, center, pull)

    def _solve_one(self, y: Floats) -> Floats:
        return self._solve(y[:, np.newaxis], _CG_TOLERANCE, None)[:, 0]


class _GramPart:
    def __init__(self, parts: list[_BlockPart], slices: list[slice]) -> None:
        self._parts, self._slices = parts, slices
        self.gram = np.sum([part.gram for part in parts], axis=0)

    def inverse(self, y: Floats) -> Floats:
        return np.concatenate([part.inverse(y[at]) for part, at in zip(self._parts, self._slices, strict=True)])

    def pulled(self, center: Floats) -> Floats:
        return np.concatenate([part.pulled(center[at]) for part, at in zip(self._parts, self._slices, strict=True)])


class _FreeSquare:
    """E_FᵀE_F for many sets of held rows, each from the last by the rows that came and went.

    Unless those carry so much more than the rest that the difference would be rounding. ``scale`` multiplies rows.
    """

    def __init__(self, E: Tall, scale: Floats | None = None) -> None:
        self._E, self._scale = E, scale
        self._sizes = E.squares if scale is None else mapped(lambda x, a: x * a**2, E.squares, scale)
        self._held: Mask | None = None
        self._square = np.zeros((E.shape[1], E.shape[1]))

    def without(self, held: Mask) -> Floats:
        if self._held is None or not self._updated(self._held, held):
            self._square = self._anew(held)
        self._held = held
        return self._square

    def _updated(self, before: Mask, held: Mask) -> bool:
        gone, come = np.flatnonzero(held & ~before), np.flatnonzero(before & ~held)
        carried = float(self._sizes[gone].sum() + self._sizes[come].sum())
        if carried > _SAFE_PART * float(np.trace(self._square)):
            return False
        self._square = self._square + self._of(come, self._E.take(come)) - self._of(gone, self._E.take(gone))
        return True

    def _anew(self, held: Mask) -> Floats:
        """In pieces, so that no second E is made."""
        total = np.zeros_like(self._square)
        for first, block in self._E.blocks():
            free = np.flatnonzero(~held[first : first + len(block)])
            total += self._of(first + free, block if len(free) == len(block) else block[free])
        return total

    def _of(self, rows: NDArray[np.intp], block: Floats) -> Floats:
        if self._scale is not None:
            block = block * self._scale[rows, np.newaxis]
        return np.asarray(block.T @ block)
