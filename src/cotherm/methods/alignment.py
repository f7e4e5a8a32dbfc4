"""Manifold alignment (Ham et al. 2005, Wang & Mahadevan 2009): the modes of all graphs tied together into one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import signs
from cotherm.heat.spectrum import Spectrum
from cotherm.lazy import lazy
from cotherm.methods.result import JointBases
from cotherm.methods.validation import checked_views, moderate, sized, versions
from cotherm.solve.eigenpairs import smallest_pairs


@dataclass(frozen=True, eq=False, repr=False)
class Alignment(JointBases):
    """Result of align: the modes of one graph that contains all graphs.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    spectra : tuple of Spectrum
        For each view ``vectors`` of shape (n_v, k), its rows of the joint modes, and ``values``, the same for all
        views.
    link : float
        Factor c by which the links between graphs were multiplied.
    originals : tuple of Graph
        The graphs that were given.
    settings : dict
        The other arguments as they were understood.
    versions : dict of str to str
        Versions of Python and of the libraries that computed the result.
    seconds : float
        Run time.

    See Also
    --------
    align : Compute it.
    """

    spectra: tuple[Spectrum, ...]
    link: float
    originals: tuple[Graph, ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @lazy
    def bases(self) -> tuple[Spectrum, ...]:
        """The rows of the joint modes of each view, the same as ``spectra``."""
        return self.spectra

    def __str__(self) -> str:
        low = ", ".join(f"{value:.4g}" for value in self.spectra[0].values[:6])
        return f"{self._headline()}\n  smallest eigenvalues of the joint Laplacian {low}"

    def _headline(self) -> str:
        sizes = ", ".join(str(graph.n) for graph in self.originals)
        return (
            f"Alignment of {len(self.originals)} graphs ({sizes} vertices), {len(self.spectra[0].values)} modes, "
            f"{self.seconds:.2g} s"
        )


def align(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    k: int,
    *,
    strength: float = 1.0,
    normalized: bool = False,
) -> Alignment:
    r"""Align graphs by links between corresponding vertices, and compute the modes of the joined graph.

    Vertex i of graph v and vertex j of graph w are linked with the weight

    .. math:: c \sum_a F_v[i, a] \, F_w[j, a],

    summed over the functions a in which both are positive, and likewise over those in which both are negative. So
    landmarks link pairs of vertices, and labels link classes. The joint Laplacian is that of semisupervised manifold
    alignment [1]_, [2]_.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs of any sizes.
    functions : sequence of array_like of shape (n_v, q)
        Corresponding functions of each graph: column c is the same function on every graph.
    k : int
        Number of modes, including the constant one.
    strength : float, default 1.0
        Strength of the links, which sets c: the mean total weight of the links of a linked vertex, as a multiple of
        the mean degree in the graphs.
    normalized : bool, default False
        Use modes of Lx = λDx instead of Lx = λx.

    Returns
    -------
    Alignment
        The modes of each view.

    Raises
    ------
    CothermError
        If the functions link no vertices, or if the modes do not converge.

    See Also
    --------
    coupled_bases : Rotate the modes of every graph instead of joining the graphs.
    couple : Change the weights of the graphs.
    match : Vertex correspondence from the aligned modes.

    Notes
    -----
    The links are never written out, so that they cost no more than the functions themselves.

    References
    ----------
    .. [1] J. Ham, D. D. Lee and L. K. Saul, "Semisupervised alignment of manifolds", International Workshop on
       Artificial Intelligence and Statistics, 2005.
    .. [2] C. Wang and S. Mahadevan, "A general framework for manifold alignment", AAAI Fall Symposium, 2009.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> [x.shape for x in ct.align(views.graphs, views.functions, k=4).embedding(2)]
    [(70, 2), (70, 2)]
    """
    began = time.perf_counter()
    graphs, columns = checked_views(graphs, functions)
    k = validation.integer("k", k, least=1, most=min(limits.MODES, *(g.n for g in graphs)))
    columns = [sized("functions", F) for F in columns]
    strength = moderate("strength", validation.real("strength", strength, positive=True))
    normalized = validation.boolean("normalized", normalized)
    joined = _JoinedGraphs(graphs, columns, strength)
    values, vectors = joined.modes(k, normalized=normalized)
    vectors = vectors * signs(vectors)
    parts = np.split(vectors, np.cumsum([g.n for g in graphs])[:-1])
    return Alignment(
        spectra=tuple(Spectrum(values, part) for part in parts),
        link=joined.link,
        originals=tuple(graphs),
        settings={"k": k, "strength": strength, "normalized": normalized},
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


class _JoinedGraphs:
    """The joint Laplacian S − ZKZᵀ: S with the graphs and the degrees of the links, ZKZᵀ the links themselves."""

    def __init__(self, graphs: list[Graph], functions: list[Floats], strength: float) -> None:
        signed = [np.hstack([np.maximum(F, 0.0), np.maximum(-F, 0.0)]) for F in functions]
        sums = np.array([F.sum(axis=0) for F in signed])
        others = [np.delete(sums, v, axis=0).sum(axis=0) for v in range(len(graphs))]
        # The degrees of the links, were c = 1.
        links = np.concatenate([F @ other for F, other in zip(signed, others, strict=True)])
        if not links.max() > 0.0:
            raise CothermError(
                "functions",
                "no function that is positive, or negative, on two graphs",
                "functions with the same sign somewhere on every graph",
            )
        degrees = np.concatenate([g.degrees for g in graphs])
        if not degrees.max() > 0.0:
            raise CothermError("graphs", "graphs without any weight", "edges with weight")
        # Linked vertices count by their links: those that hardly have any do not matter.
        typical = float(links @ links) / float(links.sum())
        self.link = strength * float(degrees[degrees > 0.0].mean()) / typical
        self.degrees = degrees + self.link * links
        W = sp.block_diag([g.adjacency() for g in graphs])
        self._S = sp.csr_array(sp.diags_array(self.degrees) - W)
        self._Z = scipy.linalg.block_diag(*signed)
        width = signed[0].shape[1]
        pairs: Floats = np.ones((len(graphs), len(graphs))) - np.eye(len(graphs))
        self._K: Floats = np.asarray(self.link * np.kron(pairs, np.eye(width)), dtype=np.float64)

    def modes(self, k: int, *, normalized: bool) -> tuple[Floats, Floats]:
        """The k smallest eigenvalues ascending, and eigenvectors."""
        root = np.sqrt(np.where(self.degrees > 0.0, self.degrees, 1.0)) if normalized else np.ones(len(self.degrees))
        scale = sp.diags_array(1.0 / root)
        bound = 2.0 if normalized else 2.0 * float(self.degrees.max())
        S = sp.csr_array(scale @ self._S @ scale)
        values, vectors = smallest_pairs(S, k, bound, self._Z / root[:, np.newaxis], self._K)
        return np.maximum(values, 0.0), vectors / root[:, np.newaxis]
