"""Coupling at size: short cuts planted in a strip of 10⁴ to 10⁶ points, six bumps, ten neighbours.

Every size runs in a process of its own, so that its peak of memory is its own; compiling is not counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np

SIZES, QUICK = (10_000, 100_000, 1_000_000), (300, 1_000)
# An edge is cut below this part of its weight.
_CUT = 0.2
_TARGETS = {10_000: 10.0, 100_000: 120.0, 1_000_000: 1_800.0}
_GROWTH = 1.15


def run(*, quick: bool = False) -> dict[str, Any]:
    """Measure each size; the report that ``table`` prints."""
    rows = [_measured(n) for n in (QUICK if quick else SIZES)]
    growth = [
        float(np.log(b["seconds"] / a["seconds"]) / np.log(b["vertices"] / a["vertices"])) for a, b in pairwise(rows)
    ]
    return {"problem": "planted short cuts, strip, q = 6, k = 10", "sizes": rows, "growth": growth}


def table(report: dict[str, Any]) -> str:
    lines = [
        report["problem"],
        f"  {'vertices':>10}{'edges':>12}{'seconds':>10}{'asked':>8}{'GB':>8}{'recall':>8}{'precision':>11}  status",
    ]
    for row in report["sizes"]:
        target = _TARGETS.get(row["vertices"])
        lines.append(
            f"  {row['vertices']:>10,}{row['edges']:>12,}{row['seconds']:>10.1f}{target or '':>8}"
            f"{row['memory'] / 1e9:>8.2f}{row['recall']:>8.2f}{row['precision']:>11.2f}  {row['status']}"
        )
    exponents = ", ".join(f"{exponent:.2f}" for exponent in report["growth"])
    lines.append(f"  time grows like n to the power of {exponents} (asked: at most {_GROWTH})")
    return "\n".join(lines)


def _measured(n: int) -> dict[str, Any]:
    code = f"from cotherm.benchmarks.scale import one; one({n})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def one(n: int) -> None:
    """Couple one size and print what was measured as JSON."""
    import resource

    from cotherm.datasets.shortcuts import shortcuts
    from cotherm.methods.coupling.couple import couple

    small = shortcuts(1_000)  # compiles what large graphs use
    couple(small.graphs, small.functions, small.times, "auto", max_iterations=2)
    views = shortcuts(n)
    result = couple(views.graphs, views.functions, "auto", "auto")
    cut = [new.w < _CUT * old.w for new, old in zip(result.graphs, result.originals, strict=True)]
    assert views.wrong is not None
    found = int(np.sum(cut[0] & views.wrong[0]))
    report = {
        "vertices": n,
        "edges": sum(g.m for g in views.graphs),
        "seconds": result.seconds,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "recall": found / int(views.wrong[0].sum()),
        "precision": found / max(1, sum(int(mask.sum()) for mask in cut)),
        "times": result.times,
        "alpha": result.alpha,
        "steps": len(result.history),
        "status": result.status,
    }
    sys.stdout.write(json.dumps(report) + "\n")
