"""Heat by Lanczos iteration, on graphs with a few vertices of huge degree: as accurate as the series, in few steps."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import cotherm as ct
from cotherm.heat import flow, lanczos
from cotherm.heat.times import diffusion_time
from tests import problems


def with_heavy_edges(n: int, seed: int, count: int, largest: float) -> ct.Graph:
    graph, random = problems.cloud(n, seed=seed), np.random.default_rng(seed)
    w = graph.w.copy()
    w[random.choice(graph.m, count, replace=False)] = 10.0 ** random.uniform(3.0, np.log10(largest), count)
    return graph.with_weights(w)


def starts(graph: ct.Graph, seed: int) -> np.ndarray:
    """Points, noise, a constant and nothing."""
    random = np.random.default_rng(seed)
    F = np.zeros((graph.n, 70))  # more than are done at a time
    F[random.choice(graph.n, 70), np.arange(70)] = 1.0
    F[:, 3:6] = random.standard_normal((graph.n, 3)) * [1.0, 1e-9, 1e9]
    F[:, 6], F[:, 7] = 1.0, 0.0
    F[:, 8] = np.arange(graph.n) == np.argmax(graph.degrees)
    return F


@pytest.mark.parametrize("seed", range(6))
def test_against_the_dense_solver(seed: int) -> None:
    graph = with_heavy_edges(300, seed, count=1 + 2 * seed, largest=1e6)
    F = starts(graph, seed)
    times = diffusion_time(8.0, graph) * np.array([0.0, 0.1, 1.0])
    found = lanczos.lanczos_flow(graph, F, times, np.full(3, 1e-7))
    assert found is not None
    wrong = np.linalg.norm(found - flow.exact_flow(graph, F, times), axis=1)
    assert np.all(wrong <= 1e-7 * np.linalg.norm(F, axis=0))
    np.testing.assert_array_equal(found[0], F)


@pytest.mark.parametrize("kind", ["heavy edge", "star", "hub beside pieces"])
def test_heat_flow_takes_it_where_the_series_is_long(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    n = 2_500
    if kind == "heavy edge":
        graph = with_heavy_edges(n, 0, 1, 1e6)
    else:
        leaves = np.arange(1, n if kind == "star" else n // 2)
        graph = ct.Graph(n, np.zeros(len(leaves), int), leaves, np.full(len(leaves), 1.0 if kind == "star" else 3.0))
        graph = graph.with_weights(graph.w * np.where(np.arange(graph.m) == 0, 1e4, 1.0))
    t = diffusion_time(8.0, graph)
    F = starts(graph, 1)[:, :9]
    with caplog.at_level(logging.INFO, "cotherm"):
        found = ct.heat_flow(graph, F, t, tolerance=1e-6)
    assert "Lanczos" in caplog.text
    series = ct.heat_flow(graph, F, t, tolerance=1e-6, method="chebyshev")
    np.testing.assert_array_less(
        np.linalg.norm(found - series, axis=1), 2e-6 * np.maximum(np.linalg.norm(series, axis=1), 1e-300) + 1e-300
    )
    np.testing.assert_allclose(found[0].sum(axis=0), F.sum(axis=0), rtol=1e-6, atol=1e-6)


def test_what_it_cannot_do_is_left_to_the_series(caplog: pytest.LogCaptureFixture) -> None:
    heavy = with_heavy_edges(600, 0, 1, 1e6)
    t = np.array([diffusion_time(8.0, heavy)])
    assert lanczos.lanczos_flow(heavy, np.eye(600)[:, :3], t, np.array([1e-15])) is None  # rounding is larger
    # Many weights of many sizes: no few eigenvalues stand out, so that it neither pays nor converges in time.
    spread = heavy.with_weights(10.0 ** np.random.default_rng(0).uniform(0.0, 6.0, heavy.m))
    assert not lanczos.pays(spread, float(t[0]))
    with caplog.at_level(logging.INFO, "cotherm"):
        ct.heat_flow(problems.cloud(3_000), np.eye(3_000)[:, :2], 1.0)
    assert "Chebyshev" in caplog.text
    assert "Lanczos" not in caplog.text
