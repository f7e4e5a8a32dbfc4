"""The made items: as hard in each view as the images they stand for, and easier in both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cotherm as ct


def precision(distances: NDArray[Any], labels: NDArray[Any]) -> float:
    """Mean average precision in percent: each item asks for its class, and is itself left out."""
    scores = []
    for query in range(len(labels)):
        others = np.delete(np.arange(len(labels)), query)
        relevant = (labels[others] == labels[query])[np.argsort(distances[query, others])]
        ranks = np.flatnonzero(relevant) + 1
        scores.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return 100.0 * float(np.mean(scores))


def distances(views: ct.datasets.Views) -> list[NDArray[Any]]:
    return [np.asarray(ct.diffusion_distance(graph, views.times[0])) for graph in views.graphs]


def test_the_shape_of_nus() -> None:
    views = ct.datasets.ambiguous()
    assert [(g.n, g.name) for g in views.graphs] == [(145, "tags"), (145, "colors")]
    assert views.times == (0.75, 1.0, 1.25)
    assert views.aligned
    for F in views.functions:
        assert F.sum(axis=0).tolist() == [33, 30, 17, 19, 15, 15, 16]


def test_each_view_is_as_hard_as_in_the_paper_and_both_are_easier() -> None:
    found = []
    for seed in range(5):
        views = ct.datasets.ambiguous(seed)
        assert views.labels is not None
        tags, colors = distances(views)
        both = np.hypot(tags / tags.mean(), colors / colors.mean())
        found.append([precision(d, views.labels) for d in (tags, colors, both)])
    tags_alone, colors_alone, together = np.mean(found, axis=0)
    assert 75 < tags_alone < 82
    assert 52 < colors_alone < 60
    assert together > tags_alone + 3


@pytest.mark.parametrize(("view", "alike"), [(0, (0, 1)), (0, (4, 5)), (1, (1, 2)), (1, (5, 6))])
def test_a_view_confuses_its_own_pairs(view: int, alike: tuple[int, int]) -> None:
    """Of the edges that leave a class, far more lead to the one it is alike to than to any other."""
    one, other = alike
    to_alike = to_others = 0.0
    for seed in range(5):
        graph = ct.datasets.ambiguous(seed).graphs[view]
        assert graph.labels is not None
        a, b = graph.labels[graph.i], graph.labels[graph.j]
        leaving = (a == one) != (b == one)
        reaching = leaving & ((a == other) | (b == other))
        to_alike += graph.w[reaching].sum()
        to_others += graph.w[leaving & ~reaching].sum() / 5
    assert to_alike > 2 * to_others


def test_seeds() -> None:
    one, same, another = (ct.datasets.ambiguous(seed).graphs for seed in (3, 3, 4))
    for a, b, c in zip(one, same, another, strict=True):
        np.testing.assert_array_equal(a.w, b.w)
        assert a.m != c.m or np.any(a.w != c.w)
    with pytest.raises(ct.CothermError, match="seed"):
        ct.datasets.ambiguous(-1)
