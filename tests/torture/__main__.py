"""``python -m tests.torture``: faults of every kind, on purpose; exits with 1 where anything was lost."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module

from tests.torture.counts import Counts, counted

# A module for each, loaded when its turn comes: environments for MPI do not have everything that the others need.
PARTS = {
    "kills": "SIGKILL at random moments",
    "signals": "SIGINT, SIGTERM, SIGHUP",
    "disks": "disks full or gone half way",
    "memory": "memory taken away",
    "damage": "damaged files",
    "guided": "input that follows coverage",
    "ranks": "a rank of MPI killed",
    "load": "many couplings at once",
}
_TITLES = ("cases", "faults", "losses", "hangs", "tracebacks", "misreadings")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few cases of each part, in a minute or two")
    parser.add_argument("--part", action="append", choices=list(PARTS), help="only this part; may be given again")
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (0)")
    options = parser.parse_args()
    began, found = time.perf_counter(), {}
    for name in options.part or PARTS:
        title, part = PARTS[name], import_module(f"tests.torture.{name}").part
        found[title] = counts = counted(part, options.short, options.seed)
        told = ", ".join(f"{getattr(counts, column)} {column}" for column in _TITLES)
        sys.stdout.write(f"{title}: {counts.seconds:.0f} s, {told}\n")
        for wrong in counts.wrong[:20]:
            sys.stdout.write(f"  {wrong}\n")
        sys.stdout.flush()
    sys.stdout.write("\n" + table(found, options.seed, time.perf_counter() - began) + "\n")
    sys.exit(1 if any(counts.failures for counts in found.values()) else 0)


def table(found: dict[str, Counts], seed: int, seconds: float) -> str:
    """The counts of all parts, what was noted, and what went wrong."""
    rows = [[title, *(getattr(one, name) for name in _TITLES)] for title, one in found.items()]
    rows.append(["all", *(sum(row[k] for row in rows) for k in range(1, len(_TITLES) + 1))])
    lines = [f"{'':30}" + "".join(f"{name:>13}" for name in _TITLES)]
    lines += [f"{row[0]:30}" + "".join(f"{count:>13,}" for count in row[1:]) for row in rows]
    lines += ["", *(f"{title}: {note}" for title, one in found.items() for note in one.notes)]
    lines.append(f"seed {seed}, {seconds:.0f} s")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
