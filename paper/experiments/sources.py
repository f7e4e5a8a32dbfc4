"""Sources: 169 stories as three newspapers told them; clusters by topic."""

from __future__ import annotations

import os
import time

import numpy as np

from cotherm.datasets import Views
from cotherm.errors import CothermError
from cotherm.functions import landmark_functions
from cotherm.methods.average import Average, average
from cotherm.methods.coupling.couple import couple
from cotherm.methods.joint_diagonalization import joint_diagonalize
from paper.data import sources
from paper.experiments.clustering_table import FUSIONS, Method, best, clustered, score_table
from paper.report import Claim, Experiment
from paper.rivals.coregularization import coregularize

_CLASSES = 6
# Stories taken to be known in all newspapers, when heat from them is compared, and how many steps that may take.
_PAIRS, _TIMES, _STEPS = 12, (1.0, 4.0), 200


def _coupled_average(views: Views) -> Average:
    """Coupled by bumps around a few stories, nothing being known about the others or about topics; then averaged."""
    chosen = np.random.default_rng(0).choice(views.graphs[0].n, size=_PAIRS, replace=False)
    F = landmark_functions(average(views.graphs, normalized=True).graph, chosen)
    result = couple(
        views.graphs,
        [F] * len(views.graphs),
        _TIMES,
        "auto",
        options={"continuation": "times", "max_iterations": _STEPS},
    )
    return average(result.graphs, normalized=True)


_METHODS: dict[str, Method] = FUSIONS | {
    "co-regularized": lambda views: coregularize(views.graphs, _CLASSES),
    "joint diagonalization": lambda views: joint_diagonalize(views.graphs, normalized=True),
    f"HKC by {_PAIRS} stories, then average, normalized": _coupled_average,
}


def run(data: str | os.PathLike[str] | None = None) -> Experiment:
    """Cluster and judge; needs the data."""
    began = time.perf_counter()
    about = "169 news stories of six topics (3Sources), words of three newspapers, 10 nearest neighbors by cosine."
    try:
        views = sources(data=data)
    except CothermError as error:
        return Experiment("sources", "3Sources", about, notes=[f"Left out: {error}"])
    alone, together = clustered(views, _CLASSES, _METHODS)
    gain = best(together) - best(alone)
    return Experiment(
        name="sources",
        title="3Sources",
        about=about,
        tables=[score_table("Clusters against the six topics", alone | together)],
        claims=[Claim("best AMI of the fusions less that of the best single view", gain, ">=", 0.0)],
        seconds=time.perf_counter() - began,
    )
