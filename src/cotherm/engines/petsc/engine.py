"""The engine for many processes: rows spread over ranks, PETSc between them, the processor's kernels on each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import TracebackType
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from cotherm import memory
from cotherm.arrays import Floats
from cotherm.engines.cpu.edges import laplacian_forms
from cotherm.engines.cpu.engine import CPU
from cotherm.engines.interface import ColumnSums, SystemSolver
from cotherm.engines.one_place import OnePlace
from cotherm.engines.petsc.array import DistributedArray
from cotherm.engines.petsc.chebyshev import chebyshev_sums
from cotherm.engines.petsc.communicator import Communicator
from cotherm.engines.petsc.halo import loaded
from cotherm.engines.petsc.incidence import add_at_vertices, solved, sums_at_edges, sums_at_vertices
from cotherm.engines.petsc.part import Part, owners_of
from cotherm.engines.petsc.pattern import Laplacian, Pattern
from cotherm.ranks import end, of, speaks


class _Namespace:
    """The functions of NumPy that make new arrays: of the rows here."""

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator

    def __getattr__(self, name: str) -> Any:
        if name not in {"arange", "empty", "full", "ones", "zeros"}:
            raise AttributeError(name)
        make = getattr(np, name)
        return lambda *args, **options: DistributedArray(make(*args, **options), self._communicator)

    def ascontiguousarray(self, x: DistributedArray) -> DistributedArray:
        return x.contiguous()


class PetscEngine:
    """See :class:`cotherm.engines.interface.Engine`. All methods but the simplest are collective."""

    name = "petsc"
    is_distributed = True
    block_size = CPU.block_size
    overhead = CPU.overhead

    holds = OnePlace.holds
    guarded = OnePlace.guarded
    for_each = OnePlace.for_each  # one after the other: ranks must wait for each other in the same order
    at_once = OnePlace.at_once
    compares = OnePlace.compares  # every rank searches by itself
    candidate_search = OnePlace.candidate_search
    add_squared_differences = staticmethod(CPU.add_squared_differences)

    def __init__(self, comm: Any = None) -> None:
        """``comm``: an mpi4py communicator, by default that of all processes."""
        self.communicator = Communicator(comm)
        # Before memory is counted. PETSc copies the communicator for its first object there and frees the copy with the
        # last one, all ranks together; but Python may let go of objects at different times. So one of them stays.
        self._first = loaded(self.communicator).SF().create(self.communicator.comm)
        self.ranks = of(self.communicator.comm)
        self.xp = _Namespace(self.communicator)
        end_together()
        self._processes_here = _processes_here(self.communicator)
        _share_processors(self._processes_here)

    def asarray(self, x: Any) -> DistributedArray:
        return x if isinstance(x, DistributedArray) else self._spread(np.asarray(x))

    def to_numpy(self, x: Any) -> NDArray[Any]:
        return x.values if isinstance(x, DistributedArray) else np.asarray(x)

    def _spread(self, values: NDArray[Any]) -> DistributedArray:
        return DistributedArray(values, self.communicator)

    def memory(self) -> tuple[int, int]:
        return memory.available(self._processes_here), memory.in_use()

    @contextmanager
    def session(self, n: int, memory: float, budget: int | None = None) -> Iterator[None]:
        """With one BLAS thread where ranks have one processor each."""
        with CPU.session(0 if numba.config.NUMBA_NUM_THREADS == 1 else n, memory, budget):
            yield

    def return_free_memory(self) -> None:
        CPU.return_free_memory()

    def small_array(self, x: NDArray[Any]) -> NDArray[Any]:
        return x

    def edge_rows(self, pattern: Pattern, x: NDArray[Any]) -> DistributedArray:
        return self._spread(x if pattern.numbers is None else x[pattern.own_numbers])

    def edge_numbers(self, pattern: Pattern, edges: NDArray[np.intp]) -> DistributedArray:
        if pattern.numbers is None:
            return self._spread(np.asarray(edges))
        chosen = np.zeros(len(pattern.numbers), dtype=bool)
        chosen[edges] = True
        return self._spread(np.flatnonzero(chosen[pattern.own_numbers]))

    def edges_to_numpy(self, pattern: Pattern, x: DistributedArray) -> NDArray[Any]:
        if pattern.numbers is None:
            return x.values
        rows = self.communicator.rows(x.values)
        out = np.empty_like(rows)
        out[pattern.numbers] = rows
        return out

    def vertex_rows(self, pattern: Pattern | Laplacian, X: NDArray[Any]) -> DistributedArray:
        pattern, order = _pattern_and_order(pattern)
        if pattern.numbers is None:
            return self._spread(X)
        start = int(pattern.part.ranges[self.communicator.rank])
        rows = np.concatenate([np.arange(start, start + pattern.n), pattern.others])
        full = X[rows if order is None else order[rows]]
        return DistributedArray(full[: pattern.n], self.communicator, full=full)

    def vertices_to_numpy(self, pattern: Pattern | Laplacian, X: DistributedArray) -> NDArray[Any]:
        pattern, order = _pattern_and_order(pattern)
        if pattern.numbers is None:
            return X.values
        rows = self.communicator.rows(np.moveaxis(X.values, X.axis, 0))
        if order is not None:
            given = np.empty_like(rows)
            given[order] = rows
            rows = given
        return np.moveaxis(rows, 0, X.axis)

    def restricted_pattern(self, pattern: Pattern, edges: DistributedArray) -> Pattern:
        return pattern.restricted(edges.values)

    def elementwise(self, formula: Callable[..., Any], *vectors: Any) -> DistributedArray:
        return self._spread(CPU.elementwise(formula, *map(self.to_numpy, vectors)))

    def column_sums(self, F: Any, units: Floats | None = None) -> ColumnSums:
        largest, sums, squares = CPU.column_sums(np.ascontiguousarray(self.to_numpy(F)), units)
        sums, squares = self.communicator.sum([sums, squares])
        return ColumnSums(self.communicator.max(largest), sums, squares)

    def pattern(self, n: int, i: NDArray[Any], j: NDArray[Any]) -> Pattern:
        """Of edges that every rank has whole."""
        part = Part.of_whole(self.communicator, n, i, j)
        return Pattern(self.communicator, part, np.argsort(owners_of(part.ranges, i), kind="stable"))

    def pattern_of_part(self, part: Part) -> Pattern:
        """Of edges of which every rank has its own."""
        return Pattern(self.communicator, part)

    def laplacian(self, pattern: Pattern, w: DistributedArray) -> Laplacian:
        return pattern.laplacian(self, w.values)

    def reordered_laplacian(self, n: int, i: NDArray[Any], j: NDArray[Any], w: NDArray[Any]) -> Laplacian:
        order = CPU.reordered_laplacian(n, i, j, w).order
        rank = np.empty(n, dtype=np.int32)
        rank[order] = np.arange(n, dtype=np.int32)
        a, b = rank[i], rank[j]
        pattern = self.pattern(n, np.minimum(a, b), np.maximum(a, b))
        pattern.order = order
        return pattern.laplacian(self, w[pattern.own_numbers])

    def chebyshev_sums(self, L: Laplacian, F: DistributedArray, coefficients: Floats, bound: float) -> DistributedArray:
        full = chebyshev_sums(L, F.values, coefficients, bound)
        return DistributedArray(full[: L.pattern.n], self.communicator, full=full)

    def edge_products(
        self,
        x: DistributedArray,
        i: DistributedArray,
        j: DistributedArray,
        weights: Floats,
        first: int,
        scale: Floats,
        out: DistributedArray,
        column: int,
    ) -> None:
        CPU.edge_products(self._rows(x, i), i.values, j.values, weights, first, scale, out.values, column)

    def edge_inner_products(
        self, x: DistributedArray, z: DistributedArray, i: DistributedArray, j: DistributedArray, weights: Floats
    ) -> DistributedArray:
        return self._spread(CPU.edge_inner_products(self._rows(x, i), self._rows(z, i), i.values, j.values, weights))

    def laplacian_forms(self, pattern: Pattern, v: DistributedArray, x: DistributedArray, weights: Floats) -> Floats:
        rows = np.ascontiguousarray(x.extended(pattern.halo))
        along = pattern.mirrors.extended(v.values)
        return self.communicator.sum(laplacian_forms(pattern, along, rows, weights))

    def _rows(self, x: DistributedArray, i: DistributedArray) -> NDArray[Any]:
        assert i.halo is not None
        return np.ascontiguousarray(x.extended(i.halo))

    def sums_at_vertices(self, pattern: Pattern, d: DistributedArray) -> DistributedArray:
        return self._spread(sums_at_vertices(pattern, d.values))

    def sums_at_edges(self, pattern: Pattern, y: DistributedArray) -> DistributedArray:
        return self._spread(sums_at_edges(pattern, y.values))

    def add_at_vertices(
        self, rows: DistributedArray, i: DistributedArray, j: DistributedArray, out: DistributedArray
    ) -> None:
        add_at_vertices(rows.values, i, j.values, out)

    def signless_solver(self, pattern: Pattern, free: DistributedArray) -> SystemSolver:
        matrix = pattern.laplacian(self, np.where(free.values, 1.0, 0.0), bounded=False)

        def solve(Y: DistributedArray, tolerance: float, start: DistributedArray | None) -> DistributedArray:
            begin = None if start is None else start.values
            return self._spread(solved(matrix, Y.values, tolerance, begin))

        return solve

    def cholesky_solver(self, A: Any) -> Callable[[Any], Floats]:
        solve = CPU.cholesky_solver(self.to_numpy(A))
        return lambda Y: solve(self.to_numpy(Y))


@cache
def end_together() -> None:
    """From now on an error that ends one rank's program ends all: the others would wait for it forever."""
    tell = sys.excepthook

    def told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if speaks(error):
            tell(kind, error, trace)
        end(error, 1)

    sys.excepthook = told


def _pattern_and_order(layout: Pattern | Laplacian) -> tuple[Pattern, NDArray[Any] | None]:
    pattern = layout.pattern if isinstance(layout, Laplacian) else layout
    return pattern, pattern.order


def _processes_here(communicator: Communicator) -> int:
    there = communicator.comm.Split_type(communicator.mpi.COMM_TYPE_SHARED)
    count = int(there.Get_size())
    there.Free()
    return count


def _share_processors(processes: int) -> None:
    """Threads of each rank: those that were asked for, else the processors of its machine among the ranks there."""
    if "NUMBA_NUM_THREADS" not in os.environ:
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        numba.config.NUMBA_NUM_THREADS = max(1, processors // processes)
