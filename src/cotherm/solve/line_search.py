"""A step along a line that brings enough and flattens the slope: the search of Moré & Thuente (1994).

With φ(τ) the cost along the line, a step τ is wanted for which

    φ(τ) ≤ φ(0) + 10⁻³ τ φ'(0)    and    |φ'(τ)| ≤ 0.9 |φ'(0)|.

It is looked for in an interval that contains one, between the best step so far and another, by cubic and quadratic
interpolation; where that gets on slowly the interval is halved. Steps and constants are those of SciPy's L-BFGS-B.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

# Of the two conditions, and the width of an interval, as a part of its far end, that is not worth dividing.
_SUFFICIENT, _FLAT, _NARROW = 1e-3, 0.9, 0.1
# While no interval is known, the next step goes beyond by between these multiples of the last.
_LEAST_BEYOND, _MOST_BEYOND = 1.1, 4.0
# An interval that has not shrunk to this part in two steps is halved, and a step within one that does contain a minimum
# goes no farther than that part of it.
_SHRUNK = 0.66


@dataclass(frozen=True)
class Sample:
    """A step, the cost there, and its slope along the line."""

    step: float
    cost: float
    slope: float

    def tilted(self, slope: float) -> Sample:
        """The same of the cost less a straight line."""
        return Sample(self.step, self.cost - self.step * slope, self.slope - slope)


def sufficient_step(
    at: Callable[[float], Sample], start: Sample, first: float, longest: float, evaluations: int
) -> Sample | None:
    """The last sample taken: one that is good enough, or as good as the search gets; None after too many.

    ``start`` is at step 0, where the slope is negative; ``first`` is the first step to try.
    """
    least = _SUFFICIENT * start.slope
    best, other, is_bracketed, is_first_stage = start, start, False, True
    width, before = longest, 2.0 * longest
    low, high, step = 0.0, (1.0 + _MOST_BEYOND) * first, first
    for _ in range(evaluations):
        here = at(step)
        allowed = start.cost + step * least
        is_enough = here.cost <= allowed
        if is_first_stage and is_enough and here.slope >= 0.0:
            is_first_stage = False
        if is_enough and abs(here.slope) <= -_FLAT * start.slope:
            return here
        if is_bracketed and (not low < step < high or high - low <= _NARROW * high):
            return here
        if step == longest and is_enough and here.slope <= least:
            return here
        if step == 0.0:
            return here
        if is_first_stage and not is_enough and here.cost <= best.cost:
            # The cost is lower, but not by enough: the line that says how much is enough is taken away first.
            found = _next(best.tilted(least), other.tilted(least), here.tilted(least), is_bracketed, low, high)
            best, other = found.best.tilted(-least), found.other.tilted(-least)
        else:
            found = _next(best, other, here, is_bracketed, low, high)
            best, other = found.best, found.other
        step, is_bracketed = found.step, found.is_bracketed
        if is_bracketed:
            if abs(other.step - best.step) >= _SHRUNK * before:
                step = best.step + 0.5 * (other.step - best.step)
            before, width = width, abs(other.step - best.step)
            low, high = sorted((best.step, other.step))
        else:
            low, high = (step + beyond * (step - best.step) for beyond in (_LEAST_BEYOND, _MOST_BEYOND))
        step = min(max(step, 0.0), longest)
        if is_bracketed and (not low < step < high or high - low <= _NARROW * high):
            step = best.step
    return None


@dataclass(frozen=True)
class _Interval:
    """Its ends, the next step, and whether it contains a minimum."""

    best: Sample
    other: Sample
    step: float
    is_bracketed: bool


def _next(best: Sample, other: Sample, here: Sample, is_bracketed: bool, low: float, high: float) -> _Interval:
    """The interval with a new sample in it, and where to look next: the four cases of Moré & Thuente, section 4."""
    way = here.step - best.step
    if here.cost > best.cost:  # the minimum is between
        cubic, quadratic = _cubic(best, here), best.step + 0.5 * way * _secant(best, here)
        is_near = abs(cubic - best.step) < abs(quadratic - best.step)
        step = cubic if is_near else cubic + 0.5 * (quadratic - cubic)
        return _Interval(best, here, step, True)
    by_slopes = here.step + here.slope / (here.slope - best.slope) * -way if here.slope != best.slope else math.inf
    if here.slope * math.copysign(1.0, best.slope) < 0.0:  # the slope has changed its sign
        cubic = _cubic(here, best)
        step = cubic if abs(cubic - here.step) > abs(by_slopes - here.step) else by_slopes
        return _Interval(here, best, step, True)
    if abs(here.slope) < abs(best.slope):  # the slope flattens
        cubic = _cubic_beyond(here, best, low, high)
        if is_bracketed:
            step = cubic if abs(cubic - here.step) < abs(by_slopes - here.step) else by_slopes
            end = here.step + _SHRUNK * (other.step - here.step)
            step = min(end, step) if way > 0.0 else max(end, step)
        else:
            step = cubic if abs(cubic - here.step) > abs(by_slopes - here.step) else by_slopes
            step = min(max(step, low), high)
        return _Interval(here, other, step, is_bracketed)
    if is_bracketed:
        return _Interval(here, other, _cubic(here, other), True)
    return _Interval(here, other, high if way > 0.0 else low, False)


def _secant(a: Sample, b: Sample) -> float:
    """Where the parabola through the costs at a and b, with the slope at a, has its minimum, in halves of the way."""
    return a.slope / ((a.cost - b.cost) / (b.step - a.step) + a.slope)


def _parts(a: Sample, b: Sample) -> tuple[float, float, float]:
    """Of the cubic through the costs and slopes at a and b: its middle slope, a scale, and its discriminant."""
    theta = 3.0 * (a.cost - b.cost) / (b.step - a.step) + a.slope + b.slope
    scale = max(abs(theta), abs(a.slope), abs(b.slope), sys.float_info.min)
    return theta, scale, (theta / scale) ** 2 - (a.slope / scale) * (b.slope / scale)


def _cubic(a: Sample, b: Sample) -> float:
    """Where that cubic has its minimum."""
    theta, scale, under = _parts(a, b)
    gamma = math.copysign(scale * math.sqrt(max(under, 0.0)), b.step - a.step)
    return a.step + _ratio(gamma - a.slope + theta, gamma - a.slope + gamma + b.slope) * (b.step - a.step)


def _cubic_beyond(a: Sample, b: Sample, low: float, high: float) -> float:
    """The same where the cubic may have no minimum, or one on the other side: then as far as is allowed."""
    theta, scale, under = _parts(a, b)
    gamma = math.copysign(scale * math.sqrt(max(under, 0.0)), b.step - a.step)
    ratio = _ratio(gamma - a.slope + theta, gamma + (b.slope - a.slope) + gamma)
    if ratio < 0.0 and gamma != 0.0:
        return a.step + ratio * (b.step - a.step)
    return high if a.step > b.step else low


def _ratio(p: float, q: float) -> float:
    """p/q; a half where the cubic is a straight line, which has no minimum."""
    return p / q if q else 0.5
