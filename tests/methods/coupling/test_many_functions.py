"""With many functions derivatives are applied and not formed: the maps, and the answer they lead to."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm import limits
from cotherm.engines import Engine
from cotherm.engines.cpu import incidence
from cotherm.engines.cpu.engine import CPU
from cotherm.methods.coupling.continuation import stiffness
from cotherm.methods.coupling.problem import CouplingProblem, _contrasts
from tests.engines.numpy_engine import NumpyEngine


def views(n: int, count: int, q: int) -> tuple[list[ct.Graph], list[np.ndarray]]:
    """Clouds of the same points with noise, and smooth functions."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((n, 3))
    graphs = [ct.knn_graph(points + 0.15 * rng.standard_normal((n, 3)), k=6) for _ in range(count)]
    F = np.linalg.eigh(graphs[0].laplacian().toarray())[1][:, 1 : q + 1]
    return graphs, [F] * count


def problem(n: int, count: int, q: int, times: list[float]) -> CouplingProblem:
    graphs, functions = views(n, count, q)
    free = [np.arange(g.m) for g in graphs]
    free[0] = free[0][::2]
    weights = np.linspace(1.0, 2.0, count)
    return CouplingProblem(
        graphs, functions, np.array(times), 50.0, free=free, rigidity=np.ones(count), graph_weights=weights
    )


@pytest.mark.parametrize("n", [40, limits.SPECTRAL_CORRELATION + 20])
@pytest.mark.parametrize("count", [2, 3])
def test_maps_are_the_formed_jacobian(n: int, count: int) -> None:
    p = problem(n, count, 5, [0.3, 1.0])
    point = p.at(p.center)
    J = point.jacobian.array
    d = np.random.default_rng(1).standard_normal(J.shape[0])
    assert_allclose(point.derivative(d), J.T @ d, atol=1e-9 * np.abs(J.T @ d).max())
    pull = J @ point.residuals
    assert_allclose(point.gradient(point.residuals), pull, atol=1e-9 * np.abs(pull).max())
    assert_allclose(point.coupling_gradient(), pull, atol=1e-9 * np.abs(pull).max())


def test_the_derivative_passes_the_taylor_test() -> None:
    p = problem(60, 3, 6, [0.5])
    point, d = p.at(p.center), np.random.default_rng(2).standard_normal(len(p.center)) * p.center
    errors = []
    for h in (1e-2, 5e-3, 2.5e-3):
        there = p.at(p.center + h * d).residuals
        errors.append(
            float(there @ there - point.residuals @ point.residuals) - 2.0 * h * float(point.coupling_gradient() @ d)
        )
    assert all(3.5 < a / b < 4.5 for a, b in pairwise(errors))


@pytest.mark.parametrize("count", [2, 3])
def test_alpha_is_chosen_alike(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the largest eigenvalue of a matrix that is formed, or applied."""
    p = problem(40, count, 8, [0.3])
    monkeypatch.setattr(limits, "FORMED_SMALL", 0)
    applied = stiffness(p)
    monkeypatch.setattr(limits, "FORMED_RESIDUALS", 10_000)
    assert applied == pytest.approx(stiffness(p), rel=1e-7)


def test_contrasts_are_all_pairs() -> None:
    shares = np.array([1.0, 3.0, 0.5, 2.0])
    H = _contrasts(shares)
    assert_allclose(H.T @ H, np.diag(shares.sum() * shares) - np.outer(shares, shares), atol=1e-12)


def solved(residuals: int, count: int, engine: Engine | str = "cpu") -> ct.Coupling:
    graphs, functions = views(40, count, 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "FORMED_RESIDUALS", residuals)
        patch.setattr(limits, "FORMED_SMALL", 0)
        return ct.couple(graphs, functions, [0.4], 1e4, options={"continuation": "times"}, engine=engine)


@pytest.mark.parametrize("count", [2, 3])
def test_gradients_alone_lead_to_the_same_answer(count: int) -> None:
    expected, found = solved(10_000, count), solved(0, count)
    assert found.settings["memory"]["derivatives"] == "applied"
    assert found.converged
    assert_allclose(found.cost, expected.cost, rtol=1e-7)
    for a, b in zip(found.graphs, expected.graphs, strict=True):
        assert_allclose(a.w, b.w, atol=1e-4)


def test_applied_derivatives_on_another_engine() -> None:
    a, b = (solved(0, 2, engine) for engine in ("cpu", NumpyEngine()))
    assert_allclose(a.cost, b.cost, rtol=1e-7)


def test_the_forecast_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FORMED_SMALL", 0)
    graphs, functions = views(60, 3, 30)
    needs = ct.coupling_memory(graphs, functions, [0.4])
    assert needs.applied
    assert "derivatives are applied" in str(needs)
    few = ct.coupling_memory(graphs, [F[:, :3] for F in functions], [0.4])
    assert not few.applied


def test_one_column_in_one_call_is_the_same_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = views(300, 1, 2)[0][0]
    rng = np.random.default_rng(0)
    free, y = rng.random(graph.m) < 0.6, rng.standard_normal((graph.n, 1))
    solve = CPU.signless_solver(CPU.pattern(graph.n, graph.i, graph.j), free)
    quick = solve(y, 1e-12, None)
    monkeypatch.setattr(incidence, "_ONE_CALL", 0)
    assert_allclose(quick, solve(y, 1e-12, None), atol=1e-12)
    W = np.zeros((graph.n, graph.n))
    W[graph.i, graph.j] = W[graph.j, graph.i] = free
    assert_allclose(quick, np.linalg.solve(np.diag(2.0 + W.sum(axis=1)) + W, y), atol=1e-11)
