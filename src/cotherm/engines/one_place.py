"""For engines with all arrays in one place: simple forms of methods that are harder if ranks share the rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cotherm.arrays import Floats, Ints
from cotherm.engines.interface import Array, SystemSolver

T = TypeVar("T")


class OnePlace:
    """The methods of :class:`cotherm.engines.interface.Engine` about rows on other ranks, for a single rank."""

    is_distributed = False
    is_first = True
    processes_here = 1

    def total(self, part: T) -> T:
        return part

    def holds(self, x: object) -> bool:  # noqa: ARG002, NumPy's arrays are all there are
        return False

    def checking(self) -> AbstractContextManager[None]:
        return nullcontext()

    def guarded(self) -> AbstractContextManager[None]:
        return nullcontext()

    def require_equal(self, argument: str, *values: Any) -> None:
        pass

    def share(self, count: int) -> int:
        return count

    def most(self, number: float) -> float:
        return number

    def small_zeros(self, *shape: int, dtype: Any = np.float64) -> Array:
        return self.xp.zeros(shape, dtype=dtype)

    def small_array(self, x: NDArray[Any]) -> Array:
        return self.asarray(x)

    def all_rows(self, x: Array) -> NDArray[Any]:
        return self.to_numpy(x)

    def own_rows(self, X: NDArray[Any], count: int) -> Array:  # noqa: ARG002, they are all here
        return self.asarray(X)

    def edge_rows(self, pattern: Any, x: NDArray[Any]) -> Array:  # noqa: ARG002
        return self.asarray(x)

    def edge_numbers(self, pattern: Any, edges: NDArray[np.intp]) -> Array:  # noqa: ARG002
        return self.asarray(edges)

    def edges_to_numpy(self, pattern: Any, x: Array) -> NDArray[Any]:  # noqa: ARG002
        return self.to_numpy(x)

    def vertex_rows(self, pattern: Any, X: NDArray[Any]) -> Array:  # noqa: ARG002
        return self.asarray(X)

    def vertices_to_numpy(self, pattern: Any, X: Array) -> NDArray[Any]:  # noqa: ARG002
        return self.to_numpy(X)

    def restricted_pattern(self, pattern: Any, edges: Array) -> Any:
        i, j = (self.to_numpy(ends[edges]) for ends in (pattern.i, pattern.j))
        return self.pattern(pattern.n, i, j)

    def signless_matrix(self, pattern: Any, free: Array) -> Array:
        i, j = pattern.i[free], pattern.j[free]
        S = self.xp.zeros((pattern.n, pattern.n))
        S[i, j] = S[j, i] = 1.0
        diagonal = self.xp.arange(pattern.n)
        S[diagonal, diagonal] = 2.0 + S.sum(axis=1)
        return S

    def edge_gram(self, pattern: Any, free: Array) -> Array:
        i, j = (self.to_numpy(ends[free]) for ends in (pattern.i, pattern.j))
        edges = np.tile(np.arange(len(i)), 2)
        C = csr_array((np.ones(len(edges), dtype=np.float32), (np.concatenate([i, j]), edges)), (pattern.n, len(i)))
        return self.asarray((C.T @ C).toarray())

    def dense_signless_solver(self, pattern: Any, free: Array) -> SystemSolver:
        exact = self.cholesky_solver(self.signless_matrix(pattern, free))
        return lambda Y, _tolerance, _start: exact(Y)

    def compares(self, n: int, count: int, /) -> bool:  # noqa: ARG002, the processor searches
        return False

    def candidate_search(self, rows: Floats, centered: Floats, count: int, /) -> Callable[[slice], tuple[Ints, Floats]]:
        raise NotImplementedError

    # Methods that the engine itself provides.

    @property
    def xp(self) -> Any:
        raise NotImplementedError

    def cholesky_solver(self, A: Array, /) -> Callable[[Array], Array]:
        raise NotImplementedError

    def asarray(self, x: Any) -> Array:
        raise NotImplementedError

    def to_numpy(self, x: Array) -> NDArray[Any]:
        raise NotImplementedError

    def pattern(self, n: int, i: NDArray[Any], j: NDArray[Any], /) -> Any:
        raise NotImplementedError
