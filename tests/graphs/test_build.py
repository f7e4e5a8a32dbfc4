"""Graphs of points and meshes against their formulas, written as loops."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cotherm import limits
from cotherm.errors import CothermError, CothermWarning
from cotherm.graphs.build import knn_graph, mesh_graph, radius_graph
from cotherm.graphs.graph import Graph
from cotherm.graphs.mesh import Mesh
from cotherm.graphs.search import exact, points

Array = NDArray[Any]
Edges = dict[tuple[int, int], float]

METRICS = ["euclidean", "cosine"]
# A k-d tree serves the first, blocks of rows the second.
DIMENSIONS = [2, 20]
SCALES: list[Any] = ["self-tuning", "median", 0.8, None]


def normal(n: int, d: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(n, d))


def distance(x: Array, y: Array, metric: str) -> float:
    if metric == "euclidean":
        return math.dist(x, y)
    return float(1 - x @ y / (math.hypot(*x) * math.hypot(*y)))


def reference_knn(
    X: Array, k: int, *, scale: Any, scale_neighbor: int, scale_factor: float, metric: str, symmetrize: str
) -> Edges:
    """The formula of the docstring, for points without ties and copies."""
    n = len(X)
    d = [[distance(X[i], X[j], metric) for j in range(n)] for i in range(n)]
    ranked = [sorted((j for j in range(n) if j != i), key=lambda j, i=i: d[i][j]) for i in range(n)]  # type: ignore[misc]
    if scale == "self-tuning":
        sigma = [d[i][ranked[i][scale_neighbor - 1]] for i in range(n)]
    elif scale == "median":
        sigma = [float(np.median([d[i][j] for i in range(n) for j in ranked[i][:k]]))] * n
    else:
        sigma = [scale or 1.0] * n
    a: Edges = {}
    for i in range(n):
        for j in ranked[i][:k]:
            a[i, j] = 1.0 if scale is None else math.exp(-(d[i][j] ** 2) / (scale_factor * sigma[i] * sigma[j]))
    edges: Edges = {}
    for i in range(n):
        for j in range(i + 1, n):
            there = [a[e] for e in ((i, j), (j, i)) if e in a]
            if symmetrize == "min" and len(there) == 2:
                edges[i, j] = min(there)
            elif symmetrize == "max" and there:
                edges[i, j] = max(there)
            elif symmetrize == "mean" and there:
                edges[i, j] = sum(there) / 2
    return edges


def assert_edges(graph: Graph, expected: Edges, rtol: float = 1e-9) -> None:
    assert [tuple(e) for e in graph.edges.tolist()] == sorted(expected)
    np.testing.assert_allclose(graph.w, [expected[e] for e in sorted(expected)], rtol=rtol, atol=1e-12)


# ---------------------------------------------------------------- knn_graph


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("symmetrize", ["max", "mean", "min"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_knn_graph_is_its_formula(scale: Any, symmetrize: str, metric: str, d: int) -> None:
    X = normal(40, d)
    options: dict[str, Any] = {"scale": scale, "metric": metric, "symmetrize": symmetrize}
    for k, scale_neighbor, factor in ((4, 7, 1.0), (5, 2, 4.0)):
        options |= {"scale_neighbor": scale_neighbor, "scale_factor": factor}
        expected = reference_knn(X, k, **options)
        for form in (np.asarray, sp.csr_array):
            graph = knn_graph(form(X), k, **options)
            assert graph.n == 40
            assert_edges(graph, expected)


def test_knn_graph_defaults() -> None:
    X = normal(40, 3)
    said = {
        "scale": "self-tuning",
        "scale_neighbor": 7,
        "scale_factor": 1.0,
        "metric": "euclidean",
        "symmetrize": "max",
    }
    assert_edges(knn_graph(X, 5), reference_knn(X, 5, **said))  # type: ignore[arg-type]


def test_symmetrized_three_ways() -> None:
    # 0 and 1 are mutual neighbors, 2 looks to 1 only.
    X = [[0.0], [1.0], [3.0]]
    a01, a12 = math.exp(-1), math.exp(-4)
    assert_edges(knn_graph(X, 1, scale=1.0, symmetrize="max"), {(0, 1): a01, (1, 2): a12})
    assert_edges(knn_graph(X, 1, scale=1.0, symmetrize="mean"), {(0, 1): a01, (1, 2): a12 / 2})
    assert_edges(knn_graph(X, 1, scale=1.0, symmetrize="min"), {(0, 1): a01})
    assert_edges(knn_graph(X, 1, scale=None, symmetrize="mean"), {(0, 1): 1.0, (1, 2): 0.5})


def test_coordinates_are_kept_where_they_can_be_drawn() -> None:
    labels = [f"point {i}" for i in range(20)]
    for d in (1, 2, 3):
        X = normal(20, d)
        graph = knn_graph(X, 3, labels=labels, name="cloud")
        assert graph.coordinates is not None
        np.testing.assert_array_equal(graph.coordinates, X)
        assert graph.labels is not None
        assert graph.labels.tolist() == labels
        assert graph.name == "cloud"
    assert knn_graph(normal(20, 4), 3).coordinates is None
    assert knn_graph(sp.csr_array(normal(20, 2)), 3).coordinates is None


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from(SCALES), d=st.sampled_from(DIMENSIONS))
def test_relabeled_points_make_the_relabeled_graph(seed: int, scale: Any, d: int) -> None:
    X = normal(30, d, seed)
    order = np.random.default_rng(seed).permutation(30)
    W = knn_graph(X, 4, scale=scale, symmetrize="mean").adjacency().toarray()
    moved = knn_graph(X[order], 4, scale=scale, symmetrize="mean").adjacency().toarray()
    np.testing.assert_allclose(moved, W[np.ix_(order, order)], rtol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), d=st.sampled_from(DIMENSIONS))
def test_moved_and_scaled_points_make_the_same_graph(seed: int, d: int) -> None:
    X = normal(30, d, seed)
    graph = knn_graph(X, 4)
    for other in (X + 1000 * normal(1, d, seed + 1), X * 1e-100, X * 1e100):
        moved = knn_graph(other, 4)
        np.testing.assert_array_equal(moved.edges, graph.edges)
        np.testing.assert_allclose(moved.w, graph.w, rtol=1e-9)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_sigma_of_copies_is_the_distance_to_the_next_point(d: int) -> None:
    # Point 0 five times: each finds four copies, then the points at 10 and 11.
    X = np.zeros((9, d))
    X[5:, 0] = [10, 11, 12, 13]
    W = knn_graph(X, 6, scale_neighbor=3, scale_factor=4).adjacency().toarray()
    assert np.all(W[:5, :5] == 1 - np.eye(5))
    # σ = 10 for the copies, 3 for the point at 10 and 2 for the one at 11.
    np.testing.assert_allclose(W[:5, 5], math.exp(-100 / (4 * 10 * 3)))
    np.testing.assert_allclose(W[:5, 6], math.exp(-121 / (4 * 10 * 2)))


@pytest.mark.parametrize("d", DIMENSIONS)
def test_sigma_of_copies_that_see_only_copies_is_the_smallest_of_the_others(d: int) -> None:
    # Point 0 five times: each finds three copies, nothing else. The points at 2, 5 and 9 have σ = 2, 3 and 4.
    X = np.zeros((8, d))
    X[5:, 0] = [2, 5, 9]
    W = knn_graph(X, 3, scale_neighbor=1).adjacency().toarray()
    assert np.all(W[:5, :5][W[:5, :5] > 0] == 1)
    near = W[:5, 5][W[:5, 5] > 0]
    assert len(near) >= 2
    np.testing.assert_allclose(near, math.exp(-4 / (2 * 2)))


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("scale", SCALES)
def test_points_that_all_coincide_are_joined_by_ones(d: int, scale: Any) -> None:
    graph = knn_graph(np.full((12, d), 0.1), 8, scale=scale)
    assert graph.m > 0
    np.testing.assert_array_equal(graph.w, np.ones(graph.m))


def test_median_of_zero_gives_way_to_the_smallest_distance() -> None:
    # Of the 10 distances to two nearest neighbors 8 are 0; the smallest other is 2.
    X = [[0.0], [0.0], [0.0], [0.0], [2.0]]
    W = knn_graph(X, 2, scale="median").adjacency().toarray()
    np.testing.assert_allclose(W[4][W[4] > 0], math.exp(-4 / 4))


def test_weights_that_vanish_stay_edges() -> None:
    graph = knn_graph([[0.0], [1.0], [1e6], [1e6 + 1]], 2, scale=1.0)
    assert graph.m == 6 - 1
    assert graph.w.tolist().count(0.0) == 3
    assert graph.component_count == 2


def test_scales_whose_squares_overflow_do_no_harm() -> None:
    X = normal(10, 2)
    assert np.all(knn_graph(X, 3, scale=1e200).w == 1)
    assert np.all(knn_graph(X, 3, scale=1e-200).w == 0)
    assert np.all(knn_graph(X, 3, scale=1e-300, scale_factor=1e-300).w == 0)


def test_min_may_isolate_vertices() -> None:
    graph = knn_graph([[0.0], [1.0], [10.0]], 1, symmetrize="min", scale=None)
    assert_edges(graph, {(0, 1): 1.0})
    assert graph.component_count == 2


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_zero_rows_are_isolated_under_cosine(scale: Any, d: int) -> None:
    X = normal(30, d)
    X[[3, 17]] = 0
    rest = np.flatnonzero(X.any(axis=1))
    with pytest.warns(CothermWarning, match="2 of 30 rows are zero"):
        graph = knn_graph(X, 4, scale=scale, metric="cosine")
    alone = knn_graph(X[rest], 4, scale=scale, metric="cosine")
    np.testing.assert_array_equal(graph.edges, rest[alone.edges])
    np.testing.assert_array_equal(graph.w, alone.w)
    assert graph.degrees[3] == graph.degrees[17] == 0


def test_the_extra_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(CothermError, match=r"^search: .*pip install"):
        knn_graph(normal(50, 20), 3, search="approximate")


def test_labels_are_checked_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "nearest", lambda *_: pytest.fail("searched first"))
    with pytest.raises(CothermError, match=r"^labels: shape \(3,\)"):
        knn_graph(normal(50, 20), 3, labels=[1, 2, 3])


# ---------------------------------------------------------------- real data


def nus(data_file: Callable[[str], Path]) -> Any:
    return scipy.io.loadmat(data_file("nus/NUS_results.mat"), variable_names=["coords", "W"])


def test_nus_graphs_by_the_recipe(data_file: Callable[[str], Path]) -> None:
    tags, color = nus(data_file)["coords"].ravel()
    recipe: dict[str, Any] = {"scale": "self-tuning", "scale_neighbor": 15, "scale_factor": 4, "symmetrize": "mean"}
    by_tags, by_color = knn_graph(tags, 25, **recipe), knn_graph(color, 25, **recipe)
    for graph in (by_tags, by_color):
        assert graph.n == 145
        assert graph.is_valid()
    assert_edges(by_color, reference_knn(color, 25, metric="euclidean", **recipe))
    assert by_color.m == 2708
    # Many tags tie at the 25th distance, and which are taken moves the count a little.
    assert 2600 < by_tags.m < 2800
    assert by_tags == knn_graph(tags.toarray(), 25, **recipe)


@pytest.mark.parametrize(("modality", "k"), [(0, 17), (1, 20)])
def test_nus_graphs_as_published(data_file: Callable[[str], Path], modality: int, k: int) -> None:
    # The file's own graphs: σ_i to the k-th scale_neighbor, the maximum, and self-loops where copies of a row
    # hid it from the removal of "the first scale_neighbor".
    data = nus(data_file)
    published = data["W"].ravel()[modality].toarray()
    np.fill_diagonal(published, 0)
    W = knn_graph(data["coords"].ravel()[modality], k, scale_neighbor=k).adjacency().toarray()
    np.testing.assert_array_equal(W > 0, published > 0)
    np.testing.assert_allclose(W, published, rtol=1e-7)


# ---------------------------------------------------------------- radius_graph


def reference_radius(X: Array, radius: float, scale: Any, scale_factor: float, metric: str) -> Edges:
    n = len(X)
    d = {(i, j): distance(X[i], X[j], metric) for i in range(n) for j in range(i + 1, n)}
    near = {e: length for e, length in d.items() if length <= radius}
    sigma = float(np.median(list(near.values()))) if scale == "median" else scale
    return {e: 1.0 if scale is None else math.exp(-(x**2) / (scale_factor * sigma**2)) for e, x in near.items()}


@pytest.mark.parametrize("scale", [None, "median", 0.5])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_radius_graph_is_its_formula(scale: Any, metric: str, d: int) -> None:
    X = normal(40, d)
    radius = 0.7 * (math.sqrt(2 * d) if metric == "euclidean" else 1.0)
    expected = reference_radius(X, radius, scale, 2.0, metric)
    assert 0 < len(expected) < 40 * 39 / 2
    for form in (np.asarray, sp.csr_array):
        graph = radius_graph(form(X), radius, scale=scale, scale_factor=2.0, metric=metric, name="balls")
        assert_edges(graph, expected)
        assert (graph.n, graph.name) == (40, "balls")


@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_radius_itself_is_within(d: int) -> None:
    X = np.zeros((6, d))
    X[:, 0] = np.arange(6)
    path = {(i, i + 1): 1.0 for i in range(5)}
    assert_edges(radius_graph(X, 1), path)
    assert_edges(radius_graph(X, np.nextafter(1, 0)), {})
    assert radius_graph(X, 5).m == 15


@pytest.mark.parametrize("d", DIMENSIONS)
def test_radius_zero_joins_copies(d: int) -> None:
    X = np.repeat(normal(3, d), [1, 2, 3], axis=0)
    expected = {(1, 2): 1.0, (3, 4): 1.0, (3, 5): 1.0, (4, 5): 1.0}
    assert_edges(radius_graph(X, 0), expected)
    assert_edges(radius_graph(X, 0, scale="median"), expected)
    lengths = np.arange(1, 7)[:, np.newaxis] / 7
    assert_edges(radius_graph(lengths * X, 0, metric="cosine"), expected)


def test_radius_graph_median_of_zero_gives_way_to_the_smallest_distance() -> None:
    X = [[0.0], [0.0], [0.0], [0.0], [2.0]]
    W = radius_graph(X, 3.0, scale="median").adjacency().toarray()
    np.testing.assert_allclose(W[4, :4], math.exp(-4 / 4))
    assert np.all(W[:4, :4] == 1 - np.eye(4))


@pytest.mark.parametrize("radius", [1e150, 1e308])
@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("metric", METRICS)
def test_a_huge_radius_joins_all(radius: float, d: int, metric: str) -> None:
    assert radius_graph(normal(10, d), radius, metric=metric).m == 45


@pytest.mark.parametrize("d", DIMENSIONS)
def test_radius_graph_of_one_point_and_of_none_with_a_direction(d: int) -> None:
    assert radius_graph(np.ones((1, d)), 1.0).m == 0
    with pytest.warns(CothermWarning, match="4 of 4 rows are zero"):
        graph = radius_graph(np.zeros((4, d)), 1.0, metric="cosine")
    assert (graph.n, graph.m) == (4, 0)


def test_radius_graph_isolates_zero_rows_under_cosine() -> None:
    X = normal(30, 3)
    X[[3, 17]] = 0
    rest = np.flatnonzero(X.any(axis=1))
    with pytest.warns(CothermWarning, match="2 of 30 rows are zero"):
        graph = radius_graph(X, 0.3, metric="cosine")
    np.testing.assert_array_equal(graph.edges, rest[radius_graph(X[rest], 0.3, metric="cosine").edges])


@pytest.mark.parametrize("d", DIMENSIONS)
def test_too_many_edges_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch, d: int) -> None:
    X = normal(40, d)
    monkeypatch.setattr(points, "_BLOCK", 40)
    monkeypatch.setattr(limits, "NEIGHBOR_PAIRS", 40 * 39 // 2)
    assert radius_graph(X, 100).m == 780
    monkeypatch.setattr(limits, "NEIGHBOR_PAIRS", 40 * 39 // 2 - 1)
    monkeypatch.setattr(np, "concatenate", lambda *_: pytest.fail("made the edges"))
    with pytest.raises(CothermError, match=r"^radius: 100, .*780 pairs .*at most 779 edges"):
        radius_graph(X, 100)


@given(seed=st.integers(0, 2**32 - 1), d=st.sampled_from(DIMENSIONS))
def test_relabeled_points_make_the_relabeled_radius_graph(seed: int, d: int) -> None:
    X = normal(30, d, seed)
    order = np.random.default_rng(seed).permutation(30)
    W = radius_graph(X, math.sqrt(d), scale=1.0).adjacency().toarray()
    moved = radius_graph(X[order], math.sqrt(d), scale=1.0).adjacency().toarray()
    np.testing.assert_allclose(moved, W[np.ix_(order, order)], rtol=1e-12)


# ---------------------------------------------------------------- mesh_graph

SQUARE = np.array([[0.0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 4, 0], [9, 9, 9]])
# Two triangles, oppositely oriented; vertex 4 is stray.
HALVES = np.array([[0, 1, 2], [0, 3, 2]])
LENGTHS = {(0, 1): 3.0, (0, 2): 5.0, (0, 3): 4.0, (1, 2): 4.0, (2, 3): 3.0}


def test_mesh_graph_has_every_side_once() -> None:
    graph = mesh_graph(SQUARE, HALVES, labels=[0, 0, 1, 1, 2], name="square")
    assert_edges(graph, dict.fromkeys(LENGTHS, 1.0))
    assert (graph.n, graph.name, graph.component_count) == (5, "square", 2)
    assert graph.coordinates is not None
    np.testing.assert_array_equal(graph.coordinates, SQUARE)


def test_mesh_graph_weights() -> None:
    inverse = {e: 1 / x for e, x in LENGTHS.items()}
    assert_edges(mesh_graph(SQUARE, HALVES, weights="inverse-length"), inverse, 1e-15)
    median = {e: math.exp(-(x**2) / (2 * 4**2)) for e, x in LENGTHS.items()}
    assert_edges(mesh_graph(SQUARE, HALVES, weights="gaussian", scale_factor=2), median, 1e-14)
    fixed = {e: math.exp(-(x**2) / 6**2) for e, x in LENGTHS.items()}
    assert_edges(mesh_graph(SQUARE, HALVES, weights="gaussian", scale=6), fixed, 1e-14)


def test_mesh_graph_takes_the_mesh_noun() -> None:
    mesh = Mesh(SQUARE, HALVES)
    assert mesh_graph(mesh.vertices, mesh.faces) == mesh_graph(SQUARE, HALVES)
    assert mesh_graph(*mesh) == mesh_graph(SQUARE, HALVES)


def test_mesh_graph_of_random_triangles_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    faces = np.array([rng.choice(30, 3, replace=False) for _ in range(60)], dtype=np.uint8)
    sides = {tuple(sorted((int(f[a]), int(f[b])))) for f in faces for a, b in ((0, 1), (1, 2), (2, 0))}
    assert_edges(mesh_graph(normal(30, 3), faces), {(e[0], e[1]): 1.0 for e in sides})


def test_a_mesh_without_faces_has_no_edges() -> None:
    assert mesh_graph(SQUARE, np.empty((0, 3))).m == 0


def test_coinciding_vertices_have_no_inverse_length() -> None:
    vertices = SQUARE.copy()
    vertices[1] = vertices[0]
    with pytest.raises(CothermError, match=r"^vertices: vertices 0 and 1 coincide"):
        mesh_graph(vertices, HALVES, weights="inverse-length")
    assert mesh_graph(vertices, HALVES, weights="gaussian").w[0] == 1


# ---------------------------------------------------------------- bad input

GOOD = normal(10, 3)


def spoilt(value: float) -> Array:
    X = GOOD.copy()
    X[4, 1] = value
    return X


BAD_POINTS: list[tuple[Any, str]] = [
    (spoilt(np.nan), r"nan at position \(4, 1\)"),
    (spoilt(-np.inf), r"-inf at position \(4, 1\)"),
    (spoilt(1e200), r"numbers up to 1e\+200"),
    (np.arange(10.0), r"an array of shape \(10,\)"),
    (np.empty((0, 3)), r"shape \(0, 3\)"),
    (np.empty((10, 0)), r"shape \(10, 0\)"),
    (GOOD * 1j, "dtype complex128"),
    (GOOD.astype(object), "dtype object"),
    (GOOD.astype(str), "dtype <U"),
    ([[1, 2], [3]], "nested data"),
]


@pytest.mark.parametrize(("X", "message"), BAD_POINTS)
def test_bad_points_are_refused(X: Any, message: str) -> None:
    with pytest.raises(CothermError, match="^X: " + message):
        knn_graph(X, 2, metric="cosine")
    with pytest.raises(CothermError, match="^X: " + message):
        radius_graph(X, 2)
    with pytest.raises(CothermError, match="^vertices: " + message):
        mesh_graph(X, [[0, 1, 2]])


@pytest.mark.parametrize("build", [lambda X: knn_graph(X, 2), lambda X: radius_graph(X, 2)])
def test_bad_sparse_points_are_refused(build: Callable[[Any], Graph]) -> None:
    with pytest.raises(CothermError, match=r"^X\.data: nan"):
        build(sp.csr_array(spoilt(np.nan)))
    with pytest.raises(CothermError, match=r"^X: dtype complex128"):
        build(sp.csr_array(GOOD * 1j))


def test_sparse_vertices_are_refused() -> None:
    with pytest.raises(CothermError, match=r"^vertices: a sparse matrix"):
        mesh_graph(sp.csr_array(GOOD), [[0, 1, 2]])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, r"^k: 0"),
        ({"k": 10}, r"^k: 10 neighbors among n = 10 points; needed: at most 9"),
        ({"k": 2.0}, r"^k: 2\.0"),
        ({"scale": "auto"}, r"^scale: 'auto' .*'self-tuning', 'median'"),
        ({"scale": 0.0}, r"^scale: 0\.0"),
        ({"scale": -1}, r"^scale: -1\.0"),
        ({"scale": np.nan}, r"^scale: nan"),
        ({"scale": True}, r"^scale: True"),
        ({"scale": [1.0]}, r"^scale: \[1\.0\]"),
        ({"scale_neighbor": 0}, r"^scale_neighbor: 0"),
        ({"scale_neighbor": 1.5}, r"^scale_neighbor: 1\.5"),
        ({"scale_neighbor": 10}, r"^scale_neighbor: 10 neighbors among n = 10 points"),
        ({"scale_factor": 0}, r"^scale_factor: 0\.0"),
        ({"scale_factor": -4}, r"^scale_factor: -4\.0"),
        ({"scale_factor": "4"}, r"^scale_factor: '4'"),
        ({"metric": "manhattan"}, r"^metric: 'manhattan'"),
        ({"symmetrize": "sum"}, r"^symmetrize: 'sum' .*'max', 'mean', 'min'"),
        ({"search": "fast"}, r"^search: 'fast'"),
        ({"labels": [1, 2]}, r"^labels: "),
        ({"name": 7}, r"^name: 7"),
    ],
)
def test_bad_knn_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CothermError, match=message):
        knn_graph(GOOD, **{"k": 2, **options})


def test_the_neighbor_matters_only_where_it_is_used() -> None:
    assert knn_graph(GOOD, 2, scale="median", scale_neighbor=10).n == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": -1}, r"^radius: -1\.0"),
        ({"radius": np.nan}, r"^radius: nan"),
        ({"radius": np.inf}, r"^radius: inf"),
        ({"radius": None}, r"^radius: None"),
        ({"scale": "self-tuning"}, r"^scale: 'self-tuning' .*'median'"),
        ({"scale": 0}, r"^scale: 0\.0"),
        ({"scale_factor": -1}, r"^scale_factor: -1\.0"),
        ({"metric": "l1"}, r"^metric: 'l1'"),
        ({"labels": [1, 2]}, r"^labels: "),
        ({"name": 7}, r"^name: 7"),
    ],
)
def test_bad_radius_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CothermError, match=message):
        radius_graph(GOOD, **{"radius": 1.0, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"faces": [[0, 1, 10]]}, r"^faces: vertex 10 in face 0; needed: vertex numbers from 0 to 9"),
        ({"faces": [[0, 1, 2], [3, 4, -1]]}, r"^faces: vertex -1 in face 1"),
        ({"faces": [[1, 2, 3], [8, 9, 10]]}, r"^faces: vertex 10 in face 1; .*Subtract 1"),
        ({"faces": [[0, 1, 2], [3, 4, 3]]}, r"^faces: face 1 has corners \[3, 4, 3\] \(1 such"),
        ({"faces": [[0, 0, 2]]}, r"^faces: face 0 has corners \[0, 0, 2\]"),
        ({"faces": [[0, 2, 2]]}, r"^faces: face 0 has corners \[0, 2, 2\]"),
        ({"faces": [[0, 1, 2, 3]]}, r"^faces: shape \(1, 4\)"),
        ({"faces": [0, 1, 2]}, r"^faces: an array of shape \(3,\)"),
        ({"faces": [[0.0, 1.0, 2.0]]}, r"^faces: dtype float64"),
        ({"faces": [[True, False, True]]}, r"^faces: dtype bool"),
        ({"faces": [["a", "b", "c"]]}, r"^faces: dtype <U1"),
        ({"faces": [[0, 1, 2], [0, 1]]}, r"^faces: nested data"),
        ({"weights": "cotangent"}, r"^weights: 'cotangent' .*'unit', 'inverse-length', 'gaussian'"),
        ({"scale": "self-tuning"}, r"^scale: 'self-tuning'"),
        ({"scale": -1}, r"^scale: -1\.0"),
        ({"scale": None}, r"^scale: None"),
        ({"scale_factor": 0}, r"^scale_factor: 0\.0"),
        ({"labels": [1, 2]}, r"^labels: "),
        ({"name": 7}, r"^name: 7"),
    ],
)
def test_bad_mesh_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CothermError, match=message):
        mesh_graph(GOOD, **{"faces": [[0, 1, 2]], **options})


def test_what_a_scale_may_be_is_said_in_full() -> None:
    X = np.random.default_rng(0).random((10, 2))
    for bad in ("x", -1.0, True, [1.0]):
        with pytest.raises(CothermError, match=r"scale: .*'self-tuning', 'median', a number > 0, or None"):
            knn_graph(X, 3, scale=bad)  # type: ignore[arg-type]
        with pytest.raises(CothermError, match=r"scale: .*'median' or a number > 0"):
            mesh_graph(np.eye(3), [[0, 1, 2]], weights="gaussian", scale=bad)  # type: ignore[arg-type]
