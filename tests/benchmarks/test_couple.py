"""The benchmark of coupling judges by weights alone."""

from __future__ import annotations

import numpy as np
import pytest

import cotherm as ct
from benchmarks import couple


def test_costs_are_computed_from_weights_alone() -> None:
    """The judge's cost is the cost, and every claim follows from what contestants handed in; times are not tested."""
    views = ct.datasets.ring()
    result = ct.couple(views.graphs, views.functions, views.times, 1e6, options={"continuation": "times"})
    weights = np.concatenate([g.w for g in result.graphs])
    assert couple.judged_cost(views, weights, 1e6) == pytest.approx(result.cost, rel=1e-6)
    start = np.concatenate([g.w for g in views.graphs])
    verdict = couple._judged("someone", [(1.0, start), (2.0, weights), (3.0, start)], views)
    assert verdict["reached_after"] == 2.0
    assert verdict["best_cost"] == pytest.approx(result.cost, rel=1e-6)
