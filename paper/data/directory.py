"""Where data that cannot come with the package is found."""

from __future__ import annotations

import os
from pathlib import Path

from cotherm.errors import CothermError, known_as
from cotherm.io.atomic import as_path

VARIABLE = "COTHERM_DATA"


def locate(name: str, data: str | os.PathLike[str] | None) -> Path:
    """The file ``name`` in the directory ``data``, or in the one the environment variable COTHERM_DATA names."""
    given = os.environ.get(VARIABLE) if data is None else data
    if given is None or (isinstance(given, str) and not given):
        raise CothermError(
            "data", "no directory", f"the directory that holds {name}", f"Pass data=, or set {VARIABLE} to it."
        )
    with known_as("path", "data"):
        path = as_path(given) / name
    if not path.is_file():
        raise CothermError("data", f"{given}, which has no {name}", f"the directory that holds {name}")
    return path
