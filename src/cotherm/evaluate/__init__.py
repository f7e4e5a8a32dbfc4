"""Judges: outputs and the truth in, numbers out. They know nothing of the methods they judge."""

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
