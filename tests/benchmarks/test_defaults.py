"""The benchmark of coupling by pairs with its defaults: its sets are views of the same items, and gains are counted."""

from __future__ import annotations

import numpy as np
import pytest

import cotherm as ct
from benchmarks import defaults
from benchmarks.pairs.alone import alone
from benchmarks.pairs.small import small_sets


def test_sets_have_a_row_for_each_item_in_every_view() -> None:
    sets = small_sets()
    assert len({one.name for one in sets}) == len(sets) >= 25
    for one in sets:
        assert len(one.rows) >= 2
        assert all(X.ndim == 2 and len(X) == len(one.labels) and np.isfinite(X).all() for X in one.rows)
        assert 2 <= len(np.unique(one.labels)) <= 10


def test_losses_and_gains_are_counted() -> None:
    way = "way"
    gains = [[[2.0, 0.4, 0.0, -3.0], [4.0, 0.4, -1.5, 9.0]], [[6.0, 0.4, 1.0, 0.0], [8.0, 0.4, 1.0, 0.0]]]
    rows = [{"gains": {way: gain}} for gain in gains]
    one, four, eight, sixteen = defaults.summary(rows, way)
    assert one == {"mean": 5.0, "lost": 0, "worst": 2.0, "without": 0}
    assert (four["lost"], four["without"]) == (0, 2)
    assert (eight["lost"], eight["worst"], eight["without"]) == (1, -1.5, 1)
    assert (sixteen["lost"], sixteen["without"]) == (1, 1)


def test_it_runs() -> None:
    report = defaults.run(quick=True)
    assert len(report["sets"]) == 3
    before, after = (defaults.summary(report["sets"], way) for way in (defaults._ALONE, defaults._ALL))
    assert all(one["mean"] > other["mean"] for one, other in zip(after, before, strict=True))
    text = defaults.table(report)
    assert "digits: halves" in text
    assert "coupled, items without a partner" in text
    adds = [line for line in text.splitlines() if line.startswith("| what coupling adds |")]
    assert len(adds) == 4  # all paired and half paired, of all sets and of those that were measured
    borrowed = defaults.summary(report["sets"], defaults._BORROWED)
    assert adds[0].split("|")[2].strip() == f"{after[0]['mean'] - borrowed[0]['mean']:+.1f}"


def test_degrees_become_equal() -> None:
    graph = alone(ct.knn_graph(np.random.default_rng(0).random((80, 3))))
    assert graph.degrees == pytest.approx(np.full(80, np.median(graph.degrees)), rel=0.05)
