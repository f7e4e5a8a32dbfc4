"""Libraries that are not there, or broken."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import cotherm as ct
from cotherm.optional import require


@pytest.mark.parametrize("library", ["networkx", "igraph", "pandas", "anndata", "torch"])
def test_a_library_that_is_not_there(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra; None in sys.modules is how Python marks a module that cannot be imported."""
    monkeypatch.setitem(sys.modules, library, None)
    thing: Any = object()
    verbs: dict[str, Any] = {
        "networkx": ct.interop.from_networkx,
        "igraph": ct.interop.from_igraph,
        "pandas": ct.interop.from_pandas,
        "anndata": ct.interop.from_anndata,
        "torch": ct.interop.from_pyg,
    }
    with pytest.raises(ct.CothermError, match=rf"pip install (torch )?'cotherm\[{library.replace('torch', 'pyg')}\]'"):
        verbs[library](thing)


@pytest.mark.parametrize("trouble", ["import no_such_part", "raise ImportError('too old')"])
def test_a_library_that_is_broken(trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_installed.py").write_text(trouble)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ct.CothermError, match=r"cannot be imported \((No module named 'no_such_part'|too old)"):
        require("half_installed", "half")
