"""The engine for one NVIDIA GPU."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.engines.gpu import chebyshev, distances, edges, incidence
from cotherm.engines.gpu.device import Device
from cotherm.engines.gpu.layout import GpuLaplacian, GpuPattern, spectral_bound
from cotherm.engines.gpu.resident import bytes_of, full_key
from cotherm.engines.interface import Array, ColumnSums
from cotherm.engines.one_place import OnePlace
from cotherm.engines.threads import limited_blas


class GpuEngine(OnePlace):
    """See :class:`cotherm.engines.interface.Engine`; each kernel is described where it is defined."""

    name = "gpu"
    # A block of rows is 256 MiB: small ones leave the GPU waiting.
    block_size = 2**25
    # Measured: with this nothing that `benchmarks gpu` couples takes more than the forecast.
    overhead = 1.4

    laplacian_forms = staticmethod(edges.laplacian_forms)
    sums_at_vertices = staticmethod(incidence.sums_at_vertices)
    sums_at_edges = staticmethod(incidence.sums_at_edges)
    signless_solver = staticmethod(incidence.signless_solver)

    def __init__(self, device: Device, *, smallest: int | None = None, together: int = 2_000_000) -> None:
        """The processor searches for the neighbors of points with fewer than ``smallest`` pairs.

        Up to ``together`` numbers of functions a recurrence is one launch: a step takes no longer than a launch.
        """
        self.device, self._smallest, self._together = device, smallest, together
        self.edge_products = partial(edges.edge_products, device)
        self.edge_inner_products = partial(edges.edge_inner_products, device)
        self.add_at_vertices = partial(incidence.add_at_vertices, device)

    @property
    def xp(self) -> Any:
        return self.device.xp

    # Arrays in and out, and the resources of a run

    def asarray(self, x: Any) -> Array:
        return self.device.asarray(x)

    def to_numpy(self, x: Array) -> NDArray[Any]:
        return self.device.to_numpy(x)

    def holds(self, x: object) -> bool:
        return self.device.holds(x)

    def memory(self) -> tuple[int, int]:
        """What is kept between calls gives way, so it counts as free."""
        (free, used), kept = self.device.memory(), self.device.resident.size
        return free + kept, max(0, used - kept)

    @contextmanager
    def session(self, n: int, memory: float, budget: int | None = None) -> Iterator[None]:
        with limited_blas(n), self.device.guarded(memory, budget):
            yield

    def guarded(self) -> AbstractContextManager[None]:
        return self.device.guarded(0.0, None)

    def return_free_memory(self) -> None:
        self.device.return_free_memory()

    # Long vectors

    def elementwise(self, formula: Callable[..., Any], /, *vectors: Array) -> Array:
        return formula(*vectors)

    def column_sums(self, F: Array, units: Floats | None = None, /) -> ColumnSums:
        x = self.asarray(F) if units is None else self.asarray(F) / self.asarray(units)
        with np.errstate(over="ignore"):  # squares of huge numbers, which callers ask for again in units
            sums = (np.abs(x).max(axis=0), x.sum(axis=0), (x * x).sum(axis=0))
        return ColumnSums(*(self.to_numpy(one) for one in sums))

    # Laplacians and heat

    def pattern(self, n: int, i: NDArray[Any], j: NDArray[Any], /) -> GpuPattern:
        """Kept while the arrays live, if no one can write to them."""
        return self.device.resident.made_of(
            self._pattern_key(n),
            (i, j),
            lambda: GpuPattern.of(self.device, n, i, j),
            size=lambda made: bytes_of(made.i, made.j, made.offsets, made.columns, made.edges),
            free=lambda: self.device.memory()[0],
        )

    def _pattern_key(self, n: int) -> Hashable:
        return "pattern", self.device.number, n

    def laplacian(self, pattern: GpuPattern, w: Array, /) -> GpuLaplacian:
        weights, degrees = pattern.filled(w)
        return GpuLaplacian(self, pattern, weights, degrees, spectral_bound(pattern, weights, degrees))

    def reordered_laplacian(self, n: int, i: NDArray[Any], j: NDArray[Any], w: NDArray[Any], /) -> GpuLaplacian:
        """In the given order, since a better one takes longer to find than it gains; kept as :meth:`pattern` is."""
        return self.device.resident.made_of(
            ("laplacian", id(self), self.device.number, n),
            (i, j, w),
            lambda: self.laplacian(self.pattern(n, i, j), self.asarray(np.asarray(w, dtype=np.float64))),
            size=lambda made: bytes_of(made.weights, made.degrees),
            free=lambda: self.device.memory()[0],
            holds=full_key(self._pattern_key(n), (i, j)),
        )

    def chebyshev_sums(self, L: GpuLaplacian, F: Array, coefficients: Floats, bound: float, /) -> Array:
        return chebyshev.sums(L, self.asarray(F), coefficients, bound, together=self._together)

    # Dense algebra

    def cholesky_solver(self, A: Array, /) -> Callable[[Array], Array]:
        L = self.device.cholesky(self.xp.ascontiguousarray(A.T))

        def solve(Y: Array) -> Array:
            return self.device.solve_triangular(L, self.device.solve_triangular(L, Y), transposed=True)

        return solve

    # Distances

    def add_squared_differences(self, Y: Array, rows: Any, others: Any, squares: Floats, /) -> None:
        ends = (self.asarray(np.ascontiguousarray(index, dtype=np.int64)) for index in (rows, others))
        squares += self.to_numpy(distances.squared_differences(self.device, self.asarray(Y), *ends))

    def compares(self, n: int, count: int, /) -> bool:
        least = limits.GPU_PAIRS if self._smallest is None else self._smallest
        return n * n >= least and count <= distances.MOST

    def candidate_search(self, rows: Floats, centered: Floats, count: int, /) -> Callable[[slice], tuple[Ints, Floats]]:
        return distances.candidate_search(self.device, rows, centered, count)
