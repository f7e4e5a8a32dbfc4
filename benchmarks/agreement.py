"""Does ``Match.agreement`` tell how right a match is? Pairs of graphs whose correspondence is known, ours alone.

Right is a vertex that is matched to its counterpart or to a neighbor of it. Beside it stand the agreement of halves of
the functions, the chance to return by the shares (``round_trip``), and the part of the vertices that are each other's
match: candidates for an estimate that needs no truth. Clouds of points with noise, clouds that have nothing in common,
landmarks that do not correspond, halves of the columns of tables, two poses of bodies; with ``data``, real ones too.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine

from cotherm.arrays import Floats
from cotherm.datasets import ambiguous, circles, human
from cotherm.functions import label_functions, landmark_functions
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.couple import couple
from cotherm.methods.matching.match import match
from cotherm.methods.matching.refinement import neighborhoods
from cotherm.progress import track
from paper.data import man, nus, scgem

# Vertex v of one graph is vertex v of the other in every case.
Case = tuple[str, Sequence[Graph], Sequence[Floats]]

_SCORES = ("agreement", "round_trip", "mutual")
# Halves of fewer functions have one or none.
_FEW = 4
_STEPS = 60


def run(*, quick: bool = False, data: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """What is right in every case, and what the candidates say."""
    data = data or os.environ.get("COTHERM_DATA")
    cases = [*_planted(), *_tables(), *([] if quick else _bodies(data)), *_real(data)]
    rows = [_row(*case) for case in track(cases, total=len(cases), label="pairs of graphs")]
    many = [row for row in rows if row["functions"] >= _FEW and "coupled" not in row["case"]]
    errors = {score: [abs(row[score] - row["right"]) for row in many] for score in _SCORES}
    return {
        "benchmark": "agreement",
        "quick": quick,
        "python": platform.python_version(),
        "cases": rows,
        "judged": len(many),
        "mean_error": {score: float(np.mean(error)) for score, error in errors.items()},
        "largest_error": {score: float(np.max(error)) for score, error in errors.items()},
    }


def table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = ["| graphs | functions | right | chance | halves agree | round trip | mutual | status |", "|---" * 8 + "|"]
    for row in report["cases"]:
        cells = [f"{row[key]:.2f}" for key in ("right", "chance", *_SCORES)]
        lines.append(f"| {row['case']} | {row['functions']} | {' | '.join(cells)} | {row['status']} |")
    for name in ("mean_error", "largest_error"):
        cells = [f"{report[name][score]:.2f}" for score in _SCORES]
        lines.append(f"| {name.replace('_', ' ')}, {report['judged']} rows | | | | {' | '.join(cells)} | |")
    return "\n".join(lines)


def _row(name: str, graphs: Sequence[Graph], functions: Sequence[Floats]) -> dict[str, Any]:
    found = match(graphs, functions)
    vertices = np.arange(graphs[0].n)
    right = np.asarray(neighborhoods(graphs[1])[found.hard, vertices]).ravel()
    return {
        "case": name,
        "functions": functions[0].shape[1],
        "right": float(np.mean(right)),
        "chance": found.chance,
        "agreement": float(found.agreement.mean()),
        "round_trip": float(found.round_trip.mean()),
        "mutual": float(np.mean(found.hard_back[found.hard] == vertices)),
        "status": found.status,
    }


def _landmarks(graphs: Sequence[Graph], count: int) -> list[Floats]:
    vertices = np.random.default_rng(0).choice(graphs[0].n, count, replace=False)
    return [landmark_functions(graph, vertices) for graph in graphs]


def _by_landmarks(name: str, graphs: Sequence[Graph], counts: Sequence[int]) -> Iterator[Case]:
    for count in counts:
        yield name, graphs, _landmarks(graphs, count)


def _planted() -> Iterator[Case]:
    random = np.random.default_rng(0)
    points = random.standard_normal((300, 3))
    for noise in (0.05, 0.3, 1.0):
        graphs = [knn_graph(points + noise * random.standard_normal(points.shape), k=10) for _ in range(2)]
        yield from _by_landmarks(f"cloud, noise {noise}", graphs, (4, 12, 40))
    apart = [knn_graph(random.standard_normal((300, 3)), k=10) for _ in range(2)]
    yield from _by_landmarks("clouds with nothing in common", apart, (4, 12, 40))
    near = [knn_graph(points, k=10), knn_graph(points + 0.05 * random.standard_normal(points.shape), k=10)]
    wrong = random.permutation(12)
    first, second = _landmarks(near, 12)
    yield "cloud, landmarks exchanged", near, [first, second[:, wrong]]
    yield "Circles", circles().graphs, circles().functions
    yield from _by_landmarks("made-up photographs", ambiguous().graphs, (20,))


def _tables() -> Iterator[Case]:
    wine, classes = load_wine(return_X_y=True)
    graphs = _halves((wine - wine.mean(axis=0)) / wine.std(axis=0))
    yield from _by_landmarks("wine, halves of the columns", graphs, (6, 30, 178))
    yield "wine, by class", graphs, [label_functions(classes)] * 2
    pixels, digits = load_digits(return_X_y=True)
    graphs = _halves(pixels[:500])
    yield from _by_landmarks("digits, halves of the pixels", graphs, (10, 60))
    yield "digits, by class", graphs, [label_functions(digits[:500])] * 2


def _halves(table: Floats) -> list[Graph]:
    middle = table.shape[1] // 2
    return [knn_graph(table[:, :middle]), knn_graph(table[:, middle:])]


def _bodies(data: str | os.PathLike[str] | None) -> Iterator[Case]:
    views = {"modeled body": human(400)} | ({"man": man(400, data=data)} if data else {})
    for name, body in views.items():
        yield f"{name}, hands", body.graphs, body.functions
        coupled = couple(body.graphs, body.functions, options={"max_iterations": _STEPS})
        yield f"{name}, hands, coupled", coupled.graphs, body.functions
        yield from _by_landmarks(name, body.graphs, (4, 16))


def _real(data: str | os.PathLike[str] | None) -> Iterator[Case]:
    if data:
        yield from _by_landmarks("scGEM", scgem(data=data).graphs, (10, 60))
        yield from _by_landmarks("NUS", nus(data=data).graphs, (10, 40))
