"""Planted short cuts: as many as asked for, far from the surface's own edges, and found again."""

from __future__ import annotations

import numpy as np
import pytest

import cotherm as ct
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
