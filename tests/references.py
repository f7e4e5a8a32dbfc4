"""Slow, obvious versions of what the library does fast."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

import cotherm as ct

Floats = NDArray[np.float64]


def laplacian(graph: ct.Graph) -> Floats:
    """L = D − W, one edge at a time."""
    L = np.zeros((graph.n, graph.n))
    for i, j, w in zip(graph.i, graph.j, graph.w, strict=True):
        L[i, i] += w
        L[j, j] += w
        L[i, j] -= w
        L[j, i] -= w
    return L


def heat_kernel(graph: ct.Graph, t: float) -> Floats:
    """e^{−tL} by scaling and squaring."""
    return np.asarray(scipy.linalg.expm(-t * laplacian(graph)))


def flow_by_squaring(graph: ct.Graph, F: Floats, t: float) -> Floats:
    """e^{−tL}F in long double: a Taylor series for a short time, squared over and over.

    With P = I − L/d, d ≥ all degrees, nothing is ever subtracted, and rows that sum to one are kept so.
    """
    L = laplacian(graph).astype(np.longdouble)
    np.fill_diagonal(L, 0.0)
    degrees = -L.sum(axis=1)
    d = degrees.max()
    P = (np.diag(d - degrees) - L) / d
    squarings = max(0, int(np.ceil(np.log2(float(t * d)))))
    s = np.longdouble(t) * d / 2**squarings
    term = np.exp(-s) * np.eye(graph.n, dtype=np.longdouble)
    H = term.copy()
    for k in range(1, 30):
        term = term @ P * (s / k)
        H += term
    for _ in range(squarings):
        H = H @ H
        H /= H.sum(axis=1, keepdims=True)
    return np.asarray(H @ F, dtype=np.float64)


def exact_heat_kernel(graph: ct.Graph, t: float) -> Floats:
    """e^{−tL} in whole numbers, right to the last bit for any weights and times: Taylor for a short time, squared."""
    L = [[Fraction(0)] * graph.n for _ in range(graph.n)]
    for i, j, w in zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist(), strict=True):
        x = Fraction(w) * Fraction(t)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            L[a][b] += sign * x
    top = max(L[v][v] for v in range(graph.n))
    squarings = max(0, top.numerator.bit_length() - top.denominator.bit_length() + 12)
    bits = 400 + 2 * squarings  # every squaring doubles the error
    X = np.array([[int(x * 2**bits) >> squarings for x in row] for row in L], dtype=object)
    term = H = np.array([[2**bits * (a == b) for b in range(graph.n)] for a in range(graph.n)], dtype=object)
    for k in range(1, 60):
        term = -((term @ X) >> bits) // k
        H = H + term
    for _ in range(squarings):
        H = (H @ H) >> bits
    return np.array([[float(Fraction(int(h), 2**bits)) for h in row] for row in H])


def diffusion_distance(graph: ct.Graph, t: float) -> Floats:
    """The paper's double sum, row against row of the kernel."""
    H = heat_kernel(graph, t)
    return np.array([[np.sqrt(np.sum((H[p] - H[q]) ** 2)) for q in range(graph.n)] for p in range(graph.n)])


def correlation_derivative(graph: ct.Graph, F: Floats, t: float, e: int) -> Floats:
    """∂(Fᵀe^{−tL}F)/∂u_e by the paper's recipe: the upper right block of an exponential of twice the size."""
    L, n = laplacian(graph), graph.n
    b = np.zeros(n)
    b[graph.i[e]], b[graph.j[e]] = 1.0, -1.0
    double = np.block([[-t * L, -t * np.outer(b, b)], [np.zeros((n, n)), -t * L]])
    return F.T @ scipy.linalg.expm(double)[:n, n:] @ F


def correlation_derivatives(graph: ct.Graph, F: Floats, times: Floats) -> Floats:
    """∂Q_ab(t)/∂u_e for all pairs a ≤ b and edges, (times, pairs, m): Φ(K_t ∘ ΦᵀEΦ)Φᵀ, all eigenpairs, pair by pair."""
    values, vectors = np.linalg.eigh(laplacian(graph))
    amounts = vectors.T @ F
    a, b = np.triu_indices(F.shape[1])
    J = np.empty((len(times), len(a), graph.m))
    for derivative, t in zip(J, times, strict=True):
        gap = values[:, np.newaxis] - values
        close = np.abs(t * gap) < 1e-6
        quotient = (np.exp(-t * values)[:, np.newaxis] - np.exp(-t * values)) / np.where(close, 1.0, gap)
        K = np.where(close, -t * np.exp(-0.5 * t * (values[:, np.newaxis] + values)), quotient)
        for row, (p, q) in enumerate(zip(a, b, strict=True)):
            M = vectors @ (K * np.outer(amounts[:, p], amounts[:, q])) @ vectors.T
            derivative[row] = [M[i, i] + M[j, j] - M[i, j] - M[j, i] for i, j in zip(graph.i, graph.j, strict=True)]
    return J


def off_diagonal(A: Floats, U: Floats) -> float:
    """Σ_k off(UᵀA_kU), entry by entry."""
    total = 0.0
    for a in A:
        C = U.T @ a @ U
        total += float(np.sum(C**2) - np.sum(np.diagonal(C) ** 2))
    return total


def jacobi_by_pairs(A: Floats, sweeps: int) -> Floats:
    """Cardoso & Souloumiac's rotations, one pair after the other, from the identity."""
    A, n = A.copy(), A.shape[1]
    U = np.eye(n)
    for _ in range(sweeps):
        largest = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                h = np.array([A[:, p, p] - A[:, q, q], 2.0 * A[:, p, q]])
                on, off = h[0] @ h[0] - h[1] @ h[1], 2.0 * (h[0] @ h[1])
                angle = 0.5 * np.arctan2(off, on + np.hypot(on, off))
                R = np.eye(n)
                R[p, p] = R[q, q] = np.cos(angle)
                R[p, q], R[q, p] = -np.sin(angle), np.sin(angle)
                A, U = R.T @ A @ R, U @ R
                largest = max(largest, abs(np.sin(angle)))
        if largest < 1e-9:
            break
    return U


def closest_commuting_by_penalty(A: Floats, start: Floats, noise: float) -> float:
    """min ‖X − A₁‖² + ‖Y − A₂‖² over symmetric X, Y with XY = YX, by augmented Lagrangians and L-BFGS."""
    random = np.random.default_rng(0)
    jump = random.standard_normal(A.shape)
    Z = start + noise * np.abs(A).max() * (jump + np.swapaxes(jump, 1, 2))
    unit = float(np.linalg.norm(A))
    S, alpha, last = np.zeros(A.shape[1:]), 10.0 / unit**2, np.inf

    def value(z: Floats) -> tuple[float, Floats]:
        X, Y = z.reshape(A.shape)
        K = X @ Y - Y @ X + S
        slope = 2.0 * (z.reshape(A.shape) - A) + 2.0 * alpha * np.array([K @ Y - Y @ K, X @ K - K @ X])
        cost = float(np.sum((z.reshape(A.shape) - A) ** 2) + alpha * np.sum(K**2))
        return cost, np.ravel(slope + np.swapaxes(slope, 1, 2)) / 2.0

    options: Any = {"maxiter": 3000, "ftol": 0.0, "gtol": 1e-9 * unit, "maxcor": 30}
    for _ in range(200):
        Z = scipy.optimize.minimize(value, Z.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(A.shape)
        C = Z[0] @ Z[1] - Z[1] @ Z[0]
        S, size = S + C, float(np.linalg.norm(C))
        if size < 1e-9 * unit**2:
            break
        if size > 0.5 * last:
            alpha, S = 3.0 * alpha, S / 3.0
        last = size
    return float(np.sum((Z - A) ** 2))


def farthest_points(points: Floats, n: int) -> NDArray[np.intp]:
    """Each the farthest from those before it, with the gaps of all points anew every time."""
    chosen = [0]
    while len(chosen) < n:
        gaps = np.sum((points[:, np.newaxis] - points[chosen]) ** 2, axis=2).min(axis=1)
        chosen.append(int(np.argmax(gaps)))
    return np.array(chosen)


def far_along(
    body: ct.Graph, graph: ct.Graph, limit: float, places: NDArray[np.intp] | None = None
) -> NDArray[np.bool_]:
    """Edges whose ends are further apart along the body than a limit, from the distances between all points of it."""
    X = body.coordinates
    assert X is not None
    lengths = np.linalg.norm(X[body.i] - X[body.j], axis=1)
    along = dijkstra(sp.coo_array((lengths, (body.i, body.j)), shape=(body.n, body.n)), directed=False)
    at = np.arange(graph.n) if places is None else places
    return np.asarray(along[at[graph.i], at[graph.j]] > limit)
