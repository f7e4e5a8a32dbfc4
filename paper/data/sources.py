"""3sources: 169 news stories of six topics, as three newspapers told them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from cotherm.arrays import Ints
from cotherm.datasets.views import Views
from cotherm.errors import CothermError
from cotherm.functions import label_functions
from cotherm.graphs.build import knn_graph
from paper.data.directory import locate
from paper.data.matlab import read_mat

_FILE = "3sources/3Sources.mat"
# The file does not say which is which of BBC, Reuters and The Guardian.
_NAMES = ("first source", "second source", "third source")


def sources(*, data: str | os.PathLike[str] | None = None) -> Views:
    """Load 3sources: 169 news stories of six topics, as reported by three sources.

    Ten nearest neighbors by the angle between word counts; the functions are the indicators of the topics [1]_.

    Parameters
    ----------
    data : str or path-like, optional
        Directory that has 3sources/3Sources.mat. By default the environment variable COTHERM_DATA.

    Returns
    -------
    Views
        The three graphs. Vertices correspond.

    Raises
    ------
    CothermError
        If the data are not there.

    References
    ----------
    .. [1] D. Greene and P. Cunningham, "A matrix factorization approach for integrating multiple data views",
       European Conference on Machine Learning, 2009.
    """
    path = locate(_FILE, data)
    X, y = read_mat(path, ["X", "y"], "the 3sources data set")
    counts, labels = _checked(path, X, y)
    graphs = tuple(
        # By the angle, a long story is like a short one that uses the same words.
        knn_graph(words, 10, metric="cosine", labels=labels, name=name)
        for words, name in zip(counts, _NAMES, strict=True)
    )
    F = label_functions(labels, unit_norm=False)
    return Views("3sources", graphs, (F,) * len(graphs), times=(0.5, 1.0, 2.0), labels=labels, aligned=True)


def _checked(path: Path, X: Any, y: Any) -> tuple[list[sp.csr_array], Ints]:
    """The counts of each source and the topics, if they are what the file should hold."""
    labels = np.asarray(y).ravel()
    cells = list(np.asarray(X).ravel()) if np.asarray(X).dtype == object else []
    if len(cells) != len(_NAMES) or any(np.ndim(words) != 2 or len(words) != len(labels) for words in cells):
        raise CothermError(str(path), "other arrays", f"{len(_NAMES)} tables of words X with a row for each label in y")
    return [sp.csr_array(np.asarray(words, dtype=np.float64)) for words in cells], labels.astype(np.int64)
