"""Other libraries that make one graph of several views, each as its users call it.

All get the rows that our graphs are made of, an array for each view, or where these are components and the library
looks for components itself, the columns that they were made of.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial, reduce
from io import StringIO
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.pairs.diffusions import as_graph
from benchmarks.pairs.peers import MOFA, factors, standardized
from benchmarks.suite.parts import Library
from cotherm.arrays import Floats
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph

Rows = Sequence[Floats]
Rival = Callable[[Rows, int], Graph]  # rows, seed

MUON = Library("muon", "pip install muon 'scanpy<1.12' pynndescent==0.5.13")
UMAP = Library("umap", "pip install umap-learn")
SNFPY = Library("snf", "pip install snfpy")
INTEGRAO = Library("integrao", "pip install torch torch_geometric networkx snfpy; pip install --no-deps integrao")
# Neighbors that similarities and their fusion go by, as in snfpy's own examples.
_FUSED = 20
# Candidates that muon takes of every view, unless there are fewer items.
_CANDIDATES = 200


def weighted_neighbors(rows: Rows, seed: int) -> Graph:
    """muon's weighted nearest neighbors (Hao et al. 2021), of scanpy's neighbors in every view."""
    import anndata
    import mudata
    import muon
    import scanpy

    views = {f"view {k}": anndata.AnnData(X) for k, X in enumerate(rows)}
    for view in views.values():
        scanpy.pp.neighbors(view, use_rep="X", random_state=seed)
    together = mudata.MuData(views)
    muon.pp.neighbors(together, n_multineighbors=min(_CANDIDATES, len(rows[0]) - 2), random_state=seed)
    return _symmetric(together.obsp["connectivities"])


def fuzzy(combine: Callable[[Any, Any], Any], rows: Rows, seed: int) -> Graph:
    """UMAP's fuzzy graphs of the views, intersected or united one after the other."""
    import umap

    fitted = [umap.UMAP(random_state=seed, n_jobs=1).fit(X) for X in rows]
    return _symmetric(reduce(combine, fitted).graph_)


def factor_neighbors(rows: Rows, seed: int) -> Graph:
    """Neighbors by MOFA's factors."""
    with redirect_stdout(StringIO()):
        return knn_graph(factors(rows, seed))


def fused(rows: Rows, _: int) -> Graph:
    """snfpy's fusion of its own similarities."""
    import snf

    _mend(snf.compute)
    return as_graph(np.asarray(snf.snf(snf.make_affinity(list(rows), K=_FUSED), K=_FUSED)))


def integrated_omics(rows: Rows, seed: int) -> Graph:
    """IntegrAO's last similarities (Ma et al. 2025), of embeddings by graph neural networks."""
    import pandas as pd
    import snf
    import torch
    from integrao import main
    from integrao.integrater import integrao_integrater

    _mend(snf.compute)
    _mend(main)
    torch.manual_seed(seed)
    with redirect_stdout(StringIO()):
        model = integrao_integrater([pd.DataFrame(X) for X in rows], neighbor_size=_FUSED, random_state=seed)
        model.network_diffusion()
        _, affinity, _ = model.unsupervised_alignment()
    return as_graph(np.asarray(affinity))


def _mend(module: Any) -> None:
    """Let the module check arrays: it calls scikit-learn's check by a name of an option that is gone since 1.8."""
    from sklearn.utils import check_array

    def check(array: Any, *, force_all_finite: bool = True, **options: Any) -> Any:
        return check_array(array, ensure_all_finite=force_all_finite, **options)

    module.check_array = check


def _symmetric(A: Any) -> Graph:
    """The graph of sparse affinities."""
    W = sp.csr_array(A, dtype=np.float64)
    W = sp.csr_array(0.5 * (W + W.T))
    W.setdiag(0.0)
    W.eliminate_zeros()
    return Graph.from_adjacency(W)


_FACTORS, _STANDARDIZED = "factors (MOFA)", "factors (MOFA), standardized"
REDUCING = (_FACTORS, _STANDARDIZED)
RIVALS: dict[str, tuple[Rival, Library]] = {
    "weighted neighbors (muon)": (weighted_neighbors, MUON),
    "fuzzy intersection (UMAP)": (partial(fuzzy, operator.mul), UMAP),
    "fuzzy union (UMAP)": (partial(fuzzy, operator.add), UMAP),
    _FACTORS: (factor_neighbors, MOFA),
    _STANDARDIZED: (lambda rows, seed: factor_neighbors(standardized(rows), seed), MOFA),
    "similarity fusion (snfpy)": (fused, SNFPY),
    "IntegrAO": (integrated_omics, INTEGRAO),
}
