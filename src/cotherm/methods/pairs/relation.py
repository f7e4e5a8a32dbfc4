"""Whether two views have more in common than by chance, and how much: the correlation of their heat.

Heat flows from items that both views have to others that both have, which makes an array a_ij for each view. The
correlation r = Σ a_ij b_ij of the two arrays, each with mean 0 and norm 1, says how far the views are related.

*Chance* is the correlation after a random permutation of one view's items (Mantel 1967). Its variance has a closed
form. An array is the sum of parts that permutations do not mix: effects of its rows, effects of its columns, and what
is left. Different parts are uncorrelated, and within a part of dimension d the variance is ‖a‖²‖b‖²/d.

- Few items: heat between all of them. The array is symmetric, its diagonal is ignored, and it has two parts.
- Many items: heat from some of them, the sources, to all the others, with permutations of the sources among themselves
  and of the others among themselves. Every source is compared with all that is near it, however many items there are;
  a sample of sources *and* targets would hold ever fewer pairs of neighbors.

*Certainty*: the probability that chance reaches r, from a gamma distribution with the mean, variance and skewness of
chance (Pearson's type III, as Mielke 1979 has it for such sums). Where few pairs of items carry all of the heat, as in
graphs of many small pieces, chance is skewed, and a few coincidences are not taken for a relation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, gammaincc

from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import flow
from cotherm.heat.times import diffusion_time
from cotherm.methods.pairs.rules import FEWEST, MOVES, SURE
from cotherm.pairs import Pairs

Link = tuple[int, int]

# Heat from more than _MOST_SOURCES items tells nothing new. Where there are many others, fewer sources suffice: arrays
# have at most about _ENTRIES entries.
_MOST_SOURCES, _ENTRIES, _FEWEST_SOURCES = 400, 8_000_000, 40
# Below this skewness a gamma distribution is normal.
_STRAIGHT = 1e-4
_ROUGHLY = 1e-6
# Arrays that vary by less than this fraction of their norm vary by rounding only.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Relation:
    """Two views that share items.

    ``correlation``, ``deviations`` (by how many standard deviations it exceeds chance) and ``p_value`` are NaN where
    the views share too few items to be compared.
    """

    views: Link
    shared: int
    correlation: float
    deviations: float
    p_value: float

    @property
    def evidence(self) -> float:
        """How certain it is that the views have more in common than chance; 0 where they cannot be compared."""
        return evidence(self.p_value)

    @property
    def related(self) -> bool:
        """Whether there is any such evidence."""
        return self.evidence > 0.0


def evidence(p_value: float) -> float:
    """From 0, where chance is likely or not known, to 1: 1 − log s / log p for p below s, the limit of chance.

    The influence of views on each other is proportional to it, so that nothing jumps where p crosses a limit.
    """
    if not p_value < SURE:
        return 0.0
    return 1.0 - math.log(SURE) / math.log(p_value) if p_value > 0.0 else 1.0


def relations(graphs: Sequence[Graph], pairs: Pairs, seed: int, engine: Engine) -> list[Relation]:
    """The relation of every two views that share items."""
    found = []
    for a, b in combinations(range(len(graphs)), 2):
        mine, theirs = pairs.shared(a, b)
        if len(mine) >= FEWEST:
            found.append(Relation((a, b), len(mine), *_compared(graphs[a], graphs[b], mine, theirs, seed, engine)))
        elif len(mine):
            found.append(Relation((a, b), len(mine), np.nan, np.nan, np.nan))
    return found


def some(vertices: tuple[Ints, Ints], others: int, seed: int) -> tuple[Ints, Ints]:
    """A random sample of the items, enough to compare heat from them to ``others`` other items."""
    count, most = len(vertices[0]), _sources(others)
    if count <= most:
        return vertices
    rows = np.random.default_rng(seed).choice(count, most, replace=False)
    return vertices[0][rows], vertices[1][rows]


def _sources(others: int) -> int:
    return min(_MOST_SOURCES, max(_FEWEST_SOURCES, _ENTRIES // others))


def heat_rows(graph: Graph, sources: Ints, targets: Ints, given: Graph, engine: Engine) -> Floats:
    """e^{−tL} from some vertices to others; t is that of a number of moves on the view as given."""
    points = np.zeros((graph.n, len(sources)))
    points[sources, np.arange(len(sources))] = 1.0
    t = diffusion_time(MOVES, given)
    return np.asarray(flow(graph, points, np.array([t]), "auto", _ROUGHLY, engine)[0][targets].T)


def _compared(
    first: Graph, second: Graph, mine: Ints, theirs: Ints, seed: int, engine: Engine
) -> tuple[float, float, float]:
    sources, targets = _split(len(mine), seed)
    a, b = (heat_rows(g, at[sources], at[targets], g, engine) for g, at in ((first, mine), (second, theirs)))
    return compared(a, b) if len(mine) > _MOST_SOURCES else compared_all(a, b)


def _split(count: int, seed: int) -> tuple[Ints, Ints]:
    """Sources and targets: all items for both if they are few, else a sample and all other items."""
    everything = np.arange(count)
    if count <= _MOST_SOURCES:
        return everything, everything
    size = min(count // 2, _sources(count))
    sources = np.sort(np.random.default_rng(seed).choice(count, size, replace=False))
    return sources, np.setdiff1d(everything, sources)


def compared_all(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Correlation, deviations and p-value of heat between all items, two symmetric arrays whose diagonal is ignored."""
    n = len(first)
    off = ~np.eye(n, dtype=bool)
    a, b = (_standardized(K, off) for K in (first, second))
    r, s = (x.sum(axis=1) / (n - 2) for x in (a, b))
    e, f = (np.where(off, x - own - own[:, np.newaxis], 0.0) for x, own in ((a, r), (b, s)))
    # Every two items are in the arrays twice: T = 2(n − 2) Σ r_i s_i + 2 Σ_{i<j} e_ij f_ij.
    parts = [_effects(r, s, 2.0 * (n - 2)), _left(e, f, 2.0, n * (n - 3) // 2)]
    return _judged(float(np.vdot(a, b)), parts)


def compared(first: Floats, second: Floats) -> tuple[float, float, float]:
    """Correlation, deviations and p-value of heat from sources (rows) to other items (columns)."""
    a, b = (_standardized(K, np.ones(K.shape, dtype=bool)) for K in (first, second))
    m, n = a.shape
    (r, s), (c, d) = ([x.mean(axis=axis) for x in (a, b)] for axis in (1, 0))
    e, f = a - r[:, np.newaxis] - c, b - s[:, np.newaxis] - d
    parts = [_effects(r, s, n), _effects(c, d, m), _left(e, f, 1.0, (m - 1) * (n - 1))]
    return _judged(float(np.vdot(a, b)), parts)


def _standardized(K: Floats, counted: NDArray[np.bool_]) -> Floats:
    """Scale the counted entries to mean 0 and norm 1, or to 0 if they do not vary; other entries become 0."""
    centered = np.where(counted, K - K[counted].mean(), 0.0)
    size = float(np.linalg.norm(centered))
    return centered / size if size > _NOTHING * float(np.linalg.norm(K)) else np.zeros_like(centered)


def _effects(r: Floats, s: Floats, factor: float) -> tuple[float, float]:
    """Variance and third central moment of c Σ r_i s_π(i) over the permutations π; r and s have mean 0."""
    n = len(r)
    third = n / ((n - 1) * (n - 2)) * float(np.sum(r**3) * np.sum(s**3))
    return factor**2 * float(r @ r) * float(s @ s) / (n - 1), factor**3 * third


def _left(e: Floats, f: Floats, repeated: float, dimension: int) -> tuple[float, float]:
    """The same for Σ e_ij f_π(i)π(j), where the arrays have no row or column effects.

    The third moment is that of single entries permuted at random, each of which occurs ``repeated`` times.
    """
    squares = float(np.sum(e * e)) * float(np.sum(f * f))
    cubes = float(np.sum(e * e * e)) * float(np.sum(f * f * f))
    return squares / dimension, repeated**2 * cubes / e.size


def _judged(r: float, parts: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The correlation, its deviations and p-value, from moments of the parts of chance."""
    variance, third = (float(sum(part[moment] for part in parts)) for moment in (0, 1))
    if not r > _NOTHING:
        return r, 0.0, 1.0
    z, skewness = r / np.sqrt(variance), third / variance**1.5
    if skewness < _STRAIGHT:
        return r, float(z), float(0.5 * erfc(z / np.sqrt(2.0)))
    shape = 4.0 / skewness**2
    return r, float(z), float(gammaincc(shape, shape + z * np.sqrt(shape)))
