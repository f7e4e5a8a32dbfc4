"""AnnData and MuData: which cells of several modalities are the same, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cotherm.arrays import Ints
from cotherm.errors import CothermError
from cotherm.interop.modalities import argument_of, modalities
from cotherm.pairs import named_items

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData


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
    items = modalities(adatas)
    if len(items) < 2:
        raise CothermError("adatas", "one modality", "at least two")
    arguments = [f"{argument_of(k, name)}.obs_names" for k, (name, _) in enumerate(items)]
    advice = "Call obs_names_make_unique() on it, or rename the cells, so that a name is one cell."
    table = named_items([adata.obs_names for _, adata in items], arguments, advice)
    return table[np.sum(table >= 0, axis=1) > 1]
