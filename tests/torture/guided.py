"""Input for every reader and verb, changed wherever it reaches code that none has reached: by atheris, if installed."""

from __future__ import annotations

import os

from tests.fuzz import guided
from tests.torture.counts import Counts

# A few of them, of every kind.
_SHORT = ("graph .csv", "coupling", "checkpoint", "verbs")


def part(counts: Counts, short: bool, seed: int) -> None:
    if not guided.installed():
        counts.notes.append("left out: atheris is not installed (make torture and make fuzz-guided install it)")
        return
    found = guided.run(_SHORT if short else None, 200 if short else 3_000, 0, seed, os.cpu_count() or 1)
    for one in found:
        count(counts, one)
    counts.notes.append(f"{len(found)} targets: {', '.join(one.target for one in found)}")


def count(counts: Counts, found: guided.Found) -> None:
    """Every case is an injected fault; a target that judged nothing is a loss."""
    counts.cases += found.cases
    counts.faults += found.cases
    if not found.cases and not found.faults:
        counts.lose(f"{found.target}: no case was judged")
    for fault in found.faults:
        text = f"{found.target}: {fault.what.strip().splitlines()[-1]}"
        if fault.kind == guided.HANG:
            counts.hang(text)
        elif fault.kind == guided.MISREAD:
            counts.misread(text)
        elif fault.kind == guided.DIED:
            counts.lose(text)
        else:
            counts.tracebacks += 1
            counts.wrong.append(f"traceback: {text}")
