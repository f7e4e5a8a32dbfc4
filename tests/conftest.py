"""What every test shares: the hypothesis profile, and real data found through COTHERM_DATA."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no failure: no example has a deadline.
settings.register_profile("cotherm", deadline=None)
settings.load_profile("cotherm")


@pytest.fixture
def data_file() -> Callable[[str], Path]:
    """Find a real data file, e.g. data_file("tosca/michael7.off").

    Without COTHERM_DATA the test is skipped; with it, a missing file is a failure.
    """

    def find(name: str) -> Path:
        root = os.environ.get("COTHERM_DATA")
        if not root:
            pytest.skip("real data: set COTHERM_DATA to the directory that holds it")
        path = Path(root) / name
        if not path.is_file():
            pytest.fail(f"COTHERM_DATA is set, but {path} is missing")
        return path

    return find
