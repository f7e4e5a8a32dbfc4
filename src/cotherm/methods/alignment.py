"""Manifold alignment (Ham et al. 2005, Wang & Mahadevan 2009): the modes of all graphs tied together into one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from cotherm import checks
from cotherm.arrays import Floats
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import signs
from cotherm.heat.doors import SMALL
from cotherm.heat.spectrum import Spectrum
from cotherm.methods.doors import checked_views, versions
from cotherm.methods.joint import JointBases

_MOST_MODES = 1_000


@dataclass(frozen=True, eq=False)
class Alignment(JointBases):
    """The answer of :func:`cotherm.align`.

    Attributes
    ----------
    bases : for each view ``vectors`` (n_v, k), its rows of the joint modes, and ``values``, the same for all views.
    link : the number that all links between graphs were multiplied by.
    """

    spectra: tuple[Spectrum, ...]
    link: float
    originals: tuple[Graph, ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @cached_property
    def bases(self) -> tuple[Spectrum, ...]:
        """The rows of the joint modes that belong to each view."""
        return self.spectra

    def __str__(self) -> str:
        sizes = ", ".join(str(graph.n) for graph in self.originals)
        low = ", ".join(f"{value:.4g}" for value in self.spectra[0].values[:6])
        return (
            f"Alignment of {len(self.originals)} graphs ({sizes} vertices), {len(self.spectra[0].values)} modes, "
            f"{self.seconds:.2g} s\n  smallest eigenvalues of the joint Laplacian {low}"
        )


def align(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    k: int,
    *,
    strength: float = 1.0,
    normalized: bool = False,
) -> Alignment:
    """The k smoothest modes of one graph made of all: the given edges, and links between corresponding vertices.

    Vertices i of graph v and j of graph w are linked with weight c Σ_a F_v[i, a] F_w[j, a], summed over the functions a
    in which both are positive, and likewise over those in which both are negative: landmarks tie pairs, labels tie
    classes. The joint Laplacian is that of Ham et al. 2005; links are never written out, so that they cost no more than
    the functions themselves.

    Parameters
    ----------
    graphs : two or more graphs, of any sizes.
    functions : for each graph its corresponding functions (n_v, q); column a is the same function on every graph.
    k : the number of modes, the constant one included.
    strength : the total weight of the links between two graphs, as a multiple of the mean total weight of the graphs;
        fixes c.
    normalized : modes of Lx = λDx instead of Lx = λx.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> [x.shape for x in ct.align(views.graphs, views.functions, k=4).embedding(2)]
    [(70, 2), (70, 2)]
    """
    began = time.perf_counter()
    graphs, columns = checked_views(graphs, functions)
    n = sum(g.n for g in graphs)
    k = checks.integer("k", k, least=1, most=min(_MOST_MODES, n, *(g.n for g in graphs)))
    strength = checks.real("strength", strength, positive=True)
    normalized = checks.boolean("normalized", normalized)
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
    """The joint Laplacian: graphs on the diagonal, links of low rank between them."""

    def __init__(self, graphs: list[Graph], functions: list[Floats], strength: float) -> None:
        self.n = sum(g.n for g in graphs)
        self._cuts = np.cumsum([g.n for g in graphs])[:-1]
        self._signed = [np.hstack([np.maximum(F, 0.0), np.maximum(-F, 0.0)]) for F in functions]
        pairs = self._linked(np.ones((self.n, 1)))[:, 0]
        total = 0.5 * float(pairs.sum())
        if not total > 0.0:
            raise CothermError(
                "functions",
                "no function that is positive, or negative, on two graphs",
                "functions with the same sign somewhere on every graph",
            )
        mean = sum(float(g.w.sum()) for g in graphs) / len(graphs)
        if mean == 0.0:
            raise CothermError("graphs", "graphs without any weight", "edges with weight")
        self.link = strength * mean * (len(graphs) * (len(graphs) - 1) / 2) / total
        self._W = sp.csr_array(sp.block_diag([g.adjacency() for g in graphs]))
        self.degrees = np.concatenate([g.degrees for g in graphs]) + self.link * pairs

    def _linked(self, x: Floats) -> Floats:
        """Every graph receives what the functions of the others gather: sums over pairs of different graphs."""
        gathered = [F.T @ part for F, part in zip(self._signed, np.split(x, self._cuts), strict=True)]
        others = [sum(gathered[w] for w in range(len(gathered)) if w != v) for v in range(len(gathered))]
        return np.vstack([F @ other for F, other in zip(self._signed, others, strict=True)])

    def weights_times(self, x: Floats) -> Floats:
        """Wx, edges and links."""
        return np.asarray(self._W @ x + self.link * self._linked(x))

    def modes(self, k: int, *, normalized: bool) -> tuple[Floats, Floats]:
        """The k smallest eigenvalues ascending, and eigenvectors."""
        root = np.sqrt(np.where(self.degrees > 0.0, self.degrees, 1.0)) if normalized else np.ones(self.n)
        diagonal = np.ones(self.n) if normalized else self.degrees
        scale = (1.0 / root)[:, np.newaxis]
        # All eigenvalues lie below this (Gershgorin); seen from there the smallest are the largest.
        bound = 2.0 * float(diagonal.max())

        def turned(x: Floats) -> Floats:
            x = x.reshape(self.n, -1)
            return (bound - diagonal)[:, np.newaxis] * x + scale * self.weights_times(scale * x)

        with limited_blas(self.n):
            values, vectors = _largest(turned, self.n, k)
        return np.maximum(bound - values, 0.0), scale * vectors


def _largest(apply: Any, n: int, k: int) -> tuple[Floats, Floats]:
    """The k largest eigenvalues of a symmetric operator, descending, and eigenvectors."""
    if n <= SMALL:
        matrix = apply(np.eye(n))
        values, vectors = scipy.linalg.eigh(0.5 * (matrix + matrix.T), subset_by_index=[n - k, n - 1])
        return values[::-1], vectors[:, ::-1]
    operator = LinearOperator((n, n), matvec=lambda x: apply(x)[:, 0], matmat=apply, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        values, vectors = eigsh(operator, k, which="LA", v0=start, ncv=min(n - 1, 2 * k + 60), tol=1e-10)
    except ArpackError:
        raise CothermError(
            "k",
            f"{k} modes, which did not converge",
            "a gap in the spectrum behind the k-th eigenvalue",
            "Ask for a few more or fewer, or take normalized=True.",
        ) from None
    order = np.argsort(-values)
    return values[order], vectors[:, order]
