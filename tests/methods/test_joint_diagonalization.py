"""Joint diagonalization: planted bases, the theorem of the paper, references, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import cotherm as ct
from cotherm.arrays import Floats
from cotherm.engines.cpu.jacobi import jacobi_sweep
from paper.data import nus
from tests import problems
from tests.references import closest_commuting_by_penalty, jacobi_by_pairs, off_diagonal


def symmetric(n: int, count: int, seed: int) -> Floats:
    A = np.random.default_rng(seed).standard_normal((count, n, n))
    return np.asarray(A + np.swapaxes(A, 1, 2))


def planted(n: int, count: int, seed: int, noise: float = 0.0) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    U = np.linalg.qr(random.standard_normal((n, n)))[0]
    A = np.array([(U * random.standard_normal(n)) @ U.T for _ in range(count)])
    return U, A + noise * symmetric(n, count, seed + 1)


@pytest.mark.parametrize("n", [1, 2, 5, 24, 61])
@pytest.mark.parametrize("count", [2, 3])
def test_a_planted_basis_is_recovered_up_to_order_and_sign(n: int, count: int) -> None:
    U, A = planted(n, count, seed=n)
    result = ct.joint_diagonalize(list(A))
    overlap = np.abs(U.T @ result.basis)
    assert np.allclose(np.sort(overlap.max(axis=0)), 1.0, atol=1e-8)
    assert np.array_equal(np.sort(overlap.argmax(axis=0)), np.arange(n))
    assert result.off <= 1e-20 * np.sum(A**2)
    assert result.converged


def test_matrices_that_commute_are_left_alone() -> None:
    _, A = planted(30, 2, seed=3)
    for before, after in zip(A, ct.joint_diagonalize(list(A)).matrices(), strict=True):
        assert np.abs(before - after).max() <= 1e-12 * np.abs(before).max()


def test_eigenvalues_that_coincide_in_the_sum_are_told_apart() -> None:
    U, A = planted(12, 1, seed=5)
    result = ct.joint_diagonalize([A[0], -A[0]])
    assert result.off <= 1e-20
    assert np.allclose(np.sort(np.abs(U.T @ result.basis).max(axis=0)), 1.0, atol=1e-8)


def test_equal_diagonals_do_not_stop_the_sweeps() -> None:
    """At the identity no derivative shows a way out of a maximum in every plane."""
    A = np.array([[[1.0, 0.3], [0.3, 1.0]], [[1.0, -0.2], [-0.2, 1.0]]])
    rows = np.eye(2)
    assert jacobi_sweep(A.copy(), rows) == pytest.approx(np.sqrt(0.5))
    assert off_diagonal(A, rows.T) <= 1e-30


def test_a_single_matrix_is_diagonalized() -> None:
    A = symmetric(15, 1, seed=2)[0]
    result = ct.joint_diagonalize([A])
    assert np.allclose(result.values[0], np.linalg.eigvalsh(A), atol=1e-10)
    assert np.allclose(result.matrices()[0], A, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_no_worse_than_jacobi_rotations_one_by_one(seed: int) -> None:
    A = symmetric(14, 3, seed)
    result = ct.joint_diagonalize(list(A))
    reference = off_diagonal(A, jacobi_by_pairs(A, sweeps=200))
    assert result.converged
    assert off_diagonal(A, result.basis) == pytest.approx(result.off, rel=1e-10)
    # Both end in a minimum, not always the same; on average ours must not be the poorer one.
    assert result.off <= 1.02 * reference


def test_on_laplacians_the_same_minimum_as_one_by_one() -> None:
    views = ct.datasets.circles(24)
    A = np.array([g.laplacian().toarray() for g in views.graphs])
    result = ct.joint_diagonalize(views.graphs)
    assert result.off <= (1 + 1e-6) * off_diagonal(A, jacobi_by_pairs(A, sweeps=500))


def test_the_basis_is_orthonormal_and_ordered_by_mean_values() -> None:
    views = ct.datasets.ring()
    result = ct.joint_diagonalize(views.graphs)
    assert np.allclose(result.basis.T @ result.basis, np.eye(70), atol=1e-13)
    assert np.all(np.diff(result.values.mean(axis=0)) >= 0.0)
    for graph, values in zip(views.graphs, result.values, strict=True):
        assert np.allclose(np.einsum("ij,ij->j", result.basis, graph.laplacian() @ result.basis), values, atol=1e-12)


def test_the_matrices_leave_the_set_of_laplacians_and_the_report_says_so() -> None:
    result = ct.joint_diagonalize(ct.datasets.ring().graphs)
    for report in result.validity():
        assert report is not None
        assert not report.valid
        assert {failure.condition for failure in report.failures} >= {"i", "ii"}
    assert "leaves L(V, E)" in str(result)
    assert ct.joint_diagonalize(list(symmetric(4, 2, 0))).validity() == (None, None)


class TestTheorem:
    """C(A, B) = J(A, B): the closest commuting matrices are those of the joint basis."""

    def cases(self) -> list[Floats]:
        laplacians = [
            np.array([g.laplacian().toarray() for g in views.graphs])
            for views in (ct.datasets.ring(12, gap=1.0), ct.datasets.circles(16))
        ]
        return [symmetric(n, 2, seed) for n, seed in ((3, 0), (4, 1), (6, 2), (8, 5))] + laplacians

    def test_the_two_minima_are_equal(self) -> None:
        """Claim 1, the left side found by an optimizer that knows nothing of bases."""
        for A in self.cases():
            result = ct.joint_diagonalize(list(A))
            C = closest_commuting_by_penalty(A, start=np.array(result.matrices()), noise=0.0)
            assert pytest.approx(result.off, rel=1e-6) == C
            # Nor does it find anything better from other starts.
            others = [closest_commuting_by_penalty(A, start=A, noise=noise) for noise in (0.0, 0.1)]
            assert min(others) >= result.off * (1 - 1e-6)

    def test_the_joint_basis_gives_the_closest_commuting_matrices(self) -> None:
        """Claim 2: they commute, and their distance is J."""
        for A in self.cases():
            result = ct.joint_diagonalize(list(A))
            near = result.matrices()
            assert np.abs(near[0] @ near[1] - near[1] @ near[0]).max() <= 1e-11 * np.sum(A**2)
            assert sum(np.sum((x - y) ** 2) for x, y in zip(near, A, strict=True)) == pytest.approx(
                result.off, rel=1e-10
            )

    def test_the_closest_commuting_matrices_give_the_joint_basis(self) -> None:
        """Claim 3: their joint eigenbasis diagonalizes the given ones as well as can be: a fixed point."""
        for A in self.cases():
            result = ct.joint_diagonalize(list(A))
            again = ct.joint_diagonalize(list(result.matrices()))
            assert off_diagonal(A, again.basis) == pytest.approx(result.off, rel=1e-6)
            assert again.off <= 1e-20 * np.sum(A**2)


def test_relabelling_the_vertices_relabels_the_answer() -> None:
    views = ct.datasets.ring(30)
    order = np.random.default_rng(0).permutation(30)
    place = np.argsort(order)
    relabeled = [ct.Graph(30, place[g.i], place[g.j], g.w) for g in views.graphs]
    first, second = ct.joint_diagonalize(views.graphs), ct.joint_diagonalize(relabeled)
    assert second.off == pytest.approx(first.off, rel=1e-6)
    assert np.allclose(second.values, first.values, atol=1e-3)


@pytest.mark.parametrize("scale", [1e-60, 1e-8, 1e8, 1e60])
def test_units_do_not_matter(scale: float) -> None:
    A = symmetric(10, 2, seed=4)
    plain, scaled = ct.joint_diagonalize(list(A)), ct.joint_diagonalize(list(scale * A))
    assert scaled.off == pytest.approx(scale**2 * plain.off, rel=1e-9)
    assert np.allclose(np.abs(scaled.basis.T @ plain.basis), np.eye(10), atol=1e-6)


def test_weights_say_whose_diagonal_counts() -> None:
    A = symmetric(8, 2, seed=6)
    result = ct.joint_diagonalize(list(A), graph_weights=[1e6, 1.0])
    assert np.allclose(result.values[0], np.linalg.eigvalsh(A[0])[np.argsort(np.argsort(result.values[0]))], atol=1e-3)
    assert ct.joint_diagonalize(list(A), graph_weights=[4.0, 4.0]).off == pytest.approx(
        4.0 * ct.joint_diagonalize(list(A)).off, rel=1e-9
    )


def test_large_matrices_are_swept_in_blocks_to_the_same_end() -> None:
    U, A = planted(520, 2, seed=1)
    result = ct.joint_diagonalize(list(A))
    assert result.off <= 1e-20 * np.sum(A**2)
    assert np.allclose(np.abs(U.T @ result.basis).max(axis=0), 1.0, atol=1e-7)


def test_graphs_dense_and_sparse_matrices_mix() -> None:
    g = problems.ring(9)
    L = g.laplacian()
    given = [g, L, L.toarray(), sp.coo_array(L)]
    assert ct.joint_diagonalize(given).off <= 1e-20


def test_normalized_laplacians() -> None:
    views = ct.datasets.circles()
    result = ct.joint_diagonalize(views.graphs, normalized=True)
    d = views.graphs[0].degrees
    L = views.graphs[0].laplacian().toarray() / np.sqrt(np.outer(d, d))
    assert np.allclose(np.diagonal(result.basis.T @ L @ result.basis), result.values[0], atol=1e-12)


def test_embedding_distances_and_clusters() -> None:
    views = ct.datasets.circles()
    result = ct.joint_diagonalize(views.graphs)
    assert [x.shape for x in result.embedding(3)] == [(64, 3), (64, 3)]
    distances = result.distances(0.5)
    for basis, d in zip(result.bases, distances, strict=True):
        warm = basis.vectors * np.exp(-0.5 * basis.values)
        assert d[3, 7] == pytest.approx(np.linalg.norm(warm[3] - warm[7]), rel=1e-10)
    assert np.allclose(result.distances(0.5, sources=[3])[1], distances[1][[3]], atol=1e-12)
    clusters = result.clusters(2)
    assert clusters[0] is clusters[1]
    assert set(clusters[0]) == {0, 1}


SQUARE = np.eye(4)
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "no list": (lambda: ct.joint_diagonalize(problems.ring(5)), "graphs"),  # type: ignore[arg-type]
    "a number": (lambda: ct.joint_diagonalize(3), "graphs"),  # type: ignore[arg-type]
    "empty": (lambda: ct.joint_diagonalize([]), "graphs"),
    "sizes": (lambda: ct.joint_diagonalize([problems.ring(5), problems.ring(6)]), "graphs"),
    "not square": (lambda: ct.joint_diagonalize([np.ones((3, 4))]), "graphs[0]"),
    "not symmetric": (lambda: ct.joint_diagonalize([SQUARE, np.triu(np.ones((4, 4)))]), "graphs[1]"),
    "NaN": (lambda: ct.joint_diagonalize([SQUARE, SQUARE * np.nan]), "graphs[1]"),
    "infinite": (lambda: ct.joint_diagonalize([np.diag([1.0, np.inf])]), "graphs[0]"),
    "huge": (lambda: ct.joint_diagonalize([SQUARE * 1e200]), "graphs[0]"),
    "complex": (lambda: ct.joint_diagonalize([SQUARE * 1j]), "graphs[0]"),
    "words": (lambda: ct.joint_diagonalize(["ab", "cd"]), "graphs[0]"),
    "too large": (lambda: ct.joint_diagonalize([sp.eye_array(9000)]), "graphs"),
    "weights": (lambda: ct.joint_diagonalize([SQUARE, SQUARE], graph_weights=[1.0]), "graph_weights"),
    "negative weights": (lambda: ct.joint_diagonalize([SQUARE, SQUARE], graph_weights=[1.0, -1.0]), "graph_weights"),
    "normalized": (lambda: ct.joint_diagonalize([SQUARE], normalized="yes"), "normalized"),  # type: ignore[arg-type]
    "tolerance": (lambda: ct.joint_diagonalize([SQUARE], tolerance=0.0), "tolerance"),
    "iterations": (lambda: ct.joint_diagonalize([SQUARE], max_iterations=0), "max_iterations"),
    "k": (lambda: ct.joint_diagonalize([SQUARE]).embedding(4), "k"),
    "clusters": (lambda: ct.joint_diagonalize([SQUARE]).clusters(5), "k"),
    "seed": (lambda: ct.joint_diagonalize([SQUARE]).clusters(2, random_state=-1), "random_state"),
    "t": (lambda: ct.joint_diagonalize([SQUARE]).distances(-1.0), "t"),
    "sources": (lambda: ct.joint_diagonalize([SQUARE]).distances(1.0, sources=[4]), "sources"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument


def test_real_laplacians_and_clusters(data_file: Callable[[str], Any]) -> None:
    """NUS on the graphs stored with it: the stored accuracy for joint diagonalization is .931."""
    views = nus(stored=True, data=data_file("nus/NUS_results.mat").parents[1])
    assert views.labels is not None
    result = ct.joint_diagonalize(views.graphs, normalized=True)
    assert result.converged
    assert ct.evaluate.clustering_accuracy(views.labels, result.clusters(7)[0]) >= 0.931 - 0.02
    plain = ct.joint_diagonalize(views.graphs)
    assert plain.off == pytest.approx(333.42464, rel=1e-6)  # what pyRiemann's rjd ends at
