"""(s I + Σ_k c_k E_kᵀA_k⁻¹E_k)⁻¹ to single precision, by the smaller of two systems.

One has as many rows as there are equations. The other has as many as there are free unknowns:

    (s I + c EᵀA⁻¹E)⁻¹ = (I − YᵀY)/s,    Y = L⁻¹√c E,    LLᵀ = s A + c E Eᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.solve.implicit_matrix import Solve
from cotherm.solve.metric import Metric
from cotherm.solve.tall_matrix import TallMatrix

# What float32 loses beside the largest eigenvalue is put on the diagonal.
_LOST = 1e-6
# Columns that are multiplied at a time.
_COLUMNS = 1_024


@dataclass(frozen=True)
class Term:
    """c EᵀA_FF⁻¹E over the unknowns F that are not active."""

    metric: Metric
    E: TallMatrix
    active: Array
    factor: float

    @property
    def free(self) -> int:
        return len(self.active) - int(self.active.sum())


class RoughInverse(Protocol):
    """The inverse; its parts may be asked for in several threads."""

    @property
    def engine(self) -> Engine: ...

    @property
    def size(self) -> int:
        """Its rows."""

    def apply(self, x: Array) -> Array:
        """Its product with a small array."""

    def add_rows(self, first: int, last: int, factor: float, out: Array) -> None:
        """Add so many times some of its rows, from the diagonal on, to an upper triangle."""


# Calls a function with every term, side by side.
ForEach = Callable[[Callable[[Term], Array], Sequence[Term]], list[Array]]


def one_by_one(task: Callable[[Term], Array], terms: Sequence[Term]) -> list[Array]:
    return list(map(task, terms))


def is_by_unknowns(free: float, equations: float) -> bool:
    """Whether the system of the unknowns is the smaller one."""
    return free < equations


def uses_unknowns(engine: Engine, free: float, equations: float) -> bool:
    """Whether that system is taken. Where unknowns are spread over ranks it would be too."""
    return not engine.is_distributed and is_by_unknowns(free, equations)


def inverting_work(free: float, equations: float) -> float:
    """Multiply-adds of :func:`rough_inverse`."""
    if is_by_unknowns(free, equations):
        return free**2 * equations + free**3 / 6.0
    return 0.5 * equations**2 * (free + equations)


def factoring_work(free: float, equations: float) -> float:
    """Multiply-adds of :func:`rough_solver`."""
    if is_by_unknowns(free, equations):
        return inverting_work(free, equations)
    return equations**2 * (0.5 * free + equations / 6.0)


def rough_inverse(terms: Sequence[Term], shift: float, for_each: ForEach = one_by_one) -> RoughInverse:
    """Raises LinAlgError where rounding has made the system something else than positive definite."""
    if _has_fewer_unknowns(terms):
        return _by_unknowns(terms, shift, for_each)
    engine = terms[0].metric.engine
    half = engine.inverse_root(_by_equations(terms, shift, for_each))
    return Square(half.T @ half, engine)


def rough_solver(terms: Sequence[Term], shift: float, for_each: ForEach = one_by_one) -> Solve:
    """The product with that inverse alone, for which factors are enough: to invert takes four times as long."""
    if _has_fewer_unknowns(terms):
        return _by_unknowns(terms, shift, for_each).apply
    solve = terms[0].metric.engine.cholesky_solver(_by_equations(terms, shift, for_each))
    return lambda x: solve(x.astype(np.float32)).astype(np.float64)


def _has_fewer_unknowns(terms: Sequence[Term]) -> bool:
    return uses_unknowns(terms[0].metric.engine, sum(term.free for term in terms), terms[0].E.shape[1])


def _by_equations(terms: Sequence[Term], shift: float, for_each: ForEach) -> Array:
    """s I + Σ_k c_k E_kᵀA_k⁻¹E_k."""

    def gram(term: Term) -> Array:
        G = term.metric.rough_gram(term.E, term.active)
        G *= np.float32(term.factor)
        return G

    total, *others = for_each(gram, terms)
    for other in others:
        total += other
    diagonal = total.reshape(-1)[:: len(total) + 1]
    diagonal += np.float32(shift + _LOST * float(np.max(diagonal)))
    return total


def _by_unknowns(terms: Sequence[Term], shift: float, for_each: ForEach) -> Thin:
    engine = terms[0].metric.engine

    def rows(term: Term) -> Array:
        out, at = engine.xp.empty((term.free, term.E.shape[1]), dtype=np.float32), 0
        for _, block in term.E.row_blocks(np.flatnonzero(~term.active)):
            out[at : at + len(block)] = block
            at += len(block)
        out *= np.float32(np.sqrt(term.factor))
        return out

    parts = for_each(rows, terms)
    Y = parts[0] if len(parts) == 1 else np.concatenate(parts)
    del parts
    M, at = Y @ Y.T, 0
    for term in terms:
        to = at + term.free
        form = term.metric.rough_form(term.active)
        form *= np.float32(shift)
        M[at:to, at:to] += form
        at = to
        del form
    half = engine.inverse_root(widened(M))
    for first in range(0, Y.shape[1], _COLUMNS):  # in place: Y is large
        some = slice(first, first + _COLUMNS)
        Y[:, some] = half @ Y[:, some]
    return Thin(Y, shift, engine)


def widened(G: Array) -> Array:
    """G with what rounding may have taken from its diagonal."""
    diagonal = G.reshape(-1)[:: len(G) + 1]
    diagonal *= np.float32(1.0 + _LOST)
    return G


@dataclass(frozen=True)
class Square:
    """W itself."""

    W: Array
    engine: Engine

    @property
    def size(self) -> int:
        return len(self.W)

    def apply(self, x: Array) -> Array:
        return (self.W @ x.astype(np.float32)).astype(np.float64)

    def add_rows(self, first: int, last: int, factor: float, out: Array) -> None:
        out[first:last, first:] += np.float32(factor) * self.W[first:last, first:]


@dataclass(frozen=True)
class Thin:
    """(I − YᵀY)/s."""

    Y: Array
    shift: float
    engine: Engine

    @property
    def size(self) -> int:
        return self.Y.shape[1]

    def apply(self, x: Array) -> Array:
        inside = self.Y.T @ (self.Y @ x.astype(np.float32))
        return (x - inside) / self.shift

    def add_rows(self, first: int, last: int, factor: float, out: Array) -> None:
        part = factor / self.shift
        out[first:last, first:] -= np.float32(part) * (self.Y[:, first:last].T @ self.Y[:, first:])
        diagonal = self.engine.xp.arange(first, last)
        out[diagonal, diagonal] += np.float32(part)
