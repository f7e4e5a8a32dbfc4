"""Checks of what graphs are made of: edges, weights, adjacency matrices, points, faces, scales of kernels."""

from __future__ import annotations

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


# A frozen class refuses assignment; its constructor uses this instead.
assign = object.__setattr__


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, made read-only."""
    array.flags.writeable = False
    return array


def checked_ends(n: int, i: ArrayLike, j: ArrayLike) -> tuple[Indices, Indices]:
    a = validation.indices("i", i, below=n)
    b = validation.indices("j", j, below=n)
    if len(a) != len(b):
        raise CothermError("j", f"{len(b)} ends", f"as many as in i, {len(a)}")
    loops = np.flatnonzero(a == b)
    if len(loops):
        raise CothermError(
            "i, j",
            f"edge {loops[0]} joins vertex {a[loops[0]]} to itself ({len(loops)} such edge(s))",
            "two different ends for every edge",
            "Drop the self-loops; they carry no heat.",
        )
    low, high = np.minimum(a, b), np.maximum(a, b)
    _refuse_repeats(n, low, high)
    return low.astype(np.int32), high.astype(np.int32)


def _refuse_repeats(n: int, low: NDArray[np.int64], high: NDArray[np.int64]) -> None:
    key = low * n + high
    step = np.diff(key)
    if np.all(step > 0):  # sorted edges, the usual case, need no sorting
        return
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    if len(again):
        first, second = sorted(order[again[0] : again[0] + 2].tolist())
        raise CothermError(
            "i, j",
            f"edges {first} and {second} both join vertices {low[first]} and {high[first]} "
            f"({len(again)} repeated edge(s))",
            "every pair of vertices at most once",
            "Add up or choose among the repeated weights first.",
        )


def checked_weights(argument: str, value: ArrayLike, i: Indices, j: Indices) -> Floats:
    w = validation.numeric(argument, value, ndim=(1,))
    if len(w) != len(i):
        raise CothermError(argument, f"{len(w)} weights", f"one per edge, {len(i)}")
    if len(w) and w.min() < 0:
        where = int(np.argmin(w))
        raise CothermError(
            argument,
            f"{w[where]} on edge {where} ({i[where]}, {j[where]}); {int((w < 0).sum())} negative weight(s)",
            "weights >= 0",
        )
    with np.errstate(over="ignore"):
        if not w.sum() <= _LARGEST_TOTAL:
            raise CothermError(
                argument, f"weights up to {w.max()}", "weights that can be added up without overflow", "Rescale them."
            )
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
    if names.dtype.kind == "O" and not all(isinstance(one, str) for one in names):
        kinds = ", ".join(sorted({type(one).__name__ for one in names}))
        raise CothermError(argument, f"an index of {kinds}", "an index of strings or integers", advice)
    if names.dtype.kind not in "iuUO":
        raise CothermError(argument, f"an index of {names.dtype}", "an index of strings or integers", advice)
    if len(np.unique(names.astype(str))) < len(names):
        raise CothermError(argument, "an index with names more than once", "a name of its own for every row", advice)
    return names.astype(np.str_) if names.dtype.kind == "O" else names


def checked_name(value: str | None) -> str | None:
    if value is not None and not isinstance(value, str):
        raise CothermError("name", validation.describe(value), "a string or None")
    return value


def checked_triangle(W: Any) -> tuple[int, Indices, Indices, Floats]:
    """n and the strict upper triangle (i, j, w) of a checked matrix of weights, sorted by (i, j)."""
    if sp.issparse(W):
        matrix = _canonical_sparse(W)
    else:
        dense = validation.numeric("W", W, ndim=(2,))
        _require_square(dense.shape)
        matrix = sp.csr_array(dense)
    _require_loop_free(matrix)
    _require_symmetric(matrix)
    _require_non_negative(matrix)
    upper = sp.triu(matrix, k=1, format="csr").tocoo()
    return matrix.shape[0], upper.row, upper.col, upper.data


def _canonical_sparse(W: Any) -> sp.csr_array:
    """A checked copy in CSR form; repeated entries are refused, not added up."""
    _require_square(W.shape)
    coo = W.tocoo()
    data = validation.finite("W", validation.as_float64("W", coo.data))
    matrix = sp.csr_array(sp.coo_array((data, (coo.row, coo.col)), shape=coo.shape))
    if matrix.nnz != len(data):
        repeats = len(data) - matrix.nnz
        raise CothermError("W", f"{repeats} repeated entries", "every entry at most once", "Call sum_duplicates().")
    return matrix


def _require_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise CothermError("W", f"shape {shape}", "a square matrix, one row and column per vertex")


def _require_loop_free(matrix: sp.csr_array) -> None:
    loops = np.flatnonzero(matrix.diagonal())
    if len(loops):
        v = int(loops[0])
        raise CothermError(
            "W",
            f"{matrix.diagonal()[v]} on the diagonal at vertex {v} ({len(loops)} self-loop(s))",
            "a zero diagonal",
            "Set the diagonal to zero; for a Laplacian, pass its negated off-diagonal part.",
        )


def _require_symmetric(matrix: sp.csr_array) -> None:
    difference = (matrix - matrix.T).tocoo()
    gap = np.abs(difference.data)
    if len(gap) and gap.max() > 0:
        worst = int(np.argmax(gap))
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
        raise CothermError(
            "W",
            f"a stored zero at only one of [{i}, {j}] and [{j}, {i}]",
            "a symmetric pattern of stored entries",
            code="not-symmetric",
        )


def _require_non_negative(matrix: sp.csr_array) -> None:
    if matrix.nnz and matrix.data.min() < 0:
        entries = matrix.tocoo()
        worst = int(np.argmin(entries.data))
        i, j = int(entries.row[worst]), int(entries.col[worst])
        raise CothermError(
            "W",
            f"W[{i}, {j}] = {entries.data[worst]} ({int((entries.data < 0).sum())} negative entries)",
            "weights >= 0",
            "For a Laplacian, pass its negated off-diagonal part.",
        )


def checked_rows(argument: str, X: Any) -> Rows:
    """X as float64, dense or CSR, of shape (n, d), n ≥ 1 and d ≥ 1, of finite entries of usable size."""
    rows: Rows = _checked_sparse(argument, X) if sp.issparse(X) else validation.numeric(argument, X, ndim=(2,))
    if 0 in rows.shape:
        raise CothermError(argument, f"shape {np.shape(X)}", "at least one point and one column")
    values = rows if isinstance(rows, np.ndarray) else rows.data
    require_usable_size(argument, max(float(values.max()), -float(values.min())) if values.size else 0.0)
    return rows


def require_usable_size(argument: str, largest: float) -> None:
    """Refuse points whose largest entry is so large or small that squares overflow or vanish."""
    if largest and not _LEAST <= largest <= _MOST:
        raise CothermError(
            argument,
            f"numbers up to {largest:.3g} in size",
            f"a largest number between {_LEAST:g} and {_MOST:g}, so that squares neither vanish nor overflow",
            "Change the unit.",
        )


def _checked_sparse(argument: str, X: Any) -> sp.csr_array:
    if X.ndim != 2:
        raise CothermError(argument, f"a sparse array of shape {X.shape}", "an array with 2 dimension(s)")
    coo = X.tocoo()
    data = validation.finite(f"{argument}.data", validation.as_float64(argument, coo.data))
    n, d = coo.shape
    column = coo.col
    # Empty columns change no distance, but the transposed matrix would have a row for each.
    if d > max(len(data), 1):
        used, column = np.unique(column, return_inverse=True)
        d = max(len(used), 1)
    # Repeated entries are summed, as everywhere in SciPy.
    return sp.csr_array(sp.coo_array((data, (coo.row, column)), shape=(n, d)))


def checked_faces(faces: ArrayLike, n: int) -> Ints:
    validation.numeric("faces", faces, ndim=(2,))
    array = np.asarray(faces)
    if array.shape[1] != 3:
        raise CothermError("faces", f"shape {array.shape}", "shape (f, 3), three corners each", "Triangulate the mesh.")
    if not len(array):
        return np.empty((0, 3), dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise CothermError("faces", f"dtype {array.dtype}", "integer vertex numbers")
    _require_range(array, n)
    corners = array.astype(np.int64)
    a, b, c = corners.T
    repeated = np.flatnonzero((a == b) | (b == c) | (c == a))
    if len(repeated):
        raise CothermError(
            "faces",
            f"face {repeated[0]} has corners {corners[repeated[0]].tolist()} ({len(repeated)} such face(s))",
            "three different corners for every face",
            "Drop the degenerate faces.",
        )
    return corners


def _require_range(faces: Any, n: int) -> None:
    outside = np.argwhere((faces < 0) | (faces >= n))
    if len(outside):
        face, corner = outside[0]
        raise CothermError(
            "faces",
            f"vertex {faces[face, corner]} in face {face}",
            f"vertex numbers from 0 to {n - 1}",
            "Subtract 1 from them." if faces.min() == 1 and faces.max() == n else "",
        )


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
