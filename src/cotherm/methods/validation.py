"""Checks of arguments that all methods share, and the settings they record for a methods section."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.spectrum import normalized_laplacian
from cotherm.heat.validation import checked_graphs, checked_views
from cotherm.pairs import first_difference
from cotherm.version import __version__

__all__ = [
    "are_shards",
    "checked_graphs",
    "checked_views",
    "is_auto",
    "moderate",
    "positive",
    "require_same_names",
    "share",
    "sized",
    "symmetric",
    "symmetric_matrices",
    "versions",
]

# Between these, squares and their squares neither overflow nor vanish.
_LEAST, _MOST = 1e-70, 1e70
# Asymmetry within this part of the largest entry is rounding.
_ROUNDING = 1e-12


def require_same_names(argument: str, graphs: Sequence[Any]) -> None:
    """Refuse graphs of equal size whose names say that vertices differ, or come in another order."""
    difference = first_difference([graph.vertex_names if isinstance(graph, Graph) else None for graph in graphs])
    if difference is not None:
        raise CothermError(
            argument,
            difference,
            "the same vertices in the same order",
            "Graph.subgraph brings vertices into another order; Graph.bare() takes names away.",
        )


def is_auto(argument: str, value: Any) -> bool:
    """Whether a parameter is to be chosen from the data, which only the word "auto" requests."""
    if isinstance(value, str) and value != "auto":
        raise CothermError(argument, validation.describe(value), 'numbers, or "auto"')
    return isinstance(value, str)


def are_shards(graphs: object, engine: object) -> bool:
    """Whether these are sharded graphs, or paths of them, which only the distributed engine takes."""
    if not isinstance(graphs, list | tuple) or not graphs:
        return False
    distributed = engine == "petsc" if isinstance(engine, str) else getattr(engine, "is_distributed", False)
    paths = all(isinstance(one, str | PathLike) for one in graphs)
    return (distributed and paths) or any(hasattr(one, "vertex_ranges") for one in graphs)


def positive(argument: str, values: ArrayLike | None, count: int, of: str) -> Floats:
    """A number > 0 for each of ``count`` things; by default 1."""
    if values is None:
        return np.ones(count)
    array = validation.numeric(argument, values, ndim=(1,))
    if array.shape != (count,) or not np.all(array > 0.0):
        raise CothermError(argument, validation.describe(array), f"{count} numbers > 0, one for each of the {of}")
    for value in array:
        moderate(argument, float(value))
    return array


def share(argument: str, values: ArrayLike | None, count: int, of: str) -> Floats:
    """The same, scaled to sum to 1."""
    numbers = positive(argument, values, count, of)
    return numbers / numbers.sum()


def moderate(argument: str, value: float) -> float:
    """Require a number whose powers neither overflow nor vanish; zero is allowed."""
    if value != 0.0 and not _LEAST <= abs(value) <= _MOST:
        raise CothermError(argument, f"{value:.3g}", f"a size between {_LEAST:.0e} and {_MOST:.0e}", "Rescale it.")
    return value


def sized(argument: str, array: Floats) -> Floats:
    """An array whose largest entry is such a number."""
    moderate(argument, float(np.abs(array).max(initial=0.0)))
    return array


def versions() -> dict[str, str]:
    """Of everything that computes."""
    return dict(_installed_versions())


@cache
def _installed_versions() -> dict[str, str]:
    """Versions, read once: for small problems reading them takes a good part of the time."""
    others = {name: _version_of(name) for name in ("numpy", "scipy", "numba")}
    return {"python": platform.python_version(), "cotherm": __version__, **others}


def _version_of(package: str) -> str:
    """From its metadata, without importing it; programs packed into one file have modules alone."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return str(import_module(package).__version__)


def symmetric_matrices(argument: str, given: Sequence[Any], *, normalized: bool) -> Floats:
    """(N, n, n): the Laplacians of graphs, plain or normalized, and matrices as they are."""
    listed = bool(getattr(given, "ndim", isinstance(given, Sequence)))
    if isinstance(given, Graph | str) or hasattr(given, "tocsr") or not listed:
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
    require_same_names(argument, given)
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
