"""The benchmark of checkpoints measures runs with and without one, which end alike."""

from __future__ import annotations

from benchmarks import checkpoints


def test_the_result_is_the_same_and_the_time_is_told() -> None:
    report = checkpoints.run(quick=True)
    for row in report["rows"]:
        assert row["same"]
        assert row["with"]["size"] > 0
        assert 0.0 < row["with"]["spent"] < row["with"]["seconds"]
        assert row["without"]["spent"] == 0.0
        assert 0 < row["with"]["copies"] <= row["with"]["steps"]
        assert row["with"]["files"] > 0
        assert row["without"]["copies"] == row["without"]["files"] == 0
    assert "functions" in checkpoints.table(report)
