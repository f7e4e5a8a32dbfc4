"""With many functions derivatives are applied and not formed: the maps, the factors, and the answer they lead to."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm import limits, memory
from cotherm.engines import Engine
from cotherm.engines.cpu import incidence
from cotherm.engines.cpu.engine import CPU
from cotherm.methods.coupling import memory as plan
from cotherm.methods.coupling.implicit_jacobian import Contrasts, ImplicitJacobian
from cotherm.methods.coupling.jacobian import Jacobian
from cotherm.methods.coupling.memory import MemoryPlan
from cotherm.methods.coupling.problem import CouplingProblem, _contrasts
from cotherm.solve import iterated_system
from cotherm.solve.rough_inverse import is_by_unknowns
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


def jacobians(p: CouplingProblem) -> tuple[ImplicitJacobian, np.ndarray]:
    point = p.at(p.center)
    contrasts = Contrasts(p.contrasts, p.alpha, p.graph_weights)
    applied = ImplicitJacobian(p.engine, point._states, p.free, contrasts, p.largest, p.factors)
    formed = Jacobian(p.engine, point._states, p.free, p.contrasts, point.residuals.size)
    return applied, formed.kept(MemoryPlan(), p.largest).to_array()


@pytest.mark.parametrize("n", [40, limits.SPECTRAL_CORRELATION + 20])
@pytest.mark.parametrize("count", [2, 3])
def test_products_are_those_of_the_formed_jacobian(n: int, count: int) -> None:
    p = problem(n, count, 5, [0.3, 1.0])
    applied, J = jacobians(p)
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((1, J.shape[1]))[0], rng.standard_normal((1, J.shape[0]))[0]
    assert applied.shape == J.shape
    for matrix, accuracy in ((applied, 1e-9), (applied.rough, 1e-5)):
        assert_allclose(matrix.matvec(x), J @ x, atol=accuracy * np.abs(J @ x).max())
        assert_allclose(matrix.rmatvec(y), J.T @ y, atol=accuracy * np.abs(J.T @ y).max())
    assert_allclose(applied.size, np.linalg.norm(J), rtol=0.5)


def test_the_derivative_passes_the_taylor_test() -> None:
    p = problem(60, 3, 6, [0.5])
    point, d = p.at(p.center), np.random.default_rng(2).standard_normal(len(p.center)) * p.center
    applied, _ = jacobians(p)
    errors = []
    for h in (1e-2, 5e-3, 2.5e-3):
        errors.append(np.linalg.norm(p.at(p.center + h * d).residuals - point.residuals - h * applied.rmatvec(d)))
    assert all(3.5 < a / b < 4.5 for a, b in pairwise(errors))


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("robust", [None, 0.3])
@pytest.mark.parametrize("held", [0.3, 0.93, 1.0])
def test_factors_invert_the_system(count: int, robust: float | None, held: float) -> None:
    """By as many equations as a graph has entries of Q, or by its free edges where these are fewer."""
    p = problem(50, count, 8, [0.5])
    p.robust = robust
    metric, shift = p.metric(p.center), 2.0
    applied, J = jacobians(p)
    active = np.random.default_rng(3).random(len(p.center)) < held
    free = applied._free_counts(active)
    free = [sum(free)] if count == 2 else free
    assert all(is_by_unknowns(number, p.entries) == (held > 0.5) for number in free)
    part = metric.restricted(active)
    K = shift * np.eye(J.shape[1]) + J.T @ np.column_stack([part.inverse(column) for column in J.T])
    solve = applied.factored(metric, active, shift)
    assert solve is not None
    r = np.random.default_rng(4).standard_normal((1, J.shape[1]))[0]
    assert_allclose(solve(r), np.linalg.solve(K, r), atol=2e-3 * np.abs(np.linalg.solve(K, r)).max())


def test_contrasts_have_the_structure_that_factors_use() -> None:
    shares = np.array([1.0, 3.0, 0.5, 2.0])
    H = _contrasts(shares)
    assert_allclose(H.T @ H, np.diag(shares.sum() * shares) - np.outer(shares, shares), atol=1e-12)


def solved(way: str, residuals: int, count: int, engine: Engine | str = "cpu") -> ct.Coupling:
    graphs, functions = views(40, count, 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "FORMED_RESIDUALS", residuals)
        patch.setattr(plan, "WAYS", (way,))
        return ct.couple(graphs, functions, [0.4], 1e4, options={"continuation": "times"}, engine=engine)


@pytest.mark.parametrize("count", [2, 3])
def test_applied_derivatives_lead_to_the_same_answer(count: int) -> None:
    expected = solved("stored", 10_000, count)
    for way, words in (("stored", "applied"), ("recomputed", "applied without factors")):
        found = solved(way, 0, count)
        assert found.settings["memory"]["derivatives"] == words
        assert found.converged
        assert_allclose(found.cost, expected.cost, rtol=1e-7)
        for a, b in zip(found.graphs, expected.graphs, strict=True):
            assert_allclose(a.w, b.w, atol=1e-4)


def test_applied_derivatives_on_another_engine() -> None:
    a, b = (solved("stored", 0, 2, engine) for engine in ("cpu", NumpyEngine()))
    assert_allclose(a.cost, b.cost, rtol=1e-7)


def test_the_forecast_says_how() -> None:
    graphs, functions = views(60, 3, 30)
    needs = ct.coupling_memory(graphs, functions, [0.4])
    assert needs.applied
    assert needs.recomputed == needs.streamed < needs.stored
    assert "without factors" in str(needs)
    few = ct.coupling_memory(graphs, [F[:, :3] for F in functions], [0.4])
    assert not few.applied


@pytest.mark.parametrize(("cost", "words"), [(0.0, "applied"), (np.inf, "applied without factors")])
def test_the_result_says_whether_factors_were_made(cost: float, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, functions = views(60, 3, 30)
    monkeypatch.setattr(ImplicitJacobian, "factoring_work", lambda *_: cost)
    result = ct.couple(graphs, functions, [0.4], 1e3, options={"max_iterations": 30, "continuation": "direct"})
    assert result.settings["memory"]["derivatives"] == words


def test_the_forecast_without_factors_is_that_of_the_plan_without_them() -> None:
    needs = ct.coupling_memory(*views(60, 3, 30), [0.4])
    planned = plan.planned(needs, None, "float64")
    assert planned.added == needs.stored
    assert planned.with_factors(0).added == needs.recomputed
    assert planned.with_factors(planned.factors) == planned


@pytest.mark.parametrize(("room", "words"), [(10**9, "applied"), (10, "applied without factors")])
def test_factors_beyond_the_limit_are_not_made(room: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where more edges stay free than the forecast takes for usual."""
    graphs, functions = views(60, 3, 30)
    monkeypatch.setattr(plan, "_USUALLY_FREE", 0.0)
    at_any_price = lambda _self, _work, factoring: np.isfinite(factoring)  # noqa: E731
    monkeypatch.setattr(iterated_system.Preconditioner, "is_due", at_any_price)
    needs = ct.coupling_memory(graphs, functions, [0.4])
    assert needs.stored - needs.recomputed < plan.factors_memory([g.m // 4 for g in graphs], [60] * 3, 465, CPU)
    budget = needs.in_use + needs.stored + room
    monkeypatch.setattr(memory, "in_use", lambda: needs.in_use)
    result = ct.couple(
        graphs, functions, [0.4], 1e3, options={"max_iterations": 30, "continuation": "direct", "memory": budget}
    )
    assert result.settings["memory"]["derivatives"] == words


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
