"""Convert graphs from and to networkx, igraph, PyTorch Geometric, pandas, AnnData and MuData.

Each library is optional and loaded when a function that needs it is called. SciPy and NumPy matrices need no converter:
use ``Graph.from_adjacency`` and ``Graph.adjacency``.
"""

from cotherm.interop.anndata import anndata_functions, anndata_graphs, anndata_pairs, from_anndata
from cotherm.interop.anndata_results import to_anndata
from cotherm.interop.igraph import from_igraph, to_igraph
from cotherm.interop.networkx import from_networkx, to_networkx
from cotherm.interop.pandas import from_pandas, to_pandas
from cotherm.interop.pyg import from_pyg, to_pyg

__all__ = [
    "anndata_functions",
    "anndata_graphs",
    "anndata_pairs",
    "from_anndata",
    "from_igraph",
    "from_networkx",
    "from_pandas",
    "from_pyg",
    "to_anndata",
    "to_igraph",
    "to_networkx",
    "to_pandas",
    "to_pyg",
]
