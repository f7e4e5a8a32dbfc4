"""UCI's handwritten digits (mfeat): 2,000 digits, ten classes, six sets of features."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from cotherm import validation
from cotherm.datasets.views import Views
from cotherm.errors import CothermError
from cotherm.functions import label_functions
from cotherm.graphs.build import knn_graph
from paper.data.directory import locate
from paper.data.matlab import read_mat

_FILE = "handwritten/Handwritten.mat"
_NAMES = ("profiles", "Fourier", "Karhunen-Loeve", "morphology", "pixels", "Zernike")


def digits(
    views: Sequence[int] = (0, 1, 2, 3, 4, 5), *, k: int = 10, data: str | os.PathLike[str] | None = None
) -> Views:
    """Load the UCI handwritten digits: 2,000 digits, ten classes, six sets of features.

    Nearest-neighbor graphs with self-tuning weights; the functions are the indicators of the classes [1]_.

    Parameters
    ----------
    views : sequence of int, default (0, 1, 2, 3, 4, 5)
        Which views: 0 profiles, 1 Fourier, 2 Karhunen-Loeve, 3 morphology, 4 pixels, 5 Zernike.
    k : int, default 10
        Number of neighbors.
    data : str or path-like, optional
        Directory that has handwritten/Handwritten.mat. By default the environment variable COTHERM_DATA.

    Returns
    -------
    Views
        A graph for each view.

    Raises
    ------
    CothermError
        If the data are not there.

    References
    ----------
    .. [1] M. van Breukelen, R. P. W. Duin, D. M. J. Tax and J. E. den Hartog, "Handwritten digit recognition by
       combined classifiers", Kybernetika, 1998.
    """
    chosen = validation.indices("views", views, below=len(_NAMES))
    if not len(chosen):
        raise CothermError("views", "no views", "at least one")
    X, y = read_mat(locate(_FILE, data), ["X", "y"], "the handwritten digits")
    labels = np.asarray(y).ravel().astype(np.int64)
    graphs = tuple(
        knn_graph(np.asarray(X.ravel()[v], dtype=np.float64), k, labels=labels, name=_NAMES[v]) for v in chosen
    )
    F = label_functions(labels, unit_norm=False)
    return Views("digits", graphs, (F,) * len(graphs), times=(0.5, 1.0, 2.0), labels=labels, aligned=True)
