"""The results of all methods: a geometry for each view, to embed, measure and cluster in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats, Ints
from cotherm.engines import default_engine
from cotherm.engines.threads import limited_blas, one_thread
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance, pairwise_distances, signs, without_constant
from cotherm.heat.spectrum import Spectrum, lowest, lowest_normalized
from cotherm.lazy import lazy
from cotherm.methods.validation import require_same_names
from cotherm.notebook import Shown, Table

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# k-means is restarted often if that is cheap.
_MANY_STARTS, _STARTS = 50, 5
# Eigenvalues below this fraction of the largest are zero up to rounding.
_ZERO = 1e-10
_MOST_GROWTH = 600.0


class HasStatus:
    """Result of a search, with a status.

    Attributes
    ----------
    status : str
        How the search ended, one of the keys of ``advice_by_status``.
    advice_by_status : dict of str to str
        What to do about each status.
    """

    status: str
    advice_by_status: ClassVar[Mapping[str, str]]

    @property
    def converged(self) -> bool:
        """Whether the search converged."""
        return self.status == "converged"

    @property
    def advice(self) -> str:
        """What to do about the status; empty if there is nothing to do."""
        return self.advice_by_status[self.status]


DESCENT = {
    "converged": "",
    "stalled": "No step lowers the cost by more than rounding, though the optimality is not reached.",
    "out of budget": "More steps may lower the cost a little: raise max_iterations.",
}


class JointResult(Shown, ABC):
    """Base class of all results: one geometry for each view, in the order in which the views were given.

    ``modes``, ``embedding``, ``distances`` and ``clusters`` work alike for all methods. Each returns a tuple with one
    entry for each view.

    See Also
    --------
    couple : Heat kernel coupling.
    average : Average graph.
    coupled_bases : Coupled quasi-harmonic bases.

    Examples
    --------
    >>> import cotherm as ct
    >>> result = ct.average(ct.datasets.circles().graphs)
    >>> [coordinates.shape for coordinates in result.embedding(2)]
    [(64, 2), (64, 2)]
    """

    @property
    @abstractmethod
    def common(self) -> bool:
        """Whether the rows of all views are points of one space, so that they can be compared across views."""

    @abstractmethod
    def modes(self, k: int) -> tuple[Spectrum, ...]:
        """Compute the k smoothest modes of every view.

        Parameters
        ----------
        k : int
            Number of modes.

        Returns
        -------
        tuple of Spectrum
            For each view ``values``, ascending, and ``vectors`` as columns.
        """

    @abstractmethod
    def distances(self, t: float, *, sources: ArrayLike | None = None) -> tuple[Floats, ...]:
        """Compute diffusion distances in every view.

        Parameters
        ----------
        t : float
            Time t ≥ 0.
        sources : array_like of int, optional
            Vertices whose distances to all vertices are computed. By default all.

        Returns
        -------
        tuple of ndarray of shape (sources, n_k)
            The distances in each view.

        See Also
        --------
        cotherm.diffusion_distance : Diffusion distances on one graph.
        """

    def embedding(self, k: int = 2, *, t: float = 0.0) -> tuple[Floats, ...]:
        r"""Embed the vertices of every view.

        Coordinates are the modes after the first, each multiplied by :math:`e^{-t\lambda}`.

        Parameters
        ----------
        k : int, default 2
            Number of coordinates.
        t : float, default 0.0
            Time t ≥ 0 of the diffusion map.

        Returns
        -------
        tuple of ndarray of shape (n_k, k)
            The coordinates in each view.

        See Also
        --------
        cotherm.diffusion_map : Diffusion coordinates on one graph.
        """
        if self._most_modes() < 2:
            raise CothermError(
                "graphs", "a single mode, which is constant", "views with two vertices or modes, or more"
            )
        k = validation.integer("k", k, least=1, most=self._most_modes() - 1)
        time = validation.real("t", t)
        return self._coordinates(k, time)

    def clusters(self, k: int, *, random_state: int = 0) -> tuple[Ints, ...]:
        """Cluster the vertices of every view by spectral clustering.

        k-means on the first k modes, with rows scaled to unit length [1]_.

        Parameters
        ----------
        k : int
            Number of clusters.
        random_state : int, default 0
            Seed of k-means.

        Returns
        -------
        tuple of ndarray of int of shape (n_k,)
            Cluster of each vertex, from 0 to k − 1, in each view.

        See Also
        --------
        common_clusters : One clustering for all views.

        Notes
        -----
        If the views have a common space, all views are clustered together and cluster numbers mean the same in all of
        them. Otherwise each view has numbers of its own. In a graph a vertex without neighbors contributes to no
        mode; all such vertices count as alike.

        References
        ----------
        .. [1] A. Y. Ng, M. I. Jordan and Y. Weiss, "On spectral clustering: analysis and an algorithm", Advances in
           Neural Information Processing Systems 14, 2002.
        """
        rows, seed = self._rows(k, random_state)
        if not self.common:
            return once_each(rows, lambda X: k_means(X, k, seed))
        different = list({id(X): X for X in rows}.values())
        labels = k_means(np.vstack(different), k, seed)
        cuts = np.cumsum([len(X) for X in different])[:-1]
        by_rows = {id(X): part for X, part in zip(different, np.split(labels, cuts), strict=True)}
        return tuple(by_rows[id(X)] for X in rows)

    def common_clusters(self, k: int, *, random_state: int = 0) -> Ints:
        """Cluster the vertices once for all views, which must have the same vertices.

        Like :meth:`clusters`, on the rows of all views side by side.

        Parameters
        ----------
        k : int
            Number of clusters.
        random_state : int, default 0
            Seed of k-means.

        Returns
        -------
        ndarray of int of shape (n,)
            Cluster of each vertex, from 0 to k − 1.

        Raises
        ------
        CothermError
            If the views have different numbers of vertices.

        See Also
        --------
        clusters : A clustering for each view.
        """
        rows, seed = self._rows(k, random_state)
        different = list({id(X): X for X in rows}.values())
        if len({len(X) for X in different}) > 1:
            raise CothermError("graphs", f"views of {[len(X) for X in rows]} vertices", "views of the same vertices")
        return k_means(np.hstack(different), k, seed)

    def _rows(self, k: int, random_state: int) -> tuple[tuple[Floats, ...], int]:
        """What is clustered in every view, and the seed, checked."""
        k = validation.integer("k", k, least=1, most=self._most_modes())
        seed = validation.integer("random_state", random_state, least=0, most=2**32 - 1)
        return once_each([modes.vectors for modes in self._cluster_modes(k)], _unit_rows), seed

    def _cluster_modes(self, k: int) -> tuple[Spectrum, ...]:
        return self.modes(k)

    def _tables(self) -> Sequence[Table]:
        """The views as they were given."""
        rows = [_described(k, view) for k, view in enumerate(getattr(self, "originals", ()))]
        return [(("view", "vertices", "edges"), rows)]

    def _remarks(self) -> Sequence[str]:
        return tuple(filter(None, [getattr(self, "advice", "")]))

    @abstractmethod
    def _most_modes(self) -> int:
        """The number of modes in the view that has the fewest."""

    @abstractmethod
    def _coordinates(self, k: int, t: float) -> tuple[Floats, ...]:
        """The embedding, for checked arguments."""


class JointGraphs(JointResult):
    """Result with a graph for each view.

    Attributes
    ----------
    graphs : tuple of Graph
        The graph of each view.
    """

    graphs: tuple[Graph, ...]

    @property
    def common(self) -> bool:
        return all(graph is self.graphs[0] for graph in self.graphs)

    def modes(self, k: int) -> tuple[Spectrum, ...]:
        k = validation.integer("k", k, least=1, most=self._most_modes())
        return once_each(self.graphs, lambda graph: lowest(graph, k))

    def distances(self, t: float, *, sources: ArrayLike | None = None) -> tuple[Floats, ...]:
        return once_each(self.graphs, lambda graph: diffusion_distance(graph, t, sources=sources))

    def _cluster_modes(self, k: int) -> tuple[Spectrum, ...]:
        """Modes of the normalized Laplacian: the plain one would cut off single vertices (Ng, Jordan & Weiss 2002)."""
        for graph in self.graphs:
            if not np.any(graph.w > 0.0):
                raise CothermError("graphs", "a graph without weight", "edges with weight: there is nothing to go by")
        return once_each(self.graphs, lambda graph: lowest_normalized(graph, k))

    def _most_modes(self) -> int:
        return min(graph.n for graph in self.graphs)

    def _coordinates(self, k: int, t: float) -> tuple[Floats, ...]:
        def of(modes: Spectrum) -> Floats:
            vectors = without_constant(modes.values, modes.vectors)
            return np.asarray(vectors * signs(vectors) * modes.decay(t)[1:])

        return once_each(self.modes(k + 1), of)


class JointBases(JointResult):
    """Result with common modes: column c of the vectors is the same mode in every view.

    Where there are fewer modes than vertices, distances are computed from those modes alone.
    """

    @lazy
    @abstractmethod
    def bases(self) -> tuple[Spectrum, ...]:
        """Modes of every view, a tuple of :class:`cotherm.Spectrum`."""

    @property
    def common(self) -> bool:
        return True

    def modes(self, k: int) -> tuple[Spectrum, ...]:
        k = validation.integer("k", k, least=1, most=self._most_modes())
        vectors = once_each([basis.vectors for basis in self.bases], lambda V: V[:, :k])
        return tuple(Spectrum(basis.values[:k], V) for basis, V in zip(self.bases, vectors, strict=True))

    def distances(self, t: float, *, sources: ArrayLike | None = None) -> tuple[Floats, ...]:
        time = validation.real("t", t)
        self._require_decay(time)
        return once_each(self.bases, lambda basis: _distances(basis.vectors, basis.decay(time), sources))

    def _most_modes(self) -> int:
        return min(basis.vectors.shape[1] for basis in self.bases)

    def _coordinates(self, k: int, t: float) -> tuple[Floats, ...]:
        self._require_decay(t)
        vectors = once_each([basis.vectors for basis in self.bases], self._without_constant)
        pairs = zip(self.bases, vectors, strict=True)
        return tuple(np.asarray(V[:, :k] * basis.decay(t)[1 : k + 1]) for basis, V in pairs)

    def _without_constant(self, vectors: Floats) -> Floats:
        """All modes after the first. Where several have the value zero, it is the constant that is left out."""
        values = np.mean([basis.values for basis in self.bases], axis=0)
        smooth = np.abs(values) <= _ZERO * np.abs(values).max(initial=0.0)
        null = int(np.argmin(smooth)) if not smooth.all() else len(values)
        constant = np.full(len(vectors), len(vectors) ** -0.5)
        inside = np.linalg.norm(vectors[:, :null].T @ constant) if null > 1 else 0.0
        if inside < 1.0 - _ZERO:  # the constant is not a mode, as in a normalized Laplacian
            return vectors[:, 1:]
        others = without_constant(np.where(np.arange(len(values)) < null, 0.0, 1.0), vectors)
        return np.hstack([others[:, : null - 1] * signs(others[:, : null - 1]), others[:, null - 1 :]])

    def _require_decay(self, t: float) -> None:
        """Refuse overflow: heat of a matrix with negative eigenvalues grows."""
        worst = min(float(basis.values.min(initial=0.0)) for basis in self.bases)
        if -worst * t > _MOST_GROWTH:
            raise CothermError(
                "t", f"{t:g}, with an eigenvalue of {worst:.3g}", f"a time at which e^(-tλ) is below e^{_MOST_GROWTH:g}"
            )


def _described(k: int, view: Any) -> tuple[object, ...]:
    """Name, vertices and edges of a view, which may be a matrix."""
    if isinstance(view, Graph):
        return view.name or f"view {k + 1}", view.n, view.m
    return f"view {k + 1}", int(view.shape[0]), ""


def once_each(items: Sequence[Item], function: Callable[[Item], Answer]) -> tuple[Answer, ...]:
    """function(item) for all items, called once for items that are the same object."""
    answers: dict[int, Answer] = {}
    for item in items:
        if id(item) not in answers:
            answers[id(item)] = function(item)
    return tuple(answers[id(item)] for item in items)


def same_vertices(graphs: Sequence[Graph]) -> int:
    """The number of vertices, if all graphs have it; else an error."""
    sizes = [graph.n for graph in graphs]
    if len(set(sizes)) > 1:
        raise CothermError(
            "graphs",
            f"graphs of {', '.join(map(str, sizes))} vertices",
            "graphs on the same vertices",
            "couple, coupled_bases and align take graphs of different sizes.",
        )
    require_same_names("graphs", graphs)
    return sizes[0]


def _distances(vectors: Floats, decay: Floats, sources: ArrayLike | None) -> Floats:
    n = len(vectors)
    rows = np.arange(n) if sources is None else validation.indices("sources", sources, below=n)
    if len(rows) * n > limits.DENSE_RESULT**2:
        raise CothermError(
            "sources",
            f"{len(rows):,} of {n:,} vertices: a result of {len(rows) * n * 8 / 1e9:.0f} GB",
            f"at most {limits.DENSE_RESULT**2 // n:,} sources at once",
        )
    warm = vectors * decay
    if sources is None:
        return pairwise_distances(warm, default_engine())
    return np.array([np.linalg.norm(warm - warm[v], axis=1) for v in rows]).reshape(len(rows), len(warm))


def unit_row_clusters(vectors: Floats, k: int, seed: int) -> Ints:
    """k-means on rows scaled to unit length."""
    return k_means(_unit_rows(vectors), k, seed)


def _unit_rows(X: Floats) -> Floats:
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, length, out=np.zeros_like(X), where=length > 0.0)


def k_means(X: Floats, k: int, seed: int) -> Ints:
    """Clusters of rows."""
    from sklearn.cluster import KMeans

    distinct = len(np.unique(X.round(12), axis=0))
    if distinct < k:
        raise CothermError("k", f"{k} clusters", f"at most {distinct}: that many rows are different")
    starts = _MANY_STARTS if len(X) <= limits.KMEANS_ROWS else _STARTS
    with one_thread() if len(X) <= limits.KMEANS_ROWS else limited_blas(1):
        return np.asarray(KMeans(k, n_init=starts, random_state=seed).fit_predict(X), dtype=np.int64)
