"""Coupled bases: derivatives, planted rotations, graphs of different sizes, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm.arrays import Floats
from cotherm.methods.quasi_harmonic import CoupledModes
from cotherm.solve.orthogonal import _cayley
from tests import problems


def modes(seed: int, views: int = 3, k: int = 5, q: int = 4) -> CoupledModes:
    random = np.random.default_rng(seed)
    return CoupledModes(np.sort(random.random((views, k)), axis=1), random.standard_normal((views, q, k)), 0.3)


def rotations(seed: int, views: int = 3, k: int = 5) -> Floats:
    random = np.random.default_rng(seed)
    return np.array([np.linalg.qr(random.standard_normal((k, k)))[0] for _ in range(views)])


def test_the_cost_is_what_it_says() -> None:
    problem, U = modes(1), rotations(2)
    expected = 0.0
    for values, A in zip(problem.values, U, strict=True):
        C = A.T @ np.diag(values) @ A
        expected += np.sum(C**2) - np.sum(np.diagonal(C) ** 2)
    P = [c @ A for c, A in zip(problem.coefficients, U, strict=True)]
    expected += 0.3 * sum(np.sum((P[v] - P[w]) ** 2) for v in range(3) for w in range(v))
    assert problem.at(U).cost == pytest.approx(expected, rel=1e-12)


def test_taylor_remainders() -> None:
    problem, U = modes(3), rotations(4)
    X = np.random.default_rng(5).standard_normal(U.shape)
    X = X - np.swapaxes(X, 1, 2)
    here = problem.at(U)
    slope = 0.5 * np.vdot(here.gradient, X)
    curvature = 0.5 * np.vdot(X, here.curvature(X))
    first, second = [], []
    for h in (1e-2, 1e-3):
        change = problem.at(U @ _cayley(h * X)).cost - here.cost
        first.append(abs(change - h * slope))
        second.append(abs(change - h * slope - 0.5 * h**2 * curvature))
    assert np.log10(first[0] / first[1]) == pytest.approx(2.0, abs=0.1)
    assert np.log10(second[0] / second[1]) == pytest.approx(3.0, abs=0.2)


def test_the_same_graph_relabeled_gets_the_same_basis() -> None:
    g = problems.cloud(80, seed=3)
    place = np.random.default_rng(0).permutation(80)
    other = ct.Graph(80, place[g.i], place[g.j], g.w)
    F = ct.landmark_functions(g, [0, 20, 40, 60, 70, 75])
    G = np.empty_like(F)
    G[place] = F
    result = ct.coupled_bases([g, other], [F, G], k=6)
    first, second = (basis.vectors for basis in result.bases)
    assert np.allclose(second[place], first, atol=1e-6)
    assert result.coupling <= 1e-6
    assert result.off <= 1e-10


def test_graphs_of_different_sizes_meet_in_one_space() -> None:
    """The same strip sampled twice: nearest rows across views are nearby points."""
    random = np.random.default_rng(1)
    X = [random.random((n, 2)) * [4.0, 1.0] for n in (300, 400)]
    graphs = [ct.knn_graph(x, 10, scale="median") for x in X]
    corners = np.array([[x, y] for x in (0.2, 1.1, 2.0, 2.9, 3.8) for y in (0.1, 0.9)])
    functions = []
    for x in X:
        bumps = np.exp(-np.sum((x[:, np.newaxis] - corners) ** 2, axis=2) / 0.1)
        functions.append(bumps / np.linalg.norm(bumps, axis=0))
    result = ct.coupled_bases(graphs, functions, k=8)
    assert result.converged
    assert result.coupling < 0.5 * result.coupling_before
    a, b = result.embedding(5)
    scale = [np.sqrt(len(x)) for x in X]
    nearest = np.argmin(np.sum((scale[0] * a[:, np.newaxis] - scale[1] * b) ** 2, axis=2), axis=1)
    assert np.median(np.linalg.norm(X[0] - X[1][nearest], axis=1)) < 0.3


def test_bases_are_orthonormal_and_ordered() -> None:
    views = ct.datasets.circles()
    result = ct.coupled_bases(views.graphs, views.functions, k=7)
    for basis, A in zip(result.bases, result.rotations, strict=True):
        assert np.allclose(basis.vectors.T @ basis.vectors, np.eye(7), atol=1e-12)
        assert np.allclose(A.T @ A, np.eye(7), atol=1e-12)
    assert np.all(np.diff(np.mean([basis.values for basis in result.bases], axis=0)) >= 0.0)
    assert result.cost == pytest.approx(result.off + result.strength * result.coupling**2, rel=1e-12)
    assert "Coupled bases" in str(result)


def test_strength_weighs_harmonic_modes_against_functions_that_agree() -> None:
    views = ct.datasets.ring()
    loose, tight = (ct.coupled_bases(views.graphs, views.functions, k=7, strength=mu) for mu in (0.0, 100.0))
    assert loose.off <= 1e-12
    assert tight.off > 1e-6
    assert tight.coupling < 0.2 * loose.coupling


def test_labels_and_units_do_not_decide_where_it_ends() -> None:
    """The ring's eigenvalues are double: any basis may come out of the eigensolver."""
    views = ct.datasets.ring(30)
    costs = []
    for seed, unit in ((0, 1.0), (1, 1e4), (2, 1e-8), (3, 1.0)):
        place = np.random.default_rng(seed).permutation(30)
        graphs = [ct.Graph(30, place[g.i], place[g.j], unit * g.w) for g in views.graphs]
        functions = [F[np.argsort(place)] for F in views.functions]
        costs.append(ct.coupled_bases(graphs, functions, k=7).cost / unit**2)
    assert np.allclose(costs, costs[0], rtol=1e-6)


def test_large_graphs_need_no_dense_matrix() -> None:
    graphs = [problems.cloud(2_500, seed=s) for s in (0, 1)]
    functions = [ct.landmark_functions(g, np.arange(10)) for g in graphs]
    result = ct.coupled_bases(graphs, functions, k=5)
    assert [basis.vectors.shape for basis in result.bases] == [(2_500, 5)] * 2


VIEWS = ct.datasets.ring(20)
G, F = VIEWS.graphs, VIEWS.functions
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "one graph": (lambda: ct.coupled_bases([G[0]], [F[0]], 3), "graphs"),
    "no list": (lambda: ct.coupled_bases(G[0], F, 3), "graphs"),  # type: ignore[arg-type]
    "functions missing": (lambda: ct.coupled_bases(G, [F[0]], 3), "functions"),
    "rows": (lambda: ct.coupled_bases(G, [F[0], F[1][:-1]], 3), "functions[1]"),
    "columns": (lambda: ct.coupled_bases(G, [F[0], F[1][:, :2]], 3), "functions"),
    "NaN": (lambda: ct.coupled_bases(G, [F[0], F[1] * np.nan], 3), "functions[1]"),
    "zero": (lambda: ct.coupled_bases(G, [0 * F[0], 0 * F[1]], 3), "functions"),
    "huge": (lambda: ct.coupled_bases(G, [1e200 * F[0], F[1]], 3), "functions[0]"),
    "huge weights": (lambda: ct.coupled_bases([G[0], G[1].with_weights(1e150 * G[1].w)], F, 3), "graphs[1]"),
    "huge strength": (lambda: ct.coupled_bases(G, F, 3, strength=1e200), "strength"),
    "k": (lambda: ct.coupled_bases(G, F, 0), "k"),
    "k too large": (lambda: ct.coupled_bases(G, F, 21), "k"),
    "strength": (lambda: ct.coupled_bases(G, F, 3, strength=-1.0), "strength"),
    "a word": (lambda: ct.coupled_bases(G, F, 3, strength="much"), "strength"),
    "tolerance": (lambda: ct.coupled_bases(G, F, 3, tolerance=0.0), "tolerance"),
    "iterations": (lambda: ct.coupled_bases(G, F, 3, max_iterations=0), "max_iterations"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument


@pytest.mark.parametrize("seed", range(12))
def test_views_in_pieces_that_no_function_reaches(seed: int) -> None:
    """Their modes have eigenvalue 0 and no part in any function, so nothing says how to turn them.

    Warnings are errors: rounding divided by no curvature became turns of 1e150.
    """
    random = np.random.default_rng(seed)
    whole, k = problems.cloud(40, seed), 8
    pieces = [_in_pieces(40, int(random.integers(k, 20)), random) for _ in range(2)]
    reached = [np.isin(np.arange(40), random.choice(40, size=3, replace=False)) for _ in pieces]
    F = [random.random((40, 3)), *(random.random((40, 3)) * rows[:, np.newaxis] for rows in reached)]
    result = ct.coupled_bases([whole, *pieces], F, k)
    assert np.isfinite(result.cost)
    assert result.coupling <= result.coupling_before
    for A in result.rotations:
        assert np.allclose(A.T @ A, np.eye(k), atol=1e-10)


def _in_pieces(n: int, pieces: int, random: np.random.Generator) -> ct.Graph:
    """Paths of random lengths, the weights from 1e-12 to 1."""
    inside = np.setdiff1d(np.arange(n - 1), random.choice(n - 1, size=pieces - 1, replace=False))
    return ct.Graph(n, inside, inside + 1, 10.0 ** random.uniform(-12.0, 0.0, len(inside)))
