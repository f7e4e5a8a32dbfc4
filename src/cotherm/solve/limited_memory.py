"""Limited-memory BFGS over u ≥ 0 that starts from a given inverse of the curvature: for the last digits.

Near a minimum Gauss–Newton converges slowly along valleys where the curvature of the residuals, which it leaves out,
nearly cancels its own. Quasi-Newton updates learn that curvature from gradients. Unknowns that would become negative
are held at zero, or sent there, whatever the others do (Bertsekas 1982). Where many unknowns reach zero or leave it in
a step, this is not the method.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

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
    memory: Memory | None = None,
) -> P:
    """The last point: optimal within the tolerance, or where this got on slowly.

    ``inverse_at`` is given a point and the mask of the unknowns that are held at zero. ``after_step`` is called with
    every point but the first. ``memory`` may hold an inverse to begin with; with that of an earlier run this goes on
    from there.
    """
    memory = Memory() if memory is None else memory
    for _ in range(iterations):
        if here.optimality <= tolerance:
            break
        held = (here.half >= 0.0) & (here.u <= 0.0)
        if memory.left == 0:
            if here.optimality > memory.goal:
                break
            memory.inverse = None  # before the next is made: it may be large
            made = inverse_at(here, held)
            if made is None:
                break
            memory.take(made, here.optimality)
        assert memory.inverse is not None
        there = _search(
            engine, here, evaluate, _bounded_direction(engine, here, held, memory.pairs, memory.inverse.apply)
        )
        if there is None:
            break
        pair = _Pair(there.u - here.u, there.half - here.half)
        if _Products(engine, [pair], None).are_reliable.all():
            memory.pairs.append(pair)
        here, memory.left = there, memory.left - 1
        after_step(here)
    return here


class Memory:
    """What is remembered from step to step: pairs, the inverse, for how many steps it serves, and what to reach."""

    def __init__(self) -> None:
        self.pairs: deque[_Pair] = deque(maxlen=_MEMORY)
        self.inverse: Inverse | None = None
        self.left, self.goal = 0, np.inf

    def take(self, inverse: Inverse, optimality: float) -> None:
        """An inverse, to be used where that is the optimality."""
        self.inverse, self.left, self.goal = inverse, inverse.steps, _PROGRESS * optimality

    def state(self, engine: Engine) -> dict[str, Any]:
        """All but the inverse, on the host."""
        pairs = [[engine.to_numpy(one) for one in pair] for pair in self.pairs]
        return {"pairs": pairs, "left": self.left, "goal": self.goal}

    def restore(self, state: Mapping[str, Any], engine: Engine) -> None:
        """The state of another one, whose inverse was the same."""
        self.pairs.extend(_Pair(*map(engine.asarray, pair)) for pair in state["pairs"])
        self.left, self.goal = state["left"], state["goal"]


class _Pair(NamedTuple):
    """A step, and by how much it changed half the gradient."""

    step: Array
    change: Array


class _Products:
    """Of the steps S and changes Y of some pairs, in columns, without what is held."""

    def __init__(self, engine: Engine, pairs: Sequence[_Pair], held: Array | None) -> None:
        def columns(vectors: Sequence[Array]) -> Array:
            return np.stack(vectors if held is None else [np.where(held, 0.0, one) for one in vectors]).T

        self.S, self.Y = map(columns, zip(*pairs, strict=True))
        self.SY = engine.to_numpy(self.S.T @ self.Y)
        squares = np.array([engine.to_numpy((columns * columns).sum(axis=0)) for columns in (self.S, self.Y)])
        self.are_reliable = np.diagonal(self.SY) > _SAFE * np.sqrt(squares[0] * squares[1])


def _direction(
    engine: Engine, slope: Array, held: Array, pairs: Sequence[_Pair], inverse: Callable[[Array], Array]
) -> Array:
    """What the updated inverse makes of the slope, over the unknowns that are not held.

    By the two-loop recursion (Nocedal 1980). Its inner products are those of the pairs with each other, which are all
    computed at once, and with two vectors: an engine that is elsewhere is not waited for in every round.
    """
    d = np.where(held, 0.0, slope)
    if not pairs:
        return np.where(held, 0.0, inverse(d))
    products = _Products(engine, pairs, held)
    used, host, small = np.flatnonzero(products.are_reliable).tolist(), engine.to_numpy, engine.small_array
    SY, parts, gains = products.SY, np.zeros(len(pairs)), np.zeros(len(pairs))
    along = host(products.S.T @ d)
    for k in reversed(used):
        parts[k] = (along[k] - SY[k] @ parts) / SY[k, k]
    d = np.where(held, 0.0, inverse(d - products.Y @ small(parts)))
    along = host(products.Y.T @ d)
    for k in used:
        gains[k] = parts[k] - (along[k] + gains @ SY[:, k]) / SY[k, k]
    return d + products.S @ small(gains)


def _bounded_direction(
    engine: Engine, here: Place, held: Array, pairs: Sequence[_Pair], inverse: Callable[[Array], Array]
) -> Array:
    """Downhill, with few unknowns that would become negative."""
    for _ in range(_ROUNDS):
        d = np.where(held, -here.u, -_direction(engine, here.half, held, pairs, inverse))
        beyond = (here.u + d < 0.0) & (here.half > 0.0)
        if not beyond.any():
            break
        held = held | beyond
    return d


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
