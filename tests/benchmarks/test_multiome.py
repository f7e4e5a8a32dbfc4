"""Cells measured twice: what is measured, and what is said without data."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import cotherm as ct
from benchmarks import multiome


def test_half_of_the_pairs() -> None:
    views = ct.datasets.ambiguous()
    figures = multiome.measured(views, 50.0, 0)
    for graph in views.graphs:
        for who in ("with a partner", "without"):
            assert len(figures[f"{graph.name}, mAP, 8 moves, {who}"]) == len(multiome.STATES)
        assert all(0.0 < score <= 100.0 for score in figures[f"{graph.name}, AMI"])
    before, _, chance = figures["agreement"]
    assert before > chance
    # Seen by both groups of cells together, a graph as given scores as ever.
    graph = views.graphs[0]
    assert views.labels is not None
    whole = ct.evaluate.retrieval(ct.diffusion_distance(graph, 8.0 / np.median(graph.degrees)), views.labels)
    paired = round(graph.n * 0.5)
    parts = [figures[f"{graph.name}, mAP, 8 moves, {who}"][0] for who in ("with a partner", "without")]
    together = (paired * parts[0] + (graph.n - paired) * parts[1]) / graph.n
    np.testing.assert_allclose(together, 100.0 * whole.mean_average_precision, rtol=1e-9)
    printed = multiome.table({"parts": {"50": [figures, figures]}})
    assert "50 % of the cells paired" in printed
    assert "± 0.0" in printed


def test_without_data(tmp_path: Path) -> None:
    assert "left out" in multiome.table(multiome.run(data=tmp_path))
