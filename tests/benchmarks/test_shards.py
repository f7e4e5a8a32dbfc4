"""The benchmark of shards measures every way on every problem."""

from __future__ import annotations

import pytest

from benchmarks import shards


def test_every_way_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_QUICK_EDGES", (800,))
    monkeypatch.setattr(shards, "_QUICK_POINTS", ((300, 2),))
    monkeypatch.setattr(shards, "_launcher", lambda: None)
    report = shards.run(quick=True)
    assert [row["way"] for row in report["rows"]] == ["in memory", "shards, 1 rank"] * 2
    assert all(row["seconds"] > 0 for row in report["rows"])
    assert shards.table(report).count("300 points, 2 dimensions") == 2
