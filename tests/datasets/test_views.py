"""The made data sets: what they promise."""

from __future__ import annotations

from collections.abc import Callable

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
