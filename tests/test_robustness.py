"""Problems at the edge of what numbers, graphs and functions can be: right answers, or words that say what is wrong.

Small ones are compared with mpmath, in fifty digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from tests.problems import cloud, path, random_graph, ring, star


def exact_kernel(graph: ct.Graph, t: float) -> Any:
    """e^{−tL} by mpmath, with so many digits that no weight is lost beside another."""
    mpmath = pytest.importorskip("mpmath")
    sizes = [abs(float(np.log10(w) + np.log10(t))) for w in graph.w.tolist() if w > 0.0 and t > 0.0]
    mpmath.mp.dps = 50 + int(2.0 * max(sizes, default=0.0))
    L = mpmath.matrix(graph.n, graph.n)
    for i, j, w in zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True):
        L[i, j] = L[j, i] = -mpmath.mpf(w)
        L[i, i] += mpmath.mpf(w)
        L[j, j] += mpmath.mpf(w)
    values, vectors = mpmath.eigsy(L)
    middle = mpmath.diag([mpmath.exp(-mpmath.mpf(t) * value) for value in values])
    return vectors * middle * vectors.T


def as_floats(matrix: Any) -> np.ndarray:
    return np.array([[float(matrix[a, b]) for b in range(matrix.cols)] for a in range(matrix.rows)])


def exact_cost(
    graphs: Sequence[ct.Graph], given: Sequence[ct.Graph], functions: Sequence[Any], times: Any, alpha: float
) -> float:
    """The paper's cost (hkc1) of two graphs, by mpmath."""
    mpmath = pytest.importorskip("mpmath")
    total = mpmath.mpf(0)
    for new, old in zip(graphs, given, strict=True):
        D = np.asarray((new.laplacian() - old.laplacian()).toarray())
        total += sum(mpmath.mpf(float(x)) ** 2 for x in D.ravel())
    for t in times:
        Q = []
        for graph, F in zip(graphs, functions, strict=True):
            columns = mpmath.matrix(F.tolist())
            Q.append(columns.T * exact_kernel(graph, float(t)) * columns)
        difference = Q[0] - Q[1]
        total += mpmath.mpf(alpha) * sum(x**2 for x in difference)
    return float(total)


def small_pair(seed: int) -> tuple[list[ct.Graph], list[np.ndarray]]:
    random = np.random.default_rng(seed)
    graphs = [random_graph(7, 16, seed=seed), random_graph(6, 12, seed=seed + 100)]
    return graphs, [np.abs(random.standard_normal((g.n, 2))) for g in graphs]


# ------------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize("t", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_weights_of_all_sizes_in_one_graph(t: float) -> None:
    weights = [1e-300, 1e-12, 1.0, 1e12, 1e300]
    graph = ct.Graph(6, range(5), range(1, 6), weights)
    found = ct.heat_kernel(graph, t)
    assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert_allclose(found, as_floats(exact_kernel(graph, t)), atol=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_heat_of_weights_over_many_decades(seed: int) -> None:
    random = np.random.default_rng(seed)
    graph = random_graph(8, 20, seed=seed)
    graph = graph.with_weights(10.0 ** random.uniform(-60, 60, graph.m))
    for t in (1e-12, 1.0, 1e12):
        assert_allclose(ct.heat_kernel(graph, t), as_floats(exact_kernel(graph, t)), atol=1e-11)


def test_couplings_of_weights_that_have_no_squares_are_refused() -> None:
    graphs = [ct.Graph(4, range(3), range(1, 4), [1e-300, 1.0, size]) for size in (1e300, 1e299)]
    with pytest.raises(ct.CothermError) as refused:
        ct.couple(graphs, [np.eye(4)[:, :2]] * 2, [1.0])
    assert refused.value.argument == "graphs"
    assert "Rescale" in str(refused.value)


@pytest.mark.parametrize("spread", [20.0, 60.0])
def test_couplings_of_weights_over_many_decades(spread: float) -> None:
    random = np.random.default_rng(0)
    graphs, functions = small_pair(1)
    graphs = [g.with_weights(10.0 ** random.uniform(-spread, 0.0, g.m)) for g in graphs]
    result = ct.couple(graphs, functions, [0.5, 2.0], 10.0)
    expected = exact_cost(result.graphs, graphs, functions, result.times, 10.0)
    assert_allclose(result.cost, expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_cost_of_a_coupling_and_that_it_is_least(seed: int) -> None:
    """No step along one weight, which fifty digits would see, lowers the cost."""
    graphs, functions = small_pair(seed)
    times, alpha = [0.3, 2.0], 50.0
    result = ct.couple(graphs, functions, times, alpha)
    assert result.status in ("converged", "stalled")
    least = exact_cost(result.graphs, graphs, functions, times, alpha)
    assert_allclose(result.cost, least, rtol=1e-10)
    random = np.random.default_rng(seed)
    for k, e in zip(random.integers(2, size=6), random.integers(7, size=6), strict=True):
        for step in (1e-4, -1e-4):
            w = result.graphs[k].w.copy()
            w[e] = max(w[e] + step, 0.0)
            moved = [g.with_weights(w) if number == k else g for number, g in enumerate(result.graphs)]
            assert exact_cost(moved, graphs, functions, times, alpha) >= least * (1.0 - 1e-9)


@pytest.mark.parametrize("t", [1e-12, 1e12])
def test_times_far_from_any_that_matter(t: float) -> None:
    graphs, functions = small_pair(3)
    result = ct.couple(graphs, functions, [t], 10.0)
    assert result.status in ("converged", "stalled")  # after 1e-12 what weights can change is below rounding
    assert_allclose(result.cost, exact_cost(result.graphs, graphs, functions, [t], 10.0), rtol=1e-8)
    both = ct.couple(graphs, functions, [1e-12, 1.0, 1e12], 10.0)
    assert both.converged
    assert_allclose(both.cost, exact_cost(both.graphs, graphs, functions, [1e-12, 1.0, 1e12], 10.0), rtol=1e-8)


def test_a_time_given_twice_weighs_twice() -> None:
    graphs, functions = small_pair(4)
    twice = ct.couple(graphs, functions, [1.0, 1.0], 10.0)
    once = ct.couple(graphs, functions, [1.0], 20.0)
    assert_allclose(twice.cost, once.cost, rtol=1e-9)
    for a, b in zip(twice.graphs, once.graphs, strict=True):
        assert_allclose(a.w, b.w, atol=1e-4)


# ---------------------------------------------------------------------------------------------------- functions


def test_a_function_that_is_zero_changes_nothing() -> None:
    graphs, functions = small_pair(5)
    padded = [np.column_stack([F, np.zeros(len(F))]) for F in functions]
    with_zero, without = ct.couple(graphs, padded, [1.0], 10.0), ct.couple(graphs, functions, [1.0], 10.0)
    assert_allclose(with_zero.cost, without.cost, rtol=1e-9)
    for a, b in zip(with_zero.graphs, without.graphs, strict=True):
        assert_allclose(a.w, b.w, atol=1e-4)


def test_functions_that_are_all_zero() -> None:
    graphs, functions = small_pair(5)
    result = ct.couple(graphs, [0.0 * F for F in functions], [1.0], 10.0)
    assert result.cost == 0.0
    for a, b in zip(result.graphs, graphs, strict=True):
        assert np.array_equal(a.w, b.w)
    ct.couple(graphs, [0.0 * F for F in functions])  # times and α chosen


def test_a_function_given_twice_is_one_of_twice_the_weight() -> None:
    graphs, functions = small_pair(6)
    single = [F[:, :1] for F in functions]
    twice = ct.couple(graphs, [np.repeat(F, 2, axis=1) for F in single], [1.0], 10.0)
    weighted = ct.couple(graphs, single, [1.0], 10.0, options={"function_weights": [2.0]})
    assert_allclose(twice.cost, weighted.cost, rtol=1e-9)


def test_functions_that_are_combinations_of_others() -> None:
    graphs, functions = small_pair(7)
    dependent = [np.column_stack([F, F @ [[1.0, -2.0], [0.5, 1.0]]]) for F in functions]
    result = ct.couple(graphs, dependent, [1.0], 10.0)
    assert result.converged
    assert_allclose(result.cost, exact_cost(result.graphs, graphs, dependent, [1.0], 10.0), rtol=1e-9)


def test_functions_that_differ_at_the_beginning_are_told() -> None:
    graphs, functions = small_pair(8)
    apart = [functions[0], 3.0 * functions[1]]
    result = ct.couple(graphs, apart, [0.0, 1.0], 10.0)
    assert result.mismatch > 0.5
    assert "t = 0" in str(result)
    same = ct.couple([graphs[0]] * 2, [functions[0]] * 2, [1.0], 10.0)
    assert same.mismatch == 0.0


# ------------------------------------------------------------------------------------------------------- graphs


def test_equal_graphs_are_left_as_they_are_at_once() -> None:
    for graph in (ring(40), cloud(60), cloud(400), random_graph(30, 60, seed=0, spread=5.0)):
        F = np.abs(np.random.default_rng(0).standard_normal((graph.n, 3)))
        result = ct.couple([graph, graph], [F, F])
        assert result.converged
        assert result.cost == 0.0
        assert max((row["iteration"] for row in result.history), default=0) == 0
        for new in result.graphs:
            assert np.array_equal(new.w, graph.w)


def test_one_vertex() -> None:
    one = ct.Graph(1, [], [], [])
    F = np.array([[2.0]])
    assert ct.couple([one, one], [F, F]).cost == 0.0
    result = ct.couple([one, path(5)], [F, np.eye(5)[:, :1]], [1.0], 1.0)
    assert result.converged
    assert_allclose(ct.heat_kernel(one, 3.0), [[1.0]])


def test_graphs_that_cannot_be_coupled_say_so() -> None:
    """Without edges nothing can change; between pieces no heat can flow, however long the time."""
    empty, pieces = ct.Graph(4, [], [], []), ct.Graph(4, [0, 2], [1, 3], [1.0, 1.0])
    F, G = np.eye(4)[:, :2], np.eye(4)[:, 1:3]
    stuck = ct.couple([empty, empty], [F, 2.0 * F], [1.0], 10.0)
    assert stuck.coupling[0] == stuck.coupling_before[0] > 0.0
    assert stuck.mismatch > 0.0
    assert "t = 0" in str(stuck)
    result = ct.couple([pieces, path(4)], [F, G], [1.0, 100.0], 10.0)
    assert np.isfinite(result.cost)
    assert_allclose(result.cost, exact_cost(result.graphs, [pieces, path(4)], [F, G], [1.0, 100.0], 10.0), rtol=1e-8)


def test_pieces_stay_apart() -> None:
    first, second = cloud(50, 0), cloud(40, 1)
    joined = ct.Graph(
        90,
        np.concatenate([first.i, second.i + 50]),
        np.concatenate([first.j, second.j + 50]),
        np.concatenate([first.w, second.w]),
    )
    F = np.zeros((90, 2))
    F[:50] = ct.landmark_functions(first, [0, 30])
    result = ct.couple([joined, first], [F, F[:50]], [1.0, 5.0], 100.0)
    # The second piece has none of the functions: nothing there has a reason to change.
    inside = result.graphs[0].i >= 50
    assert_allclose(result.graphs[0].w[inside], joined.w[inside], atol=1e-9)
    assert np.all(ct.heat_kernel(result.graphs[0], 3.0)[:50, 50:] == 0.0)


def test_a_star_of_a_million_leaves() -> None:
    """Heat by the formula: λ = 0, 1 and n."""
    n = 1_000_001
    graph = star(n)
    F = np.zeros((n, 2))
    F[0, 0], F[1, 1] = 1.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CothermWarning)  # it may say how far rounding goes
        (found,) = ct.heat_flow(graph, F, [1e-6])
    t, lost = 1e-6, np.exp(-1e-6 * n)
    hub = np.full(n, (1.0 - lost) / n)
    hub[0] = 1.0 / n + (1.0 - 1.0 / n) * lost
    assert_allclose(found[:, 0], hub, atol=1e-9)
    assert_allclose(found[0, 1], (1.0 - lost) / n, atol=1e-12)
    assert_allclose(found[1, 1], np.exp(-t) * (1.0 - 1.0 / (n - 1)) + lost / (n * (n - 1.0)) + 1.0 / n, atol=1e-9)


def test_coupling_stars_of_a_million_leaves() -> None:
    n = 1_000_001
    graphs = [star(n), star(n, spread=0.1)]
    F = np.zeros((n, 1))
    F[0] = 1.0
    result = ct.couple(graphs, [F, F], [1e-6], 1e6, options={"max_iterations": 1})
    assert np.isfinite(result.cost)
    assert result.coupling[0] < result.coupling_before[0]
