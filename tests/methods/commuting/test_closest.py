"""Closest commuting operators, without and with the Laplacian constraint."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import cotherm as ct
from cotherm import limits
from cotherm.arrays import Floats
from cotherm.methods.commuting import search as commuting_search
from cotherm.methods.commuting.commutation import Commutation, Stage
from cotherm.methods.commuting.search import SharedEdges
from cotherm.solve import bounded_newton
from tests import problems


def pair(n: int, seed: int) -> list[ct.Graph]:
    """Two random graphs on the same vertices."""
    return [problems.random_graph(n, 3 * n, seed + k, spread=0.5) for k in range(2)]


class TestUnrestricted:
    def test_the_same_matrices_and_minimum_as_joint_diagonalization(self) -> None:
        views = ct.datasets.circles(30)
        result, basis = ct.closest_commuting(views.graphs), ct.joint_diagonalize(views.graphs)
        assert result.distance == pytest.approx(basis.off, rel=1e-6)
        for mine, other in zip(result.laplacians, basis.matrices(), strict=True):
            assert np.allclose(mine, other, atol=1e-3)
        assert result.commutator <= 1e-13
        assert result.graphs is None
        assert result.converged

    def test_matrices_that_commute_are_left_alone(self) -> None:
        L = problems.ring(12).laplacian().toarray()
        result = ct.closest_commuting([L, L @ L])
        assert result.distance <= 1e-20
        assert np.allclose(result.laplacians[1], L @ L, atol=1e-11)

    def test_more_than_two(self) -> None:
        A = np.random.default_rng(0).standard_normal((3, 6, 6))
        result = ct.closest_commuting(list(A + np.swapaxes(A, 1, 2)))
        assert result.commutator <= 1e-12


class TestDerivatives:
    @pytest.fixture
    def stage(self) -> tuple[Stage, Floats]:
        random = np.random.default_rng(5)
        graphs = Commutation([*pair(9, 1), problems.random_graph(9, 20, 7)])
        shift = {p: random.standard_normal((9, 9)) for p in graphs.pairs}
        shift = {p: S - S.T for p, S in shift.items()}
        kept = np.sort(random.choice(len(graphs.w), size=len(graphs.w) - 5, replace=False))
        return Stage(graphs, 0.7, shift, kept), random.uniform(0.1, 2.0, len(kept))

    def test_the_cost_is_what_it_says(self, stage: tuple[Stage, Floats]) -> None:
        problem, v = stage
        u = problem.full(v)
        graphs = problem.graphs
        L, L0 = graphs.laplacians(u), graphs.laplacians(graphs.w)
        expected = sum(np.sum((a - b) ** 2) for a, b in zip(L, L0, strict=True))
        for (k, h), S in problem.shift.items():
            expected += 0.7 * np.sum((L[k] @ L[h] - L[h] @ L[k] + S) ** 2)
        assert problem.cost(v) == pytest.approx(expected, rel=1e-12)
        assert problem.at(v).cost == pytest.approx(expected, rel=1e-12)

    def test_taylor_remainders(self, stage: tuple[Stage, Floats]) -> None:
        problem, v = stage
        s = np.random.default_rng(2).standard_normal(len(v))
        point = problem.at(v)
        curvature = s @ ((point.convex + point.concave) @ s)
        first, second = [], []
        for h in (1e-2, 1e-3):
            change = problem.cost(v + h * s) - point.cost
            first.append(abs(change - 2 * h * point.slope @ s))
            second.append(abs(change - 2 * h * point.slope @ s - h**2 * curvature))
        assert np.log10(first[0] / first[1]) == pytest.approx(2.0, abs=0.1)
        assert np.log10(second[0] / second[1]) == pytest.approx(3.0, abs=0.2)

    def test_the_convex_part_is_the_square_of_a_jacobian(self, stage: tuple[Stage, Floats]) -> None:
        problem, v = stage

        def residuals(x: Floats) -> Floats:
            return np.concatenate([np.ravel(C) for C in problem.graphs.commutators(problem.full(x)).values()])

        J = scipy.optimize.approx_fprime(v, residuals, 1e-7)
        assert np.allclose(problem.at(v).gauss_newton(), J.T @ J, atol=1e-4)


class TestValid:
    @pytest.mark.parametrize("views", [ct.datasets.ring(), ct.datasets.circles(), ct.datasets.ring(40, gap=0.8)])
    def test_commuting_laplacians_of_the_same_edges(self, views: ct.datasets.Views) -> None:
        result = ct.closest_commuting(views.graphs, valid=True, restarts=0)
        assert result.graphs is not None
        assert result.commutator <= 1e-9 * result.commutator_before
        for old, new, L in zip(views.graphs, result.graphs, result.laplacians, strict=True):
            assert np.array_equal(old.i, new.i)
            assert np.array_equal(old.j, new.j)
            assert np.all(new.w >= 0.0)
            assert np.array_equal(L, new.laplacian().toarray())
            assert old.validity(L).valid
        L0 = [g.laplacian().toarray() for g in views.graphs]
        moved = sum(np.sum((a - b) ** 2) for a, b in zip(result.laplacians, L0, strict=True))
        assert result.distance == pytest.approx(moved, rel=1e-10)
        # It costs more than without the constraint, and far less than an empty graph.
        assert result.distance > ct.closest_commuting(views.graphs).distance
        assert result.distance < 0.5 * min(np.sum(a**2) for a in L0)
        assert result.status == "converged"

    def test_on_the_ring_the_seam_goes_and_nothing_else(self) -> None:
        views = ct.datasets.ring()
        result = ct.closest_commuting(views.graphs, valid=True, restarts=0)
        assert result.graphs is not None
        edges = [{(int(i), int(j)) for i, j in g.edges} for g in views.graphs]
        for graph, new, others in zip(views.graphs, result.graphs, edges[::-1], strict=True):
            shared = np.array([(int(i), int(j)) in others for i, j in graph.edges])
            assert np.array_equal(new.w == 0.0, ~shared)

    @pytest.mark.parametrize("views", [ct.datasets.ring(), ct.datasets.circles()])
    def test_no_start_of_many_is_better_by_a_twentieth(self, views: ct.datasets.Views) -> None:
        found = ct.closest_commuting(views.graphs, valid=True, restarts=0).distance
        for seed in (11, 12):
            assert found <= 1.05 * ct.closest_commuting(views.graphs, valid=True, restarts=12, seed=seed).distance

    def test_small_graphs_against_a_general_optimizer(self) -> None:
        """SciPy's SLSQP from many starts, on the same cost and constraint."""
        graphs = [problems.ring(5), ct.Graph(5, [0, 1, 2, 0], [1, 2, 3, 4], [1.0, 2.0, 0.5, 1.5])]
        problem = Commutation(graphs)
        upper = np.triu_indices(5, 1)
        best = np.inf
        random = np.random.default_rng(0)
        for _ in range(30):
            found: Any = scipy.optimize.minimize(  # type: ignore[call-overload]
                problem.distance,
                random.uniform(0.0, 2.0, len(problem.w)),
                jac=lambda u: 2.0 * problem.distance_gradient(u - problem.w),
                method="SLSQP",
                bounds=[(0.0, None)] * len(problem.w),
                constraints={"type": "eq", "fun": lambda u: problem.commutators(u)[0, 1][upper]},
                options={"maxiter": 500, "ftol": 1e-12},
            )
            if problem.commutator(np.maximum(found.x, 0.0)) < 1e-6:
                best = min(best, float(found.fun))
        assert ct.closest_commuting(graphs, valid=True).distance <= 1.001 * best

    def test_the_tolerance_does_not_change_the_answer(self) -> None:
        views = ct.datasets.ring(12)
        costs = [
            ct.closest_commuting(views.graphs, valid=True, restarts=0, tolerance=tolerance).distance
            for tolerance in (0.5, 1e-9, 1e-12)
        ]
        assert np.ptp(costs) == 0.0
        assert ct.closest_commuting(views.graphs, valid=True, restarts=0, tolerance=1e-30).status == "stalled"

    def test_what_is_cut_is_cut(self) -> None:
        """No weights of the size of rounding are left to join parts that nothing joins."""
        result = ct.closest_commuting(ct.datasets.circles().graphs, valid=True, restarts=0)
        assert result.graphs is not None
        for graph, basis in zip(result.graphs, result.bases, strict=True):
            assert graph.w[graph.w > 0.0].min() > 1e-12
            assert graph.component_count == np.sum(basis.values <= 1e-12)
        # The constant is no coordinate.
        for x in result.embedding(4):
            assert np.abs(x.sum(axis=0)).max() <= 1e-9

    def test_graphs_that_commute_are_left_alone(self) -> None:
        g = problems.ring(12)
        result = ct.closest_commuting([g, g.with_weights(3.0 * g.w)], valid=True)
        assert result.distance == 0.0
        assert result.graphs is not None
        assert np.array_equal(result.graphs[1].w, 3.0 * g.w)

    def test_three_graphs(self) -> None:
        graphs = [problems.random_graph(8, 14, seed) for seed in (1, 2, 3)]
        result = ct.closest_commuting(graphs, valid=True, restarts=2)
        assert result.commutator <= 1e-9 * result.commutator_before

    def test_relabelling_and_units(self) -> None:
        views = ct.datasets.ring(20)
        found = ct.closest_commuting(views.graphs, valid=True, restarts=0)
        place = np.random.default_rng(1).permutation(20)
        moved = [ct.Graph(20, place[g.i], place[g.j], 1e30 * g.w) for g in views.graphs]
        other = ct.closest_commuting(moved, valid=True, restarts=0)
        assert other.distance == pytest.approx(1e60 * found.distance, rel=1e-6)
        assert found.graphs is not None
        assert other.graphs is not None
        assert np.allclose(other.graphs[0].w / 1e30, found.graphs[0].w, atol=1e-6)

    def test_graphs_without_edges_or_weight(self) -> None:
        empty = ct.Graph(5, [], [], [])
        assert ct.closest_commuting([empty, problems.path(5)], valid=True).distance == 0.0
        nothing = problems.path(5).with_weights(np.zeros(4))
        assert ct.closest_commuting([nothing, problems.path(5)], valid=True).distance == 0.0

    def test_no_shared_edges(self) -> None:
        graphs = [ct.Graph(4, [0, 1], [1, 2], [1.0, 1.0]), ct.Graph(4, [0, 2], [2, 3], [1.0, 2.0])]
        result = ct.closest_commuting(graphs, valid=True)
        assert result.commutator <= 1e-9 * result.commutator_before

    def test_an_interrupt_returns_the_best_so_far(self, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = []

        def interrupted(*arguments: Any, **options: Any) -> Any:
            calls.append(1)
            if len(calls) > 3:
                raise KeyboardInterrupt
            return original(*arguments, **options)

        original = bounded_newton.descend_bounded
        monkeypatch.setattr(commuting_search, "descend_bounded", interrupted)
        result = ct.closest_commuting(ct.datasets.ring(20).graphs, valid=True)
        assert result.status == "interrupted"
        assert "interruption" in str(result)
        assert result.commutator <= 1e-9 * result.commutator_before

    def test_embedding_and_clusters_of_the_joint_basis(self) -> None:
        views = ct.datasets.ring(30)
        result = ct.closest_commuting(views.graphs, valid=True, restarts=0)
        assert result.graphs is not None
        for graph, basis in zip(result.graphs, result.bases, strict=True):
            assert np.allclose(graph.laplacian() @ basis.vectors, basis.vectors * basis.values, atol=1e-7)
        assert [x.shape for x in result.embedding(2)] == [(30, 2), (30, 2)]
        assert len(result.clusters(3)) == 2


def nearest_multiples(graphs: list[ct.Graph], factors: list[float]) -> float:
    """The distance of the nearest f_k L(v), v ≥ 0 on the shared edges: least squares with dense matrices."""
    shared = sorted(set.intersection(*({(int(i), int(j)) for i, j in g.edges} for g in graphs)))
    columns = [ct.Graph(graphs[0].n, [i], [j], [1.0]).laplacian().toarray().ravel() for i, j in shared]
    A = np.vstack([f * np.array(columns).T for f in factors])
    b = np.concatenate([g.laplacian().toarray().ravel() for g in graphs])
    return float(scipy.optimize.nnls(A, b)[1] ** 2)


class TestTrivialAnswers:
    @pytest.mark.parametrize("seed", [0, 10, 20])
    def test_the_nearest_equal_graphs(self, seed: int) -> None:
        graphs = [problems.random_graph(8, 20, seed + k, spread=0.5) for k in range(3)]
        result = ct.closest_commuting(graphs, valid=True, restarts=0)
        assert result.distance_equal == pytest.approx(nearest_multiples(graphs, [1.0, 1.0, 1.0]), rel=1e-9)

    def test_the_nearest_proportional_graphs(self) -> None:
        graphs = pair(8, 3)
        graphs[1] = graphs[1].with_weights(3.0 * graphs[1].w)
        problem = Commutation(graphs)
        found = problem.distance(SharedEdges(problem).proportional())
        factors = np.geomspace(0.5, 20.0, 200)
        assert found <= min(nearest_multiples(graphs, [1.0, f]) for f in factors) * (1.0 + 1e-6)
        assert found < nearest_multiples(graphs, [1.0, 1.0])

    @pytest.mark.parametrize("seed", range(6))
    def test_no_answer_is_further_than_they_are(self, seed: int) -> None:
        graphs = pair(9, 50 + 2 * seed)
        result = ct.closest_commuting(graphs, valid=True, restarts=0)
        assert result.distance_equal is not None
        alone = min(float(np.sum(g.laplacian().toarray() ** 2)) for g in graphs)
        assert result.distance <= min(result.distance_equal, alone) * (1.0 + 1e-6)

    def test_what_always_commutes_is_called_so(self) -> None:
        result = ct.closest_commuting(ct.datasets.ring(30).graphs, valid=True, restarts=0)
        assert result.relation == "proportional"
        assert "came out proportional. Such graphs always commute" in str(result)
        same = dataclasses.replace(result, laplacians=(result.laplacians[0],) * 2)
        assert "came out equal. Such graphs always commute" in str(same)

    def test_different_graphs_are_compared_with_equal_ones(self) -> None:
        result = ct.closest_commuting(pair(7, 1), valid=True)
        assert result.relation == "different"
        assert result.distance_equal is not None
        assert f"Found from {result.origin}" in str(result)
        assert f"{result.distance_equal:.6g}" in str(result)

    def test_relations(self) -> None:
        result = ct.closest_commuting(pair(7, 1))
        A, zero = np.diag([0.0, 1.0, 3.0]), np.zeros((3, 3))
        for matrices, relation in (
            ((A, A), "equal"),
            ((A, 2.5 * A), "proportional"),
            ((A, zero), "proportional"),
            ((zero, zero), "equal"),
            ((A, A @ A), "different"),
        ):
            assert dataclasses.replace(result, laplacians=matrices).relation == relation

    def test_graphs_that_commute_are_left_as_they_are(self) -> None:
        result = ct.closest_commuting([RING, RING], valid=True)
        assert result.origin == "as given"
        assert result.distance_equal is None
        assert result.moved == (0.0, 0.0)
        assert "commute as they are" in str(result)

    def test_how_far_each_moved(self) -> None:
        graphs = pair(8, 4)
        result = ct.closest_commuting(graphs, valid=True, restarts=0)
        for moved, old, new in zip(result.moved, graphs, result.laplacians, strict=True):
            L = old.laplacian().toarray()
            assert moved == pytest.approx(np.linalg.norm(new - L) / np.linalg.norm(L))


class TestManyEdges:
    """What is done without dense curvature, on graphs small enough to compare it with."""

    @pytest.mark.parametrize("views", [ct.datasets.circles(40), ct.datasets.ring(40, gap=0.8)])
    def test_about_as_near_as_with_dense_curvature(
        self, views: ct.datasets.Views, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dense = ct.closest_commuting(views.graphs, valid=True, restarts=0)
        monkeypatch.setattr(limits, "COMMUTING_DENSE_EDGES", 10)
        plain = ct.closest_commuting(views.graphs, valid=True, restarts=0)
        assert plain.commutator <= 1e-9 * plain.commutator_before
        assert plain.distance <= 1.1 * dense.distance

    def test_corrections_bring_small_commutators_to_rounding(self) -> None:
        views = ct.datasets.circles(40)
        graphs = Commutation(views.graphs)
        search = commuting_search.CommutingSearch(graphs, lambda _label, _distance: None)
        search.run(0, 0)
        random = np.random.default_rng(0)
        near = search.best * (1.0 + 1e-4 * random.standard_normal(len(search.best)))
        corrected = search._corrected(near)
        assert graphs.commutator(near) > 1e-6
        assert graphs.commutator(corrected) <= 1e-14
        assert np.linalg.norm(corrected - near) <= 1e-3 * np.linalg.norm(near)

    def test_progress_is_told_within_stages(self) -> None:
        told: list[str] = []
        graphs = Commutation(ct.datasets.circles(30).graphs)
        commuting_search.CommutingSearch(graphs, lambda label, _distance: told.append(label)).run(0, 0)
        assert told.count("given weights") > 20  # more often than there are stages


RING, SMALLER = problems.ring(6), problems.ring(5)
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "one graph": (lambda: ct.closest_commuting([RING], valid=True), "graphs"),
    "no list": (lambda: ct.closest_commuting(RING, valid=True), "graphs"),  # type: ignore[arg-type]
    "sizes": (lambda: ct.closest_commuting([RING, SMALLER], valid=True), "graphs"),
    "sizes, unrestricted": (lambda: ct.closest_commuting([RING, SMALLER]), "graphs"),
    "matrices": (lambda: ct.closest_commuting([np.eye(3), np.eye(3)], valid=True), "graphs[0]"),
    "not symmetric": (lambda: ct.closest_commuting([np.eye(3), np.triu(np.ones((3, 3)))]), "graphs[1]"),
    "valid": (lambda: ct.closest_commuting([RING, RING], valid=1), "valid"),  # type: ignore[arg-type]
    "tolerance": (lambda: ct.closest_commuting([RING, RING], tolerance=-1.0), "tolerance"),
    "iterations": (lambda: ct.closest_commuting([RING, RING], max_iterations=0), "max_iterations"),
    "an idle argument": (lambda: ct.closest_commuting([RING, RING], valid=True, max_iterations=5), "max_iterations"),
    "another": (lambda: ct.closest_commuting([RING, RING], restarts=5), "restarts"),
    "huge weights": (lambda: ct.closest_commuting([RING.with_weights(1e160 * RING.w)] * 2), "graphs[0]"),
    "huge weights, valid": (
        lambda: ct.closest_commuting([RING, RING.with_weights(1e160 * RING.w)], valid=True),
        "graphs[1]",
    ),
    "restarts": (lambda: ct.closest_commuting([RING, RING], valid=True, restarts=-1), "restarts"),
    "seed": (lambda: ct.closest_commuting([RING, RING], valid=True, seed=1.5), "seed"),  # type: ignore[arg-type]
    "too large": (lambda: ct.closest_commuting([problems.ring(2001)] * 2, valid=True), "graphs"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument
