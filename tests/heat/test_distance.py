"""Diffusion distances by every route against the paper's double sum, and what maps preserve."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import cotherm as ct
from cotherm.heat import distance, distance_local, distance_sketch
from cotherm.heat.chebyshev import engine_laplacian
from tests import problems, references
from tests.problems import CASES


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("t", [0.0, 0.3, 4.0])
def test_all_pairs_are_the_papers_sum(case: str, t: float) -> None:
    graph = CASES[case]()
    D = ct.diffusion_distance(graph, t)
    assert_allclose(D, references.diffusion_distance(graph, t), atol=1e-9)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)


@given(graph=problems.graphs(), t=st.floats(0.0, 20.0))
def test_any_small_graph(graph: ct.Graph, t: float) -> None:
    assert_allclose(ct.diffusion_distance(graph, t), references.diffusion_distance(graph, t), atol=1e-7)


def test_small_distances_keep_their_digits() -> None:
    """Late in the flow all rows of the kernel are nearly equal: the Gram formula alone would give noise."""
    graph = problems.path(40)
    values = 2 - 2 * np.cos(np.pi * np.arange(40) / 40)
    modes = np.cos(np.pi * np.outer(np.arange(40) + 0.5, np.arange(40)) / 40) * np.sqrt(2 / 40)
    modes[:, 0] /= np.sqrt(2)
    t = 2_000.0
    expected = cdist(*(2 * [modes[:, 1:] * np.exp(-t * values[1:])]))
    assert_allclose(ct.diffusion_distance(graph, t), expected, rtol=1e-6)


def test_sources_are_rows_and_nearest_are_the_smallest() -> None:
    graph = problems.cloud(300)
    D = ct.diffusion_distance(graph, 0.5)
    assert_array_equal(ct.diffusion_distance(graph, 0.5, sources=[7, 250, 7]), D[[7, 250, 7]])
    found = ct.diffusion_distance(graph, 0.5, sources=[7, 250], nearest=6)
    assert found.indices.shape == found.distances.shape == (2, 6)
    for row, source in enumerate([7, 250]):
        order = [q for q in np.argsort(D[source], kind="stable") if q != source][:6]
        assert_array_equal(found.indices[row], order)
        assert_array_equal(found.distances[row], D[source, order])


@pytest.fixture(scope="module")
def large() -> ct.Graph:
    """Large enough that nothing is done by all pairs, small enough that all pairs can judge."""
    return problems.cloud(4_500)


def recall(found: distance.Nearest, D: np.ndarray, sources: np.ndarray) -> float:
    """The share of found vertices that are as near as the true k-th."""
    others = D.copy()
    others[np.arange(len(sources)), sources] = np.inf
    k = found.indices.shape[1]
    limit = np.partition(others, k - 1, axis=1)[:, k - 1]
    return float(np.mean(np.take_along_axis(others, found.indices, axis=1) <= limit[:, np.newaxis] * (1 + 1e-6)))


def test_short_times_on_a_large_graph_are_exact(large: ct.Graph) -> None:
    matrix, t = engine_laplacian(large), 0.05
    D = ct.diffusion_distance(large, t)
    everyone = np.arange(large.n)
    assert_allclose(distance_local.rows(matrix, t, np.array([3, 99])), D[[3, 99]], atol=1e-5)
    found = distance.Nearest(*distance_local.nearest(matrix, t, everyone, 8))
    assert_allclose(found.distances, np.take_along_axis(D, found.indices, axis=1), atol=1e-5)
    assert recall(found, D, everyone) > 0.999
    assert not np.any(found.indices == everyone[:, np.newaxis])


def test_far_but_cold_vertices_are_found_at_short_times() -> None:
    """Two stars: leaves keep their heat, the hubs share theirs, so the hubs are near each other without a path."""
    leaves = np.arange(1, 2_600)
    i = np.concatenate([np.zeros(2_599, int), np.full(2_599, 2_600)])
    j = np.concatenate([leaves, leaves + 2_600])
    graph = ct.Graph(5_200, i, j, np.full(len(i), 0.02))
    found = ct.diffusion_distance(graph, 0.2, sources=[0], nearest=1)
    assert found.indices.tolist() == [[2_600]]


@pytest.mark.parametrize("t", [1.0, 10.0])
def test_long_times_on_a_large_graph(large: ct.Graph, t: float) -> None:
    matrix = engine_laplacian(large)
    D = ct.diffusion_distance(large, t)
    many = np.arange(0, large.n, 90)
    rows = distance_sketch.rows(matrix, t, many, probes=1_024, seed=0)
    away = D[many] > 0
    relative = rows[away] / D[many][away] - 1
    assert np.sqrt(np.mean(relative**2)) < 1.2 / np.sqrt(2 * 1_024)
    sources = np.array([3, 99, 4_000])
    everyone = np.arange(large.n)
    assert recall(distance.Nearest(*distance_sketch.nearest(matrix, t, everyone, 8, 1_024, 0)), D, everyone) > 0.9
    few = distance.Nearest(*distance_sketch.nearest(matrix, t, sources, 8, 1_024, 0))
    assert recall(few, D[sources], sources) == 1.0
    assert_allclose(few.distances, np.take_along_axis(D[sources], few.indices, axis=1), rtol=1e-5)


def test_one_source_at_a_long_time_is_as_good_as_many(large: ct.Graph) -> None:
    matrix = engine_laplacian(large)
    alone = distance_sketch.rows(matrix, 5.0, np.array([7]), probes=256, seed=0)
    among = distance_sketch.rows(matrix, 5.0, np.arange(20), probes=256, seed=0)
    assert_allclose(alone[0], among[7], rtol=1e-12)


def test_late_distances_keep_their_accuracy() -> None:
    """By this time every distance is below 1e-6 of what it was; the sketch must not drown in rounding."""
    graph = problems.random_graph(4_400, 40_000, seed=1, spread=0.0)
    assert graph.component_count == 1
    t = 3.0
    sources = np.array([1, 2])
    kernel = ct.heat_flow(graph, np.eye(graph.n)[:, [1, 2, 50, 60]], [t], tolerance=1e-13)[0]
    exact = np.linalg.norm(kernel[:, [0]] - kernel[:, 2:], axis=0)
    found = distance_sketch.rows(engine_laplacian(graph), t, sources, probes=1_024, seed=0)[0, [50, 60]]
    assert_allclose(found, exact, rtol=0.15)


def test_no_sources() -> None:
    graph = problems.ring(5_000)
    assert ct.diffusion_distance(graph, 0.1, sources=[]).shape == (0, 5_000)
    assert ct.diffusion_distance(graph, 0.1, sources=[], nearest=2).indices.shape == (0, 2)


def test_hub_is_not_its_own_neighbor() -> None:
    """A hub's large degree makes the first Poisson weights vanish."""
    hub = np.zeros(400, int)
    path = np.arange(401, 4_700)
    i, j = np.concatenate([hub, path]), np.concatenate([np.arange(1, 401), path + 1])
    graph = ct.Graph(4_701, i, j, np.ones(len(i)))
    found = ct.diffusion_distance(graph, 1.0, nearest=3)
    assert not np.any(found.indices == np.arange(4_701)[:, np.newaxis])


def test_map_of_an_expander() -> None:
    """Eigenvalues without gaps still converge."""
    random = np.random.default_rng(0)
    ends = np.concatenate([np.column_stack([np.arange(3_000), random.permutation(3_000)]) for _ in range(5)])
    pairs = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    graph = ct.Graph(3_000, pairs[:, 0], pairs[:, 1], np.ones(len(pairs)))
    coordinates = ct.diffusion_map(graph, 0.0, k=2)
    values = np.linalg.eigvalsh(graph.laplacian().toarray())[1:3]
    for c in range(2):
        assert coordinates[:, c] @ (graph.laplacian() @ coordinates[:, c]) == pytest.approx(values[c], rel=1e-6)


def test_the_public_verb_takes_both_routes(large: ct.Graph, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="cotherm")
    for t, word, route in ((0.01, "followed", "local"), (20.0, "sketch", "sketch")):
        caplog.clear()
        found = ct.diffusion_distance(large, t, sources=[5], nearest=4, probes=256)
        assert found.indices.shape == (1, 4)
        assert (found.route, found.exact) == (route, False)
        assert any(word in r.message for r in caplog.records)


def test_very_long_times_on_a_large_graph(caplog: pytest.LogCaptureFixture) -> None:
    """A grid has known modes; at this time a few dozen of them are left."""
    caplog.set_level("INFO", logger="cotherm")
    rows, columns, t = 60, 75, 1_500.0
    graph = problems.grid(rows, columns)
    E = [np.cos(np.pi * np.outer(np.arange(m) + 0.5, np.arange(m)) / m) for m in (rows, columns)]
    E = [e / np.linalg.norm(e, axis=0) for e in E]
    lam = [2 - 2 * np.cos(np.pi * np.arange(m) / m) for m in (rows, columns)]
    decay = np.exp(-t * (lam[0][:, np.newaxis] + lam[1])).ravel()
    few = np.flatnonzero((decay > 1e-12) & (decay < 1))
    Y = np.kron(E[0], E[1])[:, few] * decay[few]
    sources = np.array([0, 100, 4_000])
    D = cdist(Y[sources], Y)
    found = ct.diffusion_distance(graph, t, sources=sources)
    assert_allclose(found, D, atol=1e-4 * D.max())
    nearest = ct.diffusion_distance(graph, t, sources=sources, nearest=6)
    assert recall(nearest, D + 0.0, sources) > 0.9
    assert_allclose(nearest.distances, np.take_along_axis(D, nearest.indices, axis=1), atol=1e-4 * D.max())
    assert all("not decayed" in r.message for r in caplog.records if "diffusion" in r.message)
    assert any("not decayed" in r.message for r in caplog.records)


@pytest.mark.parametrize("case", ["grid", "several components", "cloud"])
def test_full_map_preserves_distances(case: str) -> None:
    graph = CASES[case]()
    coordinates = ct.diffusion_map(graph, 0.4, k=graph.n - 1)
    assert_allclose(cdist(coordinates, coordinates), references.diffusion_distance(graph, 0.4), atol=1e-8)


def test_map_of_a_large_graph_spans_the_smoothest_functions() -> None:
    """A long cylinder grid has known eigenvectors; repeated eigenvalues, so subspaces are compared."""
    rows, columns = 12, 200
    graph = problems.grid(rows, columns)
    across = np.cos(np.pi * np.outer(np.arange(columns) + 0.5, np.arange(columns)) / columns)
    values = 2 - 2 * np.cos(np.pi * np.arange(1, 6) / columns)
    expected = np.tile(across[:, 1:6], (rows, 1))
    expected *= np.exp(-0.5 * values) / np.linalg.norm(expected, axis=0)
    found = ct.diffusion_map(graph, 0.5, k=5)
    assert_allclose(np.abs(found), np.abs(expected), atol=1e-5)
    assert np.all(found[np.abs(found).argmax(axis=0), range(5)] > 0)


def test_map_of_a_large_graph_in_many_pieces() -> None:
    """All wanted eigenvalues are zero: the coordinates are constant on every component, whichever they are."""
    graph = problems.random_graph(2_500, 1_300, seed=3)
    assert graph.component_count > 100
    coordinates = ct.diffusion_map(graph, 1.0, k=3)
    assert_allclose(
        coordinates, coordinates[np.unique(graph.components, return_index=True)[1]][graph.components], atol=1e-6
    )
    assert np.linalg.matrix_rank(coordinates, tol=0.5) == 3


def test_map_of_a_long_path() -> None:
    """Eigenvalues down to 1e-7 of the largest, told apart."""
    n = 3_000
    found = ct.diffusion_map(problems.path(n), 0.0, k=2)
    expected = np.cos(np.pi * np.outer(np.arange(n) + 0.5, [1, 2]) / n) * np.sqrt(2 / n)
    assert_allclose(np.abs(found), np.abs(expected), atol=1e-5)


def test_map_of_a_graph_without_edges() -> None:
    assert ct.diffusion_map(ct.Graph(2_100, [], [], []), 1.0, k=2).shape == (2_100, 2)


def test_map_tells_components_apart() -> None:
    halves = ct.Graph(6, [0, 1, 3, 4], [1, 2, 4, 5], np.ones(4))
    first = ct.diffusion_map(halves, 3.0, k=1)[:, 0]
    assert_allclose(first[:3], first[0])
    assert_allclose(first[3:], -first[0])
    assert abs(first[0]) > 0.1


BAD = {
    "negative time": ({"t": -1.0}, "t"),
    "time NaN": ({"t": np.nan}, "t"),
    "time in words": ({"t": "soon"}, "t"),
    "time past the largest float": ({"t": 10**400}, "t"),
    "times as a list": ({"t": [1.0, 2.0]}, "t"),
    "source out of range": ({"sources": [0, 9]}, "sources"),
    "sources not whole": ({"sources": [0.5]}, "sources"),
    "nearest zero": ({"nearest": 0}, "nearest"),
    "nearest as many as vertices": ({"nearest": 9}, "nearest"),
    "nearest not whole": ({"nearest": 2.0}, "nearest"),
    "no probes": ({"probes": 0}, "probes"),
    "unknown route": ({"method": "magic"}, "method"),
    "nearest in a single vertex": ({"graph": problems.path(1), "nearest": 1}, "graph"),
    "a matrix for a graph": ({"graph": np.eye(3)}, "graph"),
}


@pytest.mark.parametrize(("changes", "argument"), BAD.values(), ids=BAD.keys())
def test_bad_input(changes: dict[str, object], argument: str) -> None:
    good: dict[str, object] = {"graph": problems.ring(9), "t": 1.0}
    with pytest.raises(ct.CothermError) as caught:
        ct.diffusion_distance(**{**good, **changes})  # type: ignore[call-overload]
    assert caught.value.argument == argument


@pytest.mark.parametrize("k", [0, 9, 1.5, "two"])
def test_bad_map(k: object) -> None:
    with pytest.raises(ct.CothermError, match="k:"):
        ct.diffusion_map(problems.ring(9), 1.0, k=k)  # type: ignore[arg-type]


def test_all_pairs_of_a_very_large_graph_are_refused() -> None:
    with pytest.raises(ct.CothermError, match="nearest="):
        ct.diffusion_distance(problems.ring(30_000), 1.0)


def test_routes_that_are_asked_for_are_taken(large: ct.Graph) -> None:
    sources = np.array([3, 99, 4_000])
    t = 0.05
    D = ct.diffusion_distance(large, t, sources=sources, method="exact")
    for method, error in (("exact", 0.0), ("local", 1e-5), ("sketch", 0.1)):
        found = ct.diffusion_distance(large, t, sources=sources, nearest=6, method=method, probes=1_024)
        assert (found.route, found.exact) == (method, method == "exact")
        assert_allclose(found.distances, np.take_along_axis(D, found.indices, axis=1), atol=error)
        assert_allclose(ct.diffusion_distance(large, t, sources=sources, method=method), D, atol=error)
        indices, distances = found  # as it ever was
        assert indices is found.indices
        assert distances is found.distances
        assert pickle.loads(pickle.dumps(found)).route == method
    auto = ct.diffusion_distance(problems.ring(40), 1.0, nearest=2)
    assert (auto.route, auto.exact) == ("exact", True)


def test_a_few_modes_can_be_asked_for() -> None:
    graph = problems.grid(40, 60)
    D = ct.diffusion_distance(graph, 1_000.0, sources=[0, 777])
    found = ct.diffusion_distance(graph, 1_000.0, sources=[0, 777], method="modes")
    assert_allclose(found, D, atol=1e-4 * D.max())
    assert ct.diffusion_distance(graph, 1_000.0, sources=[0], nearest=3, method="modes").route == "modes"


@pytest.mark.parametrize(
    ("n", "t", "method", "argument"),
    [
        (20_001, 1.0, "exact", "graph"),
        (5_000, 1e4, "local", "method"),
        (1_500, 1e9, "modes", "method"),
        (5_000, 1.0, "modes", "method"),
        (5_000, 1e12, "sketch", "t"),
    ],
)
def test_routes_that_cannot_are_refused(n: int, t: float, method: str, argument: str) -> None:
    with pytest.raises(ct.CothermError) as caught:
        ct.diffusion_distance(problems.ring(n), t, sources=[0], nearest=2, method=method)
    assert caught.value.argument == argument


def test_equal_distances_come_by_number() -> None:
    assert_array_equal(ct.diffusion_distance(problems.ring(3_000), 0.0, sources=[7], nearest=4).indices, [[0, 1, 2, 3]])


def test_sketches_of_random_graphs_find_most_of_the_nearest() -> None:
    """Where many vertices are about as far as each other; the documentation says how many are missed."""
    graph = problems.random_graph(4_200, 21_000, seed=1)
    everyone = np.arange(graph.n)
    t = 3.0 / float(np.median(graph.degrees))
    found = ct.diffusion_distance(graph, t, nearest=8, method="sketch")
    assert 0.55 < recall(found, ct.diffusion_distance(graph, t), everyone) < 0.95


@pytest.mark.parametrize(
    ("options", "argument"),
    [({"sources": np.arange(60_000)}, "sources"), ({"nearest": 59_999}, "nearest"), ({}, "graph")],
)
def test_what_does_not_fit_is_refused_at_the_door(options: dict[str, Any], argument: str) -> None:
    with pytest.raises(ct.CothermError) as caught:
        ct.diffusion_distance(problems.ring(60_000), 0.01, **options)
    assert caught.value.argument == argument


@pytest.mark.parametrize("n", [1_500, 2_500])
def test_all_pairs_take_twice_the_memory_of_the_result(n: int) -> None:
    """As the refusal of larger graphs says. The dense decomposition of small graphs takes three times."""
    graph = problems.ring(n)
    ct.diffusion_distance(graph, 1.0)  # compilation
    tracemalloc.start()
    ct.diffusion_distance(graph, 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (3.6 if n <= 2_000 else 2.2) * 8 * n**2


def test_a_map_needs_two_vertices() -> None:
    with pytest.raises(ct.CothermError, match="graph: a single vertex; needed: at least two"):
        ct.diffusion_map(problems.path(1), 1.0, k=1)
