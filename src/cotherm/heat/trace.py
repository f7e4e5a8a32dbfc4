"""The heat trace Σ_k e^{−tλ_k}: how much heat stays where it was put, over all vertices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph
from cotherm.heat.chebyshev import chebyshev_flow, engine_laplacian
from cotherm.heat.spectrum import full_spectrum
from cotherm.heat.validation import require_graph

# Probes are flowed in blocks of this many, which bounds the memory.
_BLOCK = 16
# Numbers in memory at once: 256 MB; more times are done in parts.
_AT_ONCE = 2**25


def heat_trace(graph: Graph, times: ArrayLike, *, probes: int = 64, seed: int = 0) -> Floats:
    r"""Compute the trace of the heat kernel at one or more times.

    .. math:: \operatorname{tr} e^{-tL} = \sum_k e^{-t\lambda_k}

    Parameters
    ----------
    graph : Graph
        The graph.
    times : array_like of float
        One or more times t ≥ 0.
    probes : int, default 64
        Number of random vectors for the estimate on large graphs.
    seed : int, default 0
        Seed of the random vectors.

    Returns
    -------
    ndarray
        The trace at each time, in the shape of `times`.

    See Also
    --------
    heat_kernel : The kernel itself.
    heat_flow : Heat flow of given functions.

    Notes
    -----
    Exact up to 2,000 vertices. Above, the result is an unbiased estimate from random sign vectors z [1]_, by
    zᵀe^{−tL}z = ‖e^{−(t/2)L}z‖². Its standard error is at most √(2 tr(e^{−2tL}) / probes). That is a fraction
    √(2/probes) of the trace at worst, when heat is almost even, and of the order of 1/√(n·probes) at short times.

    References
    ----------
    .. [1] M. F. Hutchinson, "A stochastic estimator of the trace of the influence matrix for Laplacian smoothing
       splines", Communications in Statistics - Simulation and Computation, 1989.

    Examples
    --------
    >>> import cotherm as ct
    >>> edge = ct.Graph(2, [0], [1], [1.0])
    >>> ct.heat_trace(edge, [0.0, 0.5]).round(3)
    array([2.   , 1.368])
    """
    require_graph(graph)
    checked = validation.times("times", times)
    shape = np.shape(times)
    probes = validation.integer("probes", probes, least=1)
    seed = validation.integer("seed", seed, least=0)
    if graph.n <= limits.DENSE:
        spectrum = full_spectrum(graph, longest=float(checked.max()))
        trace = np.concatenate([spectrum.decay(part[:, np.newaxis]).sum(axis=1) for part in _parts(checked, graph.n)])
    else:
        trace = _estimate(graph, checked, probes, seed)
    return trace.reshape(shape)


def _estimate(graph: Graph, times: Floats, probes: int, seed: int) -> Floats:
    matrix = engine_laplacian(graph)
    random = np.random.default_rng(seed)
    total = np.zeros(len(times))
    for first in range(0, probes, _BLOCK):
        signs = random.choice([-1.0, 1.0], size=(graph.n, min(_BLOCK, probes - first)))
        flows = (chebyshev_flow(matrix, signs, 0.5 * part, 1e-8) for part in _parts(times, signs.size))
        total += np.concatenate([np.einsum("tvc,tvc->t", x, x) for x in flows])
    return total / probes


def _parts(times: Floats, size: int) -> list[Floats]:
    """The times in parts, so few in each that blocks of ``size`` numbers per time fit into memory."""
    step = max(1, _AT_ONCE // size)
    return [times[first : first + step] for first in range(0, len(times), step)]
