"""Sources: 169 stories as three newspapers told them; clusters by topic."""

from __future__ import annotations

import os
import time

from cotherm.datasets import sources
from cotherm.errors import CothermError
from cotherm.experiments import digits
from cotherm.experiments.clustering_table import Method, clustered, score_table
from cotherm.experiments.report import Claim, Experiment
from cotherm.methods.coregularization import coregularize
from cotherm.methods.joint_diagonalization import joint_diagonalize

_CLASSES = 6
_METHODS: dict[str, Method] = digits.METHODS | {
    "co-regularised": lambda views: coregularize(views.graphs, _CLASSES),
    "joint diagonalization": lambda views: joint_diagonalize(views.graphs, normalized=True),
}


def run(data: str | os.PathLike[str] | None = None) -> Experiment:
    """Cluster and judge; needs the data."""
    began = time.perf_counter()
    about = "169 news stories of six topics (3Sources), words of three newspapers, 10 nearest neighbours by cosine."
    try:
        views = sources(data=data)
    except CothermError as error:
        return Experiment("sources", "3Sources", about, notes=[f"Left out: {error}"])
    scores = clustered(views, _CLASSES, _METHODS)
    fused = max(scores[name]["AMI"] for name in _METHODS)
    alone = max(row["AMI"] for name, row in scores.items() if name not in _METHODS)
    return Experiment(
        name="sources",
        title="3Sources",
        about=about,
        tables=[score_table("Clusters against the six topics", scores)],
        claims=[Claim("best AMI of the fusions less that of the best single view", fused - alone, ">=", 0.0)],
        seconds=time.perf_counter() - began,
    )
