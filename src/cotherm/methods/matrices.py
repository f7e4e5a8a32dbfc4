"""Graphs or symmetric matrices at the door, as dense matrices of one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.spectrum import normalized_laplacian
from cotherm.methods.validation import sized

# Asymmetry within this part of the largest entry is rounding.
_ROUNDING = 1e-12


def symmetric_matrices(argument: str, given: Sequence[Any], *, normalized: bool) -> Floats:
    """(N, n, n): the Laplacians of graphs, plain or normalized, and matrices as they are."""
    if isinstance(given, Graph | str) or (hasattr(given, "tocsr") or not isinstance(given, Sequence | np.ndarray)):
        raise CothermError(argument, validation.describe(given), "a list of graphs or symmetric matrices")
    if len(given) == 0:
        raise CothermError(argument, "an empty list", "at least one graph or symmetric matrix")
    names = [f"{argument}[{k}]" for k in range(len(given))]
    sizes = [_size(name, one) for name, one in zip(names, given, strict=True)]
    if len(set(sizes)) > 1:
        raise CothermError(
            argument,
            f"sizes {', '.join(map(str, sizes))}",
            "graphs or matrices of one size",
            "couple, coupled_bases and align take graphs of different sizes.",
        )
    if sizes[0] > limits.DENSE_METHODS:
        raise CothermError(
            argument,
            f"{sizes[0]:,} vertices: every matrix is dense, {8e-9 * sizes[0] ** 2:.0f} GB",
            f"at most {limits.DENSE_METHODS:,} vertices",
            "coupled_bases works with a few eigenvectors of graphs of any size.",
        )
    return np.array([_dense(name, one, normalized) for name, one in zip(names, given, strict=True)])


def _size(argument: str, given: Any) -> int:
    if isinstance(given, Graph):
        return given.n
    shape = given.shape if hasattr(given, "tocsr") else validation.as_array(argument, given).shape
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise CothermError(argument, f"shape {shape}", "a graph or a square symmetric matrix")
    return int(shape[0])


def _dense(argument: str, given: Any, normalized: bool) -> Floats:
    if isinstance(given, Graph):
        return sized(argument, (normalized_laplacian(given) if normalized else given.laplacian()).toarray())
    return symmetric(argument, given.toarray() if hasattr(given, "tocsr") else given)


def symmetric(argument: str, given: ArrayLike) -> Floats:
    """A finite matrix that is symmetric up to rounding, made symmetric to the last bit."""
    A = validation.numeric(argument, given, ndim=(2,))
    largest = float(np.abs(sized(argument, A)).max())
    gap = np.abs(A - A.T)
    if gap.max() > _ROUNDING * largest:
        i, j = (int(x) for x in np.unravel_index(np.argmax(gap), gap.shape))
        raise CothermError(
            argument,
            f"[{i}, {j}] = {A[i, j]:g} but [{j}, {i}] = {A[j, i]:g}",
            "a symmetric matrix",
            "Take (A + A.T) / 2 if that is what you mean.",
        )
    return 0.5 * (A + A.T)
