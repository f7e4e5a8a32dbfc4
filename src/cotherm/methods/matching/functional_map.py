"""Functional maps (Ovsjanikov et al. 2012): small matrices that carry functions between graphs in their modes."""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.methods.matching.modes import Modes

# Weight of commuting with the Laplacians, relative to carrying the signatures.
_COMMUTING = 0.1
# Keeps the systems solvable where neither term determines the map.
_RIDGE = 1e-9


def from_signatures(A: Floats, B: Floats, of_source: Floats, of_target: Floats) -> Floats:
    """The C with least ‖CB − A‖² + μ‖CΛ_t − Λ_sC‖²: coefficients on the target to coefficients on the source.

    A and B are signatures on source and target, Λ_s and Λ_t the eigenvalues in one unit. Every row of C is a small
    system of its own: c_i (BBᵀ + μ Diag(λ_t − λ_i)²) = a_i Bᵀ.
    """
    k = len(A)
    unit = max(float(of_target[-1]), float(of_source[-1])) or 1.0
    gaps = (of_target[np.newaxis, :] - of_source[:, np.newaxis]) / unit
    systems = (B @ B.T)[np.newaxis] + (_COMMUTING * gaps**2 + _RIDGE)[:, :, np.newaxis] * np.eye(k)
    return np.asarray(np.linalg.solve(systems, (A @ B.T)[:, :, np.newaxis])[:, :, 0], dtype=np.float64)


def from_vertices(source: Modes, target: Modes, there: Ints, rows: Ints | None = None) -> Floats:
    """The C of a map of vertices, source → target: it carries g to g∘there, C = Φ_sᵀM_s Φ_t[there].

    With rows, only those vertices of the source have a counterpart, and C is the least-squares fit over them.
    """
    if rows is None:
        return source.coefficients(target.vectors[there])
    root = np.sqrt(source.mass[rows])[:, np.newaxis]
    C = np.linalg.lstsq(root * source.vectors[rows], root * target.vectors[there], rcond=None)[0]
    return np.asarray(C, dtype=np.float64)
