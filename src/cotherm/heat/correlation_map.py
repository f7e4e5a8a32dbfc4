"""The derivative of Q(t) = Fᵀe^{−tL(u)}F by the edge weights u as a map that is applied, both ways, not formed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array, Pattern

Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]


class Filtered(NamedTuple):
    """The terms of one time t applied to F, contiguous (n, terms, q), and −t times their signs."""

    x: Array
    weights: Floats


class CorrelationMap:
    """See :meth:`cotherm.heat.correlation_model.Correlation.values` for the vector that it is the derivative of.

    ``edges`` are the numbers of the edges that count; ``terms`` has an entry for each time.
    """

    def __init__(
        self,
        engine: Engine,
        pattern: Pattern,
        edges: Array,
        terms: Sequence[Filtered],
        pairs: Pairs,
        scale: Floats,
    ) -> None:
        self._engine, self._pattern, self._edges, self._terms = engine, pattern, edges, terms
        self._pairs, self._scale = pairs, scale
        self._i, self._j = pattern.i[edges], pattern.j[edges]

    def derivative(self, v: Array) -> Floats:
        """The derivative of the values in the direction v, which has an entry for each edge that counts."""
        engine, (a, b) = self._engine, self._pairs
        weights = engine.xp.zeros(len(self._pattern.i))
        weights[self._edges] = v
        out = np.empty((len(self._terms), len(self._scale)))
        for row, part in zip(out, self._terms, strict=True):
            Q = engine.to_numpy(engine.laplacian_forms(self._pattern, weights, part.x, part.weights))
            row[:] = 0.5 * (Q[a, b] + Q[b, a]) * self._scale
        return np.ravel(out)

    def gradient(self, slopes: Floats) -> Array:
        """The gradient of the sum of values times ``slopes``."""
        engine = self._engine
        total = engine.xp.zeros(len(self._i))
        for slope, part in zip(symmetric(slopes, self._pairs, self._scale), self._terms, strict=True):
            z = np.tensordot(part.x, engine.small_array(slope), 1)
            total += engine.edge_inner_products(part.x, z, self._i, self._j, part.weights)
        return total


def symmetric(slopes: Floats, pairs: Pairs, scale: Floats) -> Floats:
    """As symmetric matrices (times, q, q): the vector holds √2 Q_ab for a < b, and Q_ab and Q_ba each have half."""
    a, b = pairs
    count = int(a[-1]) + 1
    S = np.zeros((len(slopes) // len(scale), count, count))
    S[:, a, b] = slopes.reshape(len(S), -1) * scale
    return np.asarray(0.5 * (S + S.transpose(0, 2, 1)))
