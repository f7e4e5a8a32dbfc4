"""How well two views of the same kind of things meet in one space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.indexed import rows_together, square_in_order


def foscttm(X: ArrayLike, Y: ArrayLike) -> float:
    """Compute the fraction of samples closer than the true match, averaged over both views.

    0 is perfect, ½ is chance [1]_.

    Parameters
    ----------
    X, Y : array_like of shape (n, d)
        Samples of two views in one space. Row v of both is the same sample; data frames are matched by their indexes.

    Returns
    -------
    float
        The fraction. Of samples at the same distance as the true match, half count as closer.

    Raises
    ------
    CothermError
        If the shapes differ, or if there are fewer than two samples.

    See Also
    --------
    geodesic_error : How far from the truth vertices are matched.

    References
    ----------
    .. [1] J. Liu, Y. Huang, R. Singh, J.-P. Vert and W. S. Noble, "Jointly embedding multiple single-cell omics
       measurements", Workshop on Algorithms in Bioinformatics, 2019.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.evaluate.foscttm([[0.0], [1.0], [2.0]], [[0.1], [1.1], [2.1]])
    0.0
    """
    X, Y = map(_rows, ("X", "Y"), rows_together(("X", "Y"), (X, Y)))
    if X.shape != Y.shape:
        raise CothermError("Y", f"shape {Y.shape}", f"the shape of X, {X.shape}")
    if len(X) < 2:
        raise CothermError("X", f"{len(X)} sample(s)", "two samples or more")
    D = cdist(X, Y)
    true = np.diagonal(D).copy()
    # Entries of D below the true match of their row, and of their column; of the others equal to it half count.
    below = np.sum(true[:, np.newaxis] > D) + np.sum(true > D)
    equal = np.sum(true[:, np.newaxis] == D) + np.sum(true == D) - 2 * len(D)  # the true matches themselves
    return float((below + 0.5 * equal) / (2 * len(X) * (len(X) - 1)))


def geodesic_error(match: Any, truth: ArrayLike, distances: ArrayLike) -> Floats:
    """Compute how far from the truth vertices are matched.

    The error of vertex v is the distance between ``match[v]`` and ``truth[v]`` on the target. Its mean is the usual
    score. Divide by the diameter, or by the square root of the area, to compare shapes.

    Parameters
    ----------
    match : array_like of int of shape (n_s,), or Match
        For every vertex of the source a vertex of the target, or an object that has it as ``hard``, such as the
        result of :func:`cotherm.match`.
    truth : array_like of int of shape (n_s,) or (p, 2)
        The right vertex of the target for every vertex of the source. Or pairs of vertices of source and target that
        are the same point, where only some are known, or some several times.
    distances : array_like of shape (n_t, n_t)
        Distances between all vertices of the target, such as shortest paths along its edges.

    Returns
    -------
    ndarray of shape (n_s,) or (p,)
        The distance for every vertex, or for every pair.

    See Also
    --------
    cotherm.match : Find a match.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.evaluate.geodesic_error([0, 0], [0, 1], [[0.0, 2.0], [2.0, 0.0]]).tolist()
    [0.0, 2.0]
    """
    D = validation.numeric("distances", square_in_order("distances", distances), ndim=(2,))
    if D.shape[0] != D.shape[1] or not D.size:
        raise CothermError("distances", f"shape {D.shape}", "a square matrix: all pairs of vertices of the target")
    match = getattr(match, "hard", match)
    known = validation.as_array("truth", truth)
    if known.ndim == 1:
        match, truth = rows_together(("match", "truth"), (match, truth))
        known = validation.as_array("truth", truth)
    found = validation.indices("match", match, below=len(D))
    if known.ndim == 2:
        if known.shape[1] != 2 or not len(known):
            raise CothermError("truth", f"shape {known.shape}", "one or more pairs, shape (p, 2)")
        of_source = validation.indices("truth", known[:, 0], below=len(found))
        return np.asarray(D[found[of_source], validation.indices("truth", known[:, 1], below=len(D))])
    right = validation.indices("truth", known, below=len(D))
    if not len(right) or len(right) != len(found):
        raise CothermError("truth", f"{len(right)} vertices", f"one for each of the {len(found)} in match, or pairs")
    return np.asarray(D[found, right])


def _rows(argument: str, value: ArrayLike) -> Floats:
    X = validation.numeric(argument, value, ndim=(2,))
    if not X.size:
        raise CothermError(argument, f"shape {X.shape}", "at least one row and one column")
    return X
