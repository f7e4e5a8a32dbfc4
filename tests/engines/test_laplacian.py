"""The engine's matrix is the graph's, in a local order, with a bound that is never too low."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from cotherm.engines.cpu.laplacian import LOOKAHEAD, ReorderedLaplacian, reordered_laplacian
from tests import problems, references


def ordered(graph: ct.Graph) -> ReorderedLaplacian:
    return reordered_laplacian(graph.n, graph.i, graph.j, graph.w)


def as_matrix(matrix: ReorderedLaplacian) -> np.ndarray:
    """Back to the caller's order, dense."""
    columns = matrix.columns[: len(matrix.weights)]
    W = sp.csr_array((matrix.weights, columns.astype(np.int64), matrix.offsets.astype(np.int64)), shape=2 * (matrix.n,))
    L = np.diag(matrix.degrees) - W.toarray()
    back = np.empty_like(L)
    back[np.ix_(matrix.order, matrix.order)] = L
    return back


@given(problems.graphs())
def test_same_matrix_in_another_order(graph: ct.Graph) -> None:
    matrix = ordered(graph)
    assert_array_equal(np.sort(matrix.order), np.arange(graph.n))
    assert_allclose(as_matrix(matrix), references.laplacian(graph), atol=1e-12)
    assert len(matrix.columns) == 2 * graph.m + LOOKAHEAD


@given(problems.graphs())
def test_bound_is_an_upper_bound_and_no_worse_than_the_edges(graph: ct.Graph) -> None:
    bound = ordered(graph).bound
    top = np.linalg.eigvalsh(references.laplacian(graph))[-1]
    assert bound >= top * (1 - 1e-13)
    live = graph.w > 0
    ends = graph.degrees[graph.i[live]] + graph.degrees[graph.j[live]]
    assert bound <= ends.max(initial=0.0) * (1 + 1e-9) + 1e-290


def test_order_keeps_neighbors_together() -> None:
    """A path in random order must come out as a path: neighbors side by side, two at most."""
    n = 3_000
    shuffled = np.random.default_rng(0).permutation(n)
    graph = ct.Graph(n, shuffled[:-1], shuffled[1:], np.ones(n - 1))
    place = np.empty(n, dtype=int)
    place[ordered(graph).order] = np.arange(n)
    assert np.abs(place[graph.i] - place[graph.j]).max() <= 2


def test_threads_give_the_same_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = problems.cloud(3_000)
    alone = ordered(graph)
    monkeypatch.setattr("cotherm.engines.cpu.thread_pool._WORTH_IT", 1)
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 3)
    shared = ordered(graph)
    for field in ("order", "offsets", "columns", "weights", "degrees"):
        assert_array_equal(getattr(shared, field), getattr(alone, field))
    assert shared.bound == alone.bound
    F = np.random.default_rng(0).standard_normal((3_000, 5))
    many = ct.heat_flow(graph, F, [1.0])
    monkeypatch.undo()
    assert_array_equal(many, ct.heat_flow(graph, F, [1.0]))
