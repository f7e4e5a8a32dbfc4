"""Arrays whose rows are spread over ranks, each holding some; NumPy's functions work on them.

Their length is that of the rows here, and arithmetic is local. What runs over all rows (sums, norms, products of two
arrays along the rows) is an ordinary NumPy number or array, the same on every rank. Which axis the rows are on follows
from how the array was made, transposed and cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.engines.petsc.communicator import Communicator
from cotherm.engines.petsc.halo import Halo


class DistributedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """The rows of one rank, ``values``; ``axis`` is the one that is spread.

    ``full``, where it is known, are these rows and those of the halo of their graph after them. ``halo`` is that of
    numbers of vertices, which point into such rows.
    """

    def __init__(
        self,
        values: NDArray[Any],
        communicator: Communicator,
        *,
        axis: int = 0,
        full: NDArray[Any] | None = None,
        halo: Halo | None = None,
    ) -> None:
        self._values, self.communicator, self.axis = values, communicator, axis
        self.full, self.halo = full, halo
        self._pending: tuple[Halo, NDArray[Any]] | None = None

    @property
    def values(self) -> NDArray[Any]:
        """The rows here. What was added to rows of other ranks is sent to them first, so all ranks ask together."""
        if self._pending is not None:
            (halo, others), self._pending = self._pending, None
            halo.add(others, self._values)
        return self._values

    def to_add(self, halo: Halo) -> tuple[NDArray[Any], NDArray[Any]]:
        """Places to add rows to: those here, and those of other ranks, which get them when the array is next used."""
        if self._pending is None:
            self._pending = halo, np.zeros((halo.count, *self._values.shape[1:]), dtype=self._values.dtype)
        return self._values, self._pending[1]

    def extended(self, halo: Halo) -> NDArray[Any]:
        """The rows here and after them those of the halo."""
        return halo.extended(self.values) if self.full is None else self.full

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The rows here, for what takes arrays by their rows: numbers that index, values that are assigned."""
        values = self.values if dtype is None else self.values.astype(dtype, copy=False)
        return values.copy() if copy else values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__":
            raise TypeError(f"numpy.{ufunc.__name__}.{method} of an array that is spread over ranks")
        if ufunc is np.matmul:
            return _product(*inputs)
        out = options.pop("out", None)
        axis = _common_axis(inputs)
        if out is not None:
            ufunc(*map(_local, inputs), out=tuple(map(_local, out)), **options)
            return out[0]
        return self._like(ufunc(*map(_local, inputs), **options), axis)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function not in _FUNCTIONS:
            raise TypeError(f"numpy.{function.__name__} of an array that is spread over ranks")
        return _FUNCTIONS[function](*args, **options)

    def _like(self, values: Any, axis: int | None) -> DistributedArray:
        return DistributedArray(values, self.communicator, axis=0 if axis is None else axis)

    def __getitem__(self, key: Any) -> DistributedArray:
        inner = tuple(map(_local, key)) if isinstance(key, tuple) else _local(key)
        axis, whole = _axis_after(inner, self.ndim, self.axis)
        found = self._like(self.values[inner], axis)
        if whole and self.full is not None:
            found.full = self.full[inner]
        found.halo = self.halo
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[tuple(map(_local, key)) if isinstance(key, tuple) else _local(key)] = _local(value)
        self.full = None

    def __iter__(self) -> Iterator[DistributedArray]:
        """Over an axis that is not spread."""
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        """Along the first axis; where that is spread, of what is here."""
        return len(self._values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of what is here."""
        return self._values.shape

    @property
    def ndim(self) -> int:
        return self._values.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._values.dtype

    @property
    def T(self) -> DistributedArray:  # noqa: N802 (NumPy's name)
        return self._like(self.values.T, self.ndim - 1 - self.axis)

    def transpose(self, *axes: int) -> DistributedArray:
        return self._like(self.values.transpose(*axes), axes.index(self.axis))

    def copy(self) -> DistributedArray:
        return self._mapped(lambda values: values.copy())

    def astype(self, dtype: Any, **options: Any) -> DistributedArray:
        return self._mapped(lambda values: values.astype(dtype, **options))

    def contiguous(self) -> DistributedArray:
        return self._mapped(np.ascontiguousarray)

    def _mapped(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> DistributedArray:
        """Rows of the halo, where they are known, are kept."""
        if self.full is None:
            found = self._like(change(self.values), self.axis)
        else:
            full = change(self.full)
            found = self._like(full[: len(self)], self.axis)
            found.full = full
        found.halo = self.halo
        return found

    def sum(self, axis: int | None = None) -> Any:
        return self._over_rows(np.sum, self.communicator.sum, axis)

    def max(self, axis: int | None = None) -> Any:
        return self._over_rows(partial(np.max, initial=-np.inf), self.communicator.max, axis)

    def min(self, axis: int | None = None) -> Any:
        return self._over_rows(partial(np.min, initial=np.inf), self.communicator.min, axis)

    def any(self) -> bool:
        return self.communicator.any(bool(self.values.any()))

    def all(self) -> bool:
        return not self.communicator.any(not self.values.all())

    def mean(self) -> float:
        total, count = self.communicator.sum([float(np.sum(self.values)), float(self.values.size)])
        return float(total / count)

    def norm(self) -> float:
        flat = self.values.reshape(-1)
        return float(np.sqrt(self.communicator.sum([flat @ flat])[0]))

    def _over_rows(self, local: Any, over_ranks: Any, axis: int | None) -> Any:
        """A rank without rows has nothing to say."""
        found = local(self.values, axis=axis)
        if axis is None:
            return over_ranks(np.array([found]))[0]
        axis %= self.ndim
        if axis == self.axis:
            return over_ranks(found)
        return self._like(found, self.axis - (axis < self.axis))


def _local(x: Any) -> Any:
    return x.values if isinstance(x, DistributedArray) else x


def _axis_after(key: Any, ndim: int, axis: int) -> tuple[int | None, bool]:
    """Where the axis of the rows is after indexing, and whether all rows are still there."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if any(part is Ellipsis for part in parts):
        at = next(k for k, part in enumerate(parts) if part is Ellipsis)
        named = sum(part is not None for part in parts) - 1
        parts[at : at + 1] = [slice(None)] * (ndim - named)
    before, dimension = 0, 0
    for part in parts:
        if part is None:
            before += 1
            continue
        if dimension == axis:
            if isinstance(part, int | np.integer):
                raise TypeError("one row of an array that is spread over ranks")
            return before, isinstance(part, slice) and part == slice(None)
        before += not isinstance(part, int | np.integer)
        dimension += 1
    return before + axis - dimension, True


def _common_axis(inputs: Any) -> int | None:
    """Of the result of arithmetic, counted from the first."""
    arrays = [x for x in inputs if isinstance(x, DistributedArray)]
    ndim = max(np.ndim(_local(x)) for x in inputs)
    axes = {ndim - x.ndim + x.axis for x in arrays}
    if len(axes) > 1:
        raise TypeError(f"arrays that are spread along different axes: {[(x.shape, x.axis) for x in arrays]}")
    return axes.pop()


def _product(a: Any, b: Any) -> Any:
    """a @ b: along rows that are spread in both, of all ranks; else local."""
    found = np.matmul(_local(a), _local(b))
    a_spread, b_spread = isinstance(a, DistributedArray), isinstance(b, DistributedArray)
    along_a = a_spread and a.axis == a.ndim - 1
    along_b = b_spread and b.axis == max(b.ndim - 2, 0)
    if along_a and along_b:
        total = a.communicator.sum(np.atleast_1d(found))
        return total if np.ndim(found) else total[0]
    if a_spread and not along_a:
        return a._like(found, a.axis)
    if b_spread and not along_b:
        return b._like(found, np.ndim(found) - b.ndim + b.axis)
    return found  # of small arrays, the same on every rank


def _any_of(arrays: Any) -> DistributedArray:
    return next(x for x in arrays if isinstance(x, DistributedArray))


def _where(condition: Any, x: Any, y: Any) -> DistributedArray:
    axis = _common_axis((condition, x, y))
    return _any_of((condition, x, y))._like(np.where(_local(condition), _local(x), _local(y)), axis)


def _concatenate(arrays: Any, axis: int = 0) -> DistributedArray:
    first = _any_of(arrays)
    return first._like(np.concatenate([_local(x) for x in arrays], axis=axis), first.axis)


def _stack(arrays: Any) -> DistributedArray:
    first = _any_of(arrays)
    return first._like(np.stack([_local(x) for x in arrays]), first.axis + 1)


def _array_equal(x: Any, y: Any) -> bool:
    return not _any_of((x, y)).communicator.any(not np.array_equal(_local(x), _local(y)))


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.concatenate: _concatenate,
    np.stack: _stack,
    # Of the rows here, whose numbers are those of this rank.
    np.flatnonzero: lambda x: x._like(np.flatnonzero(x.values), 0),
    np.count_nonzero: lambda x: int(np.count_nonzero(x.values)),
    np.array_equal: _array_equal,
    # Along the last axis, which is not spread; rows of the halo, where they are known, are kept.
    np.tensordot: lambda x, S, axes: x._mapped(lambda values: np.tensordot(values, _local(S), axes)),
    np.zeros_like: lambda x, dtype=None: x._like(np.zeros_like(x.values, dtype=dtype), x.axis),
    np.linalg.norm: DistributedArray.norm,
    np.sum: DistributedArray.sum,
    np.any: DistributedArray.any,
    np.all: DistributedArray.all,
    np.max: DistributedArray.max,
    np.min: DistributedArray.min,
    np.mean: DistributedArray.mean,
}
