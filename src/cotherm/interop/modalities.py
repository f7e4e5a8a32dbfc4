"""Several modalities: a list of AnnData, or one MuData."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.interop.optional import require


def modalities(adatas: Any) -> list[tuple[str | None, Any]]:
    """Every modality with its name, which only a MuData knows, in the order given."""
    items: list[tuple[str | None, Any]]
    if _is_mudata(adatas):
        items = list(adatas.mod.items())
    elif isinstance(adatas, Sequence) and not isinstance(adatas, str):
        items = [(None, adata) for adata in adatas]
    else:
        raise CothermError("adatas", validation.describe(adatas), "a list of AnnData, one per modality, or a MuData")
    if not items:
        raise CothermError("adatas", "no modalities", "at least one")
    for k, (name, adata) in enumerate(items):
        require_anndata(f"adatas[{k if name is None else repr(name)}]", adata)
    return items


def require_anndata(argument: str, adata: Any) -> None:
    """Refuse what is no AnnData; without anndata nothing is one."""
    if not isinstance(adata, require("anndata", "anndata").AnnData):
        needed = "an anndata.AnnData"
        advice = "Take its modalities one by one: mdata.mod." if _is_mudata(adata) else ""
        raise CothermError(argument, f"a {type(adata).__name__}", needed, advice)


def _is_mudata(value: object) -> bool:
    # Whoever has a MuData has imported the library; whoever has none need not have it.
    library = sys.modules.get("mudata")
    return library is not None and isinstance(value, library.MuData)
