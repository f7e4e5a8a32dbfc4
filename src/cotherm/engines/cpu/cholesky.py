"""Cholesky by LAPACK itself: the systems are small and many, and the wrappers around it cost more than it does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from cotherm.arrays import Floats


def cholesky_solver(S: Floats) -> Callable[[Floats], Floats]:
    """Y ↦ S⁻¹Y for S symmetric positive definite; LinAlgError where rounding left it otherwise."""
    factor, info = dpotrf(S, lower=1, clean=0)
    if info:
        raise np.linalg.LinAlgError(f"not positive definite at row {info}")
    return lambda Y: np.asarray(dpotrs(factor, Y, lower=1)[0])
