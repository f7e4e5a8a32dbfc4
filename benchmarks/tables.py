"""Reading a large table, beside pandas: ``python -m benchmarks.tables [--rows N] [--columns N]``.

Each reader runs in a process of its own, whose peak memory is told by the system. The best of several runs counts, the
readers taking turns. Compilation is not counted: the first run leaves kernels in the cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

STYLES = {"all digits": "%.17g", "six digits": "%.6g"}
READERS = {
    "pandas": ("import pandas", "pandas.read_csv(path)"),
    "cotherm": ("import cotherm.io, cotherm.io.bulk", "cotherm.io.read_table(path).values"),
}
_CODE = """
import json, resource, sys, time
{load}
path = sys.argv[1]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, began = peak(), time.perf_counter()
table = {read}
print(json.dumps([time.perf_counter() - began, peak() - before, list(table.shape)]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with TemporaryDirectory() as directory:
        for name, style in STYLES.items():
            place = Path(directory, "table.csv")
            _write(place, style, options.rows, options.columns)
            print(f"{options.rows:,} rows, {options.columns} columns, {name}, {place.stat().st_size / 1e6:,.0f} MB")
            found = {reader: measure(reader, place, options.repeats) for reader in READERS}
            for reader, (seconds, size) in found.items():
                print(f"  {reader:8} {seconds:6.2f} s  {size / 1e6:6,.0f} MB")
            ratios = [ours / theirs for ours, theirs in zip(found["cotherm"], found["pandas"], strict=True)]
            print(f"  ratio    {ratios[0]:6.2f}    {ratios[1]:6.2f}")


def measure(reader: str, place: Path, repeats: int) -> tuple[float, float]:
    """The least seconds, and the least growth of the process in bytes."""
    load, read = READERS[reader]
    code = _CODE.format(load=load, read=read)
    runs = []
    for _ in range(repeats):
        process = subprocess.run([sys.executable, "-c", code, str(place)], capture_output=True, text=True, check=True)
        runs.append(json.loads(process.stdout))
    return min(run[0] for run in runs), min(run[1] for run in runs)


def _write(place: Path, style: str, rows: int, columns: int) -> None:
    random = np.random.default_rng(0)
    with place.open("w") as file:
        file.write(",".join(f"feature {k}" for k in range(columns)) + "\n")
        for done in range(0, rows, 10_000):
            block = random.standard_normal((min(10_000, rows - done), columns))
            np.savetxt(file, block, fmt=style, delimiter=",")


if __name__ == "__main__":
    main()
