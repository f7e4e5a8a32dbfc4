"""The fused Chebyshev recurrence of :mod:`cotherm.engines.cpu.chebyshev` over ranks.

Every step needs the rows of the halo. They are fetched while the rows that need none of them are computed.
"""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.chebyshev import WIDEST, recurrence
from cotherm.engines.cpu.simd import panels
from cotherm.engines.petsc.pattern import Laplacian, RankSlices


def chebyshev_sums(matrix: Laplacian, F: Floats, coefficients: Floats, bound: float) -> Floats:
    """Σ_k coefficients[k, t] T_k(X) F for the rows here, (n, times, q), and for those of the halo too."""
    n, rows = matrix.pattern.n, matrix.pattern.n + matrix.pattern.halo.count
    found = []
    for first, last in panels(F.shape[1], WIDEST):
        current = np.empty((rows, last - first))
        current[:n] = F[:, first:last]
        with RankSlices(matrix.pattern, matrix.work(last - first)) as slices:
            found.append(recurrence(slices, matrix.rows, current, coefficients, bound, iter(())))
    return found[0] if len(found) == 1 else np.concatenate(found, axis=2)
