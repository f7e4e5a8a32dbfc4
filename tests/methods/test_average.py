"""Means of weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from paper.data import nus
from tests import problems


def pair() -> list[ct.Graph]:
    return [problems.random_graph(20, 60, seed) for seed in (1, 2)]


class TestAverage:
    def test_the_average_laplacian(self) -> None:
        g = pair()
        L = ct.average(g).graph.laplacian().toarray()
        assert np.allclose(L, 0.5 * (g[0].laplacian() + g[1].laplacian()).toarray(), atol=1e-14)

    def test_it_is_the_nearest_to_all(self) -> None:
        """The paper's (avg): Σ ‖L_k − L̄‖² is least."""
        g = pair()
        result = ct.average(g, graph_weights=[1.0, 3.0])
        L = result.graph.laplacian().toarray()

        def spread(M: Any) -> float:
            return sum(
                p * float(np.sum((M - x.laplacian().toarray()) ** 2)) for p, x in zip((0.25, 0.75), g, strict=True)
            )

        assert result.distance == pytest.approx(spread(L), rel=1e-12)
        for seed in range(5):
            other = result.graph.with_weights(
                result.graph.w * np.exp(0.01 * np.random.default_rng(seed).standard_normal(result.graph.m))
            )
            assert spread(other.laplacian().toarray()) > spread(L)

    @pytest.mark.parametrize("power", [-30.0, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 30.0])
    def test_power_means_edge_by_edge(self, power: float) -> None:
        g, share = pair(), (0.3, 0.7)
        mean = ct.average(g, graph_weights=share, power=power).graph
        W = [x.adjacency().toarray() for x in g]
        for i, j, w in zip(mean.i, mean.j, mean.w, strict=True):
            a = np.array([one[i, j] for one in W])
            if power <= 0.0 and np.any(a == 0.0):
                expected = 0.0
            elif power == 0.0:
                expected = float(np.prod(a**share))
            else:
                expected = float(np.sum(share * a**power) ** (1 / power))
            assert w == pytest.approx(expected, rel=1e-10)

    def test_names_of_powers(self) -> None:
        g = pair()
        for name, power in (("arithmetic", 1.0), ("geometric", 0.0), ("harmonic", -1.0)):
            assert np.array_equal(ct.average(g, power=name).graph.w, ct.average(g, power=power).graph.w)

    def test_tiny_and_huge_weights(self) -> None:
        a, b = ct.Graph(2, [0], [1], [1e-200]), ct.Graph(2, [0], [1], [1e200])
        assert ct.average([a, b], power=-5.0).graph.w[0] == pytest.approx(1e-200 * 0.5 ** (-1 / 5), rel=1e-10)
        assert ct.average([a, b], power=5.0).graph.w[0] == pytest.approx(1e200 * 0.5 ** (1 / 5), rel=1e-10)
        assert ct.average([a, b], power=0.0).graph.w[0] == pytest.approx(1.0, rel=1e-10)

    @pytest.mark.parametrize("power", [1e-3, 1e-9, -1e-12, 1e-16, 1e-300])
    def test_small_powers_are_nearly_geometric(self, power: float) -> None:
        a, b = ct.Graph(2, [0], [1], [1.0]), ct.Graph(2, [0], [1], [100.0])
        exact = 10.0 * np.exp(power * np.log(10.0) ** 2 / 2.0)
        assert ct.average([a, b], power=power).graph.w[0] == pytest.approx(exact, rel=1e-5 * max(power, 1e-7) / 1e-3)

    def test_equal_graphs_are_their_own_mean(self) -> None:
        g = problems.random_graph(15, 40, seed=4)
        for power in (-3.0, 0.0, 1.0):
            assert np.allclose(ct.average([g, g, g], power=power).graph.adjacency().toarray(), g.adjacency().toarray())

    def test_normalized_weights(self) -> None:
        g = pair()
        scaled = [x.adjacency().toarray() / np.sqrt(np.outer(x.degrees, x.degrees)) for x in g]
        mean = ct.average(g, normalized=True).graph.adjacency().toarray()
        assert np.allclose(mean, 0.5 * (scaled[0] + scaled[1]), atol=1e-14)

    def test_all_views_share_the_answer(self) -> None:
        result = ct.average(ct.datasets.circles().graphs)
        assert result.graphs[0] is result.graphs[1] is result.graph
        clusters = result.clusters(2)
        assert clusters[0] is clusters[1]
        distances = result.distances(1.0)
        assert distances[0] is distances[1]
        assert np.allclose(distances[0], ct.diffusion_distance(result.graph, 1.0))
        assert np.allclose(result.embedding(3, t=0.5)[0], ct.diffusion_map(result.graph, 0.5, 3))
        assert "Average of 2 graphs" in str(result)


RING, SMALLER = problems.ring(6), problems.ring(5)
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "one graph": (lambda: ct.average([RING]), "graphs"),
    "no list": (lambda: ct.average(RING), "graphs"),  # type: ignore[arg-type]
    "no graph": (lambda: ct.average([RING, np.eye(6)]), "graphs[1]"),  # type: ignore[list-item]
    "sizes": (lambda: ct.average([RING, SMALLER]), "graphs"),
    "weights": (lambda: ct.average([RING, RING], graph_weights=[1.0]), "graph_weights"),
    "zero weight": (lambda: ct.average([RING, RING], graph_weights=[1.0, 0.0]), "graph_weights"),
    "NaN weight": (lambda: ct.average([RING, RING], graph_weights=[1.0, np.nan]), "graph_weights"),
    "power": (lambda: ct.average([RING, RING], power="median"), "power"),
    "infinite power": (lambda: ct.average([RING, RING], power=np.inf), "power"),
    "true power": (lambda: ct.average([RING, RING], power=True), "power"),
    "normalized": (lambda: ct.average([RING, RING], normalized=1), "normalized"),  # type: ignore[arg-type]
    "endless power": (lambda: ct.average([RING, RING], power=10**400), "power"),
    "complex power": (lambda: ct.average([RING, RING], power=np.complex128(1)), "power"),  # type: ignore[arg-type]
    "huge weights": (lambda: ct.average([RING, RING], graph_weights=[1e308, 1e308]), "graph_weights"),
    "seed": (lambda: ct.average([RING, RING]).clusters(2, random_state=2**32), "random_state"),
    "nothing to go by": (lambda: ct.average([ct.Graph(4, [], [], [])] * 2).clusters(2), "graphs"),
    "one vertex": (lambda: ct.average([ct.Graph(1, [], [], [])] * 2).embedding(1), "graphs"),
    "k": (lambda: ct.average([RING, RING]).embedding(6), "k"),
    "clusters": (lambda: ct.average([RING, RING]).clusters(7), "k"),
    "t": (lambda: ct.average([RING, RING]).distances(-1.0), "t"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument


def test_clusters_of_real_images(data_file: Callable[[str], Any]) -> None:
    """NUS on the graphs stored with it: stored are .952 for the mean of Laplacians, .890 for their harmonic mean."""
    views = nus(stored=True, data=data_file("nus/NUS_results.mat").parents[1])
    labels = views.labels
    assert labels is not None

    def accuracy(result: Any) -> float:
        return ct.evaluate.clustering_accuracy(labels, result.clusters(7)[0])

    assert accuracy(ct.average(views.graphs, normalized=True)) >= 0.952 - 0.02
    assert accuracy(ct.average(views.graphs, power="harmonic", normalized=True)) >= 0.890 - 0.02


def test_one_clustering_for_all_views() -> None:
    """Views side by side know three clusters, of which each by itself shows two well."""
    graphs, classes = problems.planted_views()
    average = ct.average(graphs)
    np.testing.assert_array_equal(average.common_clusters(3), average.clusters(3)[0])
    uncoupled = ct.couple(graphs, [np.ones((60, 1))] * 2, [1.0], 1e6)  # even functions ask for nothing
    assert not uncoupled.common
    alone = [ct.evaluate.clustering_accuracy(classes, labels) for labels in uncoupled.clusters(3)]
    assert ct.evaluate.clustering_accuracy(classes, uncoupled.common_clusters(3)) >= max(alone) > min(alone)
    sizes = ct.couple([graphs[0], ct.Graph(2, [0], [1], [1.0])], [np.ones((60, 1)), np.ones((2, 1))], [1.0], 1e6)
    assert problems.refused(lambda: sizes.common_clusters(2)) == "graphs"
