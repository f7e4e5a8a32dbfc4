"""Scores of results against the truth. They are independent of the methods that they judge."""

from cotherm.evaluate.clustering import clustering_accuracy, clustering_scores
from cotherm.evaluate.matching import foscttm, geodesic_error
from cotherm.evaluate.retrieval import Retrieval, retrieval

__all__ = [
    "Retrieval",
    "clustering_accuracy",
    "clustering_scores",
    "foscttm",
    "geodesic_error",
    "retrieval",
]
