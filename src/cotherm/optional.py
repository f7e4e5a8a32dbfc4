"""Libraries that need not be there, or an error that says how to get them; and one that may refuse to be imported."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from cotherm.errors import CothermError


def is_installed(package: str) -> bool:
    """Whether the package is there to be imported."""
    return find_spec(package) is not None


def require(package: str, extra: str, *, also: str = "") -> Any:
    """The module, imported now; ``also`` is what the extra does not bring."""
    install = f"Run: pip install {also} 'cotherm[{extra}]'".replace("  ", " ")
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.partition(".")[0]:  # it is there, but something it needs is not
            raise _broken(package, error, install) from None
        raise CothermError(package, "not installed", f"the extra {extra!r}", install) from None
    except ImportError as error:
        raise _broken(package, error, install) from None


def import_matplotlib() -> None:
    """Import matplotlib, whatever MPLBACKEND says.

    Pictures are written to files, which needs no backend, but matplotlib cannot be imported while that variable names
    one it does not know, nor a second time after it has failed. Here it gets the name when it has been imported.
    """
    if "matplotlib" in sys.modules:
        return
    wanted = os.environ.pop("MPLBACKEND", None)
    try:
        matplotlib = import_module("matplotlib")
    finally:
        if wanted is not None:
            os.environ["MPLBACKEND"] = wanted
    if wanted:
        with suppress(ValueError):
            matplotlib.rcParams["backend"] = wanted


def _broken(package: str, error: ImportError, install: str) -> CothermError:
    return CothermError(package, f"installed, but it cannot be imported ({error})", "a working installation", install)
