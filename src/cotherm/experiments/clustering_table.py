"""Clusters of several views by every method, beside those of each view alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cotherm.arrays import Ints
from cotherm.datasets import Views
from cotherm.evaluate import clustering_scores
from cotherm.experiments.report import Table
from cotherm.heat.spectrum import lowest_normalized
from cotherm.methods.joint import unit_row_clusters

Method = Callable[[Views], Any]


def clustered(views: Views, classes: int, methods: Mapping[str, Method]) -> dict[str, dict[str, float]]:
    """Scores of each view alone and of every method; where views get clusters of their own, of the first."""
    assert views.labels is not None
    labels = views.labels
    found: dict[str, Ints] = {
        f"{graph.name} alone": unit_row_clusters(lowest_normalized(graph, classes).vectors, classes, seed=0)
        for graph in views.graphs
    }
    found |= {name: method(views).clusters(classes)[0] for name, method in methods.items()}
    return {name: clustering_scores(labels, clusters) for name, clusters in found.items()}


def score_table(title: str, scores: Mapping[str, Mapping[str, float]]) -> Table:
    """One row each."""
    names = ["ACC", "NMI", "AMI", "ARI"]
    rows = [[method, *(f"{row[name]:.3f}" for name in names)] for method, row in scores.items()]
    return Table(title, ["", *names], rows)
