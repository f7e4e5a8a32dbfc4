"""Several modalities: a list of AnnData, or one MuData."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.interop.validation import is_mudata, require_anndata


def modalities(adatas: Any) -> list[tuple[str | None, Any]]:
    """Every modality in the order given, with its name if it comes from a MuData."""
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
        require_anndata(argument_of(k, name), adata)
    return items


def argument_of(k: int, name: str | None) -> str:
    """The word for a modality in messages: its name, if it has one."""
    return f"adatas[{k if name is None else repr(name)}]"
