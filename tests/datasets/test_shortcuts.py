"""Planted short cuts: as many as asked for, far from the surface's own edges, and found again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm.benchmarks import scale
from cotherm.datasets.shortcuts import SURFACES
from tests.problems import refused


@pytest.mark.parametrize("surface", SURFACES)
def test_short_cuts_are_planted_and_nothing_else(surface: str) -> None:
    views = ct.datasets.shortcuts(800, surface=surface, wrong=15)
    assert views.wrong is not None
    assert [int(mask.sum()) for mask in views.wrong] == [15, 0]
    first = views.graphs[0]
    assert first.coordinates is not None
    lengths = np.linalg.norm(first.coordinates[first.i] - first.coordinates[first.j], axis=1)
    assert lengths[~views.wrong[0]].max() < 8.0
    assert np.allclose(np.linalg.norm(views.functions[0], axis=0), 1.0)


@pytest.mark.parametrize("surface", SURFACES)
def test_coupling_cuts_them(surface: str) -> None:
    views = ct.datasets.shortcuts(1_500, surface=surface)
    assert views.wrong is not None
    result = ct.couple(views.graphs, views.functions, views.times, "auto")
    cut = [new.w < 0.2 * old.w for new, old in zip(result.graphs, result.originals, strict=True)]
    found = int(np.sum(cut[0] & views.wrong[0]))
    assert found >= 0.95 * views.wrong[0].sum()
    assert found >= 0.75 * sum(int(mask.sum()) for mask in cut)


def test_seeds_and_refusals() -> None:
    assert ct.datasets.shortcuts(200, wrong=3).graphs[0] == ct.datasets.shortcuts(200, wrong=3).graphs[0]
    assert ct.datasets.shortcuts(200, wrong=3, seed=1).graphs[0] != ct.datasets.shortcuts(200, wrong=3).graphs[0]
    assert ct.datasets.shortcuts(200, wrong=0).graphs[0].m > 0
    assert refused(lambda: ct.datasets.shortcuts(10)) == "n"
    assert refused(lambda: ct.datasets.shortcuts(200, surface="torus")) == "surface"
    assert refused(lambda: ct.datasets.shortcuts(200, wrong=-1)) == "wrong"


def test_the_benchmark_counts_what_was_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "QUICK", (400, 800))
    monkeypatch.setattr(scale, "QUICK_BODY", 600)
    monkeypatch.setattr(scale, "_WAYS", (("stored", "float64"), ("streamed", "float32")))
    report = scale.run(quick=True)
    assert [row["vertices"] for row in report["sizes"]] == [400, 800]
    assert all(row["recall"] >= 0.9 for row in report["sizes"])
    assert all(row["memory"] > 1e7 for row in report["sizes"])
    poses = report["poses"]
    assert (poses["body"], poses["vertices"]) == ("modeled", 600)
    assert poses["left"] < 0.02
    assert poses["others"][0] < 0.01 * poses["edges"]
    assert "precision" in scale.table(report)
    assert [row["precision"] for row in report["kept"]] == ["float64", "float32"]
    assert all(row["cost_differs"] < 1e-6 for row in report["kept"])
    assert f"{report['kept'][1]['way']}, float32" in scale.table(report)
    assert f"{poses['wrong']} edges between the hands" in scale.table(report)
    known = report["known"]
    assert known["cut"]["cost"] == pytest.approx(known["given"]["cost"], rel=1e-6)
    assert "short cuts cut" in scale.table(report)


def test_the_benchmark_does_not_pass_over_data_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scale, "SIZES", ())
    assert refused(lambda: scale.run(data=tmp_path)) == "data"
