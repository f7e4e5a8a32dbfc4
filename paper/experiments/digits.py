"""Digits: 2,000 handwritten digits in six views; clusters of all views together."""

from __future__ import annotations

import os
import time

from cotherm.errors import CothermError
from paper.data import digits
from paper.experiments.clustering_table import FUSIONS, best, clustered, score_table
from paper.report import Claim, Experiment

_CLASSES = 10
# What others report, AMI: affinities added up, and alternating diffusion.
_ADDITION, _ALTERNATING = 0.812, 0.830


def run(data: str | os.PathLike[str] | None = None) -> Experiment:
    """Cluster and judge; needs the data."""
    began = time.perf_counter()
    about = "2,000 handwritten digits (UCI mfeat), six views, 10 nearest neighbors each, ten clusters."
    try:
        views = digits(data=data)
    except CothermError as error:
        return Experiment("digits", "Digits", about, notes=[f"Left out: {error}"])
    alone, together = clustered(views, _CLASSES, FUSIONS)
    fused = best(together)
    return Experiment(
        name="digits",
        title="Digits",
        about=about,
        tables=[score_table("Clusters against the ten digits", alone | together)],
        claims=[
            Claim("best AMI of the fusions, against addition of affinities elsewhere", fused, ">=", _ADDITION),
            Claim("the same, against alternating diffusion elsewhere", fused, ">=", _ALTERNATING),
        ],
        notes=[f"The best single view has an AMI of {best(alone):.3f}, the best fusion {fused:.3f}."],
        seconds=time.perf_counter() - began,
    )
