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
from cotherm.methods.coupling.continuation import rough_stiffness
from cotherm.methods.coupling.problem import Comparison, Point, Problem, of_two
from cotherm.methods.pairs.descent import descend
from cotherm.progress import Meter
from tests import problems, references

RNG = np.random.default_rng(5)
TIMES = np.array([0.1, 0.6])
RHO = np.array([1.0, 2.5, 0.5])
ALPHA = 30.0


def views() -> list[ct.Graph]:
    return [problems.cloud(n, seed=n) for n in (30, 25, 34)]


def terms(graphs: list[ct.Graph]) -> list[Comparison]:
    """Of different numbers of functions, and one pair of views without any."""
    sizes = [graph.n for graph in graphs]
    return [
        of_two(0, 1, RNG.standard_normal((sizes[0], 3)), RNG.standard_normal((sizes[1], 3))),
        of_two(1, 2, RNG.standard_normal((sizes[1], 5)), RNG.standard_normal((sizes[2], 5))),
    ]


def of(graphs: list[ct.Graph], known: list[Comparison]) -> Problem:
    return Problem(graphs, known, TIMES, ALPHA, rigidity=RHO, engine=default_engine())


def problem() -> tuple[Problem, list[ct.Graph], list[Comparison]]:
    graphs = views()
    known = terms(graphs)
    return of(graphs, known), graphs, known


def reference(graphs: list[ct.Graph], known: list[Comparison], weights: list[Floats]) -> tuple[float, float]:
    """Distance and coupling from dense matrices."""
    coupled = [graph.with_weights(w) for graph, w in zip(graphs, weights, strict=True)]
    gaps = [(new.laplacian() - old.laplacian()).toarray() for new, old in zip(coupled, graphs, strict=True)]
    distance = sum(rho * np.sum(gap**2) for rho, gap in zip(RHO, gaps, strict=True))
    coupling = 0.0
    for t in TIMES:
        H = [references.heat_kernel(graph, t) for graph in coupled]
        for (a, b), (F, G), _ in known:
            coupling += np.sum((F.T @ H[a] @ F - G.T @ H[b] @ G) ** 2)
    return float(distance), float(coupling)


def test_the_cost_is_that_of_dense_matrices() -> None:
    cost, graphs, known = problem()
    u = cost.center * RNG.uniform(0.3, 1.7, len(cost.center))
    coupling = np.sum(cost.at(u).residuals ** 2) / ALPHA
    assert_allclose((cost.distance(u), coupling), reference(graphs, known, cost.weights(u)), rtol=1e-9)
    assert_allclose(np.sum(cost.errors(u) ** 2), coupling, rtol=1e-12)


@pytest.mark.parametrize("part", ["distance", "coupling"])
def test_the_remainder_of_the_gradient_is_quadratic(part: str) -> None:
    cost, _, _ = problem()
    u = cost.center * RNG.uniform(0.3, 1.7, len(cost.center))
    v = RNG.standard_normal(len(u))
    here = cost.at(u)
    slope = 2.0 * (cost.metric(u).apply(u - cost.center) if part == "distance" else here.pull) @ v
    value = cost.distance if part == "distance" else lambda u: np.sum(cost.at(u).residuals ** 2)
    steps = 2.0 ** -np.arange(6.0, 12.0)
    rest = [abs(value(u + h * v) - value(u) - h * slope) for h in steps]
    assert_allclose(np.log2(np.divide(rest[:-1], rest[1:])), 2.0, atol=0.1)


def test_the_stiffness_is_the_norm_of_a_dense_matrix() -> None:
    cost, graphs, _ = problem()
    size = len(cost.center)
    J = []
    for e in range(size):
        step = np.zeros(size)
        step[e] = 1e-5
        r = [cost.at(cost.center + sign * step).residuals / np.sqrt(ALPHA) for sign in (1.0, -1.0)]
        J.append((r[0] - r[1]) / 2e-5)
    A = scipy.linalg.block_diag(*(rho * _metric(graph) for rho, graph in zip(RHO, graphs, strict=True)))
    expected = np.max(np.abs(scipy.linalg.eigvals(np.linalg.solve(A, np.array(J) @ np.array(J).T))))
    assert_allclose(rough_stiffness(cost), expected, rtol=0.1)  # power iteration; it need not be exact


def _metric(graph: ct.Graph) -> Floats:
    C = np.zeros((graph.n, graph.m))
    C[graph.i, np.arange(graph.m)] = C[graph.j, np.arange(graph.m)] = 1.0
    return 2.0 * np.eye(graph.m) + C.T @ C


def test_views_without_terms_stay_where_they_are() -> None:
    graphs = views()
    cost = of(graphs, terms(graphs)[:1])
    pull = cost.at(cost.center).pull
    assert not np.any(cost.weights(pull)[2])
    assert np.any(cost.weights(pull)[0])
    without = of(graphs, []).at(cost.center)
    assert not len(without.residuals)
    assert not np.any(without.pull)


def test_a_descent_ends_where_scipy_does_in_as_few_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs to 1e-9; evaluations until the cost is known to one part in a million, over three strengths together."""
    ours = theirs = 0
    costs: list[float] = []
    at = Problem.at

    def counted(self: Problem, u: Any) -> Point:
        point = at(self, u)
        costs.append(self.distance(u) + float(point.residuals @ point.residuals))
        return point

    monkeypatch.setattr(Problem, "at", counted)
    for alpha in (1e-2, 0.1, 1.0):  # beyond, there are several minima
        cost, _, _ = problem()
        expected = by_scipy(cost.restated(TIMES, alpha, None))
        costs.clear()
        with Meter() as meter:
            found = descend(cost, [alpha], tolerance=1e-14, max_iterations=3_000, meter=meter)
        assert_allclose(found.cost, min(expected), rtol=1e-9)
        assert alpha < 1.0 or np.any(np.concatenate(found.weights) == 0.0)
        enough = (1.0 + 1e-6) * min(*expected, *costs)
        ours += int(np.argmax(np.array(costs) <= enough)) + 1
        theirs += int(np.argmax(np.array(expected) <= enough)) + 1
    assert ours <= 1.1 * theirs, (ours, theirs)


def by_scipy(cost: Problem) -> list[float]:
    """The costs at all evaluations, in the same units of the weights and of the cost."""
    seen: list[float] = []
    unit = float(np.sum(cost.at(cost.center).residuals ** 2))
    scale = float(np.mean(cost.center)) * np.repeat(np.sqrt(RHO.min() / RHO), [graph.m for graph in cost.graphs])

    def evaluate(x: Floats) -> tuple[float, Floats]:
        u = x * scale
        point = cost.at(u)
        seen.append(cost.distance(u) + float(point.residuals @ point.residuals))
        return seen[-1] / unit, 2.0 * (cost.metric(u).apply(u - cost.center) + point.pull) * scale / unit

    options = {"maxiter": 3_000, "maxfun": 10**5, "maxcor": 20, "ftol": 1e-15, "gtol": 0.0}
    bounds, solve = [(0.0, None)] * len(cost.center), cast("Any", minimize)
    solve(evaluate, cost.center / scale, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return seen
