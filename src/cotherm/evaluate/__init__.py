"""Judges: outputs and the truth in, numbers out. They know nothing of the methods they judge."""

from cotherm.evaluate.clustering import clustering_accuracy, clustering_scores

__all__ = ["clustering_accuracy", "clustering_scores"]
