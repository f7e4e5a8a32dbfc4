"""The benchmark of landmarks on noisy networks: what is planted is there, and the default does less harm."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import landmarks


@pytest.mark.parametrize("family", [*landmarks.CHOSEN, *landmarks.CONFIRMED])
def test_pairs_have_the_noise_that_was_asked_for(family: str) -> None:
    first, second, truth = landmarks.network_pair(family, 0.08, 0.04)
    assert sorted(truth) == list(range(first.n))
    assert second.n == first.n
    assert first.component_count == 1
    pairs = [
        {tuple(sorted(edge)) for edge in zip(i, j, strict=True)}
        for i, j in ((truth[first.i], truth[first.j]), (second.i, second.j))
    ]
    removed, added = len(pairs[0] - pairs[1]), len(pairs[1] - pairs[0])
    assert (removed, added) == (round(0.08 * first.m), round(0.04 * first.m))


def test_it_runs() -> None:
    report = landmarks.run(quick=True)
    (row,) = report["networks"]
    assert row["strength"] == 1.0
    assert row["exact"]["by hand"] >= row["exact"]["auto"] > row["exact"]["strong"] + 0.3
    assert row["error"]["auto"] < row["error"]["strong"]
    for problem in report["wrong edges"]:
        assert problem["strength"] == 1e4
        assert problem["auto"] == problem["strong"]
    for one in report["features"]:
        assert one["strength"] == 1.0
        assert np.mean(one["auto"]) > np.mean(one["given"]) - 0.01 > np.mean(one["strong"])
    text = landmarks.table(report)
    assert "| geometric |" in text
    assert "ring, functions alike" in text
    assert np.isfinite(report["means"]["chosen on"]["exact"]["auto"])
