"""Eigenpairs where rounding would decide: parts joined by weights of any smallness, units of any size."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm.engines.cpu.elimination import eliminate
from cotherm.heat import spectrum
from cotherm.heat.accurate_spectrum import weighted_pairs
from tests import problems

BRIDGES = [1e-9, 1e-11, 1e-12, 1e-13, 1e-15, 1e-17, 1e-18, 1e-19, 1e-40, 1e-200]


def cliques(bridge: float, size: int = 20) -> ct.Graph:
    """Two cliques and one edge between them; λ_1 = 2·bridge/size, but for a fraction of the order of the bridge."""
    ends = [(a + s, b + s) for s in (0, size) for a in range(size) for b in range(a)]
    i, j = np.array([*ends, (0, size)]).T
    return ct.Graph(2 * size, i, j, np.append(np.ones(len(ends)), bridge))


def chain(n: int, bridge: float) -> ct.Graph:
    """Three clouds of n vertices, a bridge from the first to the second and a thousandth of it to the third."""
    clouds = [problems.cloud(n, seed=s) for s in range(3)]
    i = np.concatenate([*(g.i + s * n for s, g in enumerate(clouds)), [0, n + 1]])
    j = np.concatenate([*(g.j + s * n for s, g in enumerate(clouds)), [n, 2 * n]])
    return ct.Graph(3 * n, i, j, np.concatenate([*(g.w for g in clouds), [bridge, 1e-3 * bridge]]))


@pytest.mark.parametrize("bridge", BRIDGES)
def test_heat_crosses_a_faint_bridge_when_it_should(bridge: float) -> None:
    graph = cliques(bridge)
    rate = 2 * bridge / 20
    times = np.array([0.01, 1.0, 50.0]) / rate
    assert_allclose(ct.heat_trace(graph, times), 1 + np.exp(-rate * times), rtol=1e-8)
    crossed = ct.heat_flow(graph, np.eye(40)[0], times)[:, 30, 0]
    assert_allclose(crossed, (1 - np.exp(-rate * times)) / 40, rtol=1e-8)


@pytest.mark.parametrize("n", [60, 800])
@pytest.mark.parametrize("bridge", BRIDGES)
def test_map_of_parts_with_faint_bridges(n: int, bridge: float) -> None:
    """By the time heat crosses it is even in each cloud: three heavy vertices on a path."""
    found = ct.diffusion_map(chain(n, bridge), n / bridge, k=2)
    values, vectors = np.linalg.eigh(np.array([[1, -1, 0], [-1, 1.001, -1e-3], [0, -1e-3, 1e-3]]))
    modes = vectors[:, 1:] * np.exp(-values[1:]) / np.sqrt(n)
    expected = np.repeat(modes * np.sign(modes[np.abs(modes).argmax(axis=0), [0, 1]]), n, axis=0)
    assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("spread", [10.0, 40.0])
def test_weights_over_many_decades_without_a_gap(spread: float) -> None:
    """All eigenpairs to their own digits, judged by the matrix and, for the smallest, by the product of them all."""
    graph = problems.random_graph(40, 200, seed=4, spread=spread)
    W = graph.adjacency().toarray()
    values, vectors = weighted_pairs(W, np.ones(40))
    L = graph.laplacian().toarray()
    assert_allclose(vectors.T @ vectors, np.eye(40), atol=1e-13)
    assert_allclose(vectors * values @ vectors.T, L, atol=1e-13 * L.max())
    # The matrix tree theorem; the pivots are tested against rational numbers elsewhere.
    assert_allclose(np.log(values[1:]).sum(), np.log(40 * eliminate(W)[1]).sum() - 38 * np.log(40), rtol=1e-12)


def test_three_vertices_in_closed_form() -> None:
    for e in (1e-3, 1e-12, 1e-30, 1e-200):
        graph = ct.Graph(3, [0, 1], [1, 2], [1.0, e])
        found = spectrum.full_spectrum(graph)
        root = np.sqrt(1 + e * e - e)
        assert_allclose(found.values, [0.0, 3 * e / (1 + e + root), 1 + e + root], rtol=1e-9)


@pytest.mark.parametrize("n", [30, 2_500])
@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e160, 1e300])
def test_maps_do_not_depend_on_the_unit(n: int, unit: float) -> None:
    path = problems.path(n)
    found = ct.diffusion_map(path.with_weights(unit * path.w), 1.0 / unit, k=2)
    # Signs go by the largest entry, which on a path is a tie.
    assert_allclose(np.abs(found), np.abs(ct.diffusion_map(path, 1.0, k=2)), atol=1e-9)


@pytest.mark.parametrize("k", [1, 7, 40])
def test_maps_of_large_graphs_are_as_good_as_they_say(k: int) -> None:
    n = 5_000
    modes = np.arange(1, k + 1)
    expected = np.cos(np.pi * np.outer(np.arange(n) + 0.5, modes) / n) * np.sqrt(2 / n)
    found = ct.diffusion_map(problems.path(n), 0.0, k=k)
    assert np.linalg.norm(np.abs(found) - np.abs(expected), axis=0).max() < 1e-7


def test_too_many_parts_are_refused() -> None:
    n = 5_000
    path = problems.path(n)
    faint = np.where(np.arange(n - 1) % 2, 1e-30, 1.0)
    with pytest.raises(ct.CothermError, match="Set these weights to zero"):
        ct.diffusion_map(path.with_weights(faint), 1.0)


@pytest.mark.parametrize("t", [1e300, 1e308])
def test_times_past_counting(t: float) -> None:
    """Heat is even, without a word of overflow."""
    graph = problems.ring(30).with_weights(np.full(30, 1e3))
    assert ct.heat_trace(graph, t) == 1.0
    assert_allclose(ct.heat_kernel(graph, t), 1 / 30)
    assert_allclose(ct.diffusion_distance(graph, t), 0.0, atol=1e-13)
    assert_allclose(ct.diffusion_map(graph, t), 0.0)


def test_short_times_do_not_pay_for_what_they_cannot_see(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = cliques(1e-13)
    expected = ct.heat_kernel(graph, 10.0)
    monkeypatch.setattr(spectrum, "_SHORT", 0.0)
    assert_allclose(ct.heat_kernel(graph, 10.0), expected, atol=1e-13)
    monkeypatch.setattr(spectrum, "_SHORT", np.inf)
    monkeypatch.delattr("cotherm.heat.accurate_spectrum.refined")
    assert_allclose(ct.heat_kernel(graph, 10.0), expected, atol=1e-13)
