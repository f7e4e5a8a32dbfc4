"""Coupling by pairs on real data: labels only judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import cotherm as ct
from benchmarks.pairs.sets import source
from cotherm.arrays import Floats
from cotherm.heat.times import diffusion_time
from paper.data import nus, sources
from paper.rivals.similarity_fusion import fuse_similarity

Find = Callable[[str], Path]


def precisions(graph: ct.Graph, labels: Any, t: float) -> Floats:
    return ct.evaluate.retrieval(ct.diffusion_distance(graph, t), labels).average_precisions


def test_nus_with_all_pairs(data_file: Find) -> None:
    views = nus(recipe="paper", data=data_file("nus/NUS_results.mat").parents[1])
    result = ct.couple_pairs(views.graphs)
    assert min(precisions(graph, views.labels, 0.75).mean() for graph in result.graphs) > 0.9


def test_nus_with_half_of_the_pairs(data_file: Find) -> None:
    """Items without a partner gain as well."""
    views = nus(recipe="paper", data=data_file("nus/NUS_results.mat").parents[1])
    gains = []
    for seed in range(3):
        some = np.random.default_rng(seed).permutation(145)[:72]
        rest = np.setdiff1d(np.arange(145), some)
        coupled = ct.couple_pairs(views.graphs, [some, some]).graphs
        states = (views.graphs, coupled)
        before, after = ([precisions(g, views.labels, 0.75)[rest].mean() for g in graphs] for graphs in states)
        gains.append(np.subtract(after, before))
    assert np.all(np.mean(gains, axis=0) > 0.015)


def test_news_with_one_view_permuted(data_file: Find) -> None:
    views = sources(data=data_file("3sources/3Sources.mat").parents[1])
    graphs = list(views.graphs)
    order = np.random.default_rng(0).permutation(graphs[1].n)
    graphs[1] = ct.Graph(graphs[1].n, order[graphs[1].i], order[graphs[1].j], graphs[1].w, name="noise")
    result = ct.couple_pairs(graphs)
    assert result.pairs is not None
    assert_array_equal(result.graphs[1].w, graphs[1].w)
    assert any(note.startswith("noise has nothing in common") for note in result.pairs.notes)
    for k in (0, 2):
        t = 8.0 / float(np.median(graphs[k].degrees))
        before, after = (precisions(one[k], views.labels, t).mean() for one in (graphs, result.graphs))
        assert after > before


@pytest.mark.parametrize("name", ["news", "digits"])
def test_the_common_graph_is_as_good_as_averages_and_fusion(data_file: Find, name: str) -> None:
    """After few moves and after many, each on its own graph."""
    if name == "news":
        graphs, labels = _news(data_file)
    else:
        graphs, labels = _digits(data_file, 400)
    rivals = [ct.average(graphs), ct.average(graphs, normalized=True), fuse_similarity(graphs)]
    ours, *others = [ct.couple_pairs(graphs).common_graph().graph, *(rival.graphs[0] for rival in rivals)]
    for moves in (1.0, 4.0, 8.0, 16.0):
        found = [precisions(g, labels, diffusion_time(moves, g)).mean() for g in (ours, *others)]
        assert found[0] > max(found[1:]) - 0.005


def _news(data_file: Find) -> tuple[list[ct.Graph], Any]:
    views = sources(data=data_file("3sources/3Sources.mat").parents[1])
    return list(views.graphs), views.labels


def _digits(data_file: Find, count: int) -> tuple[list[ct.Graph], Any]:
    """Three views of some items, with the neighbors that graphs have by default."""
    digits = source("digits").make(data_file("handwritten/Handwritten.mat").parents[1])
    chosen = np.sort(np.random.default_rng(0).permutation(digits.n)[:count])
    return [ct.knn_graph(digits.rows[k][chosen]) for k in (1, 2, 5)], digits.labels[chosen]
