"""Scores of outputs against the truth. This package never imports the methods it evaluates."""

from cotherm.evaluate.clustering import clustering_accuracy, clustering_scores
from cotherm.evaluate.matching import foscttm, geodesic_error, label_transfer
from cotherm.evaluate.retrieval import Retrieval, retrieval

__all__ = [
    "Retrieval",
    "clustering_accuracy",
    "clustering_scores",
    "foscttm",
    "geodesic_error",
    "label_transfer",
    "retrieval",
]
