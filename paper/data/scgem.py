"""scGEM: single cells, five types, the expression of genes and the methylation of DNA measured in each cell."""

from __future__ import annotations

import os

import numpy as np

from cotherm.datasets.views import Views
from cotherm.errors import CothermError
from cotherm.functions import label_functions
from cotherm.graphs.build import knn_graph
from paper.data.directory import locate
from paper.data.tables import read_labels, read_table

_CELLS = 177
# What was measured, and how many features of it.
_VIEWS = (("expression", 34), ("methylation", 27))
_WHAT = "the scGEM data set"


def scgem(*, data: str | os.PathLike[str] | None = None) -> Views:
    """Load single cells of five types, with gene expression and DNA methylation of the same 177 cells.

    Ten nearest neighbors; the functions are the indicators of the types [1]_.

    Parameters
    ----------
    data : str or path-like, optional
        Directory that has scgem/expression.txt, scgem/methylation.txt and for both the types of the cells, such as
        scgem/expression_type.txt. By default the environment variable COTHERM_DATA.

    Returns
    -------
    Views
        The two graphs. Vertices correspond.

    Raises
    ------
    CothermError
        If the data are not there.

    References
    ----------
    .. [1] L. F. Cheow et al., "Single-cell multimodal profiling reveals cellular epigenetic heterogeneity", Nature
       Methods, 2016.
    """
    tables = [read_table(locate(f"scgem/{name}.txt", data), (_CELLS, features), _WHAT) for name, features in _VIEWS]
    paths = [locate(f"scgem/{name}_type.txt", data) for name, _ in _VIEWS]
    labels, same = (read_labels(path, _CELLS, _WHAT) for path in paths)
    if not np.array_equal(labels, same):
        raise CothermError(str(paths[1]), f"other types than in {paths[0].name}", "the same cells in the same order")
    graphs = tuple(knn_graph(X, 10, labels=labels, name=name) for X, (name, _) in zip(tables, _VIEWS, strict=True))
    F = label_functions(labels, unit_norm=False)
    return Views("scgem", graphs, (F, F), times=(0.5, 1.0, 2.0), labels=labels, aligned=True)
