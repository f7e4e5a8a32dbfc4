"""The benchmark of few functions couples with this version and an earlier one."""

from __future__ import annotations

import pytest

from benchmarks import few


def test_both_versions_lead_to_the_same_cost() -> None:
    report = few.run(quick=True)
    (row,) = report["rows"]
    if row["before"] is not None:  # a clone without history has nothing to compare with
        assert row["now"]["cost"] == pytest.approx(row["before"]["cost"], rel=1e-6)
    text = few.table(report)
    assert "ring()" in text
    assert report["before"] in text
