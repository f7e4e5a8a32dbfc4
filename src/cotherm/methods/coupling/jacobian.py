"""The derivative of a coupling's residuals by every free weight: stored or recomputed.

*recomputed*: only what it is computed from is kept, some ten functions of the Laplacian applied to F for every time; a
row is a few hundred multiplications from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.heat.correlation_model import Correlation
from cotherm.methods.coupling.memory import MemoryPlan
from cotherm.solve.tall_matrix import InMemory, Recomputed, TallMatrix


class Jacobian:
    """The Jacobian of all graphs' residuals: for each graph, its edges and the factors of its Q in the contrasts."""

    def __init__(
        self, engine: Engine, states: Sequence[Correlation], free: Sequence[Array], contrasts: Floats, columns: int
    ) -> None:
        self._engine, self._states, self._free, self._factors = engine, states, free, contrasts.T
        self._cuts = np.cumsum([0, *map(len, free)]).tolist()
        self._shape = (self._cuts[-1], columns)

    def kept(self, plan: MemoryPlan, n: int) -> TallMatrix:
        """Keep the Jacobian as the plan says; ``n`` is the size of the largest graph."""
        return self._recomputed() if plan.way == "recomputed" else self._stored(n)

    def _stored(self, n: int) -> TallMatrix:
        J = self._engine.xp.empty(self._shape)
        parts = [J[lo:hi] for lo, hi in pairwise(self._cuts)]

        def write(state: Correlation, edges: Array, part: Array, factors: Floats) -> None:
            state.write_derivative(edges, part)
            _expand(part, factors)

        self._engine.for_each(write, n, self._states, self._free, parts, list(self._factors))
        return InMemory(J, self._engine)

    def _recomputed(self) -> TallMatrix:
        writers = [state.row_writer(edges) for state, edges in zip(self._states, self._free, strict=True)]
        cuts, factors = self._cuts, self._factors

        def write(numbers: Array, out: Array) -> None:
            ends = [int(np.count_nonzero(numbers < cut)) for cut in cuts]
            for k, (lo, hi) in enumerate(pairwise(ends)):
                if lo < hi:
                    writers[k](numbers[lo:hi] - cuts[k], out[lo:hi])
                    _expand(out[lo:hi], factors[k])

        return Recomputed(self._shape, write, self._engine)


def _expand(part: Array, factors: Floats) -> None:
    """Turn the derivatives of Q in the first columns into those of every contrast, in columns of its own."""
    size = part.shape[1] // len(factors)
    for c in range(1, len(factors)):
        np.multiply(part[:, :size], factors[c], out=part[:, c * size : (c + 1) * size])
    part[:, :size] *= factors[0]
