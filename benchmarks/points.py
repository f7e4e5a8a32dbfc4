"""From a table to a graph: reading points and finding their neighbors, beside pandas and scikit-learn.

Both read the same file and find the ten nearest neighbors of every point; ours also makes the weights and the graph.
Each runs in a process of its own. They take turns, and the best of several runs counts. Compilation is not counted:
the first run leaves kernels in the cache. In 50 dimensions scikit-learn compares all pairs, ours above 50,000 points
searches approximately, if the extra ``neighbors`` is there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.child import environment

_K = 10
CONTESTANTS = {
    "pandas, scikit-learn": """
import pandas
from sklearn.neighbors import NearestNeighbors
def read(path):
    return pandas.read_csv(path).to_numpy()
def join(X):
    return NearestNeighbors(n_neighbors=K + 1, n_jobs=-1).fit(X).kneighbors_graph(mode="distance")
""",
    "cotherm": """
import cotherm as ct, pyarrow.csv
def read(path):
    return ct.io.read_table(path).values
def join(X):
    return ct.knn_graph(X, K)
""",
}
# Points and dimensions.
_SIZES, _QUICK_SIZES = ((100_000, 50), (1_000_000, 3)), ((5_000, 50), (50_000, 3))
_REPEATS = 3
_CODE = """
import json, sys, time
K = {k}
{contestant}
began = time.perf_counter()
X = read(sys.argv[1])
middle = time.perf_counter()
graph = join(X)
print(json.dumps([middle - began, time.perf_counter() - middle]))
"""


def run(*, quick: bool = False) -> dict[str, Any]:
    """Seconds of both for reading and for the graph, and their ratios."""
    with TemporaryDirectory() as directory:
        sizes = _QUICK_SIZES if quick else _SIZES
        problems = [_measured(Path(directory, "points.csv"), *size) for size in sizes]
    return {"quick": quick, "neighbors": _K, "problems": problems}


def _measured(place: Path, rows: int, columns: int) -> dict[str, Any]:
    _write(place, rows, columns)
    runs: dict[str, list[list[float]]] = {name: [] for name in CONTESTANTS}
    for _ in range(_REPEATS):
        for name, found in runs.items():
            found.append(_seconds(name, place))
    best = {name: min(found, key=sum) for name, found in runs.items()}
    theirs, ours = best.values()
    return {
        "rows": rows,
        "columns": columns,
        "seconds": {name: {"reading": one[0], "graph": one[1]} for name, one in best.items()},
        "ratios": {"reading": ours[0] / theirs[0], "graph": ours[1] / theirs[1], "all": sum(ours) / sum(theirs)},
    }


def _seconds(name: str, place: Path) -> list[float]:
    command = [sys.executable, "-c", _CODE.format(k=_K, contestant=CONTESTANTS[name]), str(place)]
    process = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return [float(number) for number in json.loads(process.stdout)]


def _write(place: Path, rows: int, columns: int) -> None:
    """Points around centers, as data are; with many dimensions most of the variance is in a few."""
    random = np.random.default_rng(0)
    scales = 1.0 / np.sqrt(1.0 + np.arange(columns))
    centers = 3.0 * scales * random.standard_normal((30, columns))
    with place.open("w") as file:
        file.write(",".join(f"x{k}" for k in range(columns)) + "\n")
        for done in range(0, rows, 10_000):
            count = min(10_000, rows - done)
            points = centers[random.integers(30, size=count)] + scales * random.standard_normal((count, columns))
            np.savetxt(file, points, fmt="%.7g", delimiter=",")


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        f"From a table to the graph of {report['neighbors']} neighbors; best of {_REPEATS} runs, seconds",
        f"  {'points':>10}{'dimensions':>12}  {'contestant':<22}{'reading':>9}{'graph':>9}{'all':>9}{'ratio':>8}",
    ]
    for problem in report["problems"]:
        for name, seconds in problem["seconds"].items():
            total = seconds["reading"] + seconds["graph"]
            ratio = problem["ratios"]["all"] if name == "cotherm" else 1.0
            lines.append(
                f"  {problem['rows']:>10,}{problem['columns']:>12}  {name:<22}{seconds['reading']:>9.2f}"
                f"{seconds['graph']:>9.2f}{total:>9.2f}{ratio:>8.2f}"
            )
    if report["quick"]:
        lines += ["", "A quick run measures how long libraries take to load: judge by the full size, without --quick."]
    return "\n".join(lines)
