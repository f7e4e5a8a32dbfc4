"""Checks of what graphs are made of: edges, weights, adjacency matrices, points, faces, scales of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Indices, Ints
from cotherm.errors import CothermError
from cotherm.indexed import rows_in_order

Rows = Floats | sp.csr_array

# Sums of two degrees must still be finite.
_LARGEST_TOTAL = np.finfo(np.float64).max / 4
# Squares of numbers beyond these overflow or vanish, and distances with them.
_LEAST, _MOST = 1e-140, 1e140


EACH_ONCE = "every pair of vertices at most once"

# A frozen class refuses assignment; its constructor uses this instead.
assign = object.__setattr__


class Frozen:
    """What a class of checked fields does, all of them in slots: they stay, and two objects are equal if they are."""

    __slots__: tuple[str, ...] = ()
    _remedy = "make another one"

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {field} cannot be set; {self._remedy}")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {field} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        """Same content in the same order, to the last bit."""
        if type(other) is not type(self):
            return NotImplemented
        return all(np.array_equal(getattr(self, one), getattr(other, one)) for one in self.__slots__)

    __hash__ = None  # type: ignore[assignment]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, made read-only."""
    array.flags.writeable = False
    return array


def refuse_where(
    argument: str, bad: NDArray[Any], tell: Callable[[int], str], needed: str, advice: str = "", each: str = "such"
) -> None:
    """Complain about the first bad place, in the words of ``tell``, and say how many there are."""
    places = np.flatnonzero(bad)
    if len(places):
        count = f" ({len(places)} {each})" if each else ""
        raise CothermError(argument, f"{tell(int(places[0]))}{count}", needed, advice)


def checked_ends(n: int, i: ArrayLike, j: ArrayLike) -> tuple[Indices, Indices]:
    a = validation.indices("i", i, below=n)
    b = validation.indices("j", j, below=n)
    if len(a) != len(b):
        raise CothermError("j", f"{len(b)} ends", f"as many as in i, {len(a)}")
    needed, advice = "two different ends for every edge", "Drop the self-loops; they carry no heat."
    refuse_where("i, j", a == b, lambda e: f"edge {e} joins vertex {a[e]} to itself", needed, advice)
    low, high = np.minimum(a, b), np.maximum(a, b)
    again = repeat(low * n + high)
    if again is not None:
        first, second = again
        given = f"edges {first} and {second} both join vertices {low[first]} and {high[first]}"
        raise CothermError("i, j", given, EACH_ONCE, "Add up or choose among the repeated weights first.")
    return low.astype(np.int32), high.astype(np.int32)


def repeat(key: Ints) -> tuple[int, int] | None:
    """The first two places of the smallest key that occurs more than once."""
    if np.all(np.diff(key) > 0):  # sorted edges, the usual case, need no sorting
        return None
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    return (int(order[again[0]]), int(order[again[0] + 1])) if len(again) else None


def checked_weights(argument: str, value: ArrayLike, i: Indices, j: Indices) -> Floats:
    w = validation.numeric(argument, value, ndim=(1,))
    if len(w) != len(i):
        raise CothermError(argument, f"{len(w)} weights", f"one per edge, {len(i)}")
    refuse_where(argument, w < 0, lambda e: f"{w[e]} on edge {e} ({i[e]}, {j[e]})", "weights >= 0")
    with np.errstate(over="ignore"):
        if not w.sum() <= _LARGEST_TOTAL:
            needed = "weights that can be added up without overflow"
            raise CothermError(argument, f"weights up to {w.max()}", needed, "Rescale them.")
    return w + 0.0  # a copy, and −0.0 becomes 0.0


def checked_coordinates(value: ArrayLike | None, n: int, names: NDArray[Any] | None = None) -> Floats | None:
    if value is None:
        return None
    array = validation.numeric("coordinates", rows_in_order("coordinates", value, names), ndim=(2,))
    if array.shape[0] != n or array.shape[1] == 0:
        raise CothermError("coordinates", f"shape {array.shape}", f"shape ({n}, d) with d >= 1")
    return read_only(array.copy())


def checked_labels(value: ArrayLike | None, n: int, names: NDArray[Any] | None = None) -> NDArray[Any] | None:
    if value is None:
        return None
    array = validation.labels("labels", value, names)
    if array.shape != (n,):
        raise CothermError("labels", f"shape {array.shape}", f"one label per vertex, shape ({n},)")
    return read_only(array.copy())


def checked_vertex_names(value: ArrayLike | None, n: int, rows: Any = None) -> NDArray[Any] | None:
    """Names, unique strings or integers for all vertices; an index is matched with that of ``rows``."""
    if value is None:
        return None
    array = validation.labels("vertex_names", value, rows)
    if array.shape != (n,):
        raise CothermError("vertex_names", f"shape {array.shape}", f"one name per vertex, shape ({n},)")
    names, counts = np.unique(array, return_counts=True)
    if len(names) < n:
        twice = names[int(np.argmax(counts > 1))]
        raise CothermError("vertex_names", f"the name {twice.item()!r} more than once", "a name of its own for each")
    if array.dtype.kind == "U" and not names[0]:
        raise CothermError("vertex_names", "an empty name", "a name for every vertex")
    return read_only(array.copy())


def names_of_rows(X: Any, argument: str = "X") -> NDArray[Any] | None:
    """The index of a pandas data frame, if it says more than row numbers; else None."""
    index = getattr(X, "index", None)
    if index is None or not hasattr(X, "iloc"):
        return None
    names = np.asarray(index)
    if names.ndim != 1 or np.array_equal(names, np.arange(len(names))):
        return None
    advice = f"{argument}.reset_index(drop=True)."
    strange = (
        sorted({type(one).__name__ for one in names if not isinstance(one, str)}) if names.dtype.kind == "O" else []
    )
    if strange or names.dtype.kind not in "iuUO":
        given = f"an index of {', '.join(strange) or names.dtype}"
        raise CothermError(argument, given, "an index of strings or integers", advice)
    if len(np.unique(names.astype(str))) < len(names):
        raise CothermError(argument, "an index with names more than once", "a name of its own for every row", advice)
    return names.astype(np.str_) if names.dtype.kind == "O" else names


def checked_name(value: str | None) -> str | None:
    if value is not None and not isinstance(value, str):
        raise CothermError("name", validation.describe(value), "a string or None")
    return value


def checked_triangle(W: Any) -> tuple[int, Indices, Indices, Floats]:
    """n and the strict upper triangle (i, j, w) of a checked matrix of weights, sorted by (i, j)."""
    matrix = checked_csr("W", W)
    n = matrix.shape[0]
    if matrix.shape != (n, n) or n == 0:
        raise CothermError("W", f"shape {matrix.shape}", "a square matrix, one row and column per vertex")
    repeats = W.tocoo().nnz - matrix.nnz if hasattr(W, "tocoo") else 0
    if repeats:
        raise CothermError("W", f"{repeats} repeated entries", "every entry at most once", "Call sum_duplicates().")
    advice = "Set the diagonal to zero; for a Laplacian, pass its negated off-diagonal part."
    d = matrix.diagonal()
    refuse_where("W", d, lambda v: f"{d[v]} on the diagonal at vertex {v}", "a zero diagonal", advice, "self-loop(s)")
    _require_symmetric(matrix)
    entries = matrix.tocoo()
    i, j, w = entries.row, entries.col, entries.data
    advice = "For a Laplacian, pass its negated off-diagonal part."
    told = lambda e: f"W[{i[e]}, {j[e]}] = {w[e]}"  # noqa: E731
    refuse_where("W", w < 0, told, "weights >= 0", advice, "negative entries")
    upper = i < j
    return n, i[upper], j[upper], w[upper]


def checked_csr(argument: str, X: Any, data: str = "") -> sp.csr_array:
    """A checked copy, dense or sparse, in CSR form; repeated entries are summed, as everywhere in SciPy."""
    if not hasattr(X, "tocoo"):
        return sp.csr_array(validation.numeric(argument, X, ndim=(2,)))
    if X.ndim != 2:
        raise CothermError(argument, f"a sparse array of shape {X.shape}", "an array with 2 dimension(s)")
    coo = X.tocoo()
    values = validation.finite(data or argument, validation.as_float64(argument, coo.data))
    return sp.csr_array(sp.coo_array((values, (coo.row, coo.col)), shape=coo.shape))


def _require_symmetric(matrix: sp.csr_array) -> None:
    difference = (matrix - matrix.T).tocoo()
    if difference.nnz and np.any(difference.data):
        worst = int(np.argmax(np.abs(difference.data)))
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise CothermError(
            "W",
            f"W[{i}, {j}] = {matrix[i, j]} but W[{j}, {i}] = {matrix[j, i]}",
            "a symmetric matrix",
            "Choose how to combine the two, e.g. (W + W.T) / 2 or W.maximum(W.T).",
            code="not-symmetric",
        )
    pattern = sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    one_sided = (pattern - pattern.T).tocoo()
    if np.any(one_sided.data):
        k = int(np.flatnonzero(one_sided.data)[0])
        i, j = int(one_sided.row[k]), int(one_sided.col[k])
        given = f"a stored zero at only one of [{i}, {j}] and [{j}, {i}]"
        raise CothermError("W", given, "a symmetric pattern of stored entries", code="not-symmetric")


def checked_rows(argument: str, X: Any) -> Rows:
    """X as float64, dense or CSR, of shape (n, d), n ≥ 1 and d ≥ 1, of finite entries of usable size."""
    rows: Rows = validation.numeric(argument, X, ndim=(2,)) if not sp.issparse(X) else _checked_sparse(argument, X)
    if 0 in rows.shape:
        raise CothermError(argument, f"shape {np.shape(X)}", "at least one point and one column")
    values = rows if isinstance(rows, np.ndarray) else rows.data
    require_usable_size(argument, max(float(values.max()), -float(values.min())) if values.size else 0.0)
    return rows


def require_usable_size(argument: str, largest: float) -> None:
    """Refuse points whose largest entry is so large or small that squares overflow or vanish."""
    if largest and not _LEAST <= largest <= _MOST:
        needed = f"a largest number between {_LEAST:g} and {_MOST:g}, so that squares neither vanish nor overflow"
        raise CothermError(argument, f"numbers up to {largest:.3g} in size", needed, "Change the unit.")


def _checked_sparse(argument: str, X: Any) -> sp.csr_array:
    rows = checked_csr(argument, X, f"{argument}.data")
    # Empty columns change no distance, but the transposed matrix would have a row for each.
    if rows.shape[1] > max(rows.nnz, 1):
        used, column = np.unique(rows.indices, return_inverse=True)
        rows = sp.csr_array((rows.data, column, rows.indptr), shape=(rows.shape[0], max(len(used), 1)))
    return rows


def checked_faces(faces: ArrayLike, n: int) -> Ints:
    validation.numeric("faces", faces, ndim=(2,))
    array = np.asarray(faces)
    if array.shape[1] != 3:
        raise CothermError("faces", f"shape {array.shape}", "shape (f, 3), three corners each", "Triangulate the mesh.")
    if not len(array):
        return np.empty((0, 3), dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise CothermError("faces", f"dtype {array.dtype}", "integer vertex numbers")
    outside = ((array < 0) | (array >= n)).ravel()
    advice = "Subtract 1 from them." if array.min() == 1 and array.max() == n else ""
    needed = f"vertex numbers from 0 to {n - 1}"
    refuse_where("faces", outside, lambda k: f"vertex {array.flat[k]} in face {k // 3}", needed, advice, "")
    corners = array.astype(np.int64)
    a, b, c = corners.T
    needed, advice = "three different corners for every face", "Drop the degenerate faces."
    bad = (a == b) | (b == c) | (c == a)
    refuse_where("faces", bad, lambda f: f"face {f} has corners {corners[f].tolist()}", needed, advice)
    return corners


def checked_scale(scale: object, words: tuple[str, ...]) -> str | float | None:
    """None, one of the words, or a number > 0."""
    if scale is None:
        return None
    return _sigma(scale, words, f"{_listed(words)}, a number > 0, or None")


def checked_sigma(scale: object, words: tuple[str, ...]) -> str | float:
    """One of the words, or a number > 0."""
    return _sigma(scale, words, f"{_listed(words)} or a number > 0")


def _sigma(scale: object, words: tuple[str, ...], needed: str) -> str | float:
    if isinstance(scale, str) and scale in words:
        return scale
    try:
        return validation.real("scale", scale, positive=True)
    except CothermError as error:
        raise CothermError("scale", error.given, needed) from None


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(map(repr, words))
