"""The answer of a method into AnnData or MuData, where scanpy finds it and h5ad files keep it."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.interop.anndata import is_mudata, modalities
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.pairs.agreement import Agreement
from cotherm.methods.pairs.common import CommonGraph
from cotherm.methods.result import JointResult
from cotherm.version import __version__

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData

_COORDINATES = 10
# Every entry written here has the version of cotherm under this name; only such entries are overwritten.
_MARK = "cotherm_version"
# The names written beside it, which may be overwritten, too.
_WRITTEN = "written"

# What is written into one object: values by slot ("obsm", "obsp" or "obs") and name.
Entries = dict[tuple[str, str], Any]


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
    # Results without graphs have bases.
    graphs: Sequence[Any] = getattr(result, "graphs", None) or ()
    bases: Sequence[Any] = getattr(result, "bases", ())
    sizes = [graph.n for graph in graphs] or [len(own.vectors) for own in bases]
    _require_cells(sizes, [adata for _, adata in items])
    for argument, adata in items:
        if adata.is_view:
            raise CothermError(argument, "a view of another AnnData", "an AnnData of its own", "Call .copy() on it.")
    k = min(_COORDINATES, max(1, result._most_modes() - 1)) if k is None else k
    coordinates = result.embedding(k, t=t)
    found = [_of_graph(key, X, graph) for X, graph in zip(coordinates, graphs or [None] * len(bases), strict=True)]
    whole: Entries = {}
    with known_as("k", "clusters"):
        if isinstance(result, Coupling) and result.pairs is not None:
            whole = _add_common(key, found, result.common_graph(), adatas, k, t, clusters)
        elif clusters is not None:
            for entries, labels in zip(found, result.clusters(clusters), strict=True):
                entries["obs", f"{key}_clusters"] = _categories(labels, clusters)
    targets = [(argument, adata, entries) for (argument, adata), entries in zip(items, found, strict=True)]
    if is_mudata(adatas):
        targets.append(("adatas", adatas, whole))
    for argument, adata, entries in targets:
        _require_free(argument, adata, key, entries)
    note = _note(result) | {"views": len(items), "time_of_embedding": float(t)}
    for view, (_, adata, entries) in enumerate(targets):
        _write(adata, key, entries, note | ({"view": view} if view < len(items) else {}))


def _require_cells(sizes: list[int], cells: Sequence[Any]) -> None:
    """One AnnData for each view, with as many cells as it has vertices."""
    given = [int(adata.n_obs) for adata in cells]
    if given != sizes:
        needed = f"those of the result, in its order: {', '.join(map(str, sizes))}"
        raise CothermError("adatas", f"modalities of {', '.join(map(str, given))} cells", needed)
    if len({id(adata) for adata in cells}) < len(cells):
        advice = "Copy it: the second view would replace the first."
        raise CothermError("adatas", "the same AnnData twice", "one for each view", advice)


def _of_graph(key: str, X: Floats, graph: Graph | None) -> Entries:
    """Coordinates, and the weights and lengths of the edges that have weight, as scanpy expects them."""
    entries: Entries = {("obsm", f"X_{key}"): np.ascontiguousarray(X)}
    if graph is not None:
        W = sp.csr_matrix(graph.adjacency())
        W.eliminate_zeros()
        lengths = W.copy()
        with np.errstate(over="ignore"):  # the inverse of the smallest floats overflows
            lengths.data = np.minimum(1.0 / W.data, np.finfo(np.float64).max)
        entries |= {("obsp", f"{key}_connectivities"): W, ("obsp", f"{key}_distances"): lengths}
    return entries


def _add_common(
    key: str, found: list[Entries], common: CommonGraph, adatas: Any, k: int, t: float, clusters: int | None
) -> Entries:
    """Add what the common graph says of the cells of each modality; return what it says of those of a MuData."""
    coordinates = common.embedding(k, t=t)
    labels = None if clusters is None else common.clusters(clusters)
    # The key of weights is that of ``muon.pp.neighbors``, unless another key was given.
    mod_weight = "mod_weight" if key == "cotherm" else f"{key}_mod_weight"

    def taken(items: Ints, place: str, weights: dict[str, int]) -> Entries:
        """NaN, −1 and 0 for cells that are not in the common graph."""
        here = items >= 0
        entries: Entries = {("obsm", place): np.where(here[:, np.newaxis], coordinates[items], np.nan)}
        if labels is not None:
            entries["obs", f"{key}_clusters"] = _categories(np.where(here, labels[items], -1), clusters or 0)
        columns = {name: np.where(here, common.view_weights[items, view], 0.0) for name, view in weights.items()}
        return entries | {("obs", name): column for name, column in columns.items()}

    cells = _items_of(adatas, common) if is_mudata(adatas) else None
    for view, entries in enumerate(found):
        # Weights of modalities would be merged into those of the whole, with NaN for cells that a modality lacks.
        weights = {} if cells is not None else {mod_weight: view}
        entries.update(taken(common.of_view(view), f"X_{key}_common", weights))
    if cells is None:
        return {}
    graph = Graph.from_adjacency(common.graph.adjacency()[cells][:, cells])
    weights = {f"{modality}:{mod_weight}": view for view, modality in enumerate(adatas.mod)}
    return _of_graph(key, coordinates, graph) | taken(cells, f"X_{key}", weights)


def _items_of(mdata: Any, common: CommonGraph) -> Ints | None:
    """The item of each cell of a MuData; None if a cell is two items, or two cells are one.

    A MuData takes cells of the same name for the same, whatever the pairs were.
    """
    found = np.full(mdata.n_obs, -1)
    for k, (name, adata) in enumerate(mdata.mod.items()):
        rows = np.asarray(mdata.obsmap[name]).astype(np.int64) - 1
        if len(rows) != mdata.n_obs or rows.max(initial=-1) >= adata.n_obs:  # cells were removed since it was made
            return None
        here = rows >= 0
        own = common.of_view(k)[rows[here]]
        if np.any((found[here] >= 0) & (found[here] != own)):
            return None
        found[here] = own
    return found if np.array_equal(np.sort(found), np.arange(len(common.items))) else None


def _written(adata: Any, key: str) -> list[str] | None:
    """The names that an earlier call wrote; None if there was none."""
    entry = adata.uns.get(key)
    return [str(name) for name in entry[_WRITTEN]] if isinstance(entry, Mapping) and _MARK in entry else None


def _require_free(argument: str, adata: Any, key: str, entries: Entries) -> None:
    ours = _written(adata, key)
    taken = [f"uns[{key!r}]"] if entries and key in adata.uns and ours is None else []
    taken += [
        f"{where}[{name!r}]" for where, name in entries if name in getattr(adata, where) and name not in (ours or ())
    ]
    if taken:
        given = f"{key!r}, but {argument}.{taken[0]} is there and not from here"
        raise CothermError("key", given, "a key that is not taken", "Pass another key=, or delete it.")


def _write(adata: Any, key: str, entries: Entries, note: dict[str, Any]) -> None:
    """Replace an earlier answer, which may have entries that this one lacks."""
    if (ours := _written(adata, key)) is not None:
        del adata.uns[key]
        for held in (adata.obsm, adata.obsp, adata.obs):
            for name in set(ours).intersection(held):
                del held[name]
    if not entries:
        return
    for (where, name), value in entries.items():
        getattr(adata, where)[name] = value
    connectivities = f"{key}_connectivities"
    if ("obsp", connectivities) in entries:
        neighbors = max(1, int(np.median(np.diff(adata.obsp[connectivities].indptr))))
        params = {"method": "cotherm", "n_neighbors": neighbors, "metric": "euclidean"} | _representation(adata, key)
        note = note | {"connectivities_key": connectivities, "distances_key": f"{key}_distances", "params": params}
    adata.uns[key] = note | {_WRITTEN: np.array([name for _, name in entries])}


def _representation(adata: Any, key: str) -> dict[str, Any]:
    """Coordinates from which a layout begins; of a MuData in muon's form: names by modality, and −1 for all columns.

    Muon cannot fill in cells that are missing from any but the first modality named, and common coordinates are the
    same in all, so one is named: that with the most cells.
    """
    if not is_mudata(adata):
        return {"use_rep": f"X_{key}"}
    largest = max(adata.mod, key=lambda name: adata.mod[name].n_obs)
    return {"use_rep": {largest: f"X_{key}_common"}, "n_pcs": {largest: -1}}


def _categories(labels: Ints, count: int) -> Any:
    """Clusters as scanpy names them, "0", "1" and so on."""
    import pandas as pd

    return pd.Categorical.from_codes(labels.tolist(), [str(c) for c in range(count)])


def _note(result: JointResult) -> dict[str, Any]:
    """All numbers, words, vectors and settings of the answer; graphs and modes are elsewhere."""
    values = {field.name: getattr(result, field.name) for field in fields(result)}  # type: ignore[arg-type]
    plain = {name: value for name, value in values.items() if name in ("settings", "versions") or _is_plain(value)}
    found: dict[str, Any] = {"method": type(result).__name__, _MARK: __version__, **_plain(plain)}
    if isinstance(result, Coupling) and result.pairs is not None:
        report = result.pairs
        of_views = ("shares", "rigidity", *(["notes"] if report.notes else []))
        found["pairs"] = {"n_modes": report.n_modes, "strength": report.strength, "items": len(report.table)}
        found["pairs"] |= {name: np.array(getattr(report, name)) for name in of_views}
        measures = [field.name for field in fields(Agreement)]
        agreement = {name: np.array([getattr(one, name) for one in report.agreement]) for name in measures}
        found["pairs"]["agreement"] = agreement
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
