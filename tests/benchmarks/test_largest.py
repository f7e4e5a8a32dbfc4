"""The benchmark of the largest graphs: its grids are what it says, and it finds where sizes begin to be refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from benchmarks import largest


def test_grids_have_the_edges_that_are_counted(tmp_path: Path) -> None:
    n = largest.size(0)
    largest.prepare(tmp_path / "g", n)
    first, second = (ct.ShardedGraph.open(tmp_path / "g" / f"{view}.shards") for view in range(2))
    for view in (first, second):
        view.verify()
        assert view.n == n
    assert first.m + second.m == largest._edges(n)
    assert first.m - second.m == largest._SHORT_CUTS
    assert np.bincount(np.concatenate([second.to_graph().i, second.to_graph().j])).max() == 6


def test_sizes_double_every_fourth() -> None:
    assert largest.size(8) == pytest.approx(2 * largest.size(4), rel=0.02)


@pytest.mark.parametrize("bound", [0, 7, 11, 12, 20])
def test_the_largest_is_found_from_any_forecast(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With sizes up to a bound coupling, from a forecast of 11."""
    tried: list[int] = []

    def measured(_: Any, k: int, ranks: int) -> dict[str, Any]:
        tried.append(k)
        return {"vertices": largest.size(k), "coupled": k <= bound, "ranks": ranks, "error": ""}

    monkeypatch.setattr(largest._Bench, "_measured", measured)
    monkeypatch.setattr(largest, "_forecast", lambda *_: 11)
    found = largest._Bench(Path(), 1, 1.0).largest("one", 1)
    assert found["largest"]["vertices"] == largest.size(bound)
    assert found["refused"]["vertices"] == largest.size(bound + 1)
    assert len(tried) == abs(bound - 11) + (2 if bound >= 11 else 1)
