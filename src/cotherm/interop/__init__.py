"""Convert graphs from and to networkx, pandas, AnnData and MuData.

Each library is optional and loaded when a function that needs it is called. SciPy and NumPy matrices need no converter:
use ``Graph.from_adjacency`` and ``Graph.adjacency``. Graph libraries such as igraph and PyTorch Geometric convert from
and to networkx themselves.
"""

from cotherm.interop.anndata import anndata_functions, anndata_graphs, anndata_pairs, from_anndata
from cotherm.interop.anndata_results import to_anndata
from cotherm.interop.networkx import from_networkx, to_networkx
from cotherm.interop.pandas import from_pandas, to_pandas

__all__ = [
    "anndata_functions",
    "anndata_graphs",
    "anndata_pairs",
    "from_anndata",
    "from_networkx",
    "from_pandas",
    "to_anndata",
    "to_networkx",
    "to_pandas",
]
