"""Whether a correspondence can be believed: two of them, from halves of the functions, and how far they agree.

A map there and back says little: spectral upsampling makes any map consistent, right or wrong. Two matches that share
no function agree only where something but chance leads both to the same place. The halves have fewer functions than the
whole, so agreement is rather too low; where both lack what tells two sides of a symmetry apart, or where graphs were
coupled by the same functions before, it is too high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from cotherm.arrays import Floats, Ints
from cotherm.graphs.graph import Graph

# From the columns of the functions, the vertex of the target for each one of the source.
Matched = Callable[[Ints], Ints]

_SEED = 0


def agreement(target: Graph, matched: Matched, functions: int, splits: int) -> tuple[Floats, float]:
    """For every source vertex, the fraction of splits in which both halves lead to the same vertex or to neighbors.

    And of all vertices and splits the part in which they lead to the very same vertex.
    """
    near = neighborhoods(target)
    pairs = [(matched(first), matched(second)) for first, second in random_halves(functions, splits)]
    alike = [np.asarray(near[a, b], dtype=np.float64).ravel() for a, b in pairs]
    return np.mean(alike, axis=0), float(np.mean([a == b for a, b in pairs]))


def random_halves(functions: int, splits: int) -> Sequence[tuple[Ints, Ints]]:
    """Disjoint halves of the numbers of functions, drawn from a fixed seed."""
    random = np.random.default_rng(_SEED)
    orders = [random.permutation(functions) for _ in range(splits)]
    return [(np.sort(order[: functions // 2]), np.sort(order[functions // 2 :])) for order in orders]


def chance(target: Graph) -> float:
    """How often two vertices drawn at random are the same or neighbors."""
    return float(neighborhoods(target).nnz) / target.n**2


def neighborhoods(graph: Graph) -> sp.csr_array:
    """1 for every vertex and itself, and for neighbors by an edge with weight."""
    live = graph.w > 0.0
    i, j, v = graph.i[live], graph.j[live], np.arange(graph.n)
    at = (np.concatenate([v, i, j]), np.concatenate([v, j, i]))
    return sp.csr_array((np.ones(len(at[0])), at), shape=(graph.n, graph.n))
