"""Reading a large table of numbers, beside pandas.

Each reader runs in a process of its own, whose peak memory the system reports. Readers take turns, and the best of
several runs counts. Compilation is not counted: the first run leaves kernels in the cache.
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

STYLES = {"all digits": "%.17g", "six digits": "%.6g"}
READERS = {
    "pandas": ("import pandas", "pandas.read_csv(path)"),
    "cotherm": ("import cotherm.io, pyarrow.csv", "cotherm.io.read_table(path).values"),
}
_ROWS, _QUICK_ROWS, _COLUMNS, _REPEATS = 1_000_000, 50_000, 50, 3
_CODE = """
import json, resource, sys, time
{load}
path = sys.argv[1]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, began = peak(), time.perf_counter()
table = {read}
print(json.dumps([time.perf_counter() - began, peak() - before]))
"""


def run(*, quick: bool = False) -> dict[str, Any]:
    """Seconds and bytes of both readers, and their ratios, for numbers of many and of few digits."""
    rows = _QUICK_ROWS if quick else _ROWS
    with TemporaryDirectory() as directory:
        problems = [_measured(Path(directory, "table.csv"), name, style, rows) for name, style in STYLES.items()]
    return {"rows": rows, "columns": _COLUMNS, "problems": problems}


def _measured(place: Path, name: str, style: str, rows: int) -> dict[str, Any]:
    _write(place, style, rows)
    runs: dict[str, list[list[float]]] = {reader: [] for reader in READERS}
    for _ in range(_REPEATS):
        for reader, found in runs.items():
            found.append(_read(reader, place))
    best = {reader: [min(column) for column in zip(*found, strict=True)] for reader, found in runs.items()}
    return {
        "numbers": name,
        "file_bytes": place.stat().st_size,
        "seconds": {reader: one[0] for reader, one in best.items()},
        "bytes": {reader: one[1] for reader, one in best.items()},
        "time_ratio": best["cotherm"][0] / best["pandas"][0],
        "memory_ratio": best["cotherm"][1] / max(best["pandas"][1], 1.0),  # a small table needs no new memory
    }


def _read(reader: str, place: Path) -> list[float]:
    load, read = READERS[reader]
    command = [sys.executable, "-c", _CODE.format(load=load, read=read), str(place)]
    process = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return [float(number) for number in json.loads(process.stdout)]


def _write(place: Path, style: str, rows: int) -> None:
    random = np.random.default_rng(0)
    with place.open("w") as file:
        file.write(",".join(f"feature {k}" for k in range(_COLUMNS)) + "\n")
        for done in range(0, rows, 10_000):
            np.savetxt(file, random.standard_normal((min(10_000, rows - done), _COLUMNS)), fmt=style, delimiter=",")


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        f"Reading {report['rows']:,} rows of {report['columns']} columns; best of {_REPEATS} runs",
        f"  {'numbers':<12}{'file':>10}{'reader':>10}{'seconds':>10}{'memory':>10}{'time ×':>9}{'memory ×':>10}",
    ]
    for problem in report["problems"]:
        for reader in READERS:
            seconds, size = problem["seconds"][reader], problem["bytes"][reader] / 1e6
            ratios = (problem["time_ratio"], problem["memory_ratio"]) if reader == "cotherm" else (1.0, 1.0)
            file = f"{problem['file_bytes'] / 1e6:,.0f} MB"
            lines.append(
                f"  {problem['numbers']:<12}{file:>10}{reader:>10}{seconds:>10.2f}{size:>7,.0f} MB"
                f"{ratios[0]:>9.2f}{ratios[1]:>10.2f}"
            )
    return "\n".join(lines)
