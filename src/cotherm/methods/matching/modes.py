"""The smooth modes of a graph whose vertices have masses: Lφ = λMφ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from cotherm.arrays import Floats
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.notebook import ArraysInShort
from cotherm.solve.eigenpairs import smallest_pairs

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
    with known_as("k", "modes"):
        values, vectors = smallest_pairs(S, k, 2.0 * float((degrees / M).max(initial=0.0)) or 1.0)
    total = float(M.sum())
    return Modes(np.maximum(values, 0.0), vectors * root[:, np.newaxis] * np.sqrt(total), M / total)


def _scaled(A: sp.csr_array, s: Floats) -> sp.csr_array:
    scaled = sp.diags_array(s) @ A @ sp.diags_array(s)
    return sp.csr_array(0.5 * (scaled + scaled.T))


def _inverse(x: Floats) -> Floats:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0.0)


# By default from the time in which the roughest of the first modes loses this part of its exponent, to that in which
# the smoothest has gone this far; and how many between.
_SHORTEST, _LONGEST, _TIMES = 0.3, 3.0, 6
# Eigenvalues below this part of the largest are zero: of components, or rounding.
_ZERO = 1e-10
# By then all heat has gone that ever will.
_LAST = 1e300
_EPSILON = float(np.finfo(np.float64).eps)


def time_ratio(source: Modes, target: Modes) -> float:
    """How many times faster heat is on the source: the median ratio of eigenvalues that are not zero.

    Weights and numbers of vertices set the pace of heat, and they are each graph's own.
    """
    live = (source.values > _ZERO * source.values[-1]) & (target.values > _ZERO * target.values[-1])
    if not live.any():
        return 1.0
    with np.errstate(over="ignore"):
        ratio = float(np.median(source.values[live] / target.values[live]))
    if not 0.0 < ratio < np.inf:
        raise CothermError("graphs", "weights of sizes whose ratio is not a number", "weights of more ordinary sizes")
    return ratio


def default_times(target: Modes, k: int) -> Floats:
    """Evenly spaced in the exponent, from what the k-th mode sees to what the smoothest does."""
    values = target.values[:k]
    live = values[values > _ZERO * target.values[-1]]
    if not len(live):
        return np.zeros(1)
    with np.errstate(over="ignore"):
        ends = np.minimum([_SHORTEST / live[-1], _LONGEST / live[0]], _LAST)
    return np.geomspace(float(ends[0]), float(ends[1]), _TIMES)


def signatures(modes: Modes, functions: Floats, times: Floats) -> Floats:
    """Coefficients of e^{−tM⁻¹L}F in the modes, (modes, times × functions), each of unit norm.

    Of unit norm, bumps whose height or width depends on how densely a graph has vertices still compare. What the modes
    do not see of a function is zero.
    """
    A = modes.coefficients(functions / np.maximum(np.abs(functions).max(axis=0), np.finfo(np.float64).tiny))
    with np.errstate(over="ignore"):  # where tλ overflows, no heat is left
        left = np.exp(-times[:, np.newaxis] * modes.values)
    heat = left[:, :, np.newaxis] * A
    size = np.linalg.norm(heat, axis=1, keepdims=True)
    seen = size > 100.0 * _EPSILON
    return np.hstack(list(np.where(seen, heat / np.where(seen, size, 1.0), 0.0)))
