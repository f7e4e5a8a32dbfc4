"""The paper's NUS: 145 images of seven ambiguous classes, their tags and their colours."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from cotherm import checks
from cotherm.arrays import Ints
from cotherm.datasets.directory import locate
from cotherm.datasets.matlab import read_mat
from cotherm.datasets.views import Views
from cotherm.functions import label_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph

_FILE = "nus/NUS_results.mat"
_VIEWS = ("tags", "colours")


def nus(*, stored: bool = False, data: str | os.PathLike[str] | None = None) -> Views:
    """Tags and colours, 25 nearest neighbours with self-tuning scales; the functions are the indicators of the classes.

    Parameters
    ----------
    stored : the graphs that come with the data instead (17 and 20 nearest neighbours), on which the clustering
        accuracies that come with it were obtained. Loops of 21 images with equal tags are left out.
    data : the directory with nus/NUS_results.mat; else the environment variable COTHERM_DATA.
    """
    stored = checks.boolean("stored", stored)
    coords, W, classes = read_mat(locate(_FILE, data), ["coords", "W", "classes"], "the NUS data set")
    labels = np.asarray(classes).ravel().astype(np.int64)
    if stored:
        graphs = tuple(_stored(w, labels, name) for w, name in zip(W.ravel(), _VIEWS, strict=True))
    else:
        tags, colours = coords.ravel()
        points: tuple[Any, ...] = (sp.csr_array(tags), np.asarray(colours, dtype=np.float64))
        graphs = tuple(
            knn_graph(X, 25, neighbour=15, factor=4.0, symmetrize="mean", labels=labels, name=name)
            for X, name in zip(points, _VIEWS, strict=True)
        )
    F = label_functions(labels)
    return Views("nus", graphs, (F, F), times=(0.75, 1.0, 1.25), labels=labels, aligned=True)


def _stored(W: Any, labels: Ints, name: str) -> Graph:
    entries: Any = sp.coo_array(W)
    upper = entries.row < entries.col
    return Graph(W.shape[0], entries.row[upper], entries.col[upper], entries.data[upper], labels=labels, name=name)
