"""Diffusion distances on a common graph between items in one view and items in several.

Heat from an item in several views spreads over all of them, heat from an item in one view over that one first. So the
two look far apart, however near they are. Where items are missing from views, heat from an item is compared view by
view: p_k is the part of it on the items of view k, relative to all heat there. Two items are compared by the views that
contain both, or by all views if no view does:

    d²(i, j) = mean over k of ‖p_k(i) − p_k(j)‖² / r_k(i) r_k(j),

where r_k(i)² is the mean of ‖p_k(i) − p_k(j)‖² over the items j of view k. Heat spreads further in some views than in
others, and further from some items than from others; relative to r_k, distances by one view and several compare.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow

# On large graphs p_k is estimated from products with random functions: distances to about 1/√1024 = 3 percent.
_FUNCTIONS = 512
_ROUGHLY = 1e-9


def by_shared_views(graph: Graph, here: NDArray[np.bool_], t: float, sources: Ints) -> Floats:
    """Distances from some items to all, (sources, items); ``here`` marks which items are in which views."""
    found, shared = np.zeros((len(sources), graph.n)), np.zeros((len(sources), graph.n))
    everywhere = np.zeros((len(sources), graph.n))
    for heat, inside in zip(_relative_heat(graph, here, t), here.T, strict=True):
        sizes = np.einsum("ir,ir->i", heat, heat)
        squares = np.maximum(sizes[sources, np.newaxis] + sizes - 2.0 * heat[sources] @ heat.T, 0.0)
        squares[np.arange(len(sources)), sources] = 0.0  # else rounding
        far = np.sqrt(np.maximum(sizes + sizes[inside].mean() - 2.0 * heat @ heat[inside].mean(axis=0), 0.0))
        squares /= np.maximum(far[sources, np.newaxis] * far, np.finfo(float).tiny)
        both = inside[sources, np.newaxis] & inside
        found += np.where(both, squares, 0.0)
        shared += both
        everywhere += squares
    return np.sqrt(np.where(shared > 0, found / np.maximum(shared, 1), everywhere / here.shape[1]))


def _relative_heat(graph: Graph, here: NDArray[np.bool_], t: float) -> list[Floats]:
    """For each view the heat from every item that is on the items of the view, relative to all heat there."""
    times = np.array([t])
    amounts = flow(graph, here.astype(float), times, "auto", _ROUGHLY)[0]  # the kernel is symmetric
    if graph.n <= limits.ALL_DISTANCES:
        kernel = flow(graph, np.eye(graph.n), times, "auto", _ROUGHLY)[0]
        parts = [kernel[:, inside] for inside in here.T]
    else:
        functions = np.random.default_rng(0).standard_normal((graph.n, _FUNCTIONS)) / np.sqrt(_FUNCTIONS)
        masked = [np.where(inside[:, np.newaxis], functions, 0.0) for inside in here.T]
        parts = [flow(graph, one, times, "auto", _ROUGHLY)[0] for one in masked]
    views = zip(parts, amounts.T, strict=True)
    # Less heat than the flow is accurate to is rounding, which must not be blown up.
    return [
        np.divide(part, amount[:, np.newaxis], out=np.zeros_like(part), where=amount[:, np.newaxis] > _ROUGHLY)
        for part, amount in views
    ]
