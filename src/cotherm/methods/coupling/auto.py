"""Times and α from the data: ``couple(..., times="auto", alpha="auto")``.

*Times*: four, evenly spaced in log t, from two moves along edges, 2/d with d the median degree, to when the
functions have lost four fifths of their variation: with x(t) = e^{−tL}f and x(∞) its mean over each component, the
first t at which the mean over the functions of ‖x(t) − x(∞)‖² / ‖f − x(∞)‖² has fallen to 0.2 in every view. On graphs
of more than 5,000 vertices, where heat from wide functions takes ever longer to spread, two times, eight moves being
the last, and on more than 50,000 that last one alone: short cuts show at once, and long times cost more than they tell.

*α*: s / ‖J A⁻¹ Jᵀ‖₂, J the derivative of the residuals at α = 1 and A the metric of the distance, both at the given
weights: s times the α at which coupling and distance have equal weight. s is 10⁴, less where the functions differ at
t = 0: no weights can mend that part of the residuals. In the linear problem a residual r along a singular value σ of
A^{−½}Jᵀ moves the weights by ασr / (1 + ασ²), at most ½√α r, so a relative mismatch ε moves them by √s ε, in units of
what the functions themselves could move at equal weight. s keeps that below 0.03, but is at least 1, where no residual
is mended by more than half.

Neither depends on units, and nothing here forms an n × n matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cotherm import limits
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import column_units, flow
from cotherm.heat.times import diffusion_time
from cotherm.methods.coupling.continuation import stiffness
from cotherm.methods.coupling.memory import HEAT_AT_ONCE
from cotherm.methods.coupling.problem import CouplingProblem
from cotherm.methods.coupling.result import STRENGTH

_COUNT = 4
# On large graphs, the number of times, and the moves until the last.
_FEWER, LAST_MOVES = 2, 8.0
_MOVES = 2.0
# The part of the functions' variation that is left at the last time.
_LEFT = 0.2
# The last time is at least this many times the first, and heat is followed for at most this many doublings of one move.
_LEAST_SPAN = 2.0
_MOST_DOUBLINGS = 10
# √strength times mismatch is at most this, down to the strength of equal weight (benchmark landmarks).
_MISLED = 0.03
_TOLERANCE = 1e-6
# The longest move: some thousand times as long is still finite.
_LONGEST_MOVE = 1e300


def times_count(graphs: Sequence[Graph]) -> int:
    """The number of times that will be chosen. It depends on sizes alone, since memory is planned first."""
    if not any(g.m and g.w.max() > 0.0 for g in graphs):
        return 1
    return times_count_for(max(g.n for g in graphs))


def times_count_for(size: int) -> int:
    """The same for graphs with weight, the largest of which has ``size`` vertices."""
    return 1 if size > limits.ONE_TIME else _FEWER if size > limits.FEWER_TIMES else _COUNT


def chosen_times(graphs: Sequence[Graph], functions: Sequence[Floats]) -> Floats:
    """The times; 1 where no graph has any weight."""
    move = diffusion_time(1.0, *graphs, without_edges=np.inf)
    if not any(g.m and g.w.max() > 0.0 for g in graphs):
        return np.ones(1)
    if not move < _LONGEST_MOVE:
        raise CothermError(
            "graphs", f"a median degree of {1.0 / move:.1e}", "larger weights, or times that are given", "Rescale them."
        )
    known = large_times(max(g.n for g in graphs), move)
    if known is not None:
        return known
    last = _spreading_time(graphs, functions, move)
    first = min(_MOVES * move, last / _LEAST_SPAN)
    return np.geomspace(first, last, _COUNT)


def large_times(size: int, move: float) -> Floats | None:
    """The times where the largest graph has ``size`` vertices and heat moves along an edge in the time ``move``.

    None where they depend on the functions.
    """
    if not np.isfinite(move):
        return np.ones(1)
    count = times_count_for(size)
    if count == 1:
        return np.array([LAST_MOVES * move])
    return np.geomspace(_MOVES * move, LAST_MOVES * move, _FEWER) if count == _FEWER else None


def chosen_alpha(problem: CouplingProblem, strength: float = STRENGTH) -> float:
    """``strength`` times the α of equal weight; 1 if weights change nothing, so that α does not matter."""
    size = stiffness(problem)
    return strength / size if size > 0.0 else 1.0


def useful_strength(mismatch: float) -> float:
    """The strength, α in units of that of equal weight, for functions that differ this much at t = 0."""
    if mismatch * np.sqrt(STRENGTH) <= _MISLED:
        return STRENGTH
    return max(1.0, (_MISLED / mismatch) ** 2)


def _spreading_time(graphs: Sequence[Graph], functions: Sequence[Floats], move: float) -> float:
    """The time at which the functions have spread in all views; log variation is interpolated linearly in log t."""
    times: Floats = move * 2.0 ** np.arange(_MOST_DOUBLINGS + 1, dtype=np.float64)
    left = np.max([_variation_left(g, F, times) for g, F in zip(graphs, functions, strict=True)], axis=0)
    spread = np.flatnonzero(left <= _LEFT)
    if not len(spread):
        return float(times[-1])
    k = int(spread[0])
    before = left[k - 1] if k else 1.0
    share = np.log(before / _LEFT) / np.log(before / max(left[k], np.finfo(np.float64).tiny))
    return float(times[k] * 2.0 ** (share - 1.0))


def _variation_left(graph: Graph, F: Floats, times: Floats) -> Floats:
    """The fraction of the functions' variation that is left at every time, on average."""
    part = graph.components
    F = F / column_units(F)
    means = np.array([np.bincount(part, f) for f in F.T]).T / np.bincount(part)[:, np.newaxis]
    varying = F - means[part]
    norms = np.linalg.norm(varying, axis=0)
    # Functions that differ from their means only by rounding say nothing about time.
    live = np.flatnonzero(norms > 1e-12 * np.linalg.norm(F, axis=0))
    if not len(live):
        return np.zeros(len(times))
    total = np.zeros(len(times))
    width = max(1, HEAT_AT_ONCE // (graph.n * len(times)))
    for first in range(0, len(live), width):
        block = live[first : first + width]
        x = flow(graph, varying[:, block] / norms[block], times, "auto", _TOLERANCE)
        total += np.einsum("tvc,tvc->t", x, x)
    return total / len(live)
