"""The benchmark of tables reads the same file with both readers and reports ratios."""

from __future__ import annotations

import pytest

pytest.importorskip("pandas")

from benchmarks import tables


def test_both_readers_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_QUICK_ROWS", 200)
    monkeypatch.setattr(tables, "_REPEATS", 1)
    report = tables.run(quick=True)
    assert [problem["numbers"] for problem in report["problems"]] == ["all digits", "six digits"]
    for problem in report["problems"]:
        assert set(problem["seconds"]) == {"pandas", "cotherm"}
        assert problem["time_ratio"] == problem["seconds"]["cotherm"] / problem["seconds"]["pandas"]
    assert "memory ×" in tables.table(report)
