"""``couple_pairs`` with its defaults on many small sets: what views gain, and whether any loses.

Graphs are those that ``knn_graph`` makes by default. Labels only judge: mean average precision of diffusion distances,
in percent, after 1, 4, 8 and 16 moves along edges of the graph as given. Beside the coupled views stand the same views
with second neighbors and equal degrees alone, which is a part of what is done to them. Everything is done once with
all items paired and once with half of them; scores are of all items. The common graph stands beside the best of
average, normalized average and similarity fusion, each after as many moves along its own edges.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.pairs.alone import alone
from benchmarks.pairs.small import Small, small_sets
from benchmarks.suite.parts import Data
from cotherm.arrays import Floats
from cotherm.evaluate.retrieval import retrieval
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance
from cotherm.heat.times import median_degree
from cotherm.methods.average import average
from cotherm.methods.pairs.couple_pairs import couple_pairs
from cotherm.progress import track
from paper.rivals.similarity_fusion import fuse_similarity

MOVES = (1.0, 4.0, 8.0, 16.0)
# A view that loses more points has lost; a set whose views gain less on average has not gained.
_LOST, _GAINED = 1.0, 0.5
_QUICK = 3
_ALONE, _ALL, _HALF = "second neighbors, equal degrees alone", "coupled, all paired", "coupled, half paired"


def run(*, quick: bool = False, data: Data = None) -> dict[str, Any]:
    """The scores of every view of every set, as given and by each way."""
    place = data or os.environ.get("COTHERM_DATA")
    sets = small_sets(None if quick else place)[: _QUICK if quick else None]
    rows = [_row(one) for one in track(sets, total=len(sets), label="sets")]
    return {"benchmark": "defaults", "quick": quick, "python": platform.python_version(), "moves": MOVES, "sets": rows}


def _row(items: Small) -> dict[str, Any]:
    graphs = [knn_graph(X) for X in items.rows]
    half = np.sort(np.random.default_rng(11).permutation(len(items.labels))[: len(items.labels) // 2])
    coupled = couple_pairs(graphs)
    ways: dict[str, Callable[[], Sequence[Graph]]] = {
        _ALONE: lambda: [alone(graph) for graph in graphs],
        _ALL: lambda: coupled.graphs,
        _HALF: lambda: couple_pairs(graphs, [half] * len(graphs)).graphs,
    }

    def scores(found: Sequence[Graph]) -> list[list[float]]:
        return [_scores(graph, given, items.labels) for graph, given in zip(found, graphs, strict=True)]

    return {
        "set": items.name,
        "related": items.related,
        "given": scores(graphs),
        "ways": {name: scores(made()) for name, made in ways.items()},
        "common": _scores(common := coupled.common_graph().graph, common, items.labels),
        "others": [_scores(other, other, items.labels) for other in _one_for_all(graphs)],
    }


def _one_for_all(graphs: Sequence[Graph]) -> list[Graph]:
    """What others make of views whose items are all paired: one graph each."""
    return [
        average(graphs).graphs[0],
        average(graphs, normalized=True).graphs[0],
        fuse_similarity(graphs).graph,
    ]


def _scores(graph: Graph, given: Graph, labels: Any) -> list[float]:
    times = [moves / median_degree(given) for moves in MOVES]
    return [100.0 * retrieval(diffusion_distance(graph, t), labels).mean_average_precision for t in times]


def summary(rows: list[dict[str, Any]], way: str) -> list[dict[str, float]]:
    """For each number of moves: the mean gain, sets with a view that loses, the largest loss, sets that do not gain."""
    gains = [np.array(row["ways"][way]) - np.array(row["given"]) for row in rows]  # (views, moves) each
    means, worst = (np.array([f(gain) for gain in gains]) for f in (_mean, _least))
    return [
        {
            "mean": float(means[:, k].mean()),
            "lost": int(np.sum(worst[:, k] < -_LOST)),
            "worst": float(worst[:, k].min()),
            "without": int(np.sum(means[:, k] < _GAINED)),
        }
        for k in range(len(MOVES))
    ]


def _mean(gain: Floats) -> Floats:
    return np.asarray(gain.mean(axis=0))


def _least(gain: Floats) -> Floats:
    return np.asarray(gain.min(axis=0))


def table(report: dict[str, Any]) -> str:
    """The report as Markdown: all sets together, then the gain of each."""
    rows = report["sets"]
    heads = [f"{moves:g} move{'s' if moves > 1 else ''}" for moves in MOVES]
    given = np.mean([_mean(np.array(row["given"])) for row in rows], axis=0)
    lines = [
        f"{len(rows)} sets; points of mAP gained (sets with a view that loses more than {_LOST:g}; sets that gain less"
        f" than {_GAINED:g})",
        "",
        f"| | {' | '.join(heads)} |",
        "|---" * (len(MOVES) + 1) + "|",
        f"| as given, mAP | {' | '.join(f'{score:.1f}' for score in given)} |",
    ]
    for way in (_ALONE, _ALL, _HALF):
        cells = [f"{one['mean']:+.1f} ({one['lost']}; {one['without']})" for one in summary(rows, way)]
        lines.append(f"| {way} | {' | '.join(cells)} |")
    ahead = np.array([np.array(row["common"]) - np.max(row["others"], axis=0) for row in rows])
    cells = [f"{one.mean():+.1f} ({int(np.sum(one < -_GAINED))}; {abs(min(one.min(), 0.0)):.1f})" for one in ahead.T]
    lines += [
        "",
        "The common graph beyond the best of average, normalized average and similarity fusion (sets where it is behind"
        f" by more than {_GAINED:g}; by how much at most)",
        "",
        f"| | {' | '.join(heads)} |",
        "|---" * (len(MOVES) + 1) + "|",
        f"| common graph | {' | '.join(cells)} |",
    ]
    lines += ["", f"| {_ALL} | {' | '.join(heads)} | largest loss of a view |", "|---" * (len(MOVES) + 2) + "|"]
    for row in rows:
        gain = np.array(row["ways"][_ALL]) - np.array(row["given"])
        note = "" if row["related"] else " *"
        loss = abs(min(float(gain.min()), 0.0))
        lines.append(f"| {row['set']}{note} | {' | '.join(f'{g:+.1f}' for g in _mean(gain))} | {loss:.1f} |")
    lines += ["", "\\* Views that have nothing in common, or are right already."]
    return "\n".join(lines)
