"""Reading the .mat files data sets come in; never a pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import scipy.io

from cotherm.errors import CothermError


def read_mat(path: Path, names: list[str], what: str) -> list[Any]:
    """The named variables of a file, or an error that says what the file should be."""
    try:
        content = scipy.io.loadmat(path, variable_names=names)
        return [content[name] for name in names]
    except (ValueError, KeyError, TypeError, NotImplementedError, OSError) as error:
        raise CothermError(str(path), f"unreadable ({error})", f"{what} as published") from None
