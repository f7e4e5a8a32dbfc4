"""Strong and weak coupling errors: their formulas, when they vanish, what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import cotherm as ct
from tests import problems, references

TIMES = [0.0, 0.5, 3.0]


def views(count: int = 2) -> tuple[list[ct.Graph], list[np.ndarray]]:
    graphs = [problems.random_graph(20 + 5 * k, 60, seed=k) for k in range(count)]
    return graphs, [np.random.default_rng(k).standard_normal((g.n, 3)) for k, g in enumerate(graphs)]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_weak_error_is_the_sum_over_pairs(count: int) -> None:
    graphs, functions = views(count)
    for t, error in zip(TIMES, ct.coupling_error(graphs, functions, TIMES), strict=True):
        Q = [F.T @ references.heat_kernel(g, t) @ F for g, F in zip(graphs, functions, strict=True)]
        square = sum(np.sum((Q[k] - Q[j]) ** 2) for k in range(count) for j in range(k))
        assert error == pytest.approx(np.sqrt(square), rel=1e-8)


def test_strong_error_through_matrix_and_index_map() -> None:
    graphs, functions = views()
    image = np.random.default_rng(3).integers(0, graphs[0].n, graphs[1].n)
    T = np.zeros((graphs[1].n, graphs[0].n))
    T[np.arange(graphs[1].n), image] = 1.0
    H = [[references.heat_kernel(g, t) @ F for t in TIMES] for g, F in zip(graphs, functions, strict=True)]
    expected = [np.linalg.norm(T @ x - y) for x, y in zip(*H, strict=True)]
    for form in (T, sp.csr_array(T), image):
        assert_allclose(ct.coupling_error(graphs, functions, TIMES, correspondence=form), expected, rtol=1e-8)


def test_relabeled_copies_are_coupled() -> None:
    graph = problems.cloud(700)
    F = np.random.default_rng(0).standard_normal((700, 2))
    p = np.random.default_rng(1).permutation(700)  # vertex v becomes p[v]
    copy = ct.Graph(700, p[graph.i], p[graph.j], graph.w)
    G = np.empty_like(F)
    G[p] = F
    assert_allclose(ct.coupling_error([graph, copy], [F, G], TIMES), 0.0, atol=1e-6)
    assert_allclose(ct.coupling_error([graph, copy], [F, G], TIMES, correspondence=np.argsort(p)), 0.0, atol=1e-7)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "one graph": ({"graphs": problems.ring(4)}, "graphs"),
    "a list of one": ({"graphs": [problems.ring(4)]}, "graphs"),
    "a matrix among the graphs": ({"graphs": [problems.ring(4), np.eye(4)]}, "graphs[1]"),
    "functions for one graph": ({"functions": [np.ones(4)]}, "functions"),
    "functions in one array": ({"functions": np.ones((2, 4))}, "functions"),
    "functions of another size": ({"functions": [np.ones(4), np.ones(5)]}, "functions[1]"),
    "unequal numbers of functions": ({"functions": [np.ones((4, 2)), np.ones(4)]}, "functions"),
    "no functions": ({"functions": [np.ones((4, 0)), np.ones((4, 0))]}, "functions"),
    "negative times": ({"times": [-1.0]}, "times"),
    "index map too short": ({"correspondence": [0, 1]}, "correspondence"),
    "index map out of range": ({"correspondence": [0, 1, 2, 4]}, "correspondence"),
    "matrix of another shape": ({"correspondence": np.ones((4, 3))}, "correspondence"),
    "sparse NaN": ({"correspondence": sp.csr_array(np.full((4, 4), np.nan))}, "correspondence"),
    "correspondence in words": ({"correspondence": "identity"}, "correspondence"),
}


@pytest.mark.parametrize(("changes", "argument"), BAD.values(), ids=BAD.keys())
def test_bad_input(changes: dict[str, Any], argument: str) -> None:
    good: dict[str, Any] = {"graphs": 2 * [problems.ring(4)], "functions": 2 * [np.ones(4)], "times": [1.0]}
    with pytest.raises(ct.CothermError) as caught:
        ct.coupling_error(**{**good, **changes})
    assert caught.value.argument == argument


def test_correspondence_of_three_graphs_is_refused() -> None:
    with pytest.raises(ct.CothermError, match="pairs"):
        ct.coupling_error(3 * [problems.ring(4)], 3 * [np.ones(4)], [1.0], correspondence=[0, 1, 2, 3])
