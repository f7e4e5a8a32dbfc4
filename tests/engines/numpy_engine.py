"""An engine in plain NumPy, slow and obvious: the reference for all engines, and a second home for arrays.

Its arrays are no NumPy arrays. Like those of a GPU they live elsewhere: NumPy's functions work on them, but nothing
converts them to NumPy arrays, or mixes them with any, except ``asarray`` and ``to_numpy``. All of coupling runs on this
engine in the tests, which shows that it goes through the interface alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from cotherm import memory
from cotherm.engines.interface import ColumnSums, Engine, SystemSolver
from cotherm.engines.one_place import OnePlace
from cotherm.engines.threads import limited_blas


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that lives with the engine."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("an array of the engine is not moved to the host by itself: use engine.to_numpy")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        result = getattr(ufunc, method)(*_inner(inputs), **_inner(options))
        return options["out"][0] if "out" in options else _outer(result)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return _outer(function(*_inner(args), **_inner(options)))

    def __getitem__(self, key: Any) -> Any:
        return DeviceArray(self.values[_inner(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[_inner(key)] = _inner(value)

    def __len__(self) -> int:
        return len(self.values)

    def __float__(self) -> float:
        return float(self.values)

    def __int__(self) -> int:
        return int(self.values)

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def T(self) -> DeviceArray:  # noqa: N802 (NumPy's name)
        return DeviceArray(self.values.T)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def ndim(self) -> int:
        return self.values.ndim

    @property
    def size(self) -> int:
        return self.values.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    def __getattr__(self, name: str) -> Any:
        """The methods that arrays of every kind have."""
        if name not in {"all", "any", "astype", "copy", "max", "mean", "min", "reshape", "sum", "transpose"}:
            raise AttributeError(name)
        method = getattr(self.values, name)
        return lambda *args, **options: _outer(method(*_inner(args), **_inner(options)))


def _inner(x: Any) -> Any:
    """What is in the engine's arrays; arrays of the host have no business among them."""
    if isinstance(x, DeviceArray):
        return x.values
    if isinstance(x, np.ndarray) and x.ndim:
        raise TypeError("an array of the host among arrays of the engine: use engine.asarray")
    if isinstance(x, tuple | list):
        return type(x)(_inner(item) for item in x)
    return {name: _inner(value) for name, value in x.items()} if isinstance(x, dict) else x


def _outer(x: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return DeviceArray(x)
    return type(x)(*map(_outer, x)) if isinstance(x, tuple) and hasattr(x, "_fields") else x


class _Namespace:
    """The functions of NumPy that make new arrays."""

    def __getattr__(self, name: str) -> Any:
        if name not in {"arange", "empty", "full", "ones", "zeros"}:
            raise AttributeError(name)
        return lambda *args, **options: DeviceArray(getattr(np, name)(*args, **options))


@dataclass(frozen=True)
class Pattern:
    n: int
    i: Any
    j: Any


@dataclass(frozen=True)
class Laplacian:
    """A dense matrix."""

    engine: Engine
    L: np.ndarray

    @property
    def n(self) -> int:
        return len(self.L)

    @property
    def bound(self) -> float:
        return 2.0 * float(self.L.diagonal().max(initial=0.0))

    def work(self, columns: int) -> float:
        return float(self.n**2 * columns)


class NumpyEngine(OnePlace):
    name = "numpy"
    xp = _Namespace()
    block_size = 1_000_000
    overhead = 1.0

    def memory(self) -> tuple[int, int]:
        return memory.available(), memory.in_use()

    def asarray(self, x: Any) -> Any:
        return x if isinstance(x, DeviceArray) else DeviceArray(np.array(x))

    def to_numpy(self, x: Any) -> np.ndarray:
        return x.values if isinstance(x, DeviceArray) else np.asarray(x)

    def session(self, n: int, memory: float, budget: int | None = None) -> AbstractContextManager[None]:
        return limited_blas(n)

    def return_free_memory(self) -> None:
        pass

    def for_each(self, task: Callable[..., Any], n: int, *arguments: Sequence[Any]) -> list[Any]:
        return [task(*each) for each in zip(*arguments, strict=True)]

    def at_once(self, n: int, count: int) -> int:
        return 1

    def elementwise(self, formula: Callable[..., Any], *vectors: Any) -> Any:
        return formula(*vectors)

    def column_sums(self, F: Any, units: Any = None) -> ColumnSums:
        values = self.to_numpy(F) if units is None else self.to_numpy(F) / units
        return ColumnSums(np.abs(values).max(axis=0, initial=0.0), values.sum(axis=0), (values**2).sum(axis=0))

    def pattern(self, n: int, i: Any, j: Any) -> Pattern:
        return Pattern(n, DeviceArray(np.array(i, dtype=np.int64)), DeviceArray(np.array(j, dtype=np.int64)))

    def laplacian(self, pattern: Pattern, w: Any) -> Laplacian:
        return self.reordered_laplacian(pattern.n, pattern.i.values, pattern.j.values, w.values)

    def reordered_laplacian(self, n: int, i: Any, j: Any, w: Any) -> Laplacian:
        W = np.zeros((n, n))
        W[i, j] = W[j, i] = w
        return Laplacian(self, np.diag(W.sum(axis=1)) - W)

    def chebyshev_sums(self, L: Laplacian, F: Any, coefficients: np.ndarray, bound: float) -> Any:
        X = 2.0 / bound * L.L - np.eye(L.n) if bound > 0.0 else -np.eye(L.n)
        before, now = F.values, X @ F.values
        total = np.multiply.outer(before, coefficients[0]).swapaxes(1, 2)
        for c in coefficients[1:]:
            total += np.multiply.outer(now, c).swapaxes(1, 2)
            before, now = now, 2.0 * X @ now - before
        return DeviceArray(total)

    def edge_products(
        self, x: Any, i: Any, j: Any, weights: Any, first: int, scale: Any, out: Any, column: int
    ) -> None:
        gaps = (x.values[i.values] - x.values[j.values])[:, first : first + len(weights)]
        products = np.einsum("r,era,erb->eab", weights, gaps, gaps)
        a, b = np.triu_indices(x.shape[2])
        out.values[:, column : column + len(a)] = scale * products[:, a, b]

    def edge_inner_products(self, x: Any, z: Any, i: Any, j: Any, weights: Any) -> Any:
        gaps, others = (y.values[i.values] - y.values[j.values] for y in (x, z))
        return DeviceArray(np.einsum("r,era,era->e", weights, gaps, others))

    def laplacian_forms(self, pattern: Pattern, v: Any, x: Any, weights: Any) -> Any:
        gaps = x.values[pattern.i.values] - x.values[pattern.j.values]
        return DeviceArray(np.einsum("r,e,era,erb->ab", weights, v.values, gaps, gaps).astype(np.float64))

    def sums_at_vertices(self, pattern: Pattern, d: Any) -> Any:
        out = np.zeros((pattern.n, 1))
        self.add_at_vertices(d[:, np.newaxis], pattern.i, pattern.j, DeviceArray(out))
        return DeviceArray(out[:, 0])

    def sums_at_edges(self, pattern: Pattern, y: Any) -> Any:
        return y[pattern.i] + y[pattern.j]

    def add_at_vertices(self, rows: Any, i: Any, j: Any, out: Any) -> None:
        np.add.at(out.values, i.values, rows.values)
        np.add.at(out.values, j.values, rows.values)

    def signless_solver(self, pattern: Pattern, free: Any) -> SystemSolver:
        W = -self.laplacian(pattern, free.astype(np.float64)).L
        np.fill_diagonal(W, 2.0 - W.diagonal())
        factor = scipy.linalg.cho_factor(W)
        return lambda Y, _tolerance, _start: DeviceArray(scipy.linalg.cho_solve(factor, Y.values))

    def cholesky_solver(self, A: Any) -> Callable[[Any], Any]:
        factor = scipy.linalg.cho_factor(A.values)
        return lambda Y: DeviceArray(scipy.linalg.cho_solve(factor, Y.values))

    def add_squared_differences(self, Y: np.ndarray, rows: Any, others: Any, squares: np.ndarray) -> None:
        squares += np.sum((Y[rows][:, np.newaxis] - Y[others]) ** 2, axis=2)


NUMPY: Engine = NumpyEngine()
