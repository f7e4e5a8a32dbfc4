"""The answer of a method into AnnData or MuData, where scanpy finds it and h5ad files keep it."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.interop.common_cells import CommonCells, pairs_note
from cotherm.interop.modalities import argument_of, modalities
from cotherm.interop.validation import is_mudata
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.result import JointBases, JointResult
from cotherm.version import __version__

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData

_COORDINATES = 10
# Every entry written here has the version of cotherm under this name; only such entries are overwritten.
_MARK = "cotherm_version"
# The names written beside it, which may be overwritten, too.
_WRITTEN = "written"


def to_anndata(
    result: JointResult,
    adatas: Sequence[AnnData] | MuData,
    *,
    key: str = "cotherm",
    k: int | None = None,
    t: float = 0.0,
    clusters: int | None = None,
) -> None:
    """Write the result of any method into the AnnData that its graphs came from, in place.

    Every modality gets

    - ``obsm["X_cotherm"]``: ``result.embedding(k, t=t)``;
    - ``obsp["cotherm_connectivities"]``, if the method gives graphs: the weights, sparse and symmetric. Edges of
      weight 0 are not stored;
    - ``obsp["cotherm_distances"]``, likewise: 1/w for every edge, its length if w is its conductance;
    - ``obs["cotherm_clusters"]``, if `clusters` is given: the clusters;
    - ``obsm["X_cotherm_common"]``, for a coupling by pairs: coordinates in one space of all cells, the embedding of
      ``result.common_graph()``;
    - ``obs["mod_weight"]``, likewise: how far the modality is believed about each cell, its column of ``view_weights``
      of the common graph. With another key it is ``obs["KEY_mod_weight"]``;
    - ``uns["cotherm"]``: where those are, in the form that scanpy reads with ``neighbors_key="cotherm"``, and how the
      result was computed: settings, versions, status, costs, and for a coupling by pairs how far the modalities agree.

    A MuData itself gets the same for the common graph of a coupling by pairs, over all of its cells:
    ``mdata.obsm["X_cotherm"]``, ``mdata.obsp["cotherm_connectivities"]`` and so on. Then weights are there, not in the
    modalities: ``mdata.obs["rna:mod_weight"]`` for each modality, as muon names its own, 0 for cells that the modality
    lacks. This needs pairs by name, as a MuData has them, see :func:`anndata_pairs`; with other pairs only the
    modalities are written.

    Parameters
    ----------
    result : JointResult
        The result of a method.
    adatas : sequence of anndata.AnnData or mudata.MuData
        The modalities, in the order in which the graphs were given to the method.
    key : str, default "cotherm"
        Name to use in place of "cotherm".
    k : int, optional
        Number of coordinates in the embedding. By default 10, or all if there are fewer.
    t : float, default 0.0
        Time of the embedding, whose columns are multiplied by e^{−tλ}.
    clusters : int, optional
        Number of clusters. Those of a coupling by pairs are clusters of all cells, ``result.common_graph().clusters``,
        with the same number in all modalities; those of other results are ``result.clusters``.

    Raises
    ------
    CothermError
        If the numbers of cells do not fit, or if the key is used by something else. Then nothing is written.

    See Also
    --------
    from_anndata : The graph of one modality.
    anndata_pairs : Which cells are the same.
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
    items = modalities(adatas)
    cells = [adata for _, adata in items]
    _require_sizes(result, _graphs(result), cells)
    _require_different(cells)
    for v, (name, adata) in enumerate(items):
        _require_free(argument_of(v, name), adata, key)
    k = min(_COORDINATES, max(1, result._most_modes() - 1)) if k is None else k
    embedding = result.embedding(k, t=t)
    note = _note(result) | {"views": len(cells), "time_of_embedding": float(t)}
    together = _in_common(result, k, t, clusters)
    entries = _entries(result, embedding, together, clusters)
    whole = _whole(together, adatas, clusters) if is_mudata(adatas) else None
    if whole is not None:
        # Weights of modalities would be merged into those of the whole, with NaN for cells that a modality lacks.
        entries = [replace(entry, weights=None) for entry in entries]
        _require_free("adatas", adatas, key)
    elif is_mudata(adatas):
        _remove(adatas, key)
    for v, (adata, entry) in enumerate(zip(cells, entries, strict=True)):
        _write(adata, key, entry, note | {"view": v})
    if whole is not None:
        _write(adatas, key, whole, note)


@dataclass(frozen=True)
class _Entry:
    """The data written into one object."""

    X: Floats
    graph: Graph | None
    common: Floats | None
    labels: Ints | None
    clusters: int | None
    weights: Floats | None


def _in_common(result: JointResult, k: int, t: float, clusters: int | None) -> CommonCells | None:
    if not isinstance(result, Coupling) or result.pairs is None:
        return None
    return CommonCells.of(result.common_graph(), k, t, clusters)


def _entries(
    result: JointResult, embedding: Sequence[Floats], together: CommonCells | None, clusters: int | None
) -> list[_Entry]:
    """What each modality gets."""
    graphs = _graphs(result) or [None] * len(embedding)
    of_all: list[tuple[Floats | None, Ints | None, Floats | None]]
    if together is not None:
        of_all = [together.of_modality(v) for v in range(len(embedding))]
    elif clusters is None:
        of_all = [(None, None, None)] * len(embedding)
    else:
        with known_as("k", "clusters"):
            of_all = [(None, labels, None) for labels in result.clusters(clusters)]
    parts = zip(embedding, graphs, of_all, strict=True)
    return [_Entry(X, graph, common, labels, clusters, weights) for X, graph, (common, labels, weights) in parts]


def _whole(together: CommonCells | None, mdata: Any, clusters: int | None) -> _Entry | None:
    """The data that a MuData gets beside its modalities."""
    found = None if together is None else together.of_mudata(mdata)
    if found is None:
        return None
    X, labels, weights, graph = found
    return _Entry(X, graph, None, labels, clusters, weights)


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
    return {
        "embedding": f"X_{key}",
        "common": f"X_{key}_common",
        "connectivities": f"{key}_connectivities",
        "distances": f"{key}_distances",
        "clusters": f"{key}_clusters",
    }


def _places(adata: Any, key: str) -> list[tuple[str, Any, str]]:
    """Everything that may be written beside ``uns[key]``: the place and the name."""
    names = _names(key)
    places = [("obsm", adata.obsm, "embedding"), ("obsm", adata.obsm, "common")]
    places += [("obsp", adata.obsp, "connectivities"), ("obsp", adata.obsp, "distances")]
    found = [(where, held, names[what]) for where, held, what in [*places, ("obs", adata.obs, "clusters")]]
    return [*found, *(("obs", adata.obs, name) for name in _weight_names(adata, key))]


def _weight_names(adata: Any, key: str) -> list[str]:
    """The key of modality weights: as ``muon.pp.neighbors`` names it, unless another key was given."""
    name = "mod_weight" if key == "cotherm" else f"{key}_mod_weight"
    return [f"{modality}:{name}" for modality in adata.mod] if is_mudata(adata) else [name]


def _written(adata: Any, key: str) -> list[str] | None:
    """The names that an earlier call wrote; None if there was none."""
    entry = adata.uns.get(key)
    return [str(name) for name in entry[_WRITTEN]] if isinstance(entry, Mapping) and _MARK in entry else None


def _require_free(argument: str, adata: Any, key: str) -> None:
    if adata.is_view:
        raise CothermError(argument, "a view of another AnnData", "an AnnData of its own", "Call .copy() on it.")
    ours = _written(adata, key)
    taken = [f"uns[{key!r}]"] if key in adata.uns and ours is None else []
    there = [(where, name) for where, held, name in _places(adata, key) if name in held]
    taken += [f"{where}[{name!r}]" for where, name in there if name not in (ours or ())]
    if taken:
        raise CothermError(
            "key",
            f"{key!r}, but {argument}.{taken[0]} is there and not from here",
            "a key that is not taken",
            "Pass another key=, or delete it.",
        )


def _write(adata: Any, key: str, entry: _Entry, note: dict[str, Any]) -> None:
    names = _names(key)
    _remove(adata, key)
    adata.obsm[names["embedding"]] = np.ascontiguousarray(entry.X)
    if entry.common is not None:
        adata.obsm[names["common"]] = np.ascontiguousarray(entry.common)
    if entry.labels is not None:
        adata.obs[names["clusters"]] = _categories(entry.labels, entry.clusters or 0)
    if entry.weights is not None:
        for name, column in zip(_weight_names(adata, key), entry.weights.T, strict=True):
            adata.obs[name] = column
    if entry.graph is not None:
        W, lengths = _matrices(entry.graph)
        adata.obsp[names["connectivities"]] = W
        adata.obsp[names["distances"]] = lengths
        note = note | {
            "connectivities_key": names["connectivities"],
            "distances_key": names["distances"],
            "params": {
                "method": "cotherm",
                "n_neighbors": max(1, int(np.median(np.diff(W.indptr)))),
                "metric": "euclidean",
                **(_representation(adata, names) if is_mudata(adata) else {"use_rep": names["embedding"]}),
            },
        }
    written = [name for _, held, name in _places(adata, key) if name in held]
    adata.uns[key] = note | {_WRITTEN: np.array(written)}


def _representation(mdata: Any, names: dict[str, str]) -> dict[str, Any]:
    """Coordinates from which muon begins a layout, in its form: names by modality, and −1 for all columns.

    Muon cannot fill in cells that are missing from any but the first modality named, and common coordinates are the
    same in all, so one is named: that with the most cells.
    """
    largest = max(mdata.mod, key=lambda name: mdata.mod[name].n_obs)
    return {"use_rep": {largest: names["common"]}, "n_pcs": {largest: -1}}


def _remove(adata: Any, key: str) -> None:
    """Remove an earlier answer, which may have entries that this one lacks."""
    ours = _written(adata, key)
    if ours is None:
        return
    del adata.uns[key]
    for _, held, name in _places(adata, key):
        if name in held and name in ours:
            del held[name]


def _categories(labels: Ints, count: int) -> Any:
    """Clusters as scanpy names them, "0", "1" and so on."""
    import pandas as pd

    return pd.Categorical.from_codes(labels.tolist(), [str(c) for c in range(count)])


def _matrices(graph: Graph) -> tuple[Any, Any]:
    """Weights and lengths of the edges that have weight, as scanpy and its neighbors expect them."""
    W = sp.csr_matrix(graph.adjacency())
    W.eliminate_zeros()
    lengths = W.copy()
    with np.errstate(over="ignore"):  # the inverse of the smallest floats overflows
        lengths.data = np.minimum(1.0 / W.data, np.finfo(np.float64).max)
    return W, lengths


def _note(result: JointResult) -> dict[str, Any]:
    """All numbers, words, vectors and settings of the answer; graphs and modes are elsewhere."""
    found: dict[str, Any] = {"method": type(result).__name__, _MARK: __version__}
    for field in fields(result):  # type: ignore[arg-type]  # all answers are dataclasses
        value = getattr(result, field.name)
        if field.name in ("settings", "versions") or _is_plain(value):
            plain = _plain(value)
            if plain is not None:
                found[field.name] = plain
    if isinstance(result, Coupling) and result.pairs is not None:
        found["pairs"] = pairs_note(result.pairs)
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "biuf"
    if isinstance(value, tuple):
        return bool(value) and all(isinstance(one, numbers.Real) for one in value)
    return isinstance(value, str | numbers.Real)


def _plain(value: Any) -> Any:
    """Convert to what h5ad files can hold: words, numbers, vectors and flat mappings of these, without None."""
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
