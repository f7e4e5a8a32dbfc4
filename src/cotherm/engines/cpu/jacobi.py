"""Jacobi rotations for several symmetric matrices at once (Cardoso & Souloumiac 1996), in parallel rounds.

Pairs follow a round-robin schedule: in each of n − 1 rounds every index occurs once, so that each matrix is traversed
once a round, rows and columns together.
"""

from __future__ import annotations

import math

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled

# A rotation by less than this changes nothing.
_NOTHING = 1e-15


@compiled
def _turn(A: Floats, p: int, q: int) -> tuple[float, float]:
    """Cosine and sine of the best angle, in (−π/4, π/4]."""
    on, off = 0.0, 0.0
    for k in range(len(A)):
        difference, twice = A[k, p, p] - A[k, q, q], 2.0 * A[k, p, q]
        on += difference * difference - twice * twice
        off += 2.0 * difference * twice
    if off == 0.0:
        # Here the formula below sees no way to turn. Where all diagonals are equal, as in normalized Laplacians, the
        # worst angle is 0 and the best is π/4.
        angle = 0.25 * math.pi if on < 0.0 else 0.0
    else:
        angle = 0.5 * math.atan2(off, on + math.sqrt(on * on + off * off))
    return math.cos(angle), math.sin(angle)


@compiled
def _rotate_rows(matrix: Floats, p: int, q: int, c: float, s: float) -> None:
    for j in range(matrix.shape[1]):
        x, y = matrix[p, j], matrix[q, j]
        matrix[p, j] = c * x + s * y
        matrix[q, j] = c * y - s * x


@compiled
def jacobi_sweep(A: Floats, R: Floats) -> float:
    """Rotate every pair once: A_k ← VᵀA_kV and R ← VᵀR in place. Returns the largest sine, at most 1/√2."""
    n = A.shape[1]
    even = n + n % 2  # for odd n one index rests in each round
    half = even // 2
    seat = np.arange(even)
    p, q = np.empty(half, np.int64), np.empty(half, np.int64)
    c, s = np.empty(half), np.empty(half)
    largest = 0.0
    for _ in range(even - 1):
        count = 0
        for i in range(half):
            a, b = min(seat[i], seat[even - 1 - i]), max(seat[i], seat[even - 1 - i])
            if b >= n:
                continue
            cosine, sine = _turn(A, a, b)
            largest = max(largest, abs(sine))
            if abs(sine) > _NOTHING:
                p[count], q[count], c[count], s[count] = a, b, cosine, sine
                count += 1
        for k in range(len(A)):
            for i in range(count):
                _rotate_rows(A[k], p[i], q[i], c[i], s[i])
            for row in range(n):
                for i in range(count):
                    x, y = A[k, row, p[i]], A[k, row, q[i]]
                    A[k, row, p[i]] = c[i] * x + s[i] * y
                    A[k, row, q[i]] = c[i] * y - s[i] * x
        for i in range(count):
            _rotate_rows(R, p[i], q[i], c[i], s[i])
        last = seat[even - 1]
        seat[2:] = seat[1:-1].copy()
        seat[1] = last
    return largest
