"""For engines with all arrays in one place: simple forms of methods that are harder if ranks share the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.engines.interface import Array
from cotherm.ranks import ONE

T = TypeVar("T")


class OnePlace:
    """The methods of :class:`cotherm.engines.interface.Engine` about rows on other ranks, for a single rank."""

    is_distributed = False
    ranks = ONE

    def holds(self, x: object) -> bool:  # noqa: ARG002, NumPy's arrays are all there are
        return False

    def guarded(self) -> AbstractContextManager[None]:
        return nullcontext()

    def small_array(self, x: NDArray[Any]) -> Array:
        return self.asarray(x)

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

    def for_each(self, task: Callable[..., T], n: int, *arguments: Sequence[Any]) -> list[T]:  # noqa: ARG002
        return list(map(task, *arguments))

    def at_once(self, n: int, count: int) -> int:  # noqa: ARG002
        return 1

    def restricted_pattern(self, pattern: Any, edges: Array) -> Any:
        i, j = (self.to_numpy(ends[edges]) for ends in (pattern.i, pattern.j))
        return self.pattern(pattern.n, i, j)

    def compares(self, n: int, count: int, /) -> bool:  # noqa: ARG002, the processor searches
        return False

    def candidate_search(self, rows: Floats, centered: Floats, count: int, /) -> Callable[[slice], tuple[Ints, Floats]]:
        raise NotImplementedError

    # Methods that the engine itself provides.

    def asarray(self, x: Any) -> Array:
        raise NotImplementedError

    def to_numpy(self, x: Array) -> NDArray[Any]:
        raise NotImplementedError

    def pattern(self, n: int, i: NDArray[Any], j: NDArray[Any], /) -> Any:
        raise NotImplementedError
