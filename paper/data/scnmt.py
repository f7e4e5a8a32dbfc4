"""scNMT: single cells at four stages of development, three things measured, and not known which cells are the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cotherm.arrays import Ints
from cotherm.datasets.views import Views
from cotherm.errors import CothermError
from cotherm.functions import label_functions
from cotherm.graphs.build import knn_graph
from paper.data.directory import locate
from paper.data.tables import read_labels, read_table

# As the files are called, what was measured, and in how many cells; every file has 30 features of them.
_VIEWS = (("rna", "expression", 597), ("met", "methylation", 725), ("acc", "accessibility", 647))
_FEATURES = 30
_WHAT = "the scNMT data set"


def scnmt(*, data: str | os.PathLike[str] | None = None) -> Views:
    """Load single cells at four stages of development, with three things measured in three sets of cells.

    Gene expression, DNA methylation and chromatin accessibility, by the assay of [1]_. Twenty nearest neighbors.
    There is no correspondence of cells. The views share the stages, ``classes``: the functions are their indicators,
    scaled to unit norm because a stage has different numbers of cells in different views.

    Parameters
    ----------
    data : str or path-like, optional
        Directory that has scnmt/rna_30.txt, scnmt/met_30.txt, scnmt/acc_30.txt and for each the stages, such as
        scnmt/rna_stage.txt. By default the environment variable COTHERM_DATA.

    Returns
    -------
    Views
        The three graphs. Vertices do not correspond.

    Raises
    ------
    CothermError
        If the data are not there.

    References
    ----------
    .. [1] S. J. Clark et al., "scNMT-seq enables joint profiling of chromatin accessibility DNA methylation and
       transcription in single cells", Nature Communications, 2018.
    """
    tables = [
        read_table(locate(f"scnmt/{short}_30.txt", data), (cells, _FEATURES), _WHAT) for short, _, cells in _VIEWS
    ]
    paths = [locate(f"scnmt/{short}_stage.txt", data) for short, _, _ in _VIEWS]
    classes = tuple(read_labels(path, len(X), _WHAT) for path, X in zip(paths, tables, strict=True))
    stages = _common(paths, classes)
    graphs = tuple(
        knn_graph(X, 20, labels=own, name=name) for X, own, (_, name, _) in zip(tables, classes, _VIEWS, strict=True)
    )
    functions = tuple(label_functions(own, classes=stages) for own in classes)
    return Views("scnmt", graphs, functions, times=(0.5, 1.0, 2.0), classes=classes)


def _common(paths: Sequence[Path], classes: Sequence[Ints]) -> Ints:
    """The stages, sorted, which must be the same in all views: one that a view lacks could not be compared."""
    stages = np.unique(classes[0])
    for path, own in zip(paths, classes, strict=True):
        if not np.array_equal(np.unique(own), stages):
            raise CothermError(
                str(path), f"the stages {np.unique(own).tolist()}", f"those of the others, {stages.tolist()}"
            )
    return stages
