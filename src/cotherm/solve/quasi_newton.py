"""Limited-memory BFGS over u ≥ 0, written once for all engines: a gradient a step, and no systems.

1. Unknowns at zero that the gradient would make negative are held there. Over all others the two-loop recursion
   (Nocedal 1980) applies the inverse of the curvature, as learned from the last few steps with the held unknowns left
   out of them (Bertsekas 1982; Kim, Sra & Dhillon 2010).
2. If the step, projected onto u ≥ 0, leads uphill, unknowns that it made negative are sent to zero, and it is made
   anew for the others.
3. It is shortened until its projection brings enough (Armijo): projected after it is shortened, it can send some
   unknowns to zero however short it is.

Iterates do not depend on the units of u or of the cost. Long vectors stay with the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array

# A pair whose curvature is smaller than this fraction of its factors says nothing reliable.
_SAFE = 1e-10
# A step must bring this part of what its slope promises; it is shortened at most so many times, each to between these.
_SUFFICIENT, _SHORTENINGS, _SHORTEST, _LONGEST = 1e-4, 10, 0.1, 0.6
# How often a direction that leads uphill after projection is made anew with more unknowns held.
_ROUNDS = 4


class Place(Protocol):
    """A point, its cost, and half the gradient there."""

    @property
    def u(self) -> Array: ...

    @property
    def cost(self) -> float: ...

    @property
    def half(self) -> Array: ...


P = TypeVar("P", bound=Place)


class QuasiNewton:
    """A minimization over u ≥ 0, with what it has learned."""

    def __init__(self, engine: Engine, memory: int, begun: Mapping[str, Any] | None = None) -> None:
        """``memory`` is the number of steps that are remembered; ``begun`` is the state of an earlier run."""
        self._engine, self._memory, self._begun = engine, memory, begun
        self._pairs: Pairs | None = None
        self._u: Array = None
        self._before = np.inf  # the cost before the latest step
        self.steps = 0

    def state(self) -> dict[str, Any]:
        """A copy on the host, to be taken while ``after_step`` is called; of several ranks each has its rows."""
        assert self._pairs is not None
        u = np.array(self._engine.to_numpy(self._u))
        return {"u": u, "before": self._before, "steps": self.steps, "pairs": self._pairs.state()}

    @property
    def size(self) -> int:
        """About how many bytes the state has."""
        return 0 if self._pairs is None else 8 * len(self._u) * (2 * self._pairs.count + 2)

    def minimize(
        self,
        evaluate: Callable[[Array], P],
        here: P | None,
        *,
        iterations: int,
        least: float = 0.0,
        after_step: Callable[[P], None],
    ) -> P:
        """The last point, from ``here`` or, with the state of an earlier run, from where that was.

        The search ends after ``iterations`` steps in all, or where a step lowers the cost by at most ``least``.
        ``after_step`` is called with every point but the first, and with the point of the state; StopIteration ends it.
        """
        is_resumed = self._begun is not None
        if self._begun is not None:
            here = evaluate(self._engine.asarray(self._begun["u"]))
            self._before, self.steps = self._begun["before"], self._begun["steps"]
        assert here is not None
        if self._pairs is None:
            self._pairs = Pairs(self._engine, here.u, self._memory)
        if self._begun is not None:
            self._pairs.restore(self._begun["pairs"])
            self._begun = None
        while is_resumed or self.steps < iterations:
            if not is_resumed:
                there = self._step(self._pairs, here, evaluate)
                if there is None:
                    break
                self._before, here = here.cost, there
                self.steps += 1
            is_resumed, self._u = False, here.u
            try:
                after_step(here)
            except StopIteration:
                break
            if self._before - here.cost <= least:
                break
        return here

    def _step(self, pairs: Pairs, here: P, evaluate: Callable[[Array], P]) -> P | None:
        """The next point; None where no step lowers the cost, with what is remembered or without."""
        while True:
            d, length = self._direction(pairs, here)
            there = None if d is None else self._shortened(here, evaluate, d, length)
            if there is not None:
                pairs.learn(there.u - here.u, there.half - here.half)
                return there
            if not pairs.count:
                return None
            pairs.forget()

    def _direction(self, pairs: Pairs, here: Place) -> tuple[Array | None, float]:
        """What to take from u, and which part of it to try first; None if there is nothing to gain."""
        u, half = here.u, here.half
        held = (u <= 0.0) & (half >= 0.0)
        for _ in range(_ROUNDS):
            d, is_scaled = pairs.direction(half, held)
            if not is_scaled:  # nothing says how far to go: begin with what changes u little
                size, slope = float(np.linalg.norm(u)) or 1.0, float(np.linalg.norm(d))
                if slope == 0.0:
                    return None, 0.0
                return d * (size / slope), 1.0 / self._engine.ranks.sum(len(u)) ** 0.5
            d = np.where(held, u, d)
            beyond = (u < d) & (half > 0.0) & ~held
            if float(half @ (_along(self._engine, u, d, 1.0) - u)) < 0.0 or not beyond.any():
                break
            held = held | beyond
        return d, 1.0

    def _shortened(self, here: P, evaluate: Callable[[Array], P], d: Array, length: float) -> P | None:
        """A point on the way from u along −d, bent at zero, that brings enough; None if there is none nearby."""
        for _ in range(_SHORTENINGS):
            u = _along(self._engine, here.u, d, length)
            slope = 2.0 * float(here.half @ (u - here.u))
            there = evaluate(u) if slope < 0.0 else None
            if there is None:
                length *= _SHORTEST
                continue
            if there.cost <= here.cost + _SUFFICIENT * slope:
                return there
            length *= min(max(-0.5 * slope / (there.cost - here.cost - slope), _SHORTEST), _LONGEST)
        return None


class Pairs:
    """Steps and the changes of half the gradient along them, and the products of all of them with each other."""

    def __init__(self, engine: Engine, like: Array, most: int) -> None:
        self._engine, self._most = engine, most
        # A row for each pair, in no order: the latest is written over the first.
        self._S, self._Y = (engine.xp.zeros((len(like), most), order="F").T for _ in range(2))
        self._SY, self._squares = np.zeros((most, most)), np.zeros((2, most))
        # When each was learned, and when each unknown last moved.
        self._learned, self._moved = np.zeros(most, dtype=np.int64), np.zeros_like(like)
        self.count = 0

    def state(self) -> dict[str, Any]:
        """A copy on the host."""
        count, to_numpy = self.count, self._engine.to_numpy
        long = {"S": self._S[:count], "Y": self._Y[:count], "moved": self._moved}
        short = {"SY": self._SY, "squares": self._squares, "learned": self._learned}
        return {**{name: np.array(to_numpy(one)) for name, one in {**long, **short}.items()}, "count": count}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The state of another one, on the same rows."""
        self.count = int(state["count"])
        for k in range(self.count):
            self._S[k], self._Y[k] = (self._engine.asarray(state[name][k]) for name in ("S", "Y"))
        self._moved = self._engine.asarray(np.array(state["moved"]))
        self._SY, self._squares, self._learned = (np.array(state[name]) for name in ("SY", "squares", "learned"))

    def forget(self) -> None:
        self.count = 0

    def learn(self, step: Array, change: Array) -> None:
        """From a step and the change of half the gradient, unless the curvature along it is not safely positive."""
        along, *squares = (float(a @ b) for a, b in ((step, change), (step, step), (change, change)))
        if not along > _SAFE * (squares[0] * squares[1]) ** 0.5:
            return
        place = self.count if self.count < self._most else int(np.argmin(self._learned))
        now = int(self._learned[: self.count].max(initial=0)) + 1
        self._learned[place], self._squares[:, place] = now, squares
        self._moved = np.where(step != 0.0, float(now), self._moved)
        self._S[place], self._Y[place] = step, change
        self.count = max(self.count, place + 1)
        S, Y, to_numpy = self._S[: self.count], self._Y[: self.count], self._engine.to_numpy
        self._SY[place, : self.count], self._SY[: self.count, place] = to_numpy(Y @ step), to_numpy(S @ change)

    def direction(self, slope: Array, held: Array) -> tuple[Array, bool]:
        """What the learned inverse makes of a slope over the unknowns that are not held, zero at the others.

        And whether anything is known of the curvature: else this is the slope itself.
        """
        engine, count = self._engine, self.count
        d, used, SY = np.where(held, 0.0, slope), [], np.zeros((0, 0))
        if count:
            SY = self._free_products(held)
            safe = np.diagonal(SY) > _SAFE * np.sqrt(self._squares[0, :count] * self._squares[1, :count])
            used = [k for k in np.argsort(self._learned[:count]).tolist() if safe[k]]
        if not used:
            return d, False
        S, Y, parts, gains = self._S[:count], self._Y[:count], np.zeros(count), np.zeros(count)
        along = engine.to_numpy(S @ d)
        for k in reversed(used):
            parts[k] = (along[k] - SY[k] @ parts) / SY[k, k]
        d = engine.elementwise(_free_difference, held, d, engine.small_array(parts) @ Y)
        change = np.where(held, 0.0, Y[used[-1]])
        d = d * (SY[used[-1], used[-1]] / float(change @ change))
        along = engine.to_numpy(Y @ d)
        for k in used:
            gains[k] = parts[k] - (along[k] + gains @ SY[:, k]) / SY[k, k]
        return engine.elementwise(_free_sum, held, d, engine.small_array(gains) @ S), True

    def _free_products(self, held: Array) -> Floats:
        """SᵀY over the unknowns that are not held: all products less those of held unknowns that have moved since."""
        count = self.count
        numbers = np.flatnonzero(held & (self._moved >= float(self._learned[:count].min())))
        S, Y = self._S[:count][:, numbers], self._Y[:count][:, numbers]
        return self._SY[:count, :count] - self._engine.to_numpy(S @ Y.T)


def _along(engine: Engine, u: Array, d: Array, length: float) -> Array:
    return engine.elementwise(lambda u, d: np.maximum(u - length * d, 0.0), u, d)


def _free_difference(held: Array, a: Array, b: Array) -> Array:
    return np.where(held, 0.0, a - b)


def _free_sum(held: Array, a: Array, b: Array) -> Array:
    return np.where(held, 0.0, a + b)
