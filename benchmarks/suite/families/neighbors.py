"""Nearest neighbors: contestants return the numbers of ten neighbors of every point, exact or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.suite.parts import Contestant, Family, Figure, Library, Limits, Problem
from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.graphs.search.neighbors import nearest_neighbors

_OURS, _SKLEARN, _TREE = "cotherm nearest_neighbors", "scikit-learn NearestNeighbors", "SciPy cKDTree"
# pynndescent compiles for half a minute in every process: too long for a quick run.
_SOON_READY = (_OURS, _SKLEARN, _TREE)
_K = 10
_DIMENSIONS = (3, 64)
# Many measurements of few causes, as data are: directions behind 64 coordinates, and noise beside them.
_CAUSES, _NOISE = 8, 0.05
_SAMPLE = 500
_TIE = 1e-9
_SECONDS = {10_000: 60.0, 100_000: 180.0, 1_000_000: 600.0}


class Found(NamedTuple):
    """Neighbors, and the recall that the contestant itself claims."""

    indices: Ints
    claimed: float | None


def points(n: int, dimensions: int) -> Floats:
    """Uniform in a cube; in many dimensions about a surface of few."""
    rng = np.random.default_rng(0)
    if dimensions <= _CAUSES:
        return rng.random((n, dimensions))
    causes = rng.random((n, _CAUSES))
    mixed = np.tanh(causes @ rng.standard_normal((_CAUSES, dimensions)))
    return mixed + _NOISE * rng.standard_normal((n, dimensions))


def _problems(quick: bool) -> Sequence[Problem]:
    if quick:
        return [replace(_of(2_000, d, 20.0), contestants=_SOON_READY) for d in _DIMENSIONS]
    return [_of(n, d, seconds) for d in _DIMENSIONS for n, seconds in _SECONDS.items()]


def _of(n: int, d: int, seconds: float) -> Problem:
    series = f"points in {d} dimensions"
    # Large ones go other ways, which must be compiled too.
    small = 2_000 if n <= limits.EXACT_NEIGHBORS else limits.EXACT_NEIGHBORS + 1
    return Problem(f"{series}, {n:,}", series, n, lambda _: points(n, d), lambda: points(small, d), seconds)


def _ours(X: Floats, _: Limits) -> Found:
    found = nearest_neighbors(X, _K)
    return Found(found.indices, found.recall)


def _sklearn(X: Floats, _: Limits) -> Found:
    """By whichever of its methods it thinks best, all processors."""
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=_K, n_jobs=-1).fit(X)
    return Found(model.kneighbors(return_distance=False), None)


def _tree(X: Floats, _: Limits) -> Found:
    """SciPy's k-d tree; the nearest of every point is the point itself."""
    from scipy.spatial import cKDTree

    indices: Any = cKDTree(X).query(X, k=_K + 1, workers=-1)[1]
    return Found(indices[:, 1:], None)


def _descent(X: Floats, _: Limits) -> Found:
    """pynndescent with its defaults; it counts the point itself."""
    from pynndescent import NNDescent

    return Found(np.asarray(NNDescent(X, n_neighbors=_K + 1, random_state=0).neighbor_graph[0])[:, 1:], None)


def judge(X: Floats, found: Found) -> Mapping[str, float | None]:
    """Recall on a sample of points, all distances to which the judge computes itself."""
    sample = np.random.default_rng(1).choice(len(X), min(_SAMPLE, len(X)), replace=False)
    return {"recall": float(np.mean([_recall(X, v, found.indices[v]) for v in sample])), "claimed": found.claimed}


def _recall(X: Floats, v: int, named: Ints) -> float:
    """Which part of the k nearest are named: different points, none v itself, within the k-th distance."""
    distance = np.sqrt(np.sum((X - X[v]) ** 2, axis=1))
    distance[v] = np.inf
    farthest = np.partition(distance, _K - 1)[_K - 1]
    different = np.unique(named[(named >= 0) & (named < len(X))])
    return float(np.sum(distance[different] <= farthest * (1.0 + _TIE)) / _K)


FAMILY = Family(
    name="neighbors",
    description=f"The {_K} nearest neighbors of every point. Recall is measured on {_SAMPLE} points; ours also claims "
    "one.",
    problems=_problems,
    contestants=(
        Contestant(_OURS, _ours),
        Contestant(_SKLEARN, _sklearn),
        Contestant(_TREE, _tree),
        Contestant("pynndescent", _descent, needs=Library("pynndescent", "pip install 'cotherm[neighbors]'")),
    ),
    figures=(Figure("recall", "higher", ".4f"), Figure("claimed", "higher", ".4f")),
    judge=judge,
)
