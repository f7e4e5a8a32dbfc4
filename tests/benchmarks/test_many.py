"""The benchmark of many functions couples with this version and an earlier one, and draws how time grows."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from benchmarks import many


def test_both_versions_are_measured_and_growth_is_drawn(tmp_path: Path) -> None:
    report = many.run(quick=True, out=tmp_path)
    (duel,) = report["duels"]
    if duel["before"] is not None:  # a clone without history has nothing to compare with
        assert duel["now"]["cost"] == pytest.approx(duel["before"]["cost"], rel=1e-6)
    (series,) = report["growth"]
    assert series["sizes"] == [2, 3]
    assert all(row["status"] == "converged" for row in series["rows"])
    assert (tmp_path / "many.png").stat().st_size > 10_000
    text = many.table(report)
    assert "growth with views" in text
    assert many.BEFORE in text
