"""Q(t) and its derivative: the paper's recipe, Taylor remainders, both ways alike, finite everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from cotherm import limits
from cotherm.heat.correlation import correlations
from cotherm.heat.correlation_model import CorrelationModel
from tests import problems, references
from tests.problems import CASES


def derivatives(graph: ct.Graph, F: np.ndarray, times: np.ndarray, dense: int) -> np.ndarray:
    """∂Q_ab(t)/∂u_e, (times, pairs, m), as couple has it for graphs of up to so many vertices or more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "SPECTRAL_CORRELATION", dense)
        model = CorrelationModel(graph, F, times)
        out = np.zeros((graph.m, model.size))
        model.at(graph.w).write_derivative(np.arange(graph.m), out)
    scaled = np.ascontiguousarray((out / np.tile(model.scale, len(times))).T)
    return scaled.reshape(len(times), len(model.scale), graph.m)


def by_decomposition(graph: ct.Graph, F: np.ndarray, times: np.ndarray) -> np.ndarray:
    return derivatives(graph, F, times, 10**6)


def by_filters(graph: ct.Graph, F: np.ndarray, times: np.ndarray) -> np.ndarray:
    return derivatives(graph, F, times, 0)


WAYS: list[Callable[..., np.ndarray]] = [by_decomposition, by_filters]
TIMES = np.array([0.0, 0.3, 2.0])


def functions(graph: ct.Graph, q: int = 3) -> np.ndarray:
    return np.random.default_rng(7).standard_normal((graph.n, q))


@pytest.mark.parametrize("case", CASES)
def test_correlations(case: str) -> None:
    graph = CASES[case]()
    F = functions(graph)
    Q = correlations(graph, F, TIMES)
    assert_array_equal(Q, Q.transpose(0, 2, 1))
    for t, value in zip(TIMES, Q, strict=True):
        assert_allclose(value, F.T @ references.heat_kernel(graph, t) @ F, atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ["ring", "random", "several components", "wide range of weights", "one edge"])
def test_derivative_is_the_papers(way: Callable[..., np.ndarray], case: str) -> None:
    graph = CASES[case]()
    F = functions(graph)
    J = way(graph, F, TIMES)
    a, b = np.triu_indices(F.shape[1])
    for e in range(0, graph.m, max(1, graph.m // 5)):
        for k, t in enumerate(TIMES):
            expected = references.correlation_derivative(graph, F, t, e)
            assert_allclose(J[k, :, e], expected[a, b], atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("way", WAYS)
def test_taylor_remainder_has_slope_two(way: Callable[..., np.ndarray]) -> None:
    graph = problems.random_graph(40, 120, seed=4)
    F = functions(graph)
    direction = np.random.default_rng(1).standard_normal(graph.m) * graph.w
    a, b = np.triu_indices(F.shape[1])

    def values(step: float) -> np.ndarray:
        return correlations(graph.with_weights(graph.w + step * direction), F, TIMES, tolerance=1e-14)[:, a, b]

    slope = way(graph, F, TIMES) @ direction
    steps = np.array([1e-2, 1e-3, 1e-4])
    remainders = [np.linalg.norm(values(h) - values(0.0) - h * slope) for h in steps]
    assert_allclose(np.diff(np.log10(remainders)), -2.0, atol=0.05)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_derivative_is_the_spectral_one(way: Callable[..., np.ndarray], case: str) -> None:
    graph = CASES[case]()
    F = functions(graph)
    times = np.array([0.0, 0.1, 5.0, 100.0])
    expected = references.correlation_derivatives(graph, F, times)
    assert_allclose(way(graph, F, times), expected, atol=1e-8 * max(1.0, np.abs(expected).max(initial=0.0)))


EXTREMES = [(by_filters, 1e-100), (by_filters, 1.0), *((by_decomposition, s) for s in (1e-100, 1.0, 1e6, 1e12))]


@pytest.mark.parametrize(("way", "scale"), EXTREMES)
def test_finite_everywhere(way: Callable[..., np.ndarray], scale: float) -> None:
    for case in ("one edge", "several components", "zero weights", "no edges"):
        graph = CASES[case]()
        graph = graph.with_weights(graph.w * scale)
        times = np.array([0.0, 1.0, 1e4])
        J = way(graph, functions(graph), times)
        assert np.all(np.isfinite(J))
        assert np.all(J[0] == 0.0)


@pytest.mark.parametrize("weights", [[1e-17, 2e-17, 3e-17], [1.0, 1e-12, 2.0], [1.0, 1e-20, 3e-7], [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("t", [1e6, 1e12, 1e17, 1e20])
def test_derivative_at_long_times_over_faint_edges(weights: list[float], t: float) -> None:
    """By how much Q changes where a weight grows by a part: against differences of heat in whole numbers."""
    graph = ct.Graph(4, [0, 1, 2], [1, 2, 3], weights)
    F, step = functions(graph, 2), 1e-4
    J = by_decomposition(graph, F, np.array([t]))[0] * graph.w
    model = CorrelationModel(graph, F, np.array([t]))
    slopes = np.arange(1.0, 4.0)
    gradient = model.at(graph.w).derivative_map(np.arange(3)).gradient(slopes) * graph.w
    a, b = np.triu_indices(2)
    for e in range(3):
        moved = [graph.with_weights(graph.w * (1 + s * step * (np.arange(3) == e))) for s in (1, -1)]
        up, down = (F.T @ references.exact_heat_kernel(g, t) @ F for g in moved)
        expected = ((up - down) / (2 * step))[a, b]
        assert_allclose(J[:, e], expected, atol=1e-6)
        assert_allclose(gradient[e], expected @ (slopes * model.scale), atol=1e-5)
