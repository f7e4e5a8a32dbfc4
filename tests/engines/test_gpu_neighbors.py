"""Nearest neighbors on the GPU engine: the same as by the exact search of the processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm import limits
from cotherm.engines import default_engine
from cotherm.engines.gpu import distances
from cotherm.engines.gpu.engine import GpuEngine
from cotherm.graphs.search import brute_force, points, products
from tests.engines.emulated.device import EmulatedDevice, emulated_engine
from tests.problems import refused

RNG = np.random.default_rng(0)
D = limits.TREE_DIMENSIONS + 5


def on_lattice() -> np.ndarray:
    """Points of few whole numbers: most distances are shared by several points."""
    return RNG.integers(0, 2, (300, D)).astype(np.float64)


def with_copies() -> np.ndarray:
    """More copies of a point than candidates are kept."""
    X = RNG.standard_normal((300, D))
    X[40:80] = X[0]
    return X


def far_from_zero() -> np.ndarray:
    """Squares of distances are lost beside squares of the numbers themselves."""
    return 1e6 + 1e-3 * RNG.standard_normal((300, D))


POINTS = {
    "normal": lambda: RNG.standard_normal((300, D)),
    "lattice": on_lattice,
    "copies": with_copies,
    "far from zero": far_from_zero,
}


def same(X: Any, k: int, **options: Any) -> None:
    expected = ct.nearest_neighbors(X, k, search="exact", engine="cpu", **options)
    found = ct.nearest_neighbors(X, k, search="exact", engine=emulated_engine(), **options)
    assert np.array_equal(found.indices, expected.indices)
    assert_allclose(found.distances, expected.distances, rtol=1e-14 * D)
    assert found.recall == 1.0


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("points", POINTS)
def test_the_same_neighbors(points: str, metric: str) -> None:
    same(POINTS[points](), 7, metric=metric)


def test_more_points_than_are_looked_at_once() -> None:
    """And some rows at a time."""
    X = RNG.standard_normal((2_300, D))
    engine: Any = emulated_engine()
    search = engine.candidate_search(X, X, 12)
    found, squares = search(slice(100, 130))
    s = ((X[100:130, np.newaxis] - X) ** 2).sum(axis=2)
    assert np.array_equal(found, np.sort(np.argsort(s, axis=1)[:, :12], axis=1))
    assert_allclose(squares, np.take_along_axis(s, found, axis=1), rtol=1e-13)


def test_candidates_are_those_of_the_least_products() -> None:
    """Of equal ones the first: 1,500 copies of each point, ten times as many as there is room for."""
    X = np.repeat(np.eye(2), 1_500, axis=0)
    engine: Any = emulated_engine()
    found, squares = engine.candidate_search(X, X, 150)(slice(1_499, 1_501))
    assert np.array_equal(found, np.arange(150) + np.array([[0], [1_500]]))
    assert not squares.any()


def test_blocks_fit_into_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    device = EmulatedDevice()
    monkeypatch.setattr(device, "memory", lambda: (16 * 300 * 7, 0))
    X = RNG.standard_normal((300, D))
    engine = GpuEngine(device, smallest=0)
    found = ct.nearest_neighbors(X, 3, engine=engine)
    assert device.launches["nearest_of_rows"] == -(-300 // 7)
    assert np.array_equal(found.indices, ct.nearest_neighbors(X, 3).indices)


def test_a_graph_of_neighbors() -> None:
    X = RNG.standard_normal((300, D))
    graphs = [ct.knn_graph(X, 5, engine=engine) for engine in ("cpu", emulated_engine())]
    assert np.array_equal(graphs[0].edges, graphs[1].edges)
    assert_allclose(graphs[0].w, graphs[1].w, rtol=1e-12)


def test_zero_rows_have_no_neighbors() -> None:
    X = RNG.standard_normal((300, D))
    X[5] = 0.0
    with pytest.warns(ct.CothermWarning, match="zero"):
        found = ct.nearest_neighbors(X, 3, metric="cosine", engine=emulated_engine())
    with pytest.warns(ct.CothermWarning, match="zero"):
        expected = ct.nearest_neighbors(X, 3, metric="cosine")
    assert np.array_equal(found.indices, expected.indices)


def test_equal_distances_are_measured_as_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no others."""
    measured: list[int] = []
    whole = points.measured

    def counted(points: Any, queries: Any, asked: Any, found: Any, own: Any) -> Any:
        measured.append(len(asked))
        return whole(points, queries, asked, found, own)

    monkeypatch.setattr(brute_force, "measured", counted)
    X = RNG.standard_normal((300, D))
    ct.nearest_neighbors(X, 3, engine=emulated_engine())
    assert sum(measured) == 0
    # The distances from point 0 to points 1 and 2 are equal, but their squares are added up in another order.
    X[0] = 0.0
    X[1] = 1e-3 * np.linspace(1.0, 2.0, D)
    X[2] = X[1][::-1]
    same(X, 3)
    assert sum(measured) == 1


def test_what_does_not_pay_is_left_to_the_processor() -> None:
    device = EmulatedDevice()
    engine, everything = GpuEngine(device), GpuEngine(device, smallest=0)
    X = RNG.standard_normal((300, D))
    ct.nearest_neighbors(X, 3, engine=engine)  # few points
    ct.nearest_neighbors(X[:, :5], 3, engine=everything)  # few dimensions
    ct.nearest_neighbors(X, 100, engine=everything)  # many of all points
    ct.nearest_neighbors(sp.csr_array(X), 3, engine=everything)
    assert not device.launches
    assert everything.compares(10**5, distances.MOST)
    assert not everything.compares(10**5, distances.MOST + 1)
    assert not default_engine().compares(10**6, 8)
    ct.nearest_neighbors(X, 3, engine=everything)
    assert device.launches["nearest_of_rows"]


def test_many_points_are_exact_where_the_gpu_compares_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EXACT_NEIGHBORS", 100)
    X = RNG.standard_normal((300, D))
    assert ct.nearest_neighbors(X, 3, engine=emulated_engine()).recall == 1.0
    monkeypatch.setattr(limits, "GPU_EXACT_NEIGHBORS", 200)
    engine: Any = GpuEngine(EmulatedDevice(), smallest=0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cotherm.graphs.search.approximate.remedy", lambda: "run: pip install")
        with pytest.warns(ct.CothermWarning, match="slow"):
            ct.nearest_neighbors(X, 3, engine=engine)
    assert engine.device.launches["nearest_of_rows"]


def test_an_approximate_search_is_not_asked_of_a_gpu() -> None:
    X = RNG.standard_normal((300, D))
    options: dict[str, Any] = {"search": "approximate", "engine": emulated_engine()}
    assert refused(lambda: ct.nearest_neighbors(X, 3, **options)) == "search"
    assert refused(lambda: ct.knn_graph(X, 3, **options)) == "search"
    assert refused(lambda: ct.nearest_neighbors(X, 3, engine="abacus")) == "engine"


def test_uncertain_rows_are_compared_with_all_points(monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[int] = []
    whole = products.nearest_to

    def counted(*args: Any, only: Any = None) -> Any:
        again.extend([] if only is None else [len(only)])
        return whole(*args, only=only)

    monkeypatch.setattr(products, "nearest_to", counted)
    same(with_copies(), 7)
    assert again[0] >= 41
