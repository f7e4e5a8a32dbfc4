"""Symmetric positive definite forms A, cheap to invert on any subset of the unknowns.

The step of the solver is a nearest-point problem in such a form, with a few equations E. *Gram*: A = ρ(2I + CᵀC) with C
sparse and short, inverted through (2I + CCᵀ)⁻¹ (Woodbury), by Cholesky where C has few rows and by conjugate gradients
where it has many. *Diagonal*: A = Diag(s).

Unknowns come and go a few at a time, so sums over the free ones follow from those before, unless what came and went
carries nearly all of the sum and the difference would be rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.solve.cholesky import definite_solver

Mask = NDArray[np.bool_]

# Up to this many rows of C a dense Cholesky factor of its Gram matrix is the faster way.
_DENSE_ROWS = 300
# Up to this many entries a sparse matrix costs more in handling than it saves in zeros.
_DENSE_SIZE = 50_000
# Relative residual of conjugate gradients: below what the signs of the unknowns can see, and, for the many right-hand
# sides of the small system, below what its solution can.
_CG_TOLERANCE, _CG_ROUGH = 1e-12, 1e-9
_CG_ROUNDS = 500
# What comes and goes may carry this many times a sum for the difference to keep enough of its digits for a step.
_SAFE_PART = 1e4
# Rows squared at once.
_ROWS_AT_ONCE = 100_000


class Restricted(Protocol):
    """A_FF for the free unknowns F, the others P being held at zero. Vectors have all unknowns, and zeros in P."""

    @property
    def gram(self) -> Floats:
        """E_FᵀA_FF⁻¹E_F."""

    def inverse(self, y: Floats) -> Floats:
        """A_FF⁻¹y_F."""

    def pulled(self, centre: Floats) -> Floats:
        """The point nearest to the centre: c_F + A_FF⁻¹A_FP c_P."""


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

    def prepared(self, E: Floats) -> Prepared:
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
        return self.diagonal * d

    def prepared(self, E: Floats) -> Prepared:
        return _DiagonalPrepared(self.diagonal, E)


class _DiagonalPrepared:
    def __init__(self, s: Floats, E: Floats) -> None:
        self.s = s
        self._square = _FreeSquare(E, 1.0 / np.sqrt(s))

    def restricted(self, held: Mask) -> Restricted:
        return _DiagonalPart(self.s, held, self._square.without(held))


class _DiagonalPart:
    def __init__(self, s: Floats, held: Mask, gram: Floats) -> None:
        self._s, self._held, self.gram = s, held, gram

    def inverse(self, y: Floats) -> Floats:
        return np.where(self._held, 0.0, y / self._s)

    def pulled(self, centre: Floats) -> Floats:
        return np.where(self._held, 0.0, centre)


class Gram:
    """A with diagonal blocks ρ(2I + CᵀC), one for each pair of a sparse C (CSC) and a number ρ > 0."""

    def __init__(self, blocks: Sequence[tuple[Any, float]]) -> None:
        self.blocks = [_Block(C, rho) for C, rho in blocks]
        ends = np.cumsum([0, *(C.shape[1] for C, _ in blocks)]).tolist()
        self.slices = [slice(lo, hi) for lo, hi in pairwise(ends)]
        self._cuts = np.cumsum([C.shape[0] for C, _ in blocks])[:-1]

    @cached_property
    def diagonal(self) -> Floats:
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([np.full(at.stop - at.start, 2.0 * block.rho) for block, at in parts])

    def rows(self, d: Floats) -> Floats:
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([math.sqrt(block.rho) * (block.C @ d[at]) for block, at in parts])

    def rows_transposed(self, y: Floats) -> Floats:
        parts = zip(self.blocks, np.split(y, self._cuts), strict=True)
        return np.concatenate([math.sqrt(block.rho) * (block.C.T @ part) for block, part in parts])

    def apply(self, d: Floats) -> Floats:
        parts = zip(self.blocks, self.slices, strict=True)
        return np.concatenate([block.rho * (2.0 * d[at] + block.C.T @ (block.C @ d[at])) for block, at in parts])

    def prepared(self, E: Floats) -> Prepared:
        return _GramPrepared(self, E)


class _Block:
    """C and ρ, and CCᵀ."""

    def __init__(self, C: Any, rho: float) -> None:
        self.C, self.rho = C.toarray() if math.prod(C.shape) <= _DENSE_SIZE else C, rho
        self.last: Floats | None = None

    @cached_property
    def gram(self) -> Any:
        product = self.C @ self.C.T
        return product.tocsr() if product.shape[0] > _DENSE_ROWS else _dense(product)


class _GramPrepared:
    def __init__(self, metric: Gram, E: Floats) -> None:
        self._slices = metric.slices
        self._parts = [_BlockPrepared(block, E[at]) for block, at in zip(metric.blocks, metric.slices, strict=True)]

    def restricted(self, held: Mask) -> Restricted:
        parts = [part.restricted(held[at]) for part, at in zip(self._parts, self._slices, strict=True)]
        return _GramPart(parts, self._slices)


class _BlockPrepared:
    def __init__(self, block: _Block, E: Floats) -> None:
        self.block, self._E = block, E
        self._square = _FreeSquare(E)
        self._CE = block.C @ E

    def restricted(self, held: Mask) -> _BlockPart:
        block = self.block
        C_held = block.C[:, held]
        solve = _gram_solver(block.gram, C_held)
        CE = self._CE - C_held @ self._E[held]
        # The last solution is near this one: equations and held unknowns change little from one system to the next.
        start = block.last if block.last is not None and block.last.shape == CE.shape else None
        block.last = solve(CE, _CG_ROUGH, start)
        gram = (0.5 / block.rho) * (self._square.without(held) - CE.T @ block.last)
        return _BlockPart(block, held, C_held, solve, 0.5 * (gram + gram.T))


class _BlockPart:
    def __init__(self, block: _Block, held: Mask, C_held: Any, solve: Solver, gram: Floats) -> None:
        self._block, self._held, self._C_held, self._solve, self.gram = block, held, C_held, solve, gram

    def inverse(self, y: Floats) -> Floats:
        y = np.where(self._held, 0.0, y)
        C = self._block.C
        x = (0.5 / self._block.rho) * (y - C.T @ self._solve(C @ y))
        return np.where(self._held, 0.0, x)

    def pulled(self, centre: Floats) -> Floats:
        # A_FP = ρ C_FᵀC_P, and A_FF⁻¹C_Fᵀ = C_Fᵀ(2I + C_FC_Fᵀ)⁻¹/ρ.
        pull = self._block.C.T @ self._solve(self._C_held @ centre[self._held])
        return np.where(self._held, 0.0, centre + pull)


class _GramPart:
    def __init__(self, parts: list[_BlockPart], slices: list[slice]) -> None:
        self._parts, self._slices = parts, slices
        self.gram = np.sum([part.gram for part in parts], axis=0)

    def inverse(self, y: Floats) -> Floats:
        return np.concatenate([part.inverse(y[at]) for part, at in zip(self._parts, self._slices, strict=True)])

    def pulled(self, centre: Floats) -> Floats:
        return np.concatenate([part.pulled(centre[at]) for part, at in zip(self._parts, self._slices, strict=True)])


class _FreeSquare:
    """E_FᵀE_F for many sets of held rows, each from the last by the rows that came and went.

    Unless those carry so much more than the rest that the difference would be rounding. ``scale`` multiplies rows.
    """

    def __init__(self, E: Floats, scale: Floats | None = None) -> None:
        self._E, self._scale = E, scale
        self._sizes = np.einsum("ij,ij->i", E, E)
        if scale is not None:
            self._sizes *= scale**2
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
        self._square = self._square + self._of(come) - self._of(gone)
        return True

    def _anew(self, held: Mask) -> Floats:
        """In pieces, so that no second E is made."""
        total = np.zeros_like(self._square)
        for first in range(0, len(held), _ROWS_AT_ONCE):
            total += self._of(first + np.flatnonzero(~held[first : first + _ROWS_AT_ONCE]))
        return total

    def _of(self, rows: NDArray[np.intp]) -> Floats:
        block = self._E[rows]
        if self._scale is not None:
            block *= self._scale[rows, np.newaxis]
        return np.asarray(block.T @ block)


class Solver(Protocol):
    """Y ↦ (2I + CCᵀ − C_P C_Pᵀ)⁻¹Y; where it is found step by step, to a tolerance and from some start."""

    def __call__(self, Y: Floats, tolerance: float = ..., start: Floats | None = ..., /) -> Floats: ...


def _gram_solver(gram: Any, C_held: Any) -> Solver:
    if not isinstance(gram, np.ndarray):
        free = gram - C_held @ C_held.T
        return lambda Y, tolerance=_CG_TOLERANCE, start=None: _conjugate_gradients(free, Y, tolerance, start)
    S = gram - _dense(C_held @ C_held.T) if C_held.shape[1] else gram.copy()
    S.flat[:: S.shape[0] + 1] += 2.0
    exact = definite_solver(S)
    return lambda Y, _tolerance=0.0, _start=None: exact(Y)


def _dense(matrix: Any) -> Floats:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _conjugate_gradients(gram: Any, Y: Floats, tolerance: float, start: Floats | None) -> Floats:
    """(2I + gram)⁻¹Y, all columns side by side, with the diagonal as preconditioner.

    The unsigned incidence of a graph makes this matrix diagonally dominant: some tens of rounds, whatever the size.
    """
    B = Y.reshape(len(Y), -1)
    diagonal = (gram.diagonal() + 2.0)[:, np.newaxis]
    x = B / diagonal if start is None else start.reshape(B.shape).copy()
    residual = B - (gram @ x + 2.0 * x)
    z = residual / diagonal
    p = z.copy()
    gain = np.einsum("ij,ij->j", residual, z)
    target = tolerance**2 * np.einsum("ij,ij->j", B, B)
    for _ in range(_CG_ROUNDS):
        if np.all(np.einsum("ij,ij->j", residual, residual) <= target):
            break
        Ap = gram @ p + 2.0 * p
        curvature = np.einsum("ij,ij->j", p, Ap)
        step = np.divide(gain, curvature, out=np.zeros_like(gain), where=curvature > 0)
        x += step * p
        residual -= step * Ap
        z = residual / diagonal
        previous, gain = gain, np.einsum("ij,ij->j", residual, z)
        p = z + np.divide(gain, previous, out=np.zeros_like(gain), where=previous > 0) * p
    return x.reshape(Y.shape)
