"""AnnData and MuData: graphs of modalities, functions from what is known of cells, and which cells are the same."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from cotherm import validation
from cotherm.arrays import Ints
from cotherm.errors import CothermError, CothermWarning, known_as, renamed, within
from cotherm.functions import LabelFunctions, match_codes
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.optional import require
from cotherm.pairs import named_items

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData


def modalities(adatas: Any, *, least: int = 1) -> list[tuple[str, Any]]:
    """Every modality in the order given, with what messages call it: its name, if it comes from a MuData."""
    if is_mudata(adatas):
        items = [(f"adatas[{name!r}]", adata) for name, adata in adatas.mod.items()]
    elif isinstance(adatas, Sequence) and not isinstance(adatas, str):
        items = [(f"adatas[{k}]", adata) for k, adata in enumerate(adatas)]
    else:
        raise CothermError("adatas", validation.describe(adatas), "a list of AnnData, one per modality, or a MuData")
    if len(items) < least:
        raise CothermError("adatas", f"{len(items)} modalities", f"{least} or more")
    for argument, adata in items:
        _require_anndata(argument, adata)
    return items


def is_mudata(value: object) -> bool:
    # A caller with a MuData has imported the library; others need not have it installed.
    library = sys.modules.get("mudata")
    return library is not None and isinstance(value, library.MuData)


def _require_anndata(argument: str, adata: Any) -> None:
    if not isinstance(adata, require("anndata", "anndata").AnnData):
        advice = "Take its modalities one by one: mdata.mod." if is_mudata(adata) else ""
        raise CothermError(argument, f"a {type(adata).__name__}", "an anndata.AnnData", advice)


def from_anndata(
    adata: AnnData,
    key: str | None = None,
    *,
    rep: str | None = None,
    k: int | None = None,
    symmetrize: str | None = None,
    labels: str | None = None,
    name: str | None = None,
) -> Graph:
    """Convert or build the graph of the cells of one AnnData; vertex v is ``adata.obs_names[v]``.

    Either a stored graph, by default that of ``scanpy.pp.neighbors``, or a new graph of nearest neighbors in a
    representation: ``from_anndata(adata, rep="X_pca", k=15)``, which is :func:`cotherm.knn_graph` with self-tuning
    weights. For other weights or metrics call ``knn_graph(adata.obsm["X_pca"], ...)``. It needs anndata:
    ``pip install 'cotherm[anndata]'``.

    Parameters
    ----------
    adata : anndata.AnnData
        The cells.
    key : str, optional
        Where the weights are, by default "connectivities": a key of ``obsp``, or a key of ``uns`` that refers to one,
        the ``neighbors_key`` of scanpy.
    rep : str, optional
        Representation in which to find neighbors, a key of ``obsm`` or "X".
    k : int, optional
        With `rep`, the number of neighbors of every cell, by default that of :func:`cotherm.knn_graph`, 10.
    symmetrize : {"max", "mean", "min"}, optional
        How to combine the weights of the two directions of a stored graph. By default the matrix must be symmetric to
        the last bit, as that of scanpy is. (With ``scanpy.pp.neighbors(method="gauss")`` the two directions may
        differ by rounding; use "mean".)
    labels : str, optional
        Column of ``obs`` that becomes the labels of the graph.
    name : str, optional
        Name of the graph.

    Returns
    -------
    Graph
        The graph.

    Raises
    ------
    CothermError
        If there is no such graph, representation or column, or if the matrix is not symmetric.

    See Also
    --------
    anndata_graphs : The graphs of several modalities.
    anndata_functions : Corresponding functions from a column of ``obs``.
    to_anndata : Write a result into AnnData.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import cotherm as ct
    >>> adata = anndata.AnnData(np.arange(10.0).reshape(10, 1))
    >>> ct.interop.from_anndata(adata, rep="X", k=2).n
    10
    """
    _require_anndata("adata", adata)
    own = None if labels is None else _label_array(adata, labels)
    cells = _cell_names(adata)
    if rep is None:
        if k is not None:
            raise CothermError("k", f"{k}, without rep", "rep=, the representation in which to find neighbors")
        return _stored_graph(adata, "connectivities" if key is None else key, symmetrize, own, cells, name)
    for argument, given in (("key", key), ("symmetrize", symmetrize)):
        if given is not None:
            raise CothermError(argument, f"{given!r}, and rep as well", "one of them: a graph that is there, or rep")
    X = _representation(adata, rep)
    with known_as("X", f"rep={rep!r}"):
        return knn_graph(X, *([] if k is None else [k]), labels=own, vertex_names=cells, name=name)


def anndata_graphs(adatas: Sequence[AnnData] | MuData, key: str | None = None, **options: Any) -> tuple[Graph, ...]:
    """Convert or build the graph of every modality.

    Parameters
    ----------
    adatas : sequence of anndata.AnnData or mudata.MuData
        The modalities. Those of a MuData name the graphs.
    key : str, optional
        Where the weights are, as for :func:`from_anndata`.
    **options : object
        Other options of :func:`from_anndata`, the same for all modalities.

    Returns
    -------
    tuple of Graph
        A graph for each modality.

    Raises
    ------
    CothermError
        If a graph cannot be made; the message names the modality.

    See Also
    --------
    from_anndata : The graph of one modality.
    anndata_functions : Corresponding functions from a column of ``obs``.
    anndata_pairs : Which cells are the same.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import cotherm as ct
    >>> rna, atac = (anndata.AnnData(np.arange(float(n)).reshape(n, 1)) for n in (10, 12))
    >>> [graph.n for graph in ct.interop.anndata_graphs([rna, atac], rep="X", k=2)]
    [10, 12]
    """
    graphs = []
    items = modalities(adatas)
    names: Any = getattr(adatas, "mod", [None] * len(items))
    for name, (argument, adata) in zip(names, items, strict=True):
        with within(argument):
            graphs.append(from_anndata(adata, key, **({"name": name} | options)))
    return tuple(graphs)


def anndata_functions(adatas: Sequence[AnnData] | MuData, column: str, *, unit_norm: bool = True) -> LabelFunctions:
    """Make corresponding functions from a column of ``obs``: the indicators of its categories.

    Parameters
    ----------
    adatas : sequence of anndata.AnnData or mudata.MuData
        Two or more modalities.
    column : str
        Column of ``obs`` that all modalities have: categories, strings, integers or booleans.
    unit_norm : bool, default True
        Whether to scale every function to unit norm, because a category has different numbers of cells in different
        modalities. False leaves zeros and ones.

    Returns
    -------
    LabelFunctions
        The functions of each modality, and the categories as ``classes``. It unpacks as a tuple.

    Raises
    ------
    CothermError
        If a modality does not have the column, or if no category is in all modalities.

    Warns
    -----
    CothermWarning
        If categories are left out because some modality has no cell of them. It names them.

    See Also
    --------
    anndata_graphs : The graphs of the modalities.
    cotherm.shared_label_functions : The same from arrays of labels.

    Notes
    -----
    The categories are those that occur in every modality, as in :func:`cotherm.shared_label_functions`, in the order
    that all modalities declare (a categorical column with the same categories), otherwise sorted. A cell whose category
    is missing (NaN) or left out has a row of zeros.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import cotherm as ct
    >>> rna = anndata.AnnData(obs=pd.DataFrame({"stage": ["late", "early", None]}, index=["a", "b", "c"]))
    >>> atac = anndata.AnnData(obs=pd.DataFrame({"stage": ["early", "late"]}, index=["d", "e"]))
    >>> functions, stages = ct.interop.anndata_functions([rna, atac], "stage")
    >>> stages, functions[0].tolist()
    (['early', 'late'], [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    """
    unit_norm = validation.boolean("unit_norm", unit_norm)
    items = modalities(adatas, least=2)
    columns = [_categorical(adata, "column", column) for _, adata in items]
    seen: set[Any] = set().union(*(own.remove_unused_categories().categories.tolist() for own in columns))
    declared = [own.categories.tolist() for own in columns]
    if any(own != declared[0] for own in declared):
        declared = [sorted(seen, key=lambda category: (type(category).__name__, category))]
    categories = [category for category in declared[0] if category in seen]
    codes = [np.asarray(own.set_categories(categories).codes, dtype=np.int64) for own in columns]
    with known_as("labels", "column"):
        found = match_codes(codes, categories, unit_norm=unit_norm)
    if found.left_out:
        note = found.note([argument for argument, _ in items])
        warnings.warn(f"obs[{column!r}]: {note}", CothermWarning, stacklevel=2)
    return LabelFunctions(found.functions, found.classes)


def anndata_pairs(adatas: Sequence[AnnData] | MuData) -> Ints:
    """Pair cells that have the same name in several modalities, for :func:`cotherm.couple_pairs`.

    Parameters
    ----------
    adatas : sequence of anndata.AnnData or mudata.MuData
        Two or more modalities. Not every cell needs to be in all of them.

    Returns
    -------
    ndarray of int of shape (cells, modalities)
        A row for every name that is in two or more modalities: the number of the cell in each of them, -1 where it is
        missing. In the order in which the names first occur.

    Raises
    ------
    CothermError
        If a name occurs twice in one modality, or if no name is in two modalities.

    See Also
    --------
    anndata_graphs : The graphs of the modalities.
    cotherm.couple_pairs : Takes this table.
    cotherm.pair_names : The same from names.

    Examples
    --------
    >>> import anndata, pandas as pd
    >>> import cotherm as ct
    >>> rna = anndata.AnnData(obs=pd.DataFrame(index=["a", "b", "c"]))
    >>> atac = anndata.AnnData(obs=pd.DataFrame(index=["c", "d", "a"]))
    >>> ct.interop.anndata_pairs([rna, atac]).tolist()
    [[0, 2], [2, 0]]
    """
    items = modalities(adatas, least=2)
    advice = "Call obs_names_make_unique() on it, or rename the cells, so that a name is one cell."
    table = named_items([adata.obs_names for _, adata in items], [f"{name}.obs_names" for name, _ in items], advice)
    return table[np.sum(table >= 0, axis=1) > 1]


def _cell_names(adata: Any) -> list[str] | None:
    """The names of the cells; None if they are not unique, which AnnData allows."""
    names = adata.obs_names.astype(str).tolist()
    return names if len(set(names)) == len(names) and all(names) else None


def _stored_graph(
    adata: Any, key: str, symmetrize: str | None, labels: Any, cells: list[str] | None, name: str | None
) -> Graph:
    place = _place(adata, key)
    W = adata.obsp[place]
    argument = f"obsp[{place!r}]"
    if symmetrize is not None:
        W = _symmetric(argument, W, validation.choice("symmetrize", symmetrize, ("max", "mean", "min")))
    with known_as("W", argument):
        try:
            return Graph.from_adjacency(W, labels=labels, vertex_names=cells, name=name)
        except CothermError as error:
            if error.code != "not-symmetric":
                raise
            raise renamed(error, error.argument, 'Pass symmetrize="max", "mean" or "min".') from None


def _place(adata: Any, key: str) -> str:
    """The key of obsp that holds the weights."""
    if key in adata.obsp:
        return key
    entry = adata.uns.get(key) if isinstance(key, str) else None
    named = entry.get("connectivities_key") if isinstance(entry, dict) else None
    if isinstance(named, str) and named in adata.obsp:
        return named
    raise CothermError(
        "key",
        f"{key!r}, which is not in obsp",
        f"one of its keys, {list(adata.obsp)}",
        f"Run scanpy.pp.neighbors(adata) first, or pass rep=, one of {['X', *adata.obsm]}, to make a graph here.",
    )


def _symmetric(argument: str, W: Any, how: str) -> sp.csr_array:
    A = sp.csr_array(W, dtype=np.float64)
    validation.finite(argument, A.data)
    ways = {"max": A.maximum, "mean": lambda B: (A + B) / 2.0, "min": A.minimum}
    both = sp.csr_array(ways[how](A.T.tocsr()))
    both.eliminate_zeros()
    return both


def _representation(adata: Any, rep: str) -> Any:
    if not isinstance(rep, str):
        raise CothermError("rep", validation.describe(rep), f"'X' or one of obsm, {list(adata.obsm)}")
    if rep == "X":
        if adata.X is None:
            raise CothermError("rep", "'X', which is not there", f"one of obsm, {list(adata.obsm)}")
        return adata.X[:] if adata.isbacked else adata.X
    if rep not in adata.obsm:
        raise CothermError(
            "rep",
            f"{rep!r}, which is not in obsm",
            f"'X' or one of its keys, {list(adata.obsm)}",
            "scanpy.pp.pca(adata) makes 'X_pca'." if rep == "X_pca" else "",
        )
    X = adata.obsm[rep]
    return X.to_numpy() if hasattr(X, "to_numpy") else X


def _categorical(adata: Any, argument: str, column: str) -> Any:
    """A column of obs as a pandas.Categorical; numbers with fractions are measurements, not categories."""
    import pandas as pd

    if not isinstance(column, str) or column not in adata.obs.columns:
        raise CothermError(argument, f"{column!r}, which is not in obs", f"one of its columns, {list(adata.obs)}")
    values = adata.obs[column]
    if values.dtype.kind in "fcmM":
        raise CothermError(
            argument,
            f"obs[{column!r}] of dtype {values.dtype}",
            "categories, strings, whole numbers or booleans",
            "Make categories of it, .astype('category'); measurements become functions by feature_functions.",
        )
    try:
        return pd.Categorical(values)
    except TypeError as error:
        raise CothermError(argument, f"obs[{column!r}] ({error})", "categories, strings, numbers or booleans") from None


def _label_array(adata: Any, column: str) -> Any:
    own = _categorical(adata, "labels", column)
    if missing := int(np.sum(own.codes < 0)):
        given = f"obs[{column!r}] with {missing} missing"
        raise CothermError("labels", given, "a label for every cell", "Leave it out, or fill it in.")
    return np.array(own.categories.tolist())[own.codes]
