"""What the judge measures, against slow and obvious references; and every contestant on a small problem."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from benchmarks import couple as optimizers
from benchmarks.suite.families import NAMES, clusters, heat, module_of, neighbors, surgery
from benchmarks.suite.parts import Family, Figure, Limits
from cotherm.datasets import ambiguous, circles, ring, shortcuts
from cotherm.engines.cpu.laplacian import reordered_laplacian


def _families() -> list[Family]:
    return [import_module(module_of(name)).FAMILY for name in NAMES]


@pytest.mark.parametrize("quick", [True, False])
def test_problems_can_be_found_by_name(quick: bool) -> None:
    for family in _families():
        names = [problem.name for problem in family.problems(quick)]
        assert len(set(names)) == len(names) > 0
        known = {contestant.name for contestant in family.contestants}
        assert len(known) == len(family.contestants)
        for problem in family.problems(quick):
            assert family.entered(problem)
            assert problem.contestants is None or known.issuperset(problem.contestants)
            assert problem.seconds > 0.0


@pytest.mark.filterwarnings("ignore")  # of the others' own dependencies, as in the worker
@pytest.mark.parametrize(
    ("name", "contestant"),
    [
        ("surgery", "cotherm couple, auto"),
        ("surgery", optimizers.LBFGSB),
        ("surgery", optimizers.TORCH),
        ("correspondence", "POT, fused Gromov-Wasserstein"),
        ("heat", "cotherm heat_flow"),
        ("heat", "PyGSP heat filter"),
        ("diagonalize", "qndiag"),
        ("clusters", "co-regularized spectral"),
        ("clusters", "snfpy"),
        ("neighbors", "cotherm nearest_neighbors"),
        ("neighbors", "scikit-learn NearestNeighbors"),
        ("neighbors", "SciPy cKDTree"),
    ],
)
def test_contestants_solve_a_tiny_problem(name: str, contestant: str) -> None:
    """One of every kind; those that take long to compile are left to ``python -m benchmarks suite --quick``."""
    family: Family = import_module(module_of(name)).FAMILY
    solver = next(one for one in family.contestants if one.name == contestant)
    if solver.needs is not None and find_spec(solver.needs.module) is None:
        pytest.skip(solver.needs.install)
    warmup = family.problems(True)[0].warmup()
    figures = family.judge(warmup, solver.solve(solver.prepare(warmup), Limits(0.3, 8e9)))
    assert list(figures) == [figure.name for figure in family.figures]
    for figure in family.figures:
        _sensible(figure, figures[figure.name])
    assert name != "heat" or (figures["error"] or 0.0) < 1e-8
    assert name != "neighbors" or figures["recall"] == 1.0


def _sensible(figure: Figure, value: float | None) -> None:
    assert figure.better in ("higher", "lower")
    assert value is None or np.isfinite(value)
    if value is not None:
        assert format(value, figure.format)


def test_surgery_costs_alike_by_both_ways() -> None:
    rng = np.random.default_rng(0)
    for views, alpha in ((ring(), 1e6), (shortcuts(200), 1e5)):
        u = np.concatenate([graph.w for graph in views.graphs])
        u = u * rng.uniform(0.0, 2.0, len(u))
        assert surgery.cost(views, u, alpha) == pytest.approx(optimizers.judged_cost(views, u, alpha), rel=1e-8)


def test_surgery_counts_edges_that_are_cut() -> None:
    views = circles()
    task = surgery.Surgery(views, 1.0)
    assert views.wrong is not None
    wrong = np.concatenate(views.wrong)
    w = np.concatenate([graph.w for graph in views.graphs])
    untouched = surgery.judge(task, w)
    assert (untouched["recall"], untouched["precision"]) == (0.0, None)
    assert untouched["wrong weight left"] == pytest.approx(1.0)
    u = w.copy()
    u[np.flatnonzero(wrong)[:16]] = 0.0  # a quarter of the 64
    u[np.flatnonzero(~wrong)[:4]] *= 0.19
    u[np.flatnonzero(~wrong)[4:9]] *= 0.21
    found = surgery.judge(task, u)
    assert found["recall"] == 16 / 64
    assert found["precision"] == 16 / 20
    assert found["wrong weight left"] == pytest.approx(u[wrong].sum() / w[wrong].sum())


def test_surgery_without_a_truth_is_judged_by_its_cost() -> None:
    views = replace(ring(), wrong=None)
    figures = surgery.judge(surgery.Surgery(views, 1.0), np.concatenate([graph.w for graph in views.graphs]))
    assert figures["cost"] is not None
    assert [figures[name] for name in ("recall", "precision", "wrong weight left")] == [None] * 3


def test_optimizers_hand_in_the_lowest_they_passed() -> None:
    recorder = optimizers.BestWeights(60.0)
    cost = recorder.wrap(lambda u: (float(np.sum((u - 2.0) ** 2)), 2.0 * (u - 2.0)))
    for x in (5.0, 2.5, -1.0, 3.0):
        cost(np.array([x]))
    assert recorder.weights is not None
    assert recorder.weights.tolist() == [2.5]
    late = optimizers.BestWeights(-1.0)
    late.run(lambda: late.wrap(lambda u: (0.0, u))(np.ones(1)))
    assert late.weights is None


def test_heat_is_judged_by_the_exponential() -> None:
    task = heat._make(300)
    H = scipy.linalg.expm(-task.t * task.graph.laplacian().toarray())
    assert heat.judge(task, H @ task.F)["error"] == pytest.approx(0.0, abs=1e-12)
    assert heat.judge(task, 1.01 * (H @ task.F))["error"] == pytest.approx(0.01, rel=1e-6)


def test_least_bytes_are_those_of_the_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    task = heat._make(3_000)
    assert heat.least_bytes(task, 7) is None  # all of it fits the caches
    monkeypatch.setattr(heat, "_IN_CACHE", 0.0)
    matrix = reordered_laplacian(task.graph.n, task.graph.i, task.graph.j, task.graph.w)
    entries = 2 * task.graph.m
    held = (matrix.columns.itemsize + matrix.weights.itemsize) * entries + matrix.offsets.nbytes + matrix.degrees.nbytes
    assert heat.least_bytes(task, 7) == pytest.approx(7 * (held + 3 * task.F.nbytes), rel=1e-4)


def test_recall_counts_different_true_neighbors() -> None:
    X = neighbors.points(200, 3)
    D = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    np.fill_diagonal(D, np.inf)
    exact = np.argsort(D, axis=1)[:, :10]
    assert neighbors.judge(X, neighbors.Found(exact, 0.5)) == {"recall": 1.0, "claimed": 0.5}
    farther = np.argsort(D, axis=1)[:, 2:12]
    assert neighbors.judge(X, neighbors.Found(farther, None))["recall"] == pytest.approx(0.8)
    repeated = np.repeat(exact[:, :1], 10, axis=1)
    assert neighbors.judge(X, neighbors.Found(repeated, None))["recall"] == pytest.approx(0.1)
    itself = np.column_stack([np.arange(200), exact[:, :9]])
    assert neighbors.judge(X, neighbors.Found(itself, None))["recall"] == pytest.approx(0.9)
    assert neighbors.points(50, 64).shape == (50, 64)


def test_clusters_are_found_without_the_classes() -> None:
    problem = clusters._labeled(ambiguous())
    assert problem.items.graphs[0].labels is not None
    for contestant in clusters.FAMILY.contestants:
        seen: Any = contestant.prepare(problem)
        assert all(graph.labels is None for graph in seen.graphs)
        assert not hasattr(seen, "labels")


def test_of_several_clusterings_the_best_counts() -> None:
    problem = clusters.planted(60)
    useless = np.arange(60) % 2
    both = clusters.judge(problem, np.array([useless, problem.labels]))
    assert both == {"AMI": pytest.approx(1.0), "accuracy": 1.0}
    assert clusters.judge(problem, useless)["AMI"] != pytest.approx(1.0)
