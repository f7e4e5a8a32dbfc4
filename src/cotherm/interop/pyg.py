"""PyTorch Geometric: ``Data`` with every edge in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.heat.validation import require_graph
from cotherm.interop.named import require_keys
from cotherm.optional import require

if TYPE_CHECKING:
    from torch_geometric.data import Data


def from_pyg(
    data: Data,
    weight: str | None = "edge_weight",
    *,
    coordinates: str | None = "pos",
    labels: str | None = "y",
) -> Graph:
    """Convert a PyTorch Geometric ``Data`` object.

    It needs torch and torch_geometric: ``pip install torch 'cotherm[pyg]'``.

    Parameters
    ----------
    data : torch_geometric.data.Data
        An undirected graph: ``edge_index`` has every edge in both directions with the same weight, and no loops.
    weight : str or None, default "edge_weight"
        Attribute with the weights, one for every column of ``edge_index``. None gives every edge weight 1.
    coordinates : str or None, default "pos"
        Attribute with positions of shape (n, d). Ignored if it is None or missing.
    labels : str or None, default "y"
        Attribute with an integer for each vertex. Ignored if it is None or missing.

    Returns
    -------
    Graph
        The graph, with edges sorted by (i, j).

    See Also
    --------
    to_pyg : The other direction.

    Examples
    --------
    >>> import cotherm as ct
    >>> graph = ct.Graph(2, [0], [1], [2.0])
    >>> ct.interop.from_pyg(ct.interop.to_pyg(graph)) == graph  # doctest: +SKIP
    True
    """
    ends = _edge_index(data)
    require_keys(weight=weight, coordinates=coordinates, labels=labels)
    w = np.ones(ends.shape[1]) if weight is None else _weights(data, weight, ends.shape[1])
    n = int(data.num_nodes)
    validation.indices("data.edge_index", ends.ravel(), below=n)
    W = sp.coo_array((w, (ends[0], ends[1])), shape=(n, n))
    advice = "torch_geometric.transforms.ToUndirected() adds the missing directions."
    with known_as("W", "data", advice), known_as("coordinates", f"data.{coordinates}"):
        return Graph.from_adjacency(W, coordinates=_values(data, coordinates), labels=_labels(data, labels, n))


def to_pyg(graph: Graph, *, dtype: Any = None) -> Data:
    """Convert a graph to a PyTorch Geometric ``Data`` object.

    ``edge_index`` has shape (2, 2m), every edge in both directions, and ``edge_weight`` shape (2m,). Coordinates
    become ``pos`` and labels ``y``. Labels that are strings become their numbers in the sorted list ``label_names``,
    which :func:`from_pyg` does not read.

    Parameters
    ----------
    graph : Graph
        The graph.
    dtype : torch.dtype, optional
        Floating-point type of weights and positions. By default ``torch.get_default_dtype()``, usually float32;
        ``torch.float64`` loses nothing.

    Returns
    -------
    torch_geometric.data.Data
        The data object.

    Raises
    ------
    CothermError
        If the weights do not fit the type.

    See Also
    --------
    from_pyg : The other direction.

    Examples
    --------
    >>> import cotherm as ct
    >>> ct.interop.to_pyg(ct.Graph(2, [0], [1], [2.0])).edge_index.tolist()  # doctest: +SKIP
    [[0, 1], [1, 0]]
    """
    torch, torch_data = _torch(), _torch("torch_geometric.data")
    require_graph(graph)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise CothermError("dtype", validation.describe(dtype), "a floating-point torch.dtype")
    largest = float(torch.finfo(dtype).max)
    if graph.w.max(initial=0.0) > largest:
        raise CothermError("graph", f"weights up to {graph.w.max():.3g}", f"at most {largest:.3g}", "Rescale them.")
    W = graph.adjacency().tocoo()
    found = {
        "edge_index": torch.from_numpy(np.vstack([W.row, W.col]).astype(np.int64)),
        "edge_weight": torch.from_numpy(W.data).to(dtype),
    }
    if graph.coordinates is not None:
        found["pos"] = torch.from_numpy(graph.coordinates.copy()).to(dtype)
    if graph.labels is not None:
        labels = graph.labels
        if labels.dtype.kind == "U":
            names, labels = np.unique(labels, return_inverse=True)
            found["label_names"] = names.tolist()
        found["y"] = torch.from_numpy(labels.astype(np.int64))
    return torch_data.Data(**found, num_nodes=graph.n)


def _edge_index(data: object) -> NDArray[Any]:
    if not isinstance(data, _torch("torch_geometric.data").Data):
        raise CothermError("data", validation.describe(data), "a torch_geometric.data.Data")
    ends = _values(data, "edge_index")
    if ends is None or ends.ndim != 2 or len(ends) != 2:
        given = "no edge_index" if ends is None else f"an edge_index of shape {ends.shape}"
        raise CothermError("data", given, "an edge_index of shape (2, edges)")
    return ends


def _weights(data: Any, weight: str, count: int) -> Floats:
    values = _values(data, weight)
    if values is None:
        advice = "None gives every edge the weight 1."
        raise CothermError("weight", f"{weight!r}, which the data has not", "an attribute of it", advice)
    if values.shape not in ((count,), (count, 1)):
        raise CothermError("weight", f"data.{weight} of shape {values.shape}", f"one weight per edge, shape ({count},)")
    return validation.finite("weight", validation.as_float64("weight", values.reshape(count)))


def _labels(data: Any, name: str | None, n: int) -> NDArray[Any] | None:
    values = _values(data, name)
    if values is None:
        return None
    if values.dtype.kind not in "biu" or values.shape not in ((n,), (n, 1)):
        given = f"data.{name} of shape {values.shape} and dtype {values.dtype}"
        raise CothermError("labels", given, f"whole numbers of shape ({n},)", "labels=None leaves them out.")
    return values.reshape(n)


def _torch(package: str = "torch") -> Any:
    # The right torch depends on the machine, so the extra does not choose one; and PyG cannot be imported without it.
    require("torch", "pyg", also="torch")
    return require(package, "pyg", also="torch")


def _values(data: Any, name: str | None) -> NDArray[Any] | None:
    """A tensor of the data as an array on the host; None if it is missing."""
    tensor = None if name is None else data.get(name)
    if tensor is None:
        return None
    if not isinstance(tensor, _torch().Tensor):
        raise CothermError(f"data.{name}", validation.describe(tensor), "a torch.Tensor")
    # NumPy lacks some of torch's float types.
    host = tensor.detach().cpu()
    return np.asarray((host.double() if host.is_floating_point() else host).numpy())
