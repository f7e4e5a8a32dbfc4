"""Cells measured twice, of which a part is known to be the same: scGEM before coupling by pairs, after, and merged.

Both graphs keep all cells, and types only judge. Retrieval is the mean average precision of diffusion distances at
t = moves / median degree, of cells with a partner and of those without. Clusters are compared with the types by AMI;
those of one modality are found as those of the common graph, of the modality paired with itself. *Not coupled* is the
common graph of the graphs as given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.pairs.pairing import paired_items
from benchmarks.suite.parts import Data
from cotherm.arrays import Floats, Ints
from cotherm.datasets import Views
from cotherm.errors import CothermError
from cotherm.evaluate import clustering_scores, retrieval
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance
from cotherm.heat.times import diffusion_time
from cotherm.methods.pairs.common import common_graph
from cotherm.methods.pairs.couple_pairs import couple_pairs
from paper.data import scgem

PARTS, SEEDS = (100.0, 50.0, 25.0), 5
MOVES = (4.0, 8.0, 16.0)
STATES = ("as it is", "coupled", "common graph", "not coupled")
AGREEMENT = ("before", "after", "chance")

Figures = dict[str, list[float]]  # by name, a number for each state, or before, after and chance


def run(*, quick: bool = False, data: Data = None) -> dict[str, Any]:
    """Figures of every part of the pairs and every seed; ``quick`` for one seed."""
    try:
        views = scgem(data=data)
    except CothermError as error:
        return {"skipped": str(error)}
    seeds = range(1 if quick else SEEDS)
    return {"parts": {f"{part:g}": [measured(views, part, seed) for seed in seeds] for part in PARTS}}


def measured(views: Views, percent: float, seed: int) -> Figures:
    """The figures of one draw of pairs."""
    assert views.labels is not None
    labels, n = views.labels, views.graphs[0].n
    paired = paired_items(n, percent, seed)
    result = couple_pairs(views.graphs, [paired] * len(views.graphs), random_state=seed)
    commons = (result.common_graph(), common_graph(views.graphs, [paired] * len(views.graphs)))
    known, types = np.isin(np.arange(n), paired), len(np.unique(labels))
    together = [common.clusters(types, random_state=seed) for common in commons]
    (agreement,) = result.pairs.agreement if result.pairs is not None else ()
    figures: Figures = {"agreement": [agreement.before, agreement.after, agreement.chance]}
    for k, (graph, coupled) in enumerate(zip(views.graphs, result.graphs, strict=True)):
        here = commons[0].of_view(k)  # items are the same, and in the same order, in both
        for moves in MOVES:
            t = diffusion_time(moves, graph)
            merged = [one.distances(diffusion_time(moves, one.graph), sources=here)[:, here] for one in commons]
            states = (diffusion_distance(graph, t), diffusion_distance(coupled, t), *merged)
            found = [_precisions(distances, labels) for distances in states]
            for who, asked in (("with a partner", known), ("without", ~known)):
                if asked.any():
                    figures[f"{graph.name}, mAP, {moves:g} moves, {who}"] = [float(one[asked].mean()) for one in found]
        clusters = [_clusters(graph, types, seed), _clusters(coupled, types, seed), *(one[here] for one in together)]
        figures[f"{graph.name}, AMI"] = [100.0 * clustering_scores(labels, one)["AMI"] for one in clusters]
    return figures


def _precisions(distances: Floats, labels: Ints) -> Floats:
    """Percent of every cell; NaN for a type of one cell."""
    found = retrieval(distances, labels)
    precisions = np.full(len(labels), np.nan)
    precisions[found.queries] = 100.0 * found.average_precisions
    return precisions


def _clusters(graph: Graph, count: int, seed: int) -> Ints:
    return common_graph([graph, graph]).clusters(count, random_state=seed)


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    if "skipped" in report:
        return f"scGEM, left out: {report['skipped']}"
    lines = ["scGEM, cells in two modalities; mean and standard deviation over draws of the pairs, percent"]
    for part, draws in report["parts"].items():
        lines += ["", f"{part} % of the cells paired".ljust(48) + "".join(f"{state:>16}" for state in STATES)]
        for name in draws[0]:
            if name != "agreement":
                lines.append(f"  {name:<46}" + _cells([draw[name] for draw in draws]))
        lines.append("  agreement on pairs kept back".ljust(48) + "".join(f"{one:>16}" for one in AGREEMENT))
        lines.append(" " * 48 + _cells([[100.0 * one for one in draw["agreement"]] for draw in draws]))
    return "\n".join(lines)


def _cells(draws: list[list[float]]) -> str:
    mean = np.mean(draws, axis=0)
    if len(draws) == 1:
        return "".join(f"{one:>16.1f}" for one in mean)
    deviation = np.std(draws, axis=0, ddof=1)
    return "".join(f"{f'{m:.1f} ± {s:.1f}':>16}" for m, s in zip(mean, deviation, strict=True))
