"""Limited-memory BFGS over u ≥ 0 that starts from a given inverse of the curvature: for the last digits.

Near a minimum Gauss–Newton converges slowly along valleys where the curvature of the residuals, which it leaves out,
nearly cancels its own. Quasi-Newton updates learn that curvature from gradients. Unknowns that would become negative
are held at zero, or sent there, whatever the others do (Bertsekas 1982). Where many unknowns reach zero or leave it in
a step, this is not the method.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cotherm.engines import Engine
from cotherm.engines.interface import Array

# Steps that are remembered.
_MEMORY = 20
# An update whose curvature is smaller than this fraction of its factors says nothing reliable.
_SAFE = 1e-10
# A step brings at least this part of what its slope promises; it is shortened so many times, each to between these.
_SUFFICIENT, _SHORTENINGS, _SHORTEST, _LONGEST = 1e-4, 8, 0.1, 0.6
# Times that unknowns which a step would make negative are sent to zero, and the step made anew for the others.
_ROUNDS = 4
# Of the optimality where an inverse was made, the part that must be reached with it.
_PROGRESS = 0.5


class Place(Protocol):
    """A point, its cost, half the gradient there, and how far that is from zero."""

    @property
    def u(self) -> Array: ...

    @property
    def cost(self) -> float: ...

    @property
    def half(self) -> Array: ...

    @property
    def optimality(self) -> float: ...


P = TypeVar("P", bound=Place)


class Inverse(NamedTuple):
    """About the inverse of half the second derivative, positive definite, and for how many steps it is worth making."""

    apply: Callable[[Array], Array]
    steps: int


def minimize_from_inverse(
    engine: Engine,
    here: P,
    evaluate: Callable[[Array], P],
    inverse_at: Callable[[P, Array], Inverse | None],
    *,
    tolerance: float,
    iterations: int,
    after_step: Callable[[P], None],
) -> P:
    """The last point: optimal within the tolerance, or where this got on slowly.

    ``inverse_at`` is given a point and the mask of the unknowns that are held at zero. ``after_step`` is called with
    every point but the first.
    """
    pairs: deque[_Pair] = deque(maxlen=_MEMORY)
    inverse, left, goal = None, 0, np.inf
    for _ in range(iterations):
        if here.optimality <= tolerance:
            break
        held = (here.half >= 0.0) & (here.u <= 0.0)
        if left == 0:
            if here.optimality > goal:
                break
            inverse = None  # before the next is made: it may be large
            inverse = inverse_at(here, held)
            if inverse is None:
                break
            left, goal = inverse.steps, _PROGRESS * here.optimality
        assert inverse is not None
        there = _search(engine, here, evaluate, _bounded_direction(here, held, pairs, inverse.apply))
        if there is None:
            break
        pair = _Pair(there.u - here.u, there.half - here.half)
        if pair.is_reliable:
            pairs.append(pair)
        here, left = there, left - 1
        after_step(here)
    return here


class _Pair(NamedTuple):
    """A step, and by how much it changed half the gradient."""

    step: Array
    change: Array

    @property
    def is_reliable(self) -> bool:
        sizes = float(np.linalg.norm(self.step)) * float(np.linalg.norm(self.change))
        return float(self.step @ self.change) > _SAFE * sizes

    def without(self, held: Array) -> _Pair:
        return _Pair(np.where(held, 0.0, self.step), np.where(held, 0.0, self.change))


def _bounded_direction(here: Place, held: Array, pairs: deque[_Pair], inverse: Callable[[Array], Array]) -> Array:
    """Downhill, with few unknowns that would become negative."""
    for _ in range(_ROUNDS):
        d = _direction(here, held, pairs, inverse)
        beyond = (here.u + d < 0.0) & (here.half > 0.0)
        if not beyond.any():
            break
        held = held | beyond
    return d


def _direction(here: Place, held: Array, pairs: deque[_Pair], inverse: Callable[[Array], Array]) -> Array:
    """Downhill, by the two-loop recursion (Nocedal 1980) over the unknowns that are not held."""
    used = [pair for pair in (pair.without(held) for pair in pairs) if pair.is_reliable]
    d, parts = np.where(held, 0.0, here.half), []
    for step, change in reversed(used):
        part = float(step @ d) / float(step @ change)
        parts.append(part)
        d = d - part * change
    d = np.where(held, 0.0, inverse(d))
    for (step, change), part in zip(used, reversed(parts), strict=True):
        d = d + (part - float(change @ d) / float(step @ change)) * step
    return np.where(held, -here.u, -d)


def _search(engine: Engine, here: P, evaluate: Callable[[Array], P], direction: Array) -> P | None:
    """A point along the direction, bent at the bounds, that brings enough; None if there is none nearby."""
    length = 1.0
    for _ in range(_SHORTENINGS):
        u = engine.elementwise(lambda u, d: np.maximum(u + length * d, 0.0), here.u, direction)  # noqa: B023, at once
        slope = 2.0 * float(here.half @ (u - here.u))
        if slope >= 0.0:
            return None
        there = evaluate(u)
        if there.cost <= here.cost + _SUFFICIENT * slope:
            return there
        bent = there.cost - here.cost - slope
        length *= min(max(-0.5 * slope / bent, _SHORTEST), _LONGEST)
    return None
