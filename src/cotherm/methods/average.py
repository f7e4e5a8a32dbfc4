"""Averaging the weights of graphs on the same vertices: the simplest way to make one of several views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import shortened
from cotherm.graphs.graph import Graph
from cotherm.methods.result import JointGraphs, same_vertices
from cotherm.methods.validation import checked_graphs, share

KINDS = {"arithmetic": 1.0, "geometric": 0.0, "harmonic": -1.0}


@dataclass(frozen=True, eq=False, repr=False)
class Average(JointGraphs):
    """Result of average: one graph that all views share.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    graph : Graph
        The average graph, with the coordinates, labels and names of vertices of the first graph.
    originals : tuple of Graph
        The graphs that were given.
    distance : float
        Distance Σ π_k ‖L_k − L̄‖² of the average from the graphs, in the Frobenius norm.
    settings : dict
        The other arguments as they were understood.

    See Also
    --------
    average : Compute it.
    """

    graph: Graph
    originals: tuple[Graph, ...]
    distance: float
    settings: Mapping[str, Any]

    @property
    def graphs(self) -> tuple[Graph, ...]:  # type: ignore[override]
        """The average graph once for every view."""
        return (self.graph,) * len(self.originals)

    def __str__(self) -> str:
        lines = [
            self._headline(),
            f"  {'graph':<20}{'edges':>9}{'of them kept':>14}",
        ]
        for k, graph in enumerate(self.originals):
            kept = int(np.sum(_lookup(self.graph, graph) > 0.0))
            lines.append(f"  {shortened(graph.name or str(k), 20):<20}{graph.m:>9}{kept:>14}")
        return "\n".join(lines)

    def _headline(self) -> str:
        live = int(np.sum(self.graph.w > 0.0))
        return (
            f"Average of {len(self.originals)} graphs, power {self.settings['power']:g}: "
            f"{self.graph.n} vertices, {live} edges with weight"
        )


def average(
    graphs: Sequence[Graph],
    graph_weights: ArrayLike | None = None,
    *,
    power: float | str = 1.0,
    normalized: bool = False,
) -> Average:
    r"""Average graphs on the same vertices into one graph on the union of their edges.

    The weight of an edge is the power mean of its weights in the graphs,

    .. math:: \Big(\sum_k \pi_k w_k^p\Big)^{1/p},

    where an edge that a graph does not have counts with weight 0. For :math:`p = 1` this is the average Laplacian,
    which minimizes :math:`\sum_k \pi_k \|L_k - \bar L\|_F^2`.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs on the same vertices: vertex v is the same item in all of them.
    graph_weights : array_like of float, optional
        Weight π > 0 of each graph, 1 by default. The weights are scaled to sum to 1.
    power : float or {"arithmetic", "geometric", "harmonic"}, default 1.0
        Power p; the names are 1, 0 and −1. The larger p, the more one strong weight counts. For p ≤ 0 an edge has
        weight only if all graphs have it.
    normalized : bool, default False
        Average w_ij / √(d_i d_j) instead of w_ij, so that a view with large weights or many edges does not dominate.

    Returns
    -------
    Average
        The average graph.

    Raises
    ------
    CothermError
        If the graphs have different numbers of vertices.

    See Also
    --------
    joint_diagonalize : One basis for all views.
    couple : Graphs of any sizes, each changed as little as possible.

    Examples
    --------
    >>> import cotherm as ct
    >>> g1, g2 = ct.Graph(3, [0, 1], [1, 2], [2.0, 4.0]), ct.Graph(3, [0], [1], [6.0])
    >>> ct.average([g1, g2]).graph.w.tolist()
    [4.0, 2.0]
    >>> ct.average([g1, g2], power="harmonic").graph.w.tolist()
    [3.0, 0.0]
    """
    checked = checked_graphs(graphs)
    n = same_vertices(checked)
    pi = share("graph_weights", graph_weights, len(checked), "graphs")
    p = KINDS[validation.choice("power", power, KINDS)] if isinstance(power, str) else validation.number("power", power)
    normalized = validation.boolean("normalized", normalized)
    scaled = [_normalized(g) if normalized else g for g in checked]
    i, j, W = _aligned(n, scaled)
    mean = checked[0].replace(name=None).with_edges(i, j, power_mean_of(W, pi, p))
    L = mean.laplacian()
    with np.errstate(over="ignore"):  # the squares of huge weights are infinite
        distance = sum(
            share * float(np.sum((L - g.laplacian()).data ** 2)) for share, g in zip(pi, scaled, strict=True)
        )
    return Average(
        graph=mean,
        originals=tuple(checked),
        distance=float(distance),
        settings={"graph_weights": pi.tolist(), "power": p, "normalized": normalized},
    )


def power_mean_of(W: Floats, weights: Floats, p: float) -> Floats:
    """(Σ π_k W_k^p)^{1/p} along the first axis, for W ≥ 0; its limits at p = 0 and at zeros."""
    # Divided by the largest for p > 0, or the smallest for p < 0, so that no power overflows.
    unit = W.max(axis=0) if p > 0.0 else W.min(axis=0)
    live = unit > 0.0
    result = np.zeros(W.shape[1])
    with np.errstate(divide="ignore"):  # log 0 = −∞, whose powers are 0
        logs = np.log(W[:, live]) - np.log(unit[live])
    if p == 0.0:
        result[live] = unit[live] * np.exp(weights @ logs)
    else:
        # Σ π e^{p log w} as 1 + Σ π (e^{p log w} − 1): exact also where p is so small that the mean is nearly
        # geometric.
        result[live] = unit[live] * np.exp(np.log1p(weights @ np.expm1(p * logs)) / p)
    return result


def _normalized(graph: Graph) -> Graph:
    """w_ij / √(d_i d_j); 0 at vertices without weight."""
    root = np.sqrt(graph.degrees)
    ends = root[graph.i] * root[graph.j]
    return graph.with_weights(np.divide(graph.w, ends, out=np.zeros(graph.m), where=ends > 0.0))


def _aligned(n: int, graphs: Sequence[Graph]) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """The union of the edges, sorted, and the weights of each graph on it, (N, edges)."""
    keys = [g.i.astype(np.int64) * n + g.j for g in graphs]
    union = np.unique(np.concatenate(keys))
    W = np.zeros((len(graphs), len(union)))
    for row, key, graph in zip(W, keys, graphs, strict=True):
        row[np.searchsorted(union, key)] = graph.w
    return union // n, union % n, W


def _lookup(graph: Graph, edges: Graph) -> Floats:
    """The weights of a graph with sorted edges on the edges of another, all of which it has."""
    key, wanted = (g.i.astype(np.int64) * g.n + g.j for g in (graph, edges))
    return np.asarray(graph.w[np.searchsorted(key, wanted)])
