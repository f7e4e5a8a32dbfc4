"""The cost of coupling by pairs: against dense matrices, its derivatives by their remainders."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import cotherm as ct
from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.methods.pairs.descent import descend
from cotherm.methods.pairs.problem import PairProblem, Term, Value
from cotherm.progress import Meter
from tests import problems, references

RNG = np.random.default_rng(5)
TIMES = np.array([0.1, 0.6])
RHO = np.array([1.0, 2.5, 0.5])
ALPHA = 30.0


def views() -> list[ct.Graph]:
    return [problems.cloud(n, seed=n) for n in (30, 25, 34)]


def terms(graphs: list[ct.Graph]) -> list[Term]:
    """Of different numbers of functions, and one pair of views without any."""
    sizes = [graph.n for graph in graphs]
    return [
        Term(0, 1, RNG.standard_normal((sizes[0], 3)), RNG.standard_normal((sizes[1], 3))),
        Term(1, 2, RNG.standard_normal((sizes[1], 5)), RNG.standard_normal((sizes[2], 5))),
    ]


def problem() -> tuple[PairProblem, list[ct.Graph], list[Term]]:
    graphs = views()
    known = terms(graphs)
    return PairProblem(graphs, known, TIMES, RHO, default_engine()), graphs, known


def reference(graphs: list[ct.Graph], known: list[Term], weights: list[Floats]) -> tuple[float, float]:
    """Distance and coupling from dense matrices."""
    coupled = [graph.with_weights(w) for graph, w in zip(graphs, weights, strict=True)]
    gaps = [(new.laplacian() - old.laplacian()).toarray() for new, old in zip(coupled, graphs, strict=True)]
    distance = sum(rho * np.sum(gap**2) for rho, gap in zip(RHO, gaps, strict=True))
    coupling = 0.0
    for t in TIMES:
        H = [references.heat_kernel(graph, t) for graph in coupled]
        coupling += sum(np.sum((one.F.T @ H[one.a] @ one.F - one.G.T @ H[one.b] @ one.G) ** 2) for one in known)
    return float(distance), float(coupling)


def test_the_cost_is_that_of_dense_matrices() -> None:
    cost, graphs, known = problem()
    u = cost.center * RNG.uniform(0.3, 1.7, len(cost.center))
    value = cost.at(u, ALPHA)
    assert_allclose((value.distance, value.coupling), reference(graphs, known, cost.weights(u)), rtol=1e-9)
    assert_allclose(np.sum(cost.errors(u) ** 2), value.coupling, rtol=1e-12)


@pytest.mark.parametrize("part", ["distance", "coupling"])
def test_the_remainder_of_the_gradient_is_quadratic(part: str) -> None:
    cost, _, _ = problem()
    u = cost.center * RNG.uniform(0.3, 1.7, len(cost.center))
    v = RNG.standard_normal(len(u))
    here = cost.at(u, ALPHA)
    slope = (here.of_distance if part == "distance" else here.of_coupling / ALPHA) @ v
    steps = 2.0 ** -np.arange(6.0, 12.0)
    rest = [abs(getattr(cost.at(u + h * v, ALPHA), part) - getattr(here, part) - h * slope) for h in steps]
    assert_allclose(np.log2(np.divide(rest[:-1], rest[1:])), 2.0, atol=0.1)


def test_the_stiffness_is_the_norm_of_a_dense_matrix() -> None:
    cost, graphs, _ = problem()
    size = len(cost.center)
    J = []
    for e in range(size):
        step = np.zeros(size)
        step[e] = 1e-5
        Q = [
            [np.concatenate([D.ravel() for D in cost._differences([v.correlations(w) for v, w in parts])])]
            for parts in (
                list(zip(cost._views, cost.weights(cost.center + sign * step), strict=True)) for sign in (1.0, -1.0)
            )
        ]
        J.append((Q[0][0] - Q[1][0]) / 2e-5)
    A = scipy.linalg.block_diag(*(rho * _metric(graph) for rho, graph in zip(RHO, graphs, strict=True)))
    expected = np.max(np.abs(scipy.linalg.eigvals(np.linalg.solve(A, np.array(J) @ np.array(J).T))))
    assert_allclose(cost.stiffness(), expected, rtol=0.1)  # power iteration; it need not be exact


def _metric(graph: ct.Graph) -> Floats:
    C = np.zeros((graph.n, graph.m))
    C[graph.i, np.arange(graph.m)] = C[graph.j, np.arange(graph.m)] = 1.0
    return 2.0 * np.eye(graph.m) + C.T @ C


def test_views_without_terms_stay_where_they_are() -> None:
    graphs = views()
    cost = PairProblem(graphs, terms(graphs)[:1], TIMES, RHO, default_engine())
    value = cost.at(cost.center, ALPHA)
    assert not np.any(cost.weights(value.of_coupling)[2])
    assert np.any(cost.weights(value.of_coupling)[0])
    assert PairProblem(graphs, [], TIMES, RHO, default_engine()).at(cost.center, ALPHA).coupling == 0.0


def test_a_descent_ends_where_scipy_does_in_as_few_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs to 1e-9; evaluations until the cost is known to one part in a million, over three strengths together."""
    ours = theirs = 0
    costs: list[float] = []
    at = PairProblem.at

    def counted(self: PairProblem, u: Any, alpha: float) -> Value:
        value = at(self, u, alpha)
        costs.append(value.distance + alpha * value.coupling)
        return value

    monkeypatch.setattr(PairProblem, "at", counted)
    for alpha in (1e-2, 0.1, 1.0):  # beyond, there are several minima
        cost, _, _ = problem()
        expected = by_scipy(cost, alpha)
        costs.clear()
        with Meter() as meter:
            found = descend(cost, [alpha], tolerance=1e-14, max_iterations=3_000, meter=meter)
        assert_allclose(found.distance + alpha * found.coupling, min(expected), rtol=1e-9)
        assert alpha < 1.0 or np.any(np.concatenate(found.weights) == 0.0)
        enough = (1.0 + 1e-6) * min(*expected, *costs)
        ours += int(np.argmax(np.array(costs) <= enough)) + 1
        theirs += int(np.argmax(np.array(expected) <= enough)) + 1
    assert ours <= 1.1 * theirs, (ours, theirs)


def by_scipy(cost: PairProblem, alpha: float) -> list[float]:
    """The costs at all evaluations, in the same units of the weights and of the cost."""
    seen: list[float] = []
    first = cost.at(cost.center, alpha)
    unit = first.distance + alpha * first.coupling

    def evaluate(x: Floats) -> tuple[float, Floats]:
        value = cost.at(x * cost.scale, alpha)
        seen.append(value.distance + alpha * value.coupling)
        return seen[-1] / unit, (value.of_distance + value.of_coupling) * cost.scale / unit

    options = {"maxiter": 3_000, "maxfun": 10**5, "maxcor": 20, "ftol": 1e-15, "gtol": 0.0}
    bounds, solve = [(0.0, None)] * len(cost.center), cast("Any", minimize)
    solve(evaluate, cost.center / cost.scale, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return seen
