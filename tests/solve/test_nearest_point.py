"""The bounded nearest-point problem and its metrics against slow, obvious ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from cotherm import limits
from cotherm.engines.cpu.engine import CPU
from cotherm.solve.incidence import Incidence
from cotherm.solve.metric import Diagonal, Gram, Metric
from cotherm.solve.nearest_point import Closest, NearestPoint, Start
from cotherm.solve.tall_matrix import TallMatrix


def gram_metric(rng: np.random.Generator, sizes: list[tuple[int, int]]) -> Gram:
    """Blocks with so many vertices and edges."""
    incidences = []
    for vertices, edges in sizes:
        i, j = np.triu_indices(vertices, 1)
        kept = np.sort(rng.permutation(len(i))[:edges])
        incidences.append(Incidence(vertices, CPU.pattern(vertices, i[kept], j[kept]), CPU))
    return Gram(incidences, rng.uniform(0.5, 2.0, len(sizes)).tolist())


def make(seed: int, kind: str) -> tuple[Metric, int, np.random.Generator]:
    rng = np.random.default_rng(seed)
    if kind == "diagonal":
        return Diagonal(rng.uniform(0.1, 3.0, 12), CPU), 12, rng
    return gram_metric(rng, [(5, 7), (4, 5)]), 12, rng


def dense(metric: Metric, m: int) -> np.ndarray:
    return np.column_stack([metric.apply(e) for e in np.eye(m)])


KINDS = ["diagonal", "gram"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("many_held", [False, True])
@pytest.mark.parametrize("rows", [0, 10_000])
def test_restricted_is_the_dense_inverse(
    kind: str, many_held: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHOLESKY", rows)  # conjugate gradients, and Cholesky
    metric, m, rng = make(1, kind)
    A = dense(metric, m)
    assert_allclose(A, A.T, atol=1e-14)
    E = rng.standard_normal((m, 3))
    held = np.zeros(m, dtype=bool)
    held[: 9 if many_held else 2] = True
    F, P = ~held, held
    part = metric.prepared(TallMatrix(E, CPU))(held)
    inverse = np.linalg.inv(A[np.ix_(F, F)])
    assert_allclose(part.gram, E[F].T @ inverse @ E[F], rtol=1e-10)
    y, c = rng.standard_normal((2, m))
    assert_allclose(part.inverse(y)[F], inverse @ y[F], rtol=1e-9, atol=1e-12)
    assert_allclose(part.nearest(c)[F], c[F] + inverse @ A[np.ix_(F, P)] @ c[P], rtol=1e-9, atol=1e-12)
    assert not part.inverse(y)[P].any()
    assert not part.nearest(c)[P].any()


def nearest(
    metric: Metric, E: np.ndarray, definite: int, c: np.ndarray, b: np.ndarray, weights: np.ndarray
) -> Closest | None:
    """With nothing known: from zero, where the equations leave −b."""
    m = len(c)
    return NearestPoint(metric, TallMatrix(E, CPU), definite).solve(
        c, Start(np.zeros(m), -b), weights, np.zeros(m, dtype=bool)
    )


def reference(A: np.ndarray, c: np.ndarray, E: np.ndarray, b: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """min (v − c)ᵀA(v − c) + Σ ω (Eᵀv − b)² over v ≥ 0 as plain nonnegative least squares."""
    root = np.linalg.cholesky(A).T
    rows = np.vstack([root, np.sqrt(weights)[:, np.newaxis] * E.T])
    return nnls(rows, np.concatenate([root @ c, np.sqrt(weights) * b]))[0]


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10_000), power=st.integers(-3, 8))
@example(seed=243, power=8)  # the dual increases only up to a step of 1e-9
def test_nearest_point_is_nonnegative_least_squares(kind: str, seed: int, power: int) -> None:
    metric, m, rng = make(seed, kind)
    E = rng.standard_normal((m, 3))
    c, b = rng.standard_normal(m), rng.standard_normal(3)
    weights = np.full(3, 10.0**power)
    found = nearest(metric, E, 3, c, b, weights)
    assert found is not None
    v, held = found
    expected = reference(dense(metric, m), c, E, b, weights)
    assert_allclose(v, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
    assert (v >= 0).all()
    assert not v[held].any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_exchanges_that_would_go_round_in_circles(kind: str, seed: int) -> None:
    """Many stiff equations that nothing meets: exchanges alone, whole blocks of them or single, do not end in time."""
    rng = np.random.default_rng(seed)
    m, k = 200, 56
    metric: Metric = gram_metric(rng, [(21, m)]) if kind == "gram" else Diagonal(np.full(m, 4.0), CPU)
    E = np.abs(rng.standard_normal((m, k)))
    b = E.T @ rng.uniform(0.0, 1.0, m) + 10.0 * rng.standard_normal(k)
    c, weights = rng.uniform(0.0, 1.0, m), np.full(k, 1e6)
    found = nearest(metric, E, k, c, b, weights)
    assert found is not None
    v, held = found
    pull, push = metric.apply(v - c), E @ (weights * (E.T @ v - b))
    scale = 1e-6 * np.abs(push).max()
    assert np.abs((pull + push)[~held]).max() < scale
    assert (pull + push)[held].min() > -scale
    assert (v >= 0).all()


def test_negative_weights_are_curvature_while_convex() -> None:
    metric, m, rng = make(3, "gram")
    A = dense(metric, m)
    E = rng.standard_normal((m, 3))
    E[:, 2] /= np.linalg.norm(E[:, 2])
    c = rng.standard_normal(m) + 20.0  # far from the bounds
    b = E.T @ c + rng.standard_normal(3)

    def solve(curvature: float) -> Closest | None:
        weights = np.array([5.0, 5.0, curvature])
        return nearest(metric, E, 2, c, b, weights)

    for curvature in (2.0, -0.5):
        found = solve(curvature)
        assert found is not None
        weights = np.diag([5.0, 5.0, curvature])
        H, slope = A + E @ weights @ E.T, A @ c + E @ weights @ b
        assert_allclose(found[0], np.linalg.solve(H, slope), rtol=1e-9)
    assert solve(-1e4) is None


def test_repeated_equations_are_no_trouble() -> None:
    metric, m, rng = make(5, "gram")
    E = rng.standard_normal((m, 1)) @ np.ones((1, 4))
    c = rng.standard_normal(m) + 10.0
    found = nearest(metric, E, 4, c, np.ones(4), np.full(4, 1e16))
    assert found is not None
    assert_allclose(E.T @ found[0], 1.0, atol=1e-6)
