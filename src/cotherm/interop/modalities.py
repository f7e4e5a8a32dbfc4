"""Several modalities: a list of AnnData, or one MuData."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.interop.validation import is_mudata, require_anndata


def modalities(adatas: Any) -> list[tuple[str | None, Any]]:
    """Every modality with its name, which only a MuData knows, in the order given."""
    items: list[tuple[str | None, Any]]
    if is_mudata(adatas):
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
