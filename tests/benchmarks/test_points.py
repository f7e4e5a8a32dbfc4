"""The benchmark of points measures both ways from the same file and reports ratios."""

from __future__ import annotations

import pytest

pytest.importorskip("pandas")

from benchmarks import points


def test_both_ways_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "_QUICK_SIZES", ((60, 5), (40, 2)))
    monkeypatch.setattr(points, "_REPEATS", 1)
    report = points.run(quick=True)
    assert [(problem["rows"], problem["columns"]) for problem in report["problems"]] == [(60, 5), (40, 2)]
    for problem in report["problems"]:
        theirs, ours = (sum(one.values()) for one in problem["seconds"].values())
        assert problem["ratios"]["all"] == pytest.approx(ours / theirs)
    assert points.table(report).count("cotherm") == 2
