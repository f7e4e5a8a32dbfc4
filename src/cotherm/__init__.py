"""Multimodal spectral geometry on graphs.

Build graphs (``Graph``, ``knn_graph``, ``radius_graph``, ``mesh_graph``), diffuse heat on them (``heat_flow``,
``heat_kernel``, ``heat_trace``), measure their geometry (``diffusion_distance``, ``diffusion_map``), and change the
weights of several graphs so that heat diffuses alike on all of them (``couple``). Names are loaded on first use, so
that ``import cotherm`` is fast.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

from cotherm.version import __version__ as __version__

# The stub beside this file has an import of every public name, for type checkers and for what is below.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_IMPORTS = [node for node in _STUB.body if isinstance(node, ast.ImportFrom) and str(node.module).startswith("cotherm")]
_HOMES = {alias.name: str(node.module) for node in _IMPORTS for alias in node.names}
__all__ = [name for name in _HOMES if name != "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cotherm' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"cotherm.{name}") if home == "cotherm" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
