"""The table of a test file, read by both parsers."""

from __future__ import annotations

from pathlib import Path

import pytest

from cotherm import limits


@pytest.fixture(params=["in Python", "in bulk"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the text that the test file calls TEXT."""
    if request.param == "in bulk":
        monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", 1)
    path = tmp_path / "table.csv"
    path.write_text(request.module.TEXT)
    return path
