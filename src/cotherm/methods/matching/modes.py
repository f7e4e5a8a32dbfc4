"""The smooth modes of a graph whose vertices have masses: Lφ = λMφ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.notebook import ArraysInShort
from cotherm.solve.eigenpairs import NotConverged, smallest_pairs

NORMALIZATIONS = ("none", "random-walk", "density")


@dataclass(frozen=True, eq=False, repr=False)
class Modes(ArraysInShort):
    """Modes of a graph whose vertices have masses, Lφ = λMφ.

    The masses sum to 1, so that the values of a mode have the same size on graphs of any number of vertices.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Eigenvalues λ, ascending.
    vectors : ndarray of shape (n, k)
        Eigenvectors Φ as columns, ΦᵀMΦ = I.
    mass : ndarray of shape (n,)
        Masses M of the vertices.

    See Also
    --------
    Match : Holds the modes of source and target.
    """

    values: Floats
    vectors: Floats
    mass: Floats

    def coefficients(self, functions: Floats) -> Floats:
        """Compute the coefficients ΦᵀMF of functions.

        Parameters
        ----------
        functions : ndarray of shape (n, q)
            Functions as columns.

        Returns
        -------
        ndarray of shape (k, q)
            Their coefficients.
        """
        return np.asarray(self.vectors.T @ (self.mass[:, np.newaxis] * functions))

    def first(self, k: int) -> Modes:
        """Return the k smoothest modes.

        Parameters
        ----------
        k : int
            Number of modes.

        Returns
        -------
        Modes
            The first k columns.
        """
        return Modes(self.values[:k], self.vectors[:, :k], self.mass)


def graph_modes(graph: Graph, k: int, normalization: str) -> Modes:
    """The k smoothest modes.

    "none": L = D − W and equal masses. "random-walk": the mass of a vertex is its degree. "density": first W is divided
    by the degrees of both ends, which takes the density of the vertices out of it (Coifman & Lafon 2006, α = 1), then
    the mass is the new degree. A vertex without neighbors has the mean mass of the others.
    """
    W = sp.csr_array(graph.adjacency())
    if normalization == "density":
        W = _scaled(W, _inverse(graph.degrees))
    degrees = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    weighted = normalization != "none" and bool(np.any(degrees > 0.0))
    M = np.where(degrees > 0.0, degrees, degrees[degrees > 0.0].mean()) if weighted else np.ones(graph.n)
    root = 1.0 / np.sqrt(M)
    S = sp.csr_array(_scaled(sp.csr_array(sp.diags_array(degrees) - W), root))
    try:
        values, vectors = smallest_pairs(S, k, 2.0 * float((degrees / M).max(initial=0.0)) or 1.0)
    except NotConverged:
        raise CothermError(
            "modes", f"{k} modes, which did not converge", "a gap behind the k-th eigenvalue", "Ask for more or fewer."
        ) from None
    total = float(M.sum())
    return Modes(np.maximum(values, 0.0), vectors * root[:, np.newaxis] * np.sqrt(total), M / total)


def _scaled(A: sp.csr_array, s: Floats) -> sp.csr_array:
    scaled = sp.diags_array(s) @ A @ sp.diags_array(s)
    return sp.csr_array(0.5 * (scaled + scaled.T))


def _inverse(x: Floats) -> Floats:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0.0)
