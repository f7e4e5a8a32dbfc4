"""One graph over all items of several views, whether an item is in all of them or in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import visible
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import Nearest, diffusion_distance, diffusion_map
from cotherm.heat.times import diffusion_time, median_degree
from cotherm.methods.pairs import rules
from cotherm.methods.pairs.agreement import PairReport
from cotherm.methods.pairs.clusters import AUTO, METHODS, Clustering, clustering, number_of_clusters
from cotherm.methods.pairs.common_distance import by_shared_views
from cotherm.methods.pairs.second import with_degrees, with_second_neighbors
from cotherm.methods.pairs.view_weights import structure, view_weights, weights_of_two
from cotherm.methods.validation import checked_graphs, share
from cotherm.notebook import Shown, Table
from cotherm.pairs import MISSING, Pairs, checked_pairs

# Items whose neighbors are looked for at once.
_BLOCK = 256
# Telling clusters apart takes at least this many landmarks for each.
_LANDMARKS = 3


@dataclass(frozen=True, eq=False, repr=False)
class CommonGraph(Shown):
    """One graph over all items of several views.

    Attributes
    ----------
    graph : Graph
        The common graph: vertex v is the item of row v of ``items``.
    items : ndarray of int of shape (items, views)
        The vertex that each item is in every view, -1 where it is missing. Items in several views come first, in the
        order of the pairs, then those that are in one view only, view by view. Items that are only in views that were
        left out are not among them.
    view_weights : ndarray of shape (items, views)
        How far each view is believed about each item. Rows sum to 1; 0 where an item is missing from a view, and for
        views that were left out.
    first_neighbors : Graph or None
        The common graph before it got second neighbors, which clusters are judged by. None where it has none.
    left_out : mapping of int to int
        The views that were not merged, and how many vertices each of them has.
    notes : tuple of str
        Which views were left out, and why, in plain words.

    See Also
    --------
    common_graph : Compute it from graphs and pairs.
    Coupling.common_graph : Compute it from graphs that were coupled by pairs.
    """

    graph: Graph
    items: Ints
    view_weights: Floats
    first_neighbors: Graph | None = None
    left_out: Mapping[int, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def views(self) -> tuple[int, ...]:
        """The views that were merged."""
        return tuple(k for k in range(self.items.shape[1]) if k not in self.left_out)

    def of_view(self, view: int) -> Ints:
        """Return the item that each vertex of a view is.

        Parameters
        ----------
        view : int
            Number of the view.

        Returns
        -------
        ndarray of int of shape (n_k,)
            Row of ``items``, which is the vertex of the common graph. -1 for vertices that are not in the common graph,
            which only views that were left out have.

        Examples
        --------
        >>> import cotherm as ct
        >>> path = ct.Graph(3, [0, 1], [1, 2], [1.0, 1.0])
        >>> common = ct.common_graph([path, path], pairs=[[0, 1], [2, 1]])
        >>> common.items.tolist()
        [[0, 2], [1, 1], [2, -1], [-1, 0]]
        >>> common.of_view(1).tolist()
        [3, 1, 0]
        """
        view = self._view(view)
        rows = np.flatnonzero(self.items[:, view] >= 0)
        found = np.full(self.left_out.get(view, len(rows)), MISSING, dtype=np.int64)
        found[self.items[rows, view]] = rows
        return found

    def embedding(self, k: int = 2, *, t: float = 0.0) -> Floats:
        """Embed all items in one space by the diffusion map of the common graph.

        Parameters
        ----------
        k : int, default 2
            Number of coordinates.
        t : float, default 0.0
            Time t ≥ 0 of the diffusion map.

        Returns
        -------
        ndarray of shape (items, k)
            The coordinates of each item.

        See Also
        --------
        cotherm.diffusion_map : Diffusion coordinates on one graph.
        """
        return diffusion_map(self.graph, t, k)

    def distances(self, t: float, *, sources: ArrayLike | None = None) -> Floats:
        """Compute diffusion distances between items.

        Where items are missing from views, heat is compared view by view, over the views that two items share, or over
        all if they share none: relative to all heat on the items of a view, and to how far each of the two is from the
        items of the view. So items in one view and items in several can be compared, and distances have no unit.

        Parameters
        ----------
        t : float
            Time t ≥ 0.
        sources : array_like of int, optional
            Items whose distances to all items are computed. By default all.

        Returns
        -------
        ndarray of shape (sources, items)
            The distances.

        See Also
        --------
        cotherm.diffusion_distance : Diffusion distances on one graph.
        """
        here = self.items[:, list(self.views)] >= 0
        if here.all():
            return diffusion_distance(self.graph, t, sources=sources)
        time = validation.real("t", t)
        wanted = np.arange(self.graph.n)
        if sources is not None:
            wanted = validation.indices("sources", sources, below=self.graph.n)
        return by_shared_views(self.graph, here, time, wanted)

    def clusters(self, k: int | str = "auto", *, method: str = "auto", random_state: int = 0) -> Ints:
        """Cluster all items, whichever views they are in.

        Parameters
        ----------
        k : int or "auto", default "auto"
            Number of clusters. "auto": from 2 to 30, where the gap between two eigenvalues of the normalized Laplacian
            of the common graph is largest [1]_.
        method : {"auto", "heat", "spectral", "leiden"}, default "auto"
            "spectral": k-means on the first k modes, with rows scaled to unit length. "heat": k-means on square roots
            of the heat that flows from each item to those that are in several views, in 2, 4 or 8 moves along edges;
            for up to 4,096 items. Both are read off the common graph and off ``first_neighbors``, and the clusters with
            the smallest normalized cut [2]_ of the latter are taken. "auto": the best of both by that cut. "leiden":
            Leiden's method [3]_ on ``first_neighbors``, with the resolution that gives k clusters; it needs igraph,
            ``pip install 'cotherm[igraph]'``.
        random_state : int, default 0
            Seed of k-means and of Leiden's method.

        Returns
        -------
        ndarray of int of shape (items,)
            Cluster of each item, from 0 to k − 1.

        See Also
        --------
        clustering : The same, with which reading was taken.

        References
        ----------
        .. [1] U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing, 2007.
        .. [2] J. Shi and J. Malik, "Normalized cuts and image segmentation", IEEE Transactions on Pattern Analysis and
           Machine Intelligence, 2000.
        .. [3] V. A. Traag, L. Waltman and N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected
           communities", Scientific Reports, 2019.

        Examples
        --------
        >>> import cotherm as ct
        >>> views = ct.datasets.ambiguous()
        >>> common = ct.couple_pairs(views.graphs).common_graph()
        >>> len(set(common.clusters().tolist()))
        7
        """
        return self.clustering(k, method=method, random_state=random_state).labels

    def clustering(self, k: int | str = "auto", *, method: str = "auto", random_state: int = 0) -> Clustering:
        """Cluster all items, and tell how.

        Parameters
        ----------
        k : int or "auto", default "auto"
            Number of clusters, as for :meth:`clusters`.
        method : {"auto", "heat", "spectral", "leiden"}, default "auto"
            The method, as for :meth:`clusters`.
        random_state : int, default 0
            Seed of k-means and of Leiden's method.

        Returns
        -------
        Clustering
            ``labels``, ``method``, which reading was taken, and ``normalized_cut``.
        """
        auto = isinstance(k, str) and k == AUTO
        count = number_of_clusters(self.graph) if auto else validation.integer("k", k, least=1, most=self.graph.n)
        method = validation.choice("method", method, METHODS)
        seed = validation.integer("random_state", random_state, least=0, most=2**32 - 1)
        first, denser = (self.graph, None) if self.first_neighbors is None else (self.first_neighbors, self.graph)
        return clustering(first, count, method, seed, landmarks=self._landmarks(count), denser=denser)

    def _landmarks(self, k: int) -> Ints | None:
        """The items in several views: items in one view each can only be compared by their heat at these.

        None, which means all items, where these are too few to tell clusters apart.
        """
        several = np.flatnonzero(np.sum(self.items >= 0, axis=1) > 1)
        return several if len(several) >= _LANDMARKS * k else None

    def neighbors(self, view: int, k: int = 10, *, items: ArrayLike | None = None, t: float | str = "auto") -> Nearest:
        """Find the nearest vertices of a view, also for items that are missing from it.

        This imputes the neighbors that an item would have in a view it was not seen in: the items of that view that
        are nearest by diffusion distance on the common graph.

        Parameters
        ----------
        view : int
            Number of the view.
        k : int, default 10
            Number of neighbors.
        items : array_like of int, optional
            Items whose neighbors are looked for, as rows of ``items``. By default those missing from the view.
        t : float or "auto", default "auto"
            Time of the diffusion distance. "auto": eight moves along edges.

        Returns
        -------
        Nearest
            ``indices`` are vertices of the view, (items, k), nearest first, and ``distances`` their distances.
        """
        of_view, view = self.of_view(view), self._view(view)
        vertices = np.flatnonzero(of_view >= 0)
        here = of_view[vertices]
        missing = np.flatnonzero(self.items[:, view] < 0)
        wanted = missing if items is None else validation.indices("items", items, below=len(self.items))
        inside = bool(np.any(self.items[wanted, view] >= 0))
        k = validation.integer("k", k, least=1, most=max(1, len(here) - inside))
        time = (
            diffusion_time(rules.MOVES, self.graph) if isinstance(t, str) and t == "auto" else validation.real("t", t)
        )
        indices, distances = np.empty((len(wanted), k), dtype=np.int64), np.empty((len(wanted), k))
        for first in range(0, len(wanted), _BLOCK):
            rows = slice(first, first + _BLOCK)
            apart = self.distances(time, sources=wanted[rows])[:, here]
            apart[here[np.newaxis, :] == wanted[rows, np.newaxis]] = np.inf
            nearest = np.argsort(apart, axis=1, kind="stable")[:, :k]
            indices[rows], distances[rows] = vertices[nearest], np.take_along_axis(apart, nearest, axis=1)
        return Nearest(indices, distances)

    def _view(self, view: Any) -> int:
        return validation.integer("view", view, least=0, most=self.items.shape[1] - 1)

    def __str__(self) -> str:
        return "\n".join([self._headline(), *(f"  {note}" for note in self.notes)])

    def _remarks(self) -> Sequence[str]:
        return self.notes

    def _tables(self) -> Sequence[Table]:
        here = self.items >= 0
        alone = here & (here.sum(axis=1, keepdims=True) == 1)
        counts = zip(here.sum(axis=0).tolist(), alone.sum(axis=0).tolist(), strict=True)
        rows = [[f"view {k + 1}", *both] for k, both in enumerate(counts)]
        return [(("view", "items", "in this view only"), rows)]

    def _headline(self) -> str:
        several = int(np.sum(np.sum(self.items >= 0, axis=1) > 1))
        views = self.items.shape[1]
        return (
            f"Common graph of {views if len(self.views) == views else f'{len(self.views)} of {views}'} views: "
            f"{self.graph.n} items, {several} of them in several views, "
            f"{int(np.sum(self.graph.w > 0.0))} edges with weight"
        )


def common_graph(
    graphs: Sequence[Graph],
    pairs: ArrayLike | Sequence[ArrayLike] | str = "same",
    *,
    graph_weights: ArrayLike | None = None,
    second_neighbors: bool = False,
) -> CommonGraph:
    r"""Merge graphs into one over all items, paired or not.

    The weight between two items is the mean over the views that have both,

    .. math:: c \sum_k \pi_k \frac{w_k}{\sqrt{d_k d_k'}} \Big/ \sum_k \pi_k,

    where weights are divided by the degrees of their ends, so that no view and no hub dominates. Items that are in one
    view only have the neighbors that this view gives them. The factor c makes the median degree the geometric mean of
    the views' median degrees, so that the same times are long or short on the common graph and on the views.

    Merge graphs after coupling them, see :meth:`cotherm.Coupling.common_graph`: as they are, wrong edges of one view
    are wrong in the common graph, too.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more views, graphs of any sizes.
    pairs : "same", "names", sequence of array_like, or array_like of int of shape (items, graphs), default "same"
        Which vertices are the same item, as for :func:`cotherm.couple_pairs`.
    graph_weights : array_like of float, optional
        Weight π > 0 of each graph, 1 by default.
    second_neighbors : bool, default False
        Whether to join items to their neighbors' neighbors, too. Then 0.8 of the weight goes to the pairs of items that
        the strongest paths of two edges lead between, for every item those to :math:`2\sqrt{n}` others, but at least
        20 and at most 100, and all degrees become about equal. So few moves along edges tell more items apart.

    Returns
    -------
    CommonGraph
        The graph, and which vertex of which view each item is.

    See Also
    --------
    couple_pairs : Couple the graphs first.
    average : Average of graphs on the same vertices.

    Examples
    --------
    Every third item is in both views, the others are in one of them:

    >>> import cotherm as ct
    >>> views = ct.datasets.ambiguous()
    >>> both = range(0, views.graphs[0].n, 3)
    >>> result = ct.couple_pairs(views.graphs, pairs=[both, both])
    >>> common = result.common_graph()
    >>> common.graph.n == 2 * views.graphs[0].n - len(both)
    True
    >>> len(common.clusters(3)) == common.graph.n
    True
    """
    checked = checked_graphs(graphs)
    found = checked_pairs(pairs, [graph.n for graph in checked], [graph.vertex_names for graph in checked])
    weights = share("graph_weights", graph_weights, len(checked), "graphs")
    spread = validation.boolean("second_neighbors", second_neighbors)
    here = found.all_items() >= 0
    shares = here * weights
    return merged(checked, found, shares / shares.sum(axis=1, keepdims=True), second_neighbors=spread)


def merged_by_trust(
    graphs: Sequence[Graph],
    originals: Sequence[Graph],
    report: PairReport,
    *,
    second_neighbors: bool,
    include_unrelated: bool,
) -> CommonGraph:
    """``Coupling.common_graph`` for checked arguments: views are weighted by how far they are believed, or left out."""
    pairs = Pairs(report.table, tuple(graph.n for graph in graphs))
    trust = np.array(report.trust(include_unrelated=include_unrelated))
    alone = not trust.any()
    if alone:
        trust[int(np.argmax([structure(graph) for graph in originals]))] = 1.0
    views = np.flatnonzero(trust).tolist()
    items = pairs.among(views).all_items()
    weights = np.zeros((len(items), len(graphs)))
    given = [originals[k] for k in views]
    two = len(views) == 2
    weights[:, views] = weights_of_two(given, items, float(trust[views].mean())) if two else view_weights(given, items)
    common = merged(graphs, pairs, weights, second_neighbors=second_neighbors)
    names = [visible(graph.name or f"view {k + 1}") for k, graph in enumerate(graphs)]
    return replace(common, notes=tuple(_left_out(names, common, alone)))


def _left_out(names: Sequence[str], common: CommonGraph, alone: bool) -> Iterator[str]:
    left = common.left_out
    if left:
        reason = (
            "No two views are known to be related enough to be merged" if alone else "Not related enough to be merged"
        )
        taken = f": the common graph is that of {names[common.views[0]]}, which has most structure." if alone else "."
        yield f"{reason}{taken} Left out: {', '.join(names[k] for k in left)} (include_unrelated merges all views)."
    lost = sum(int(np.sum(common.of_view(k) < 0)) for k in left)
    if lost:
        yield f"{lost} vertices that are only in views left out are not in the common graph."


def merged(graphs: Sequence[Graph], pairs: Pairs, weights: Floats, *, second_neighbors: bool) -> CommonGraph:
    """``common_graph`` for checked arguments, with the weight of every view for every item.

    Views without any weight are left out; ``weights`` has no rows for items that are only in these.
    """
    views = np.flatnonzero(weights.any(axis=0))
    graphs, roots = [graphs[k] for k in views.tolist()], np.sqrt(weights[:, views])
    items = pairs.among(views.tolist()).all_items()
    n = len(items)
    here = items >= 0
    keys, values = [], []
    for k, graph in enumerate(graphs):
        place = np.empty(graph.n, dtype=np.int64)
        rows = np.flatnonzero(here[:, k])
        place[items[rows, k]] = rows
        i, j = place[graph.i], place[graph.j]
        keys.append(np.minimum(i, j) * n + np.maximum(i, j))
        values.append(roots[i, k] * roots[j, k] * _normalized(graph))
    unique, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    i, j = np.divmod(unique, n)
    total = np.bincount(inverse, np.concatenate(values), len(unique))
    known = np.einsum("ek,ek->e", roots[i], roots[j])
    graph = Graph(
        n, i, j, total / known, labels=_labels(graphs, items), vertex_names=_names(graphs, items), name="common"
    )
    first = graph.with_weights(graph.w * _unit(graph, graphs))
    every = _in_all_views(pairs, views, items)
    left_out = {k: n for k, n in enumerate(pairs.sizes) if k not in views}
    if second_neighbors:
        return CommonGraph(_spread(first, int(here.sum(axis=0).max())), every, weights, first, left_out)
    return CommonGraph(first, every, weights, left_out=left_out)


def _in_all_views(pairs: Pairs, views: Ints, items: Ints) -> Ints:
    """The vertices in all views of items that are given by their vertices in the merged ``views``."""
    every = pairs.all_items()
    row = np.empty(len(items), dtype=np.int64)
    for k, column in zip(views, items.T, strict=True):
        known = np.flatnonzero(every[:, k] >= 0)
        of_vertex = np.empty(len(known), dtype=np.int64)
        of_vertex[every[known, k]] = known
        here = np.flatnonzero(column >= 0)
        row[here] = of_vertex[column[here]]
    return every[row]


def _spread(graph: Graph, n: int) -> Graph:
    """The graph with second neighbors and equal degrees, for n items in the largest view.

    The more items there are, the more belong together, and the more second neighbors an item gets, up to a bound that
    keeps graphs sparse.
    """
    most = int(np.clip(rules.COMMON_OTHERS * np.sqrt(n), *rules.COMMON_BETWEEN))
    grown = with_second_neighbors(graph, share=rules.COMMON_SHARE, most=most)
    return with_degrees(grown, np.full(graph.n, median_degree(graph)))


def _unit(common: Graph, graphs: Sequence[Graph]) -> float:
    """The factor that makes the median degree the geometric mean of the views' median degrees."""
    degrees = np.array([median_degree(graph) for graph in graphs])
    degree, degrees = median_degree(common), degrees[degrees > 0.0]
    return float(np.exp(np.mean(np.log(degrees)))) / degree if degree > 0.0 else 1.0


def _normalized(graph: Graph) -> Floats:
    """w / √(d d'), 0 where the weight is 0."""
    root = np.sqrt(graph.degrees)
    ends = root[graph.i] * root[graph.j]
    return np.divide(graph.w, ends, out=np.zeros(graph.m), where=ends > 0.0)


def _names(graphs: Sequence[Graph], items: Ints) -> NDArray[Any] | None:
    """The names of all items, if all views have names and these agree; else None."""
    known = [graph.vertex_names for graph in graphs if graph.vertex_names is not None]
    if len(known) < len(graphs) or len({names.dtype.kind for names in known}) > 1:
        return None
    found = np.zeros(len(items), dtype=np.result_type(*known))
    for names, column in zip(known, items.T, strict=True):
        rows = np.flatnonzero(column != MISSING)
        found[rows] = names[column[rows]]
    views = zip(known, items.T, strict=True)
    agree = all(np.array_equal(found[here := column >= 0], names[column[here]]) for names, column in views)
    return found if agree and len(np.unique(found)) == len(found) else None


def _labels(graphs: Sequence[Graph], items: Ints) -> NDArray[Any] | None:
    """The labels of all items, if all views have labels and agree about them; an empty text is an unknown label."""
    known = [graph.labels for graph in graphs if graph.labels is not None]
    if len(known) < len(graphs) or len({labels.dtype.kind for labels in known}) > 1:
        return None
    found = np.zeros(len(items), dtype=np.result_type(*known))
    done = np.zeros(len(items), dtype=bool)
    for k, labels in enumerate(known):
        rows = np.flatnonzero(items[:, k] != MISSING)
        own = labels[items[rows, k]]
        if own.dtype.kind == "U":
            rows, own = rows[own != ""], own[own != ""]
        if np.any(found[rows][done[rows]] != own[done[rows]]):
            return None
        found[rows], done[rows] = own, True
    return found
