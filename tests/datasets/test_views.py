"""The data sets: what they promise, and what they say when their files are not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct


@pytest.mark.parametrize("make", [ct.datasets.ring, ct.datasets.circles])
def test_made_views_know_their_wrong_edges(make: Callable[[], ct.datasets.Views]) -> None:
    views = make()
    assert views.wrong is not None
    assert views.wrong[0].any()
    for graph, F, wrong in zip(views.graphs, views.functions, views.wrong, strict=True):
        assert F.shape[0] == graph.n
        assert wrong.shape == (graph.m,)


def test_circles_are_joined_by_their_bridges_alone() -> None:
    views = ct.datasets.circles()
    assert views.wrong is not None
    for graph, bridges in zip(views.graphs, views.wrong, strict=True):
        assert graph.component_count == 1
        assert graph.with_weights(np.where(bridges, 0.0, graph.w)).component_count == 2


def test_man(data_file: Callable[[str], Path]) -> None:
    data = data_file("tosca/michael7.off").parents[1]
    views = ct.datasets.man(data=data)
    assert [g.n for g in views.graphs] == [500, 500]
    assert views.wrong is not None
    assert views.wrong[0].sum() > 20
    assert not views.wrong[1].any()
    # A bump on each hand.
    X = views.graphs[1].coordinates
    assert X is not None
    left, right = X[views.functions[0].argmax(axis=0)]
    assert np.linalg.norm(left - right) > 40


def test_nus(data_file: Callable[[str], Path]) -> None:
    views = ct.datasets.nus(data=data_file("nus/NUS_results.mat").parents[1])
    assert [g.n for g in views.graphs] == [145, 145]
    assert views.functions[0].sum(axis=0).tolist() == [33, 30, 17, 19, 15, 15, 16]


@pytest.mark.parametrize("make", [ct.datasets.man, ct.datasets.nus])
def test_missing_data_is_said(
    make: Callable[..., ct.datasets.Views], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COTHERM_DATA", raising=False)
    with pytest.raises(ct.CothermError, match="COTHERM_DATA"):
        make()
    with pytest.raises(ct.CothermError, match="which has no"):
        make(data=tmp_path)


def test_junk_is_no_data(tmp_path: Path) -> None:
    (tmp_path / "nus").mkdir()
    (tmp_path / "nus" / "NUS_results.mat").write_bytes(b"junk" * 100)
    with pytest.raises(ct.CothermError, match="unreadable"):
        ct.datasets.nus(data=tmp_path)
