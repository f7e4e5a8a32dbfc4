"""The answer of a method into AnnData or MuData, where scanpy finds it and h5ad files keep it."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.interop.modalities import modalities
from cotherm.methods.result import JointBases, JointResult

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData

_COORDINATES = 10
# Every entry written here has the version of cotherm under this name; only such entries are written over.
_MARK = "cotherm_version"


def to_anndata(
    result: JointResult,
    adatas: Sequence[AnnData] | MuData,
    *,
    key: str = "cotherm",
    k: int | None = None,
    t: float = 0.0,
) -> None:
    """Write the result of any method into the AnnData that its graphs came from, in place.

    Every modality gets

    - ``obsm["X_cotherm"]``: ``result.embedding(k, t=t)``;
    - ``obsp["cotherm_connectivities"]``, if the method gives graphs: the weights, sparse and symmetric. Edges of
      weight 0 are not stored;
    - ``obsp["cotherm_distances"]``, likewise: 1/w for every edge, its length if w is its conductance;
    - ``uns["cotherm"]``: where those are, in the form that scanpy reads with ``neighbors_key="cotherm"``, and how the
      result was computed: settings, versions, status, costs.

    Parameters
    ----------
    result : JointResult
        The result of a method.
    adatas : sequence of anndata.AnnData or mudata.MuData
        The modalities, in the order in which the graphs were given to the method.
    key : str, default "cotherm"
        Name to use in place of "cotherm".
    k : int, optional
        Number of coordinates in the embedding. By default 10, or as many as there are.
    t : float, default 0.0
        Time of the embedding, whose columns are multiplied by e^{−tλ}.

    Raises
    ------
    CothermError
        If the numbers of cells do not fit, or if the key is used by something else. Then nothing is written.

    See Also
    --------
    from_anndata : The graph of one modality.
    cotherm.JointResult.embedding : The coordinates.

    Notes
    -----
    Everything can be written to h5ad and h5mu files. What an earlier call wrote under the same key is replaced.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import cotherm as ct
    >>> graphs = ct.datasets.circles().graphs
    >>> cells = [anndata.AnnData(np.zeros((graph.n, 1))) for graph in graphs]
    >>> ct.interop.to_anndata(ct.average(graphs), cells, k=2)
    >>> cells[0].obsm["X_cotherm"].shape
    (64, 2)
    """
    if not isinstance(result, JointResult):
        raise CothermError("result", validation.describe(result), "the answer of a method, e.g. of couple")
    if not isinstance(key, str) or not key or "/" in key:
        raise CothermError("key", validation.describe(key), "a word without '/', which separates groups in files")
    cells = [adata for _, adata in modalities(adatas)]
    graphs = _graphs(result)
    _require_sizes(result, graphs, cells)
    _require_different(cells)
    for v, adata in enumerate(cells):
        _require_free(f"adatas[{v}]", adata, key)
    k = min(_COORDINATES, max(1, result._most_modes() - 1)) if k is None else k
    embedding = result.embedding(k, t=t)
    note = _note(result) | {"views": len(cells), "time_of_embedding": float(t)}
    for v, (adata, X) in enumerate(zip(cells, embedding, strict=True)):
        _write(adata, key, X, None if graphs is None else graphs[v], note | {"view": v})


def _graphs(result: JointResult) -> tuple[Graph, ...] | None:
    found: tuple[Graph, ...] | None = getattr(result, "graphs", None)
    return found


def _require_sizes(result: JointResult, graphs: tuple[Graph, ...] | None, cells: Sequence[Any]) -> None:
    if graphs is not None:
        sizes = [graph.n for graph in graphs]
    else:
        assert isinstance(result, JointBases)  # those without graphs have bases
        sizes = [len(basis.vectors) for basis in result.bases]
    given = [int(adata.n_obs) for adata in cells]
    if given != sizes:
        raise CothermError(
            "adatas",
            f"modalities of {', '.join(map(str, given))} cells",
            f"those of the result, in its order: {', '.join(map(str, sizes))}",
        )


def _require_different(cells: Sequence[Any]) -> None:
    if len({id(adata) for adata in cells}) < len(cells):
        raise CothermError(
            "adatas", "the same AnnData twice", "one for each view", "Copy it: the second view would replace the first."
        )


def _names(key: str) -> dict[str, str]:
    return {"embedding": f"X_{key}", "connectivities": f"{key}_connectivities", "distances": f"{key}_distances"}


def _require_free(argument: str, adata: Any, key: str) -> None:
    if adata.is_view:
        raise CothermError(argument, "a view of another AnnData", "an AnnData of its own", "Call .copy() on it.")
    entry = adata.uns.get(key)
    if isinstance(entry, Mapping) and _MARK in entry:
        return
    names = _names(key)
    taken = [f"uns[{key!r}]"] if key in adata.uns else []
    taken += [f"obsm[{names['embedding']!r}]"] if names["embedding"] in adata.obsm else []
    taken += [f"obsp[{names[what]!r}]" for what in ("connectivities", "distances") if names[what] in adata.obsp]
    if taken:
        raise CothermError(
            "key",
            f"{key!r}, but {argument}.{taken[0]} is there and not from here",
            "a key that is not taken",
            "Pass another key=, or delete it.",
        )


def _write(adata: Any, key: str, X: Floats, graph: Graph | None, note: dict[str, Any]) -> None:
    names = _names(key)
    for what in ("connectivities", "distances"):  # of an earlier answer, which may have had graphs where this has none
        if names[what] in adata.obsp:
            del adata.obsp[names[what]]
    adata.obsm[names["embedding"]] = np.ascontiguousarray(X)
    if graph is not None:
        W, lengths = _matrices(graph)
        adata.obsp[names["connectivities"]] = W
        adata.obsp[names["distances"]] = lengths
        note = note | {
            "connectivities_key": names["connectivities"],
            "distances_key": names["distances"],
            "params": {
                "method": "cotherm",
                "n_neighbors": max(1, int(np.median(np.diff(W.indptr)))),
                "metric": "euclidean",
                "use_rep": names["embedding"],
            },
        }
    adata.uns[key] = note


def _matrices(graph: Graph) -> tuple[Any, Any]:
    """Weights and lengths of the edges that have weight, as scanpy and its neighbors expect them."""
    W = sp.csr_matrix(graph.adjacency())
    W.eliminate_zeros()
    lengths = W.copy()
    with np.errstate(over="ignore"):  # the inverse of the very smallest floats is past the largest
        lengths.data = np.minimum(1.0 / W.data, np.finfo(np.float64).max)
    return W, lengths


def _note(result: JointResult) -> dict[str, Any]:
    """Everything about the answer that is a number, a word, a vector or a setting: graphs and modes are elsewhere."""
    found = {"method": type(result).__name__, _MARK: version("cotherm")}
    for field in fields(result):  # type: ignore[arg-type]  # all answers are dataclasses
        value = getattr(result, field.name)
        if field.name in ("settings", "versions") or _is_plain(value):
            plain = _plain(value)
            if plain is not None:
                found[field.name] = plain
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "biuf"
    if isinstance(value, tuple):
        return bool(value) and all(isinstance(one, numbers.Real) for one in value)
    return isinstance(value, str | numbers.Real)


def _plain(value: Any) -> Any:
    """What an h5ad file can hold: words, numbers, vectors of either and mappings of those; no None, nothing nested."""
    if isinstance(value, Mapping):
        pairs = {str(name): _plain(one) for name, one in value.items()}
        return {name: one for name, one in pairs.items() if one is not None}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist() if np.ndim(value) == 0 else value
    if isinstance(value, list | tuple):
        flat = bool(value) and (
            all(isinstance(one, numbers.Real) for one in value) or all(isinstance(one, str) for one in value)
        )
        return np.array(value) if flat else json.dumps(value)
    return value
