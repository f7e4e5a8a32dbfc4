"""The engine for the processor: NumPy arrays, kernels compiled by Numba, threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from cotherm import limits, memory
from cotherm.arrays import Floats
from cotherm.engines.cpu.chebyshev import chebyshev_sums
from cotherm.engines.cpu.distances import add_squared_differences
from cotherm.engines.cpu.edges import edge_inner_products, edge_products, laplacian_forms
from cotherm.engines.cpu.elimination import eliminate
from cotherm.engines.cpu.incidence import add_at_vertices, signless_solver, sums_at_edges, sums_at_vertices
from cotherm.engines.cpu.jacobi import jacobi_sweep
from cotherm.engines.cpu.laplacian import Pattern, ReorderedLaplacian, reordered_laplacian
from cotherm.engines.cpu.local_heat import local_kernel_rows, local_nearest, local_self_heat
from cotherm.engines.cpu.thread_pool import side_by_side, thread_count
from cotherm.engines.cpu.vectors import column_sums, elementwise
from cotherm.engines.malloc import kept_memory, return_free_memory
from cotherm.engines.one_place import OnePlace
from cotherm.engines.threads import limited_blas

T = TypeVar("T")


class CpuEngine(OnePlace):
    """See :class:`cotherm.engines.interface.Engine`; each kernel is described where it is defined."""

    name = "cpu"
    xp = np
    # 8 MB.
    block_size = 1_000_000
    overhead = 1.0

    elementwise = staticmethod(elementwise)
    column_sums = staticmethod(column_sums)
    reordered_laplacian = staticmethod(reordered_laplacian)
    chebyshev_sums = staticmethod(chebyshev_sums)
    edge_products = staticmethod(edge_products)
    edge_inner_products = staticmethod(edge_inner_products)
    laplacian_forms = staticmethod(laplacian_forms)
    sums_at_vertices = staticmethod(sums_at_vertices)
    sums_at_edges = staticmethod(sums_at_edges)
    add_at_vertices = staticmethod(add_at_vertices)
    signless_solver = staticmethod(signless_solver)
    jacobi_sweep = staticmethod(jacobi_sweep)
    eliminate = staticmethod(eliminate)
    add_squared_differences = staticmethod(add_squared_differences)
    local_self_heat = staticmethod(local_self_heat)
    local_kernel_rows = staticmethod(local_kernel_rows)
    local_nearest = staticmethod(local_nearest)

    def memory(self) -> tuple[int, int]:
        return memory.available(), memory.in_use()

    def asarray(self, x: Any) -> NDArray[Any]:
        return np.asarray(x)

    def to_numpy(self, x: Any) -> NDArray[Any]:
        return np.asarray(x)

    def pattern(self, n: int, i: NDArray[Any], j: NDArray[Any]) -> Pattern:
        return Pattern.of(n, i, j)

    def laplacian(self, pattern: Pattern, w: Floats) -> ReorderedLaplacian:
        return pattern.laplacian(w)

    def cholesky_solver(self, A: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """By LAPACK itself: the systems are small and many, and the wrappers around it cost more than it does."""
        factor, info = dpotrf(A.T, lower=1, clean=0)
        if info:
            raise np.linalg.LinAlgError(f"not positive definite at row {info}")
        return lambda Y: np.asarray(dpotrs(factor, Y, lower=1)[0])

    @contextmanager
    def session(self, n: int, memory: float, budget: int | None = None) -> Iterator[None]:  # noqa: ARG002, plans keep it
        with limited_blas(n), kept_memory(memory):
            yield

    def return_free_memory(self) -> None:
        return_free_memory()

    def at_once(self, n: int, count: int) -> int:
        concurrent = limits.CONCURRENT_FROM <= n <= limits.CONCURRENT_TO
        return min(count, thread_count()) if concurrent else 1

    def for_each(self, task: Callable[..., T], n: int, *arguments: Sequence[Any]) -> list[T]:
        """In threads: dense algebra and compiled kernels release the interpreter lock."""
        if self.at_once(n, len(arguments[0])) == 1:
            return list(map(task, *arguments))
        return side_by_side([partial(task, *given) for given in zip(*arguments, strict=True)])


CPU = CpuEngine()
