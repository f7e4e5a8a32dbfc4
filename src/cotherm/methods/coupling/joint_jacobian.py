"""The derivative of a coupling's residuals, applied for all graphs at once: see cotherm.heat.joint_correlation."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.interface import Array
from cotherm.heat.joint_correlation import JointCorrelation
from cotherm.lazy import lazy
from cotherm.methods.coupling.contrast_factors import Contrasts
from cotherm.methods.coupling.implicit_jacobian import Factors, ImplicitJacobian
from cotherm.solve.tall_matrix import RowWriter


class JointJacobian(ImplicitJacobian):
    """The derivative of all graphs' residuals; ``free`` numbers the edges whose weights may change, graph by graph."""

    def __init__(
        self,
        state: JointCorrelation,
        free: Sequence[Array],
        contrasts: Contrasts,
        largest: int,
        factors: Factors,
    ) -> None:
        self.engine, self._state, self._largest = state.model.engine, state, largest
        self._contrasts, self._factors = contrasts, factors
        self._cuts = np.cumsum([0, *map(len, free)]).tolist()
        self._edges = joint_edges(state, free)
        self._map = state.derivative_map(self._edges)
        self._size = state.size
        self._H = self.engine.small_array(contrasts.matrix)
        self.shape = (self._cuts[-1], len(contrasts.matrix) * self._size)

    @lazy
    def rough(self) -> JointJacobian:
        """In single precision."""
        rough = copy(self)
        rough._map = self._map.single()
        return rough

    def matvec(self, x: Floats) -> Array:
        return self.apply(self.engine.small_array(x))

    def rmatvec(self, y: Array) -> Floats:
        return self.engine.to_numpy(self.apply_transposed(y))

    def apply(self, x: Array) -> Array:
        return self._map.gradient(self._H.T @ x.reshape(len(self._H), -1))

    def apply_transposed(self, y: Array) -> Array:
        return (self._H @ self._map.derivative(y)).reshape(-1)

    @property
    def work(self) -> float:
        return self._map.work

    def _free_counts(self, active: Array) -> list[int]:
        free = ~self.engine.to_numpy(active)
        return [int(np.count_nonzero(free[lo:hi])) for lo, hi in pairwise(self._cuts)]

    def _row_writer(self, k: int) -> RowWriter:
        return self._state.row_writer(self._edges[self._cuts[k] : self._cuts[k + 1]])


def joint_edges(state: JointCorrelation, free: Sequence[Array]) -> Array:
    """The free edges by their numbers among those of all graphs."""
    firsts = np.cumsum([0, *(model.graph.m for model in state.model.models)]).tolist()
    return np.concatenate([edges + first for edges, first in zip(free, firsts[:-1], strict=True)])
