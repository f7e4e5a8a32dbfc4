"""Digits: 2,000 handwritten digits in six views; clusters of all views together."""

from __future__ import annotations

import os
import time

from cotherm.datasets import digits
from cotherm.errors import CothermError
from cotherm.experiments.clustering_table import Method, clustered, score_table
from cotherm.experiments.report import Claim, Experiment
from cotherm.methods.average import average
from cotherm.methods.power_mean import power_mean
from cotherm.methods.similarity_fusion import fuse_similarity

_CLASSES = 10
# What others report, AMI: affinities added up, and alternating diffusion.
_ADDITION, _ALTERNATING = 0.812, 0.830
METHODS: dict[str, Method] = {
    "average": lambda views: average(views.graphs),
    "average, normalised": lambda views: average(views.graphs, normalized=True),
    "harmonic mean of Laplacians": lambda views: power_mean(views.graphs),
    "similarity fusion": lambda views: fuse_similarity(views.graphs),
}


def run(data: str | os.PathLike[str] | None = None) -> Experiment:
    """Cluster and judge; needs the data."""
    began = time.perf_counter()
    about = "2,000 handwritten digits (UCI mfeat), six views, 10 nearest neighbours each, ten clusters."
    try:
        views = digits(data=data)
    except CothermError as error:
        return Experiment("digits", "Digits", about, notes=[f"Left out: {error}"])
    scores = clustered(views, _CLASSES, METHODS)
    fused = max(scores[name]["AMI"] for name in METHODS)
    alone = max(row["AMI"] for name, row in scores.items() if name not in METHODS)
    return Experiment(
        name="digits",
        title="Digits",
        about=about,
        tables=[score_table("Clusters against the ten digits", scores)],
        claims=[
            Claim("best AMI of the fusions, against addition of affinities elsewhere", fused, ">=", _ADDITION),
            Claim("the same, against alternating diffusion elsewhere", fused, ">=", _ALTERNATING),
        ],
        notes=[f"The best single view has an AMI of {alone:.3f}, the best fusion {fused:.3f}."],
        seconds=time.perf_counter() - began,
    )
