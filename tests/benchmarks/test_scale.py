"""The benchmark of coupling at size, on small graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import scale
from tests.problems import refused


def test_planted_short_cuts_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "QUICK", (400, 800))
    monkeypatch.setattr(scale, "QUICK_BODY", 600)
    report = scale.run(quick=True)
    assert [row["vertices"] for row in report["sizes"]] == [400, 800]
    assert all(row["recall"] >= 0.9 for row in report["sizes"])
    assert all(row["memory"] > 1e7 for row in report["sizes"])
    poses = report["poses"]
    assert (poses["body"], poses["vertices"]) == ("modeled", 600)
    assert poses["left"] < 0.02
    assert poses["others"][0] < 0.01 * poses["edges"]
    assert "precision" in scale.table(report)
    assert f"{poses['wrong']} edges between the hands" in scale.table(report)
    starts = report["starts"]
    assert starts["cut"]["cost"] == pytest.approx(starts["given"]["cost"], rel=1e-6)
    assert "short cuts cut" in scale.table(report)


def test_missing_data_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scale, "SIZES", ())
    assert refused(lambda: scale.run(data=tmp_path)) == "data"
