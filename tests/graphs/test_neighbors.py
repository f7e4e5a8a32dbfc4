"""nearest_neighbors against the distances of all pairs, computed one by one."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cotherm import limits
from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs.build import knn_graph
from cotherm.graphs.search import approximate, brute_force, exact, points, products
from cotherm.graphs.search.neighbors import Neighbors, nearest_neighbors

Array = NDArray[Any]

METRICS = ["euclidean", "cosine"]
# A k-d tree serves the first, blocks of rows the second.
DIMENSIONS = [3, 20]


def dot(x: Array, y: Array) -> float:
    return math.fsum(float(a) * float(b) for a, b in zip(x, y, strict=True))


def distance(x: Array, y: Array, metric: str) -> float:
    if metric == "euclidean":
        return math.dist(x, y)
    return 1 - dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


def all_distances(X: Array, metric: str) -> Array:
    n = len(X)
    d = np.full((n, n), np.inf)
    for i in range(n):
        for j in range(n):
            if i != j:
                d[i, j] = distance(X[i], X[j], metric)
    return d


def assert_nearest(found: Neighbors, d: Array, k: int) -> None:
    """The distances are the k smallest of every row, and belong to the points named."""
    n = len(d)
    assert found.indices.shape == found.distances.shape == (n, k)
    assert not np.any(found.indices == np.arange(n)[:, np.newaxis])
    assert all(len(set(row)) == k for row in found.indices.tolist())
    assert np.all(np.diff(found.distances, axis=1) >= 0)
    named = np.take_along_axis(d, found.indices, axis=1)
    np.testing.assert_allclose(found.distances, named, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.distances, np.sort(d, axis=1)[:, :k], rtol=1e-12, atol=1e-14)


def normal(n: int, d: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("k", [1, 2, 79])
def test_agrees_with_all_pairs(metric: str, d: int, k: int) -> None:
    X = normal(80, d)
    found = nearest_neighbors(X, k, metric=metric)
    assert_nearest(found, all_distances(X, metric), k)
    assert found.recall == 1.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", DIMENSIONS)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_agrees_with_all_pairs_where_there_are_copies_and_ties(metric: str, d: int, data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 25))
    k = data.draw(st.integers(1, n - 1))
    columns = data.draw(st.lists(st.integers(-1, 1), min_size=2 * n, max_size=2 * n))
    X = np.zeros((n, d))
    X[:, :2] = np.reshape(columns, (n, 2))
    X[:, 2] = 1  # no zero rows
    assert_nearest(nearest_neighbors(X, k, metric=metric), all_distances(X, metric), k)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array])
def test_sparse_is_dense(metric: str, d: int, form: Any) -> None:
    X = normal(60, d)
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0
    X[:, 0] = 1
    dense, sparse = (nearest_neighbors(x, 5, metric=metric) for x in (X, form(X)))
    np.testing.assert_array_equal(sparse.indices, dense.indices)
    np.testing.assert_allclose(sparse.distances, dense.distances, rtol=1e-14, atol=1e-15)


def test_repeated_sparse_entries_add_up() -> None:
    X = sp.coo_array(([1.0, 2.0, 3.0, 4.0], ([0, 0, 1, 2], [0, 0, 0, 0])), shape=(3, 20))
    np.testing.assert_array_equal(nearest_neighbors(X, 2).distances, [[0, 1], [0, 1], [1, 1]])


@pytest.mark.parametrize("columns", [2, 30])
def test_sparse_data_stay_sparse(columns: int) -> None:
    # Dense, these would take 800 GB.
    X = normal(100, columns)
    wide = sp.coo_array(X)
    wide = sp.coo_array((wide.data, (wide.row, 10**7 * wide.col + 5)), shape=(100, 10**9))
    for metric in METRICS:
        sparse, dense = nearest_neighbors(wide, 3, metric=metric), nearest_neighbors(X, 3, metric=metric)
        np.testing.assert_array_equal(sparse.indices, dense.indices)
        np.testing.assert_allclose(sparse.distances, dense.distances, rtol=1e-13)


def test_an_empty_sparse_matrix_is_a_heap_of_copies() -> None:
    np.testing.assert_array_equal(nearest_neighbors(sp.csr_array((4, 50)), 3).distances, np.zeros((4, 3)))


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("metric", METRICS)
def test_more_copies_than_neighbors_are_at_distance_zero(d: int, metric: str) -> None:
    X = np.repeat(normal(4, d) + 0.1, 10, axis=0)
    found = nearest_neighbors(X, 3, metric=metric)
    np.testing.assert_array_equal(found.distances, np.zeros((40, 3)))
    assert not np.any(found.indices == np.arange(40)[:, np.newaxis])
    np.testing.assert_array_equal(found.indices // 10, np.repeat(np.arange(4), 10)[:, np.newaxis].repeat(3, 1))


@pytest.mark.parametrize("sparse", [False, True])
def test_distances_are_accurate_far_from_the_origin(sparse: bool) -> None:
    # Two clouds of size 1e-3 at ±1e6: |a|² + |b|² − 2ab is off by 1e-3, a thousand times the squares sought.
    X = 1e-3 * normal(40, 20)
    X[:20, 0] += 1e6
    X[20:, 0] -= 1e6
    found = nearest_neighbors(sp.csr_array(X) if sparse else X, 4)
    assert_nearest(found, all_distances(X, "euclidean"), 4)
    exactly = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(X[0], X[found.indices[0, 0]], strict=True))
    assert found.distances[0, 0] == pytest.approx(math.sqrt(exactly), rel=1e-15)


def test_an_outlier_does_not_hide_the_others() -> None:
    X = normal(60, 20)
    X[17] = 1e12
    assert_nearest(nearest_neighbors(X, 5), all_distances(X, "euclidean"), 5)


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_of_rows_join_seamlessly(monkeypatch: pytest.MonkeyPatch, sparse: bool) -> None:
    X: Any = normal(150, 20)
    X = sp.csr_array(X) if sparse else X
    whole = nearest_neighbors(X, 3)
    monkeypatch.setattr(points, "_BLOCK", 150 * 7)
    parts = nearest_neighbors(X, 3)
    np.testing.assert_array_equal(parts.indices, whole.indices)
    np.testing.assert_array_equal(parts.distances, whole.distances)


def test_blocks_fit_in_memory() -> None:
    parts = list(points.slices(10, points._BLOCK // 4))
    assert [(p.start, p.stop) for p in parts] == [(0, 4), (4, 8), (8, 10)]
    assert len(list(points.slices(3, 2 * points._BLOCK))) == 3


@pytest.mark.parametrize("n", [64, 65, 131, 700])
def test_grouped_minima_lose_nobody(n: int) -> None:
    # Neighbors that all fall into one group of columns, which alternate every 32 k.
    X = 100 * normal(n, 20)
    X[::64] = 1e-3 * normal(len(X[::64]), 20, seed=1)
    assert_nearest(nearest_neighbors(X, 2), _euclidean_pairs(X), 2)


def _euclidean_pairs(X: Array) -> Array:
    d: Array = np.sqrt(((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    np.fill_diagonal(d, np.inf)
    return d


@pytest.mark.parametrize("d", DIMENSIONS)
def test_equally_near_neighbors_are_listed_in_order(d: int) -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(60, 1)) * np.ones((60, d))
    found = nearest_neighbors(X, 40)
    tied = np.diff(found.distances, axis=1) == 0
    assert tied.mean() > 0.9
    assert np.all(np.diff(found.indices, axis=1)[tied] > 0)


def test_in_many_dimensions_ties_go_to_the_first() -> None:
    X = np.eye(20)
    expected = [[j for j in range(20) if j != i][:4] for i in range(20)]
    np.testing.assert_array_equal(nearest_neighbors(X, 4).indices, expected)
    np.testing.assert_array_equal(nearest_neighbors(sp.csr_array(X), 4).indices, expected)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", DIMENSIONS)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_relabeled_points_have_relabeled_neighbors(metric: str, d: int, seed: int) -> None:
    X = normal(50, d, seed)
    order = np.random.default_rng(seed).permutation(50)
    found, moved = nearest_neighbors(X, 6, metric=metric), nearest_neighbors(X[order], 6, metric=metric)
    np.testing.assert_array_equal(order[moved.indices], found.indices[order])


@pytest.mark.parametrize("d", DIMENSIONS)
def test_cosine_forgets_lengths(d: int) -> None:
    X = normal(50, d)
    long = X * np.random.default_rng(1).uniform(1e-130, 1e130, size=(50, 1))
    long[7] = X[7] * 1e-200
    found, other = nearest_neighbors(X, 6, metric="cosine"), nearest_neighbors(long, 6, metric="cosine")
    np.testing.assert_array_equal(found.indices, other.indices)
    np.testing.assert_allclose(found.distances, other.distances, rtol=1e-13)


@pytest.mark.parametrize("d", [3, 20, 300])
def test_parallel_vectors_are_at_cosine_distance_zero(d: int) -> None:
    X = np.arange(1.0, 31.0)[:, np.newaxis] * normal(1, d)
    np.testing.assert_array_equal(nearest_neighbors(X, 29, metric="cosine").distances, np.zeros((30, 29)))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_small_angles_are_seen(d: int) -> None:
    # 1 − cos = 5e-21 is lost in the rounding of cos = 1.
    X = np.zeros((3, d))
    X[:, 0] = 1
    X[1, 1] = 1e-10
    X[2, 1] = 1
    found = nearest_neighbors(X, 1, metric="cosine")
    np.testing.assert_array_equal(found.indices.ravel(), [1, 0, 1])
    np.testing.assert_allclose(found.distances[:2], 5e-21, rtol=1e-9)


def test_opposite_vectors_are_at_cosine_distance_two() -> None:
    X = np.vstack([normal(20, 3), -normal(20, 3)])
    farthest = nearest_neighbors(X, 39, metric="cosine")
    np.testing.assert_array_equal(farthest.indices[:, -1], (np.arange(40) + 20) % 40)
    assert farthest.distances.max() <= 2.0
    np.testing.assert_allclose(farthest.distances[:, -1], 2.0, rtol=1e-15)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("sparse", [False, True])
def test_zero_rows_have_no_cosine_neighbors(d: int, sparse: bool) -> None:
    X = normal(30, d)
    X[[0, 13, 29]] = 0
    rest = np.flatnonzero(X.any(axis=1))
    with pytest.warns(CothermWarning, match="3 of 30 rows are zero"):
        found = nearest_neighbors(sp.csr_array(X) if sparse else X, 4, metric="cosine")
    assert np.all(found.indices[[0, 13, 29]] == -1)
    assert np.all(np.isposinf(found.distances[[0, 13, 29]]))
    alone = nearest_neighbors(X[rest], 4, metric="cosine")
    np.testing.assert_array_equal(found.indices[rest], rest[alone.indices])
    np.testing.assert_allclose(found.distances[rest], alone.distances, rtol=1e-13)


def test_zero_rows_do_not_count_as_points() -> None:
    X = normal(6, 3)
    X[:2] = 0
    with (
        pytest.warns(CothermWarning, match="2 of 6"),
        pytest.raises(CothermError, match=r"^k: 4 neighbors among n = 6 points, of which 2 .* at most 3"),
    ):
        nearest_neighbors(X, 4, metric="cosine")


@pytest.mark.parametrize("X", [np.arange(12).reshape(6, 2), np.eye(6, dtype=bool), np.eye(6, dtype=np.float32)])
def test_other_real_dtypes_are_accepted(X: Array) -> None:
    assert_nearest(nearest_neighbors(X, 2), all_distances(X.astype(float), "euclidean"), 2)


# ---------------------------------------------------------------- scikit-learn, for many dense points


def clouds(size: float, distance: float) -> Array:
    """Points of nine clouds of a size, at a distance from each other."""
    return distance * normal(9, 20)[np.arange(300) % 9] + size * normal(300, 20, seed=1)


def outlying() -> Array:
    X = normal(300, 20)
    X[17] = 1e12
    return X


MANY = {
    "normal": normal(300, 20),
    "columns first": np.asfortranarray(normal(300, 20)),
    "copies": np.repeat(normal(60, 20), 5, axis=0),
    "grid": np.random.default_rng(0).integers(0, 3, size=(300, 20)) + 1.0,
    "rays": normal(30, 20)[np.arange(300) % 30] * np.linspace(0.1, 10, 300)[:, np.newaxis],
    "tight clouds": clouds(1e-6, 1.0),
    "far clouds": clouds(1e-3, 1e6),
    "far away": normal(300, 20) + 1e8,
    "huge": 1e130 * normal(300, 20),
    "tiny": 1e-130 * normal(300, 20),
    "outlier": outlying(),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("k", [1, 5, 30])
def test_scikit_learn_finds_the_same_to_the_last_bit(name: str, metric: str, k: int) -> None:
    found = points.Points.of(MANY[name], metric)
    few = found.take(np.arange(0, 300, 7))
    for queries, own in ((found, np.arange(300)), (few, np.arange(0, 300, 7)), (few, None)):
        expected = products.nearest_to(found, queries, k, own)
        for one, other in zip(brute_force.nearest_to(found, queries, k, own), expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_scikit_learn_is_asked_twice_only_where_rounding_makes_it_uncertain(monkeypatch: pytest.MonkeyPatch) -> None:
    again: dict[str, int] = {}
    name = ""
    compare = products.nearest_to

    def spied(p: points.Points, q: points.Points, k: int, own: Any, *, only: Any) -> tuple[Array, Array]:
        again[name] = len(only)
        return compare(p, q, k, own, only=only)

    monkeypatch.setattr(products, "nearest_to", spied)
    for name in ("normal", "far away", "copies", "far clouds"):
        found = points.Points.of(MANY[name], "euclidean")
        brute_force.nearest_to(found, found, 3, np.arange(300))
    assert again == {"far clouds": 300}


def test_many_dense_points_go_to_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    X = normal(100, 20)
    expected = nearest_neighbors(X, 5)
    monkeypatch.setattr(limits, "SKLEARN_PAIRS", 100 * 100)
    monkeypatch.setattr(products, "nearest_to", lambda *_: pytest.fail("not by scikit-learn"))
    found = nearest_neighbors(X, 5)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)
    for other in (X[:99], sp.csr_array(X)):
        with pytest.raises(pytest.fail.Exception):
            nearest_neighbors(other, 5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_the_child_of_a_fork_does_not_call_scikit_learn() -> None:
    """It would hang in OpenMP, which its parent has used."""
    code = (
        "import os, sys, numpy as np; from cotherm import limits; from cotherm.graphs.search import neighbors;"
        "limits.SKLEARN_PAIRS = 0; X = np.random.default_rng(0).normal(size=(3000, 20));"
        "first = neighbors.nearest_neighbors(X, 3); child = os.fork();\n"
        "if child == 0: os._exit(not np.array_equal(first.indices, neighbors.nearest_neighbors(X, 3).indices))\n"
        "sys.exit(os.waitpid(child, 0)[1])"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False, timeout=120).returncode == 0


@pytest.mark.parametrize("d", DIMENSIONS)
def test_rows_of_one_array_nearest_to_those_of_another(d: int) -> None:
    X, Y = normal(30, d), normal(50, d, seed=1)
    expected = np.array([[distance(x, y, "euclidean") for y in Y] for x in X])
    for k in (1, 4, 50):
        indices, distances = exact.nearest_rows(X, Y, k)
        np.testing.assert_array_equal(indices, np.argsort(expected, axis=1)[:, :k])
        np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :k], rtol=1e-13)


# ---------------------------------------------------------------- the approximate search


class FakeDescent:
    """Stands for pynndescent.NNDescent: names the points at given steps from each."""

    steps: tuple[int, ...] = ()

    def __init__(self, rows: Any, *, n_neighbors: int, random_state: int) -> None:
        n = rows.shape[0]
        assert n_neighbors <= n
        assert rows.dtype == np.float32
        listed = (np.arange(n)[:, np.newaxis] + np.asarray(self.steps)) % n
        listed[:, self.blank :] = -1
        self.neighbor_graph = (listed, None)

    blank = 10**6


def pretend(monkeypatch: pytest.MonkeyPatch, steps: tuple[int, ...], blank: int = 10**6) -> None:
    fake = type("Fake", (FakeDescent,), {"steps": steps, "blank": blank})
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=fake))


def ring(n: int, d: int) -> Array:
    """n points on a circle in d dimensions: the nearest are ±1, ±2, … steps away."""
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros((n, d - 2))])


def test_recall_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, (0, 1, -1, 2, 6))
    with pytest.warns(CothermWarning, match=r"only 75\.0% of the true neighbors"):
        found = nearest_neighbors(ring(300, 20), 4, search="approximate")
    assert found.recall == 0.75
    np.testing.assert_array_equal(np.sort(found.indices[0]), [1, 2, 6, 299])


def test_recall_is_measured_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, (0, 1, -1))
    sampled: list[Array] = []

    def spied(p: points.Points, rows: Array, k: int) -> tuple[Array, Array]:
        sampled.append(rows)
        return exact.nearest_of(p, rows, k)

    monkeypatch.setattr(approximate, "nearest_of", spied)
    for seed in (3, 3, 4):
        assert nearest_neighbors(ring(1000, 20), 2, search="approximate", seed=seed).recall == 1.0
    assert [len(set(rows.tolist())) for rows in sampled] == [200, 200, 200]
    assert np.array_equal(sampled[0], sampled[1])
    assert not np.array_equal(sampled[0], sampled[2])


def test_ties_count_as_right(monkeypatch: pytest.MonkeyPatch) -> None:
    # On the ring +1 and −1 are equally near: naming either is right.
    pretend(monkeypatch, (0, -1))
    assert nearest_neighbors(ring(16, 20), 1, search="approximate").recall == 1.0


def test_what_the_descent_leaves_blank_is_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, (0, 1, -1, 2), blank=2)
    X = ring(100, 20)
    found = nearest_neighbors(X, 2, search="approximate")
    np.testing.assert_array_equal(found.indices, nearest_neighbors(X, 2, search="exact").indices)


def test_auto_is_approximate_for_many_points_of_many_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, (0, 5, 6, 7))
    monkeypatch.setattr(limits, "EXACT_NEIGHBORS", 99)
    with pytest.warns(CothermWarning, match="true neighbors"):
        assert nearest_neighbors(ring(100, 20), 3).recall < 0.5
    assert nearest_neighbors(ring(99, 20), 3).recall == 1.0
    assert nearest_neighbors(ring(100, 15), 3).recall == 1.0
    assert nearest_neighbors(ring(100, 20), 3, search="exact").recall == 1.0


def test_without_pynndescent_auto_is_exact_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    monkeypatch.setattr(limits, "EXACT_NEIGHBORS", 99)
    X = normal(100, 20)
    with pytest.warns(CothermWarning, match=r"slow; .*pip install 'cotherm\[neighbors\]'"):
        found = nearest_neighbors(X, 3)
    assert_nearest(found, all_distances(X, "euclidean"), 3)
    assert found.recall == 1.0


def test_without_pynndescent_approximate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(CothermError, match=r"^search: .*pip install 'cotherm\[neighbors\]'"):
        nearest_neighbors(normal(100, 20), 3, search="approximate")


def test_pynndescent_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, numpy; from cotherm.graphs.search.neighbors import nearest_neighbors as f;"
        "f(numpy.random.default_rng(0).normal(size=(50, 20)), 3);"
        "sys.exit(any(m in sys.modules for m in ('pynndescent', 'numba', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_pynndescent_itself(capfd: pytest.CaptureFixture[str]) -> None:
    # The one test that compiles it, about half a minute.
    pytest.importorskip("pynndescent")
    X = normal(2000, 20) + 1e9
    found = nearest_neighbors(X, 10, search="approximate", seed=5)
    assert found.recall > 0.97
    truth = nearest_neighbors(X, 10, search="exact")
    right = found.distances <= truth.distances[:, -1:] * (1 + 1e-12)
    assert found.recall == pytest.approx(right.mean(), abs=0.02)
    assert np.all(found.indices != np.arange(2000)[:, np.newaxis])
    named = np.linalg.norm(X[:, np.newaxis] - X[found.indices], axis=2)
    np.testing.assert_allclose(found.distances, named, rtol=1e-12)
    again = nearest_neighbors(X, 10, search="approximate", seed=5)
    np.testing.assert_array_equal(found.indices, again.indices)
    other = nearest_neighbors(X, 10, search="approximate", seed=6)
    assert not np.array_equal(found.indices, other.indices)
    assert capfd.readouterr() == ("", "")


# ---------------------------------------------------------------- bad input

GOOD = normal(10, 3)


def spoilt(value: float) -> Array:
    X = GOOD.copy()
    X[4, 1] = value
    return X


BAD_POINTS: list[tuple[Any, str]] = [
    (spoilt(np.nan), r"^X: nan at position \(4, 1\)"),
    (spoilt(np.inf), r"^X: inf at position \(4, 1\)"),
    (sp.csr_array(spoilt(np.nan)), r"^X\.data: nan"),
    (spoilt(1e200), r"^X: numbers up to 1e\+200"),
    (GOOD * 1e-200, r"^X: numbers up to .*e-200"),
    (sp.csr_array(GOOD * 1e200), r"^X: numbers up to"),
    (np.arange(10.0), r"^X: an array of shape \(10,\)"),
    (np.zeros((2, 2, 2)), r"^X: an array of shape \(2, 2, 2\)"),
    (sp.coo_array(np.arange(10.0)), r"^X: a sparse array of shape \(10,\)"),
    (np.empty((0, 3)), r"^X: shape \(0, 3\)"),
    (np.empty((10, 0)), r"^X: shape \(10, 0\)"),
    (sp.csr_array((0, 3)), r"^X: shape \(0, 3\)"),
    (sp.csr_array((10, 0)), r"^X: shape \(10, 0\)"),
    (GOOD * 1j, "^X: dtype complex128"),
    (sp.csr_array(GOOD * 1j), "^X: dtype complex128"),
    (GOOD.astype(object), "^X: dtype object"),
    (GOOD.astype(str), "^X: dtype <U"),
    ([[1, 2], [3]], "^X: nested data"),
    ("points", "^X: "),
    (None, "^X: "),
]


@pytest.mark.parametrize(("X", "message"), BAD_POINTS)
@pytest.mark.parametrize("metric", METRICS)
def test_bad_points_are_refused(X: Any, message: str, metric: str) -> None:
    with pytest.raises(CothermError, match=message):
        nearest_neighbors(X, 2, metric=metric)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "^k: 0"),
        ({"k": -1}, "^k: -1"),
        ({"k": 10}, "^k: 10 neighbors among n = 10 points; needed: at most 9"),
        ({"k": 2.0}, r"^k: 2\.0"),
        ({"k": True}, "^k: True"),
        ({"k": "2"}, "^k: '2'"),
        ({"metric": "manhattan"}, "^metric: 'manhattan'"),
        ({"metric": None}, "^metric: None"),
        ({"search": "fast"}, "^search: 'fast'"),
        ({"seed": -1}, "^seed: -1"),
        ({"seed": None}, "^seed: None"),
        ({"seed": 2**32}, "^seed: 4294967296"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CothermError, match=message):
        nearest_neighbors(GOOD, **{"k": 2, **options})


def test_one_point_has_no_neighbors() -> None:
    with pytest.raises(CothermError, match="X: a single point; needed: at least two points"):
        nearest_neighbors(np.zeros((1, 3)), 1)


def test_more_neighbors_than_fit_into_memory_are_refused() -> None:
    X = np.random.default_rng(0).random((30_000, 2))
    for call in (nearest_neighbors, knn_graph):
        with pytest.raises(CothermError, match="k: 29999 neighbors of 30,000 points, 899,970,000 pairs"):
            call(X, 29_999)
