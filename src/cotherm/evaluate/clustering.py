"""How well clusters agree with known classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from cotherm import limits, validation
from cotherm.errors import CothermError
from cotherm.indexed import index_of, rows_together


def clustering_accuracy(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Compute the fraction of items whose cluster stands for their class.

    Clusters are assigned to classes so that the fraction is largest. Each cluster stands for at most one class, and
    each class for at most one cluster.

    Parameters
    ----------
    classes : array_like of int or str of shape (n,)
        True class of every item.
    clusters : array_like of int or str of shape (n,)
        Cluster of every item. If both are pandas Series they are matched by their indexes.

    Returns
    -------
    float
        The accuracy, from 0 to 1.

    Raises
    ------
    CothermError
        If the lengths differ, or if there are too many pairs of a cluster and a class.

    See Also
    --------
    clustering_scores : This and three other scores.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.evaluate.clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    from sklearn import metrics

    truth, found = _checked(classes, clusters)
    if (truth.max() + 1) * (found.max() + 1) > limits.CLUSTER_TABLE:
        given = f"{found.max() + 1:,} clusters of {truth.max() + 1:,} classes"
        raise CothermError("clusters", given, f"at most {limits.CLUSTER_TABLE:,} pairs of a cluster and a class")
    table = metrics.cluster.contingency_matrix(truth, found)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / len(truth))


def clustering_scores(classes: ArrayLike, clusters: ArrayLike) -> dict[str, float]:
    """Compute four scores of a clustering; 1 is perfect.

    Parameters
    ----------
    classes : array_like of int or str of shape (n,)
        True class of every item.
    clusters : array_like of int or str of shape (n,)
        Cluster of every item. If both are pandas Series they are matched by their indexes.

    Returns
    -------
    dict of str to float
        "ACC" (:func:`clustering_accuracy`), "NMI" (normalized mutual information, arithmetic mean), "AMI" (adjusted
        mutual information) and "ARI" (adjusted Rand index).

    See Also
    --------
    clustering_accuracy : The first of them.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.evaluate.clustering_scores(["a", "a", "b", "b"], [1, 1, 0, 0])
    {'ACC': 1.0, 'NMI': 1.0, 'AMI': 1.0, 'ARI': 1.0}
    """
    from sklearn import metrics

    truth, found = _checked(classes, clusters)
    return {
        "ACC": clustering_accuracy(truth, found),
        "NMI": float(metrics.normalized_mutual_info_score(truth, found)),
        "AMI": float(metrics.adjusted_mutual_info_score(truth, found)),
        "ARI": float(metrics.adjusted_rand_score(truth, found)),
    }


def _checked(classes: ArrayLike, clusters: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as numbers from 0 on, of one length."""
    numbered, both = [], ("classes", "clusters")
    for argument, value in zip(both, rows_together(both, (classes, clusters)), strict=True):
        labels = validation.labels(argument, value, index_of(value))
        if labels.ndim != 1 or not labels.size:
            raise CothermError(argument, validation.describe(labels), "a vector of labels, one for each item")
        numbered.append(np.unique(labels, return_inverse=True)[1])
    truth, found = numbered
    if len(truth) != len(found):
        raise CothermError("clusters", f"{len(found)} labels", f"one for each of the {len(truth)} classes")
    return truth, found
