"""The paper's NUS: 145 images of seven ambiguous classes, their tags and their colours."""

from __future__ import annotations

import os

import numpy as np
import scipy.io
import scipy.sparse as sp

from cotherm.datasets.directory import locate
from cotherm.datasets.views import Views
from cotherm.errors import CothermError
from cotherm.functions import label_functions
from cotherm.graphs.build import knn_graph

_FILE = "nus/NUS_results.mat"


def nus(*, data: str | os.PathLike[str] | None = None) -> Views:
    """Tags and colours, 25 nearest neighbours with self-tuning scales; the functions are the indicators of the classes.

    Parameters
    ----------
    data : the directory with nus/NUS_results.mat; else the environment variable COTHERM_DATA.
    """
    path = locate(_FILE, data)
    try:
        content = scipy.io.loadmat(path, variable_names=["coords", "classes"])
        tags, colours = (view for view in content["coords"].ravel())
        classes = np.asarray(content["classes"]).ravel().astype(np.int64)
    except (ValueError, KeyError, TypeError, NotImplementedError, OSError) as error:
        raise CothermError(str(path), f"unreadable ({error})", "the NUS data set as published") from None
    graphs = tuple(
        knn_graph(X, 25, neighbour=15, factor=4.0, symmetrize="mean", labels=classes, name=name)
        for X, name in ((sp.csr_array(tags), "tags"), (np.asarray(colours, dtype=np.float64), "colours"))
    )
    F = label_functions(classes)
    return Views("nus", graphs, (F, F), times=(0.75, 1.0, 1.25), labels=classes, aligned=True)
