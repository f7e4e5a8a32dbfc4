"""Similarity network fusion (Wang et al. 2014): every view's similarities, diffused along the others' neighbors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.methods.result import JointGraphs, same_vertices
from cotherm.methods.validation import checked_graphs
from cotherm.progress import track

# Every matrix is dense.
_MOST_VERTICES = 8_000


@dataclass(frozen=True, eq=False, repr=False)
class SimilarityFusion(JointGraphs):
    """Result of fuse_similarity: one graph that all views share.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    graph : Graph
        The fused graph. Nearly all pairs of vertices are edges.
    originals : tuple of Graph
        The graphs that were given.
    changes : tuple of float
        Relative change ‖P̄_new − P̄‖ / ‖P̄‖ of the mean of the P_v in every step.
    settings : dict
        The other arguments as they were understood.
    """

    graph: Graph
    originals: tuple[Graph, ...]
    changes: tuple[float, ...]
    settings: Mapping[str, Any]

    @property
    def graphs(self) -> tuple[Graph, ...]:  # type: ignore[override]
        """The fused graph once for every view."""
        return (self.graph,) * len(self.originals)

    def __str__(self) -> str:
        return f"{self._headline()}\n  the last step changed similarities by {self.changes[-1]:.1e}"

    def _headline(self) -> str:
        return (
            f"Similarity network fusion of {len(self.originals)} graphs, {self.settings['n_neighbors']} neighbors, "
            f"{self.settings['steps']} steps: {self.graph.n} vertices, {self.graph.m} edges"
        )


def fuse_similarity(graphs: Sequence[Graph], *, n_neighbors: int = 20, steps: int = 20) -> SimilarityFusion:
    r"""Fuse graphs on the same vertices into one by similarity network fusion.

    Similarities in one view spread along strong neighbors in the others [1]_. Write :math:`N(X)` for the matrix with
    :math:`X_{ij} / (2 \sum_{k \ne i} X_{ik})` off the diagonal and ½ on it, and
    :math:`\operatorname{sym} X = (X + X^\top)/2`. Each view v starts with

    .. math:: P_v = \operatorname{sym} N(W_v),

    and :math:`S_v` has the `n_neighbors` largest entries of each row of :math:`P_v`, the vertex itself included,
    scaled to sum to 1. Every step replaces, for all views at once,

    .. math:: P_v \leftarrow \operatorname{sym} N(S_v \bar P_v S_v^\top),

    where :math:`\bar P_v` is the mean of :math:`P_w` over the other views. The weights of the fused graph are
    :math:`\operatorname{sym} N` of the mean of the :math:`P_v`, off the diagonal.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs on the same vertices, at most 8,000; all matrices are dense.
    n_neighbors : int, default 20
        Number of entries of a row in S_v, at least 2; all of them if there are fewer. Of equal entries those with the
        larger vertex numbers are taken.
    steps : int, default 20
        Number of steps.

    Returns
    -------
    SimilarityFusion
        The fused graph.

    Raises
    ------
    CothermError
        If the graphs have different numbers of vertices or are too large.

    Notes
    -----
    The computation follows the authors' R package SNFtool.

    If a vertex has no neighbors in a view, its row of P_v there is ½ on the diagonal and zero elsewhere, and it gets
    its similarities from the other views. If it has no neighbors in any view, it has none in the fused graph.

    References
    ----------
    .. [1] B. Wang, A. M. Mezlini, F. Demir, M. Fiume, Z. Tu, M. Brudno, B. Haibe-Kains and A. Goldenberg, "Similarity
       network fusion for aggregating data types on a genomic scale", Nature Methods, 2014.
    """
    checked = checked_graphs(graphs)
    n = same_vertices(checked)
    _require_dense(n)
    neighbors = validation.integer("n_neighbors", n_neighbors, least=2)
    steps = validation.integer("steps", steps, least=1, most=limits.REPETITIONS)
    P = [_symmetric(_full_kernel(graph.adjacency().toarray())) for graph in checked]
    S = [_local_kernel(one, min(neighbors, n)) for one in P]
    changes = []
    for _ in track(range(steps), total=steps, label="similarity fusion"):
        P, before = _diffused(P, S), P
        changes.append(_relative_change(before, P))
    fused = _symmetric(_full_kernel(_mean(P)))
    np.fill_diagonal(fused, 0.0)
    first, fused_graph = checked[0], Graph.from_adjacency(fused)
    return SimilarityFusion(
        graph=first.replace(name=None).with_edges(fused_graph.i, fused_graph.j, fused_graph.w),
        originals=tuple(checked),
        changes=tuple(changes),
        settings={"n_neighbors": neighbors, "steps": steps},
    )


def _require_dense(n: int) -> None:
    if n > _MOST_VERTICES:
        raise CothermError(
            "graphs",
            f"{n:,} vertices: every matrix is dense, {8e-9 * n**2:.1f} GB",
            f"at most {_MOST_VERTICES:,} vertices",
            "average and coregularize work with graphs of any size.",
        )


def _full_kernel(X: Floats) -> Floats:
    """N(X): rows sum to 1, half of that on the diagonal, so that no vertex is drowned in its own similarity."""
    P = X.copy()
    np.fill_diagonal(P, 0.0)
    total = 2.0 * P.sum(axis=1, keepdims=True)
    np.divide(P, total, out=P, where=total > 0.0)
    np.fill_diagonal(P, 0.5)
    return P


def _local_kernel(P: Floats, n_neighbors: int) -> sp.csr_array:
    n = len(P)
    # Stable: of equal entries the last are taken, whatever the processor.
    columns = np.argsort(P, axis=1, kind="stable")[:, n - n_neighbors :]
    rows = np.repeat(np.arange(n), n_neighbors)
    strongest = np.take_along_axis(P, columns, axis=1)
    strongest /= strongest.sum(axis=1, keepdims=True)
    return sp.coo_array((strongest.ravel(), (rows, columns.ravel())), shape=(n, n)).tocsr()


def _diffused(P: list[Floats], S: list[sp.csr_array]) -> list[Floats]:
    # The others are added up anew for every view: taking one away from the sum of all would lose its small digits.
    others = [_mean(P[:v] + P[v + 1 :]) for v in range(len(P))]
    return [_symmetric(_full_kernel(_sandwich(s, p))) for s, p in zip(S, others, strict=True)]


def _sandwich(S: sp.csr_array, P: Floats) -> Floats:
    """S P Sᵀ for a symmetric P, with the sparse factor always on the left, where it is fast."""
    return np.asarray(S @ np.asarray(S @ P).T)


def _symmetric(P: Floats) -> Floats:
    return 0.5 * (P + P.T)


def _mean(P: list[Floats]) -> Floats:
    return np.asarray(np.mean(P, axis=0))


def _relative_change(before: list[Floats], after: list[Floats]) -> float:
    old = _mean(before)
    return float(np.linalg.norm(_mean(after) - old) / np.linalg.norm(old))
