"""Transport between graphs: its cost in loops, optimality, known correspondences, real data, bad input, POT missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment

import cotherm as ct
from paper.data import nus
from paper.rivals import transport as module
from paper.rivals.transport import Transport, transport
from tests import problems, references


def some_problem(n: int = 9, m: int = 7) -> tuple[list[ct.Graph], list[np.ndarray]]:
    rng = np.random.default_rng(0)
    graphs = [problems.random_graph(n, 3 * n, seed=1), problems.random_graph(m, 3 * m, seed=2)]
    return graphs, [rng.standard_normal((g.n, 2)) for g in graphs]


def permuted_problem(n: int = 60, seed: int = 0) -> tuple[list[ct.Graph], list[np.ndarray], np.ndarray]:
    """A graph, the same with other numbers, and six landmarks in both; vertex v of the second is order[v]."""
    graph = problems.cloud(n, seed=seed)
    order = np.random.default_rng(seed + 1).permutation(n)
    other = problems.relabeled(graph, order)
    landmarks = np.arange(6)
    functions = [ct.landmark_functions(graph, order[landmarks]), ct.landmark_functions(other, landmarks)]
    return [graph, other], functions, order


def squared_differences(F: np.ndarray, G: np.ndarray) -> np.ndarray:
    return np.array([[np.sum((f - g) ** 2) for g in G] for f in F])


def mismatch(T: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Σ_kl T_kl (C_ik − D_jl)² for every i, j."""
    n, m = T.shape
    values = [
        [sum(T[k, h] * (C[i, k] - D[j, h]) ** 2 for k in range(n) for h in range(m)) for j in range(m)]
        for i in range(n)
    ]
    return np.array(values)


def slow_parts(result: Transport, functions: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The costs of features and the scaled distances, as the docstring says them."""
    M = squared_differences(*functions)
    C = [references.diffusion_distance(g, t) for g, t in zip(result.originals, result.times, strict=True)]
    s = np.sqrt(0.5 * (np.mean(C[0] ** 2) + np.mean(C[1] ** 2)) / M.mean())
    assert_allclose(result.scale, s, rtol=1e-9)
    return M, [one / s for one in C]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 1.0])
def test_the_cost_is_the_one_in_the_docstring(alpha: float) -> None:
    graphs, functions = some_problem()
    result = transport(graphs, functions, alpha=alpha, times=[0.4, 0.7])
    M, C = slow_parts(result, functions)
    T = result.plan
    assert result.times == (0.4, 0.7)
    assert_allclose(result.feature_cost, np.sum(M * T), rtol=1e-9)
    assert_allclose(result.structure_cost, np.sum(mismatch(T, *C) * T), rtol=1e-7)
    assert_allclose(result.cost, (1 - alpha) * result.feature_cost + alpha * result.structure_cost)


@pytest.mark.parametrize(("n", "m"), [(9, 7), (8, 8), (5, 11)])
def test_a_plan_moves_all_mass_once(n: int, m: int) -> None:
    plan = transport(*some_problem(n, m)).plan
    assert (plan >= 0.0).all()
    assert_allclose(plan.sum(axis=1), 1 / n)
    assert_allclose(plan.sum(axis=0), 1 / m)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.7, 0.95])
def test_no_other_plan_is_cheaper_to_first_order(alpha: float) -> None:
    """The gradient is least, among all plans, at the plan; for equal sizes permutations decide."""
    graphs, functions = some_problem(16, 16)
    result = transport(graphs, functions, alpha=alpha)
    M, C = slow_parts(result, functions)
    gradient = (1 - alpha) * M + 2 * alpha * mismatch(result.plan, *C)
    rows, columns = linear_sum_assignment(gradient)
    assert np.sum(gradient * result.plan) <= gradient[rows, columns].sum() / 16 + 1e-6
    even = np.full((16, 16), 1 / 256)
    assert result.cost < np.sum(even * ((1 - alpha) * M + alpha * mismatch(even, *C)))
    assert result.converged


def test_functions_alone_are_an_assignment() -> None:
    graphs, functions = some_problem(12, 12)
    M = squared_differences(*functions)
    rows, columns = linear_sum_assignment(M)
    result = transport(graphs, functions, alpha=0.0)
    assert_allclose(result.cost, M[rows, columns].mean())
    assert_array_equal(result.match()[0], columns)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_known_correspondence_is_found(seed: int) -> None:
    graphs, functions, order = permuted_problem(seed=seed)
    result = transport(graphs, functions)
    there, back = result.match()
    assert_array_equal(back, order)
    assert_array_equal(there, np.argsort(order))
    assert result.cost < 1e-9
    # Where the plan is a permutation, the second graph has the modes of the first, and distances of its own.
    assert_allclose(result.embedding(3)[1], result.embedding(3)[0][order], atol=1e-12)
    assert_allclose(result.distances(0.5)[1], ct.diffusion_distance(graphs[1], 0.5), atol=1e-9)


def test_relabelling_relabels_and_swapping_swaps() -> None:
    graphs, functions = some_problem(15, 12)
    order = np.random.default_rng(3).permutation(15)
    result = transport(graphs, functions)
    again = transport([problems.relabeled(graphs[0], order), graphs[1]], [functions[0][order], functions[1]])
    assert_allclose(again.plan, result.plan[order], atol=1e-9)
    swapped = transport(graphs[::-1], functions[::-1])
    assert_allclose(swapped.plan, result.plan.T, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-100, 1e-3, 1e3, 1e100])
def test_the_unit_of_functions_does_not_matter(factor: float) -> None:
    graphs, functions = some_problem()
    plain, scaled = transport(graphs, functions), transport(graphs, [factor * F for F in functions])
    assert_allclose(scaled.plan, plain.plan, atol=1e-9)
    assert_allclose(scaled.cost, factor**2 * plain.cost, rtol=1e-6)


def test_by_default_heat_makes_twenty_moves() -> None:
    graphs, functions = some_problem()
    result = transport(graphs, functions)
    assert_allclose(result.times, [20 / np.median(g.degrees[g.degrees > 0]) for g in graphs])
    assert_array_equal(transport(graphs, functions, times=result.times).plan, result.plan)
    assert transport(graphs, functions, times=2).times == (2.0, 2.0)


def test_planted_clusters_are_carried_over() -> None:
    graphs, classes = problems.planted_views()
    clear = ct.Graph.from_adjacency(graphs[0].adjacency().toarray() * (classes[:, np.newaxis] == classes))
    order = np.random.default_rng(0).permutation(60)
    some = np.where(np.arange(60) % 4 == 0, classes, -1)
    known = ct.label_functions(some, classes=[0, 1, 2], unlabeled=-1, unit_norm=False)
    other = problems.relabeled(clear, order)
    result = transport([clear, other], [known, known[order]])
    first, second = result.clusters(3)
    assert ct.evaluate.clustering_accuracy(classes, first) == 1.0
    assert ct.evaluate.clustering_accuracy(classes[order], second) > 0.9


def test_out_of_steps_is_a_status() -> None:
    result = transport(*some_problem(), max_iterations=1)
    assert result.status == "out of budget"
    assert not result.converged
    assert "max_iterations" in str(result)


def test_warnings_of_the_solver_become_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    """One step of the network simplex is too few, and POT says so by a warning."""
    monkeypatch.setattr(module, "_SIMPLEX_STEPS", 1)
    assert transport(*some_problem(30, 30)).status == "out of budget"


def test_it_is_a_joint_and_prints() -> None:
    result = transport(*some_problem())
    assert isinstance(result, ct.JointResult)
    assert [Y.shape for Y in result.embedding(2)] == [(9, 2), (7, 2)]
    assert [D.shape for D in result.distances(1.0)] == [(9, 9), (7, 7)]
    assert [c.shape for c in result.clusters(2)] == [(9,), (7,)]
    assert result.settings["alpha"] == 0.5
    assert "graphs of 9 and 7 vertices: converged" in str(result)
    assert "POT" in result.versions


@pytest.mark.parametrize(
    "graph",
    [ct.Graph(1, [], [], []), ct.Graph(4, [], [], []), ct.Graph(3, [0], [1], [0.0]), ct.Graph(2, [0], [1], [1e9])],
)
def test_odd_graphs_are_transported(graph: ct.Graph) -> None:
    for other, time in ((problems.ring(5), "auto"), (graph, 1e-9)):
        result = transport([graph, other], [np.ones((graph.n, 1)), np.zeros((other.n, 1))], times=time)
        assert np.isfinite(result.cost)
        assert_allclose(result.plan.sum(axis=0), 1 / other.n)
        assert np.isfinite(result.distances(1.0)[1]).all()


def test_functions_that_say_nothing() -> None:
    graphs, _ = some_problem()
    result = transport(graphs, [np.ones(9), np.ones(7)])
    assert result.feature_cost == 0.0
    assert result.structure_cost > 0.0


def test_without_pot_its_installation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == "ot" or name.startswith("ot.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(ct.CothermError, match="pip install POT"):
        transport(*some_problem())


def test_nus(data_file: Callable[[str], Path]) -> None:
    """From ten per cent of the images, 72 % were matched to one of their class, and clusters were 0.73 and 0.62."""
    views = nus(stored=True, data=data_file("nus/NUS_results.mat").parents[1])
    labels: Any = views.labels
    functions = [ct.landmark_functions(g, np.arange(0, 145, 10)) for g in views.graphs]
    result = transport(views.graphs, functions)
    there, back = result.match()
    first, second = (ct.evaluate.clustering_accuracy(labels, c) for c in result.clusters(7))
    assert min(np.mean(labels[there] == labels), np.mean(labels[back] == labels)) > 0.6
    assert first > 0.65
    assert second > 0.5


GOOD, GOOD_FUNCTIONS = some_problem()

BAD: list[tuple[str, dict[str, object]]] = [
    ("graphs", {"graphs": GOOD[:1]}),
    ("graphs", {"graphs": [*GOOD, GOOD[0]], "functions": [*GOOD_FUNCTIONS, GOOD_FUNCTIONS[0]]}),
    ("graphs", {"graphs": [GOOD[0], problems.ring(5_001)], "functions": [GOOD_FUNCTIONS[0], np.ones((5_001, 2))]}),
    ("graphs[1]", {"graphs": [GOOD[0], np.eye(7)]}),
    ("functions", {"functions": GOOD_FUNCTIONS[0]}),
    ("functions", {"functions": GOOD_FUNCTIONS[:1]}),
    ("functions", {"functions": [GOOD_FUNCTIONS[0], GOOD_FUNCTIONS[1][:, :1]]}),
    ("functions", {"functions": [1e150 * F for F in GOOD_FUNCTIONS]}),
    ("functions[1]", {"functions": [GOOD_FUNCTIONS[0], GOOD_FUNCTIONS[1][:-1]]}),
    ("functions[0]", {"functions": [np.full((9, 2), np.nan), GOOD_FUNCTIONS[1]]}),
    ("times", {"times": -1.0}),
    ("times", {"times": [1.0, 2.0, 3.0]}),
    ("times", {"times": "long"}),
    ("times", {"graphs": [problems.ring(9), problems.path(7)], "times": 1e4}),
    ("times", {"graphs": [problems.ring(9), problems.path(7)], "times": 1e300}),
    ("alpha", {"alpha": 1.1}),
    ("alpha", {"alpha": -0.1}),
    ("alpha", {"alpha": None}),
    ("tolerance", {"tolerance": 0.0}),
    ("max_iterations", {"max_iterations": 0}),
]


@pytest.mark.parametrize(("argument", "change"), BAD)
def test_bad_input_is_named(argument: str, change: dict[str, object]) -> None:
    arguments: dict[str, object] = {"graphs": GOOD, "functions": GOOD_FUNCTIONS} | change
    with pytest.raises(ct.CothermError) as caught:
        transport(**arguments)  # type: ignore[arg-type]
    assert caught.value.argument == argument
