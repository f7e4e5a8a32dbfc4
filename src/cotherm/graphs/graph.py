"""Graph, the one noun: an undirected weighted graph and its Laplacian L = D − W."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Indices
from cotherm.errors import CothermError, known_as
from cotherm.graphs.validation import (
    Frozen,
    assign,
    checked_coordinates,
    checked_ends,
    checked_labels,
    checked_name,
    checked_triangle,
    checked_vertex_names,
    checked_weights,
    names_of_rows,
    read_only,
)
from cotherm.indexed import square_in_order

if TYPE_CHECKING:
    from cotherm.graphs.validity import Validity


# Vertices are numbered by int32, as in SciPy; an index past the last must still fit.
MOST_VERTICES = 2**31 - 2
_OF_VERTICES = ("coordinates", "labels", "vertex_names")


class _Unchanged(Enum):
    """Default of ``Graph.replace``: None means "without", so it cannot mean "as before"."""

    UNCHANGED = "unchanged"

    def __repr__(self) -> str:
        return self.value


_UNCHANGED: Any = _Unchanged.UNCHANGED


class Graph(Frozen):
    """Undirected graph without loops, with a weight ≥ 0 on every edge.

    Parameters
    ----------
    n : int
        Number of vertices, at least 1.
    i, j : array_like of int
        The two ends of every edge, in [0, n). Either end may come first; the smaller one is stored in ``i``. The
        order of the edges is kept. No edge may be repeated.
    w : array_like of float
        Weights, finite and ≥ 0. An edge of weight 0 carries no heat, but methods may give it weight.
    coordinates : array_like of shape (n, d), optional
        Positions of the vertices, for drawing.
    labels : array_like of int or str of shape (n,), optional
        Labels of the vertices.
    vertex_names : array_like of int or str of shape (n,), optional
        Names of the vertices, each once: the ids of the items.
    name : str, optional
        Name for messages and figures.

    Attributes
    ----------
    n : int
        Number of vertices.
    i, j : ndarray of int32 of shape (m,)
        Ends of the edges, i < j.
    w : ndarray of float64 of shape (m,)
        Weights of the edges.
    coordinates : ndarray of shape (n, d) or None
        Positions of the vertices.
    labels : ndarray of shape (n,) or None
        Labels of the vertices.
    vertex_names : ndarray of shape (n,) or None
        Names of the vertices.
    name : str or None
        Name of the graph.

    Raises
    ------
    CothermError
        If the arguments are not a graph: vertices out of range, loops, repeated edges, negative or infinite weights,
        a name given to two vertices.

    See Also
    --------
    Graph.from_adjacency : Graph of a weight matrix.
    knn_graph : Graph of nearest neighbors.
    read_graph : Graph from a file.

    Notes
    -----
    A graph is immutable. The arrays are copies and read-only; :meth:`replace` returns a graph with other
    weights, coordinates, labels or names.

    The Laplacian is L = D − W, never normalized or rescaled.

    Coordinates and labels with a pandas index are matched with `vertex_names`; where these differ, or are not given,
    only an index that counts the vertices from 0 is taken.

    Examples
    --------
    >>> import cotherm as ct
    >>> path = ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0], name="path")
    >>> path
    Graph('path', n=3, m=2, total weight 3)
    >>> path.laplacian().toarray()
    array([[ 1., -1.,  0.],
           [-1.,  3., -2.],
           [ 0., -2.,  2.]])
    """

    __slots__ = ("coordinates", "i", "j", "labels", "n", "name", "vertex_names", "w")
    _remedy = "replace() gives a changed copy"

    n: int
    i: Indices
    j: Indices
    w: Floats
    coordinates: Floats | None
    labels: NDArray[Any] | None
    vertex_names: NDArray[Any] | None
    name: str | None

    def __init__(
        self,
        n: int,
        i: ArrayLike,
        j: ArrayLike,
        w: ArrayLike,
        *,
        coordinates: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        vertex_names: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        n = validation.integer("n", n, least=1, most=MOST_VERTICES)
        low, high = checked_ends(n, i, j)
        assign(self, "n", n)
        assign(self, "i", read_only(low))
        assign(self, "j", read_only(high))
        self._take(w=w, coordinates=coordinates, labels=labels, vertex_names=vertex_names, name=name)

    def _take(self, **given: Any) -> None:
        """Check and set some fields; names of vertices come before what may be matched with them."""
        for field, check in _CHECKS.items():
            if given.get(field, _UNCHANGED) is not _UNCHANGED:
                assign(self, field, check(self, given[field]))

    @classmethod
    def from_adjacency(
        cls,
        W: ArrayLike | sp.sparray | sp.spmatrix,
        *,
        coordinates: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        vertex_names: ArrayLike | None = None,
        name: str | None = None,
    ) -> Graph:
        """Build the graph of a symmetric weight matrix with zero diagonal.

        Parameters
        ----------
        W : array_like or sparse matrix of shape (n, n)
            The weights. It must be symmetric to the last bit. All stored entries of a sparse matrix are edges, also
            stored zeros; of a dense matrix only the nonzero entries are.
        coordinates : array_like of shape (n, d), optional
            Positions of the vertices, for drawing.
        labels : array_like of int or str of shape (n,), optional
            Labels of the vertices.
        vertex_names : array_like of int or str of shape (n,), optional
            Names of the vertices, each once. By default the index of a pandas data frame.
        name : str, optional
            Name of the graph.

        Returns
        -------
        Graph
            The graph, with edges sorted by (i, j).

        Raises
        ------
        CothermError
            If the matrix is not square and symmetric, has entries on the diagonal, or has negative entries.

        Examples
        --------
        >>> import cotherm as ct
        >>> ct.Graph.from_adjacency([[0.0, 2.0], [2.0, 0.0]]).edges.tolist()
        [[0, 1]]
        """
        W = square_in_order("W", W)
        n, i, j, w = checked_triangle(W)
        names = names_of_rows(W, "W") if vertex_names is None else vertex_names
        with known_as("w", "W"):
            return cls(n, i, j, w, coordinates=coordinates, labels=labels, vertex_names=names, name=name)

    def replace(
        self,
        *,
        w: ArrayLike = _UNCHANGED,
        coordinates: ArrayLike | None = _UNCHANGED,
        labels: ArrayLike | None = _UNCHANGED,
        vertex_names: ArrayLike | None = _UNCHANGED,
        name: str | None = _UNCHANGED,
    ) -> Graph:
        """Return a copy with other weights, coordinates, labels or names, on the same vertices and edges.

        What is not passed stays as it is. The arrays that stay are shared with this graph; they cannot be
        written to.

        Parameters
        ----------
        w : array_like of float, optional
            Weights, one per edge, in the order of ``i`` and ``j``.
        coordinates : array_like of float or None, optional
            Positions of the vertices, shape (n, d). None removes them.
        labels : array_like of int or str or None, optional
            One label per vertex. None removes them.
        vertex_names : array_like of int or str or None, optional
            One name per vertex, all different. None removes them.
        name : str or None, optional
            Name of the graph. None removes it.

        Returns
        -------
        Graph
            The changed copy.

        See Also
        --------
        with_weights : Other weights only.
        bare : No coordinates, labels or names of vertices.

        Examples
        --------
        >>> import cotherm as ct
        >>> graph = ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0], labels=["a", "b", "b"], name="path")
        >>> graph.replace(w=[3.0, 4.0], name="heavy path")
        Graph('heavy path', n=3, m=2, total weight 7)
        >>> graph.replace(labels=None).labels is None
        True
        """
        other = object.__new__(Graph)
        for field in self.__slots__:
            assign(other, field, getattr(self, field))
        other._take(w=w, coordinates=coordinates, labels=labels, vertex_names=vertex_names, name=name)
        return other

    def with_weights(self, u: ArrayLike) -> Graph:
        """Return the same graph with other weights.

        Parameters
        ----------
        u : array_like of float of shape (m,)
            New weights ≥ 0, in the order of the edges.

        Returns
        -------
        Graph
            The new graph.
        """
        with known_as("w", "u"):
            return self.replace(w=u)

    def with_edges(self, i: ArrayLike, j: ArrayLike, w: ArrayLike) -> Graph:
        """Return a graph on the same vertices with other edges.

        Parameters
        ----------
        i, j : array_like of int of shape (m,)
            The two ends of every edge.
        w : array_like of float of shape (m,)
            Weights ≥ 0.

        Returns
        -------
        Graph
            The new graph, with the coordinates, labels and names of this one.
        """
        return Graph(self.n, i, j, w, name=self.name, **{one: getattr(self, one) for one in _OF_VERTICES})

    def subgraph(self, vertices: ArrayLike) -> Graph:
        """Return the graph on some of the vertices, with the edges between them.

        Parameters
        ----------
        vertices : array_like of int
            Vertices to keep, each once, in the order they get.

        Returns
        -------
        Graph
            The new graph: its vertex v is ``vertices[v]``, with the coordinates, label and name that it has here.

        Examples
        --------
        >>> import cotherm as ct
        >>> path = ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0], vertex_names=["a", "b", "c"])
        >>> part = path.subgraph([2, 1])
        >>> part.edges.tolist(), part.vertex_names.tolist()
        ([[0, 1]], ['c', 'b'])
        """
        kept = validation.indices("vertices", vertices, below=self.n)
        if len(np.unique(kept)) < len(kept) or not len(kept):
            raise CothermError("vertices", f"{len(kept)} vertices, some repeated or none", "each at most once")
        place = np.full(self.n, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        inside = (place[self.i] >= 0) & (place[self.j] >= 0)
        extras = {one: getattr(self, one)[kept] for one in _OF_VERTICES if getattr(self, one) is not None}
        i, j = place[self.i[inside]], place[self.j[inside]]
        return Graph(len(kept), i, j, self.w[inside], name=self.name, **extras)

    def vertex(self, name: int | str) -> int:
        """Return the number of the vertex with a name.

        Parameters
        ----------
        name : int or str
            One of ``vertex_names``.

        Returns
        -------
        int
            The vertex.

        Raises
        ------
        CothermError
            If no vertex has that name, or if the vertices have no names.

        Examples
        --------
        >>> import cotherm as ct
        >>> ct.Graph(2, [0], [1], [1.0], vertex_names=["rain", "sun"]).vertex("sun")
        1
        """
        if self.vertex_names is None:
            raise CothermError("name", repr(name), "a graph whose vertices have names", "Pass vertex numbers.")
        found = np.flatnonzero(self.vertex_names == name if np.isscalar(name) else [])
        if not len(found):
            shown = ", ".join(repr(one) for one in self.vertex_names[:3].tolist())
            raise CothermError("name", repr(name), f"the name of a vertex, such as {shown}")
        return int(found[0])

    def bare(self) -> Graph:
        """Return the same graph without coordinates, labels and names of vertices.

        Files in the formats ``.csv`` and ``.mtx`` cannot store those.

        Returns
        -------
        Graph
            The new graph.
        """
        return self.replace(coordinates=None, labels=None, vertex_names=None)

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.w)

    @property
    def edges(self) -> Indices:
        """Ends of the edges, an array of shape (m, 2) with i < j."""
        return np.column_stack([self.i, self.j])

    @property
    def weights(self) -> Floats:
        """Weights of the edges, the same array as ``w``."""
        return self.w

    @property
    def degrees(self) -> Floats:
        """Degrees d_i = Σ_j w_ij, the diagonal of the Laplacian."""
        ends = np.bincount(self.i, self.w, self.n) + np.bincount(self.j, self.w, self.n)
        return np.asarray(ends, dtype=np.float64)

    @property
    def components(self) -> Indices:
        """Number of the connected component of every vertex; edges of weight 0 do not connect.

        Components are numbered from 0 in the order of their first vertices.
        """
        from scipy.sparse.csgraph import connected_components

        live = self.w > 0
        upper = sp.coo_array((self.w[live], (self.i[live], self.j[live])), shape=(self.n, self.n))
        label = connected_components(upper, directed=False)[1]
        _, first = np.unique(label, return_index=True)
        rank = np.empty(len(first), dtype=np.int32)
        rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        return np.asarray(rank[label], dtype=np.int32)

    @property
    def component_count(self) -> int:
        """Number of connected components."""
        return int(self.components.max()) + 1

    def adjacency(self) -> sp.csr_array:
        """Return the symmetric weight matrix W.

        Returns
        -------
        csr_array of shape (n, n)
            The weights. Edges of weight 0 are stored.
        """
        rows = np.concatenate([self.i, self.j])
        columns = np.concatenate([self.j, self.i])
        return sp.coo_array((np.tile(self.w, 2), (rows, columns)), shape=(self.n, self.n)).tocsr()

    def laplacian(self) -> sp.csr_array:
        """Return the unnormalized Laplacian L = D − W.

        Returns
        -------
        csr_array of shape (n, n)
            The Laplacian. Its rows sum to zero up to rounding.
        """
        return sp.csr_array(sp.diags_array(self.degrees).tocsr() - self.adjacency())

    def validity(self, laplacian: Any = None, *, tolerance: float = 1e-12) -> Validity:
        """Check whether a matrix is a valid Laplacian of this graph, and explain why not.

        Parameters
        ----------
        laplacian : array_like or sparse matrix of shape (n, n), optional
            The matrix. By default the Laplacian of the graph itself.
        tolerance : float, default 1e-12
            Allowed violation, relative to the largest entry of the matrix.

        Returns
        -------
        Validity
            The conditions of the set L(V, E) that fail, where, and by how much.
        """
        from cotherm.graphs.validity import examine

        return examine(self, self.laplacian() if laplacian is None else laplacian, tolerance)

    def is_valid(self, laplacian: Any = None, *, tolerance: float = 1e-12) -> bool:
        """Check whether a matrix is a valid Laplacian of this graph.

        Parameters
        ----------
        laplacian : array_like or sparse matrix of shape (n, n), optional
            The matrix. By default the Laplacian of the graph itself.
        tolerance : float, default 1e-12
            Allowed violation, relative to the largest entry of the matrix.

        Returns
        -------
        bool
            Whether it is in L(V, E). :meth:`validity` says why not.
        """
        return self.validity(laplacian, tolerance=tolerance).valid

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would set the slots one by one, which a frozen class refuses.
        fields = (self.n, self.i, self.j, self.w, self.coordinates, self.labels, self.name, self.vertex_names)
        return _rebuild, fields

    def __repr__(self) -> str:
        title = f"{self.name!r}, " if self.name else ""
        total = f", total weight {self.w.sum():.6g}" if self.m else ""
        return f"Graph({title}n={self.n}, m={self.m}{total})"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        from cotherm.notebook import page

        live = self.w[self.w > 0.0]
        weights = f"{live.min():.3g} to {live.max():.3g}" if len(live) else "none"
        rows: list[tuple[str, object]] = [
            ("vertices", self.n),
            ("edges", self.m),
            ("weights", weights if len(live) == self.m else f"{weights}, {self.m - len(live):,} edges without"),
        ]
        for name, given in (("labels", self.labels), ("names", self.vertex_names)):
            if given is not None:
                rows.append((name, ", ".join(map(str, given[:3].tolist())) + (", …" if self.n > 3 else "")))
        return page(f"Graph {self.name}" if self.name else "Graph", [(("", ""), rows)])


_CHECKS: dict[str, Callable[[Graph, Any], Any]] = {
    "w": lambda g, value: read_only(checked_weights("w", value, g.i, g.j)),
    "vertex_names": lambda g, value: checked_vertex_names(value, g.n),
    "coordinates": lambda g, value: checked_coordinates(value, g.n, g.vertex_names),
    "labels": lambda g, value: checked_labels(value, g.n, g.vertex_names),
    "name": lambda _, value: checked_name(value),
}


def _rebuild(
    n: int, i: Any, j: Any, w: Any, coordinates: Any, labels: Any, name: str | None, vertex_names: Any = None
) -> Graph:
    return Graph(n, i, j, w, coordinates=coordinates, labels=labels, vertex_names=vertex_names, name=name)
