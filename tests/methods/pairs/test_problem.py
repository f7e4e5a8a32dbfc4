"""The cost of coupling by pairs: against dense matrices, its derivatives by their remainders."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm.arrays import Floats
from cotherm.engines import default_engine
from cotherm.methods.pairs.problem import PairProblem, Term
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
