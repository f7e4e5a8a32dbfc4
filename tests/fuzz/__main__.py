"""``python -m tests.fuzz``: many cases over all readers and the command line; exits with 1 when one is at fault."""

from __future__ import annotations

import argparse
import os
import sys

from tqdm import tqdm

from tests.fuzz.runner import LONGEST, Report, run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=50_000, help="how many (50000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first; with --cases 1, one case alone (0)")
    parser.add_argument("--seed", type=int, default=0, help="of them all (0)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (one a processor)")
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.cases)
    with tqdm(total=len(numbers), unit="case", delay=2.0, mininterval=1.0, disable=not sys.stderr.isatty()) as bar:
        report = run(numbers, options.seed, options.workers, progress=bar.update)
    sys.stdout.write(summary(report, options.seed) + "\n")
    sys.exit(1 if report.faults else 0)


def summary(report: Report, seed: int) -> str:
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(report.cases.items()))
    lines = [f"case {number}: {fault.rstrip()}" for number, fault in report.faults[:20]]
    lines += [f"... and {len(report.faults) - 20} more"] * (len(report.faults) > 20)
    lines += [
        f"{sum(report.cases.values())} cases (seed {seed}): {kinds}",
        f"faults: {len(report.faults)}; slowest {report.slowest:.1f} s (limit {LONGEST:g} s); "
        f"most memory {report.most_memory / 1e6:.0f} MB",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
