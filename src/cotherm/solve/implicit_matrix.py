"""A tall matrix that is never formed, only applied: for so many columns that its rows would be too long."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.lazy import lazy
from cotherm.solve.metric import Metric

# Random vectors from which the size of the matrix is estimated, to some tens of percent.
_PROBES = 4

# Of small arrays of the engine.
Solve = Callable[[Array], Array]


class ImplicitMatrix(ABC):
    """A matrix E (rows, columns). Vectors over the rows live with the engine, vectors over the columns on the host."""

    shape: tuple[int, int]
    engine: Engine

    @abstractmethod
    def matvec(self, x: Floats) -> Array:
        """E x."""

    @abstractmethod
    def rmatvec(self, y: Array) -> Floats:
        """Eᵀy."""

    def apply(self, x: Array) -> Array:
        """E x for a small array of the engine."""
        return self.matvec(self.engine.to_numpy(x))

    def apply_transposed(self, y: Array) -> Array:
        """Eᵀy as such an array."""
        return self.engine.small_array(self.rmatvec(y))

    @property
    @abstractmethod
    def rough(self) -> ImplicitMatrix:
        """The same to single precision, for iterations whose result is corrected."""

    @property
    @abstractmethod
    def work(self) -> float:
        """Multiply-adds of one product with E and one with Eᵀ."""

    @abstractmethod
    def factoring_work(self, active: Array) -> float:
        """Multiply-adds of :meth:`factored`, in the same units."""

    @abstractmethod
    def solving_work(self, active: Array) -> float:
        """Multiply-adds of applying what :meth:`factored` returns, in the same units."""

    @abstractmethod
    def factored(self, metric: Metric, active: Array, shift: float) -> Solve | None:
        """r ↦ about (shift·I + E_FᵀA_FF⁻¹E_F)⁻¹r, F the rows that are not active; None where rounding prevents it."""

    @lazy
    def size(self) -> float:
        """About ‖E‖_F."""
        rng = np.random.default_rng(0)
        probes = [self.matvec(rng.standard_normal(self.shape[1])) for _ in range(_PROBES)]
        return float(np.sqrt(np.mean([float(x @ x) for x in probes])))

    def first_columns(self, count: int) -> ImplicitMatrix:
        """All of them: there are no others."""
        assert count == self.shape[1]
        return self
