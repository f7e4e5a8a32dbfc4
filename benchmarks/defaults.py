"""``couple_pairs`` with its defaults on many small sets: what views gain, and whether any loses.

Graphs are those that ``knn_graph`` makes by default. Labels only judge: mean average precision of diffusion distances,
in percent, after 1, 4, 8 and 16 moves along edges of the graph as given. Beside the coupled views stand the same views
with second neighbors and equal degrees alone, and views that have borrowed and are not coupled: parts of what is done
to them. Everything is done once with all items paired, and once with half of them, where the others are judged. The
common graph stands beside the best of average, normalized average and similarity fusion, each after as many moves along
its own edges.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.pairs.alone import alone
from benchmarks.pairs.retrieval import WEAK
from benchmarks.pairs.small import Small, small_sets
from benchmarks.suite.parts import Data
from cotherm.arrays import Floats, Ints
from cotherm.evaluate import retrieval
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
_ALONE = "second neighbors, equal degrees alone"
_BORROWED, _ALL = "borrowed only, all paired", "coupled, all paired"
_HALF_BORROWED, _HALF = "borrowed only, items without a partner", "coupled, items without a partner"
_WAYS = (_ALONE, _BORROWED, _ALL, _HALF_BORROWED, _HALF)
_ADDS = {_ALL: _BORROWED, _HALF: _HALF_BORROWED}


def run(*, quick: bool = False, data: Data = None) -> dict[str, Any]:
    """The scores of every view of every set, as given and by each way."""
    place = data or os.environ.get("COTHERM_DATA")
    sets = small_sets(None if quick else place)[: _QUICK if quick else None]
    rows = [_row(one) for one in track(sets, total=len(sets), label="sets")]
    return {"benchmark": "defaults", "quick": quick, "python": platform.python_version(), "moves": MOVES, "sets": rows}


def _row(items: Small) -> dict[str, Any]:
    graphs = [knn_graph(X) for X in items.rows]
    every = np.arange(len(items.labels))
    half = np.sort(np.random.default_rng(11).permutation(len(every))[: len(every) // 2])
    rest = np.setdiff1d(every, half)
    coupled = couple_pairs(graphs)
    ways: dict[str, tuple[Sequence[Graph], Ints]] = {
        _ALONE: ([alone(graph) for graph in graphs], every),
        _BORROWED: (couple_pairs(graphs, alpha=WEAK).graphs, every),
        _ALL: (coupled.graphs, every),
        _HALF_BORROWED: (couple_pairs(graphs, [half] * len(graphs), alpha=WEAK).graphs, rest),
        _HALF: (couple_pairs(graphs, [half] * len(graphs)).graphs, rest),
    }

    def gains(found: Sequence[Graph], asked: Ints) -> list[list[float]]:
        def gain(after: Graph, before: Graph) -> Floats:
            return _scores(after, before, items.labels, asked) - _scores(before, before, items.labels, asked)

        return [gain(*view).tolist() for view in zip(found, graphs, strict=True)]

    return {
        "set": items.name,
        "related": items.related,
        "measured": items.measured,
        "given": [_scores(graph, graph, items.labels, every).tolist() for graph in graphs],
        "gains": {name: gains(*way) for name, way in ways.items()},
        "common": _scores(common := coupled.common_graph().graph, common, items.labels, every).tolist(),
        "others": [_scores(other, other, items.labels, every).tolist() for other in _one_for_all(graphs)],
    }


def _one_for_all(graphs: Sequence[Graph]) -> list[Graph]:
    """What others make of views whose items are all paired: one graph each."""
    return [
        average(graphs).graphs[0],
        average(graphs, normalized=True).graphs[0],
        fuse_similarity(graphs).graph,
    ]


def _scores(graph: Graph, given: Graph, labels: Any, asked: Ints) -> Floats:
    """mAP of the items that are asked for, after each number of moves."""
    scores = []
    for moves in MOVES:
        found = retrieval(diffusion_distance(graph, moves / median_degree(given)), labels)
        scores.append(100.0 * float(found.average_precisions[np.isin(found.queries, asked)].mean()))
    return np.array(scores)


def summary(rows: list[dict[str, Any]], way: str) -> list[dict[str, float]]:
    """For each number of moves: the mean gain, sets with a view that loses, the largest loss, sets that do not gain."""
    gains = [np.array(row["gains"][way]) for row in rows]  # (views, moves) each
    means, worst = np.array([gain.mean(axis=0) for gain in gains]), np.array([gain.min(axis=0) for gain in gains])
    return [
        {
            "mean": float(means[:, k].mean()),
            "lost": int(np.sum(worst[:, k] < -_LOST)),
            "worst": float(worst[:, k].min()),
            "without": int(np.sum(means[:, k] < _GAINED)),
        }
        for k in range(len(MOVES))
    ]


def table(report: dict[str, Any]) -> str:
    """The report as Markdown: all sets, those that were measured, the common graph, then each set."""
    rows = report["sets"]
    measured = [row for row in rows if row["measured"]]
    lines = [
        f"Points of mAP gained (sets with a view that loses more than {_LOST:g}; sets that gain less than {_GAINED:g})",
        *_gains(f"{len(rows)} sets", rows),
        *_gains(f"the {len(measured)} that were measured, not made up", measured),
        "",
        "The common graph beyond the best of average, normalized average and similarity fusion (sets where it is behind"
        f" by more than {_GAINED:g}; by how much at most)",
        *_common(rows),
        *_each(rows),
        "",
        "\\* Views that have nothing in common, or are right already.",
    ]
    return "\n".join(lines)


def _titles(first: str, *last: str) -> list[str]:
    cells = [first, *(f"{moves:g} move{'s' if moves > 1 else ''}" for moves in MOVES), *last]
    return ["", f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]


def _gains(title: str, rows: list[dict[str, Any]]) -> list[str]:
    """A line for each way, and what coupling adds to borrowing."""
    if not rows:
        return []
    given = np.mean([np.mean(row["given"], axis=0) for row in rows], axis=0)
    lines = [*_titles(title), f"| as given, mAP | {' | '.join(f'{score:.1f}' for score in given)} |"]
    means = {}
    for way in _WAYS:
        found = summary(rows, way)
        means[way] = [one["mean"] for one in found]
        cells = [f"{one['mean']:+.1f} ({one['lost']}; {one['without']})" for one in found]
        lines.append(f"| {way} | {' | '.join(cells)} |")
        if way in _ADDS:
            added = np.subtract(means[way], means[_ADDS[way]])
            lines.append(f"| what coupling adds | {' | '.join(f'{one:+.1f}' for one in added)} |")
    return lines


def _common(rows: list[dict[str, Any]]) -> list[str]:
    ahead = np.array([np.array(row["common"]) - np.max(row["others"], axis=0) for row in rows])
    cells = [f"{one.mean():+.1f} ({int(np.sum(one < -_GAINED))}; {abs(min(one.min(), 0.0)):.1f})" for one in ahead.T]
    return [*_titles(""), f"| common graph | {' | '.join(cells)} |"]


def _each(rows: list[dict[str, Any]]) -> list[str]:
    """The gain of each set, and what borrowing alone brings after the same moves."""
    lines = _titles(f"{_ALL} (borrowed only)", "largest loss of a view")
    for row in rows:
        gain, borrowed = (np.array(row["gains"][way]) for way in (_ALL, _BORROWED))
        means = zip(gain.mean(axis=0), borrowed.mean(axis=0), strict=True)
        cells = [f"{one:+.1f} ({other:+.1f})" for one, other in means]
        loss = abs(min(float(gain.min()), 0.0))
        lines.append(f"| {row['set']}{'' if row['related'] else ' *'} | {' | '.join(cells)} | {loss:.1f} |")
    return lines
