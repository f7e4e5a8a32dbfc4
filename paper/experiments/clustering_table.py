"""Clusters of several views by every method, beside those of each view alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cotherm.arrays import Ints
from cotherm.datasets import Views
from cotherm.evaluate import clustering_scores
from cotherm.heat.spectrum import lowest_normalized
from cotherm.methods.average import average
from cotherm.methods.result import unit_row_clusters
from paper.report import Table
from paper.rivals.power_mean import power_mean
from paper.rivals.similarity_fusion import fuse_similarity

Method = Callable[[Views], Any]
Scores = dict[str, dict[str, float]]

# Those that take thousands of vertices in many views.
FUSIONS: dict[str, Method] = {
    "average": lambda views: average(views.graphs),
    "average, normalized": lambda views: average(views.graphs, normalized=True),
    "harmonic mean of Laplacians": lambda views: power_mean(views.graphs),
    "similarity fusion": lambda views: fuse_similarity(views.graphs),
}


def clustered(views: Views, classes: int, methods: Mapping[str, Method]) -> tuple[Scores, Scores]:
    """Scores of each view alone, and of every method; where views get clusters of their own, of the first."""
    assert views.labels is not None
    labels = views.labels

    def judged(found: Mapping[str, Ints]) -> Scores:
        return {name: clustering_scores(labels, clusters) for name, clusters in found.items()}

    alone = {
        f"{graph.name} alone": unit_row_clusters(lowest_normalized(graph, classes).vectors, classes, seed=0)
        for graph in views.graphs
    }
    return judged(alone), judged({name: method(views).clusters(classes)[0] for name, method in methods.items()})


def best(scores: Scores, score: str = "AMI") -> float:
    """The highest of one score."""
    return max(row[score] for row in scores.values())


def score_table(title: str, scores: Scores) -> Table:
    """One row each."""
    names = ["ACC", "NMI", "AMI", "ARI"]
    rows = [[method, *(f"{row[name]:.3f}" for name in names)] for method, row in scores.items()]
    return Table(title, ["", *names], rows)
