"""The smooth modes of a graph, with values of one size on graphs of any size, and signatures of vertices in them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from cotherm.arrays import Floats
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.heat.spectrum import Spectrum
from cotherm.solve.eigenpairs import smallest_pairs


def graph_modes(graph: Graph, k: int) -> Spectrum:
    """The k smoothest modes of L = D − W, ΦᵀΦ = nI."""
    W = sp.csr_array(graph.adjacency())
    degrees = np.asarray(W.sum(axis=1)).ravel()
    L = sp.csr_array(sp.diags_array(degrees) - W)
    with known_as("k", "modes"):
        values, vectors = smallest_pairs(L, k, 2.0 * float(degrees.max(initial=0.0)) or 1.0)
    return Spectrum(np.maximum(values, 0.0), vectors * np.sqrt(graph.n))


def first(modes: Spectrum, k: int) -> Spectrum:
    """The k smoothest of them."""
    return Spectrum(modes.values[:k], modes.vectors[:, :k])


def coefficients(modes: Spectrum, functions: Floats) -> Floats:
    """Of functions in the modes, ΦᵀF/n."""
    return np.asarray(modes.vectors.T @ (1.0 / len(modes.vectors) * functions))


# By default from the time in which the roughest of the first modes loses this part of its exponent, to that in which
# the smoothest has gone this far; and how many between.
_SHORTEST, _LONGEST, _TIMES = 0.3, 3.0, 6
# Eigenvalues below this part of the largest are zero: of components, or rounding.
_ZERO = 1e-10
# By then all heat has gone that ever will.
_LAST = 1e300
_EPSILON = float(np.finfo(np.float64).eps)


def time_ratio(source: Spectrum, target: Spectrum) -> float:
    """How many times faster heat is on the source: the median ratio of eigenvalues that are not zero.

    Weights and numbers of vertices set the pace of heat, and they are each graph's own.
    """
    live = (source.values > _ZERO * source.values[-1]) & (target.values > _ZERO * target.values[-1])
    if not live.any():
        return 1.0
    with np.errstate(over="ignore"):
        ratio = float(np.median(source.values[live] / target.values[live]))
    if not 0.0 < ratio < np.inf:
        raise CothermError("graphs", "weights of sizes whose ratio is not a number", "weights of more ordinary sizes")
    return ratio


def default_times(target: Spectrum, k: int) -> Floats:
    """Evenly spaced in the exponent, from what the k-th mode sees to what the smoothest does."""
    values = target.values[:k]
    live = values[values > _ZERO * target.values[-1]]
    if not len(live):
        return np.zeros(1)
    with np.errstate(over="ignore"):
        ends = np.minimum([_SHORTEST / live[-1], _LONGEST / live[0]], _LAST)
    return np.geomspace(float(ends[0]), float(ends[1]), _TIMES)


def signatures(modes: Spectrum, functions: Floats, times: Floats) -> Floats:
    """Coefficients of e^{−tL}F in the modes, (modes, times × functions), each of unit norm.

    Of unit norm, bumps whose height or width depends on how densely a graph has vertices still compare. What the modes
    do not see of a function is zero.
    """
    A = coefficients(modes, functions / np.maximum(np.abs(functions).max(axis=0), np.finfo(np.float64).tiny))
    heat = modes.decay(times[:, np.newaxis])[:, :, np.newaxis] * A
    size = np.linalg.norm(heat, axis=1, keepdims=True)
    seen = size > 100.0 * _EPSILON
    return np.hstack(list(np.where(seen, heat / np.where(seen, size, 1.0), 0.0)))
