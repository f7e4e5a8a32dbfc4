"""Coupling at size: planted short cuts, and a body in two poses.

Short cuts: a strip of 10⁴ to 10⁶ points, six bumps, ten neighbors. Poses: hands joined and apart, all 52,565 vertices
of a scanned body, a bump on each hand, five neighbors; without its data a modeled body of 5,000 points. And
couplings that start where the planted edges are cut already: about what coupling smaller graphs first could save.

Every size runs in a process of its own, so that its peak of memory is its own; compiling is not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.child import environment
from cotherm.errors import CothermError
from cotherm.memory import peak
from paper.data.directory import locate

SIZES, QUICK = (10_000, 100_000, 1_000_000), (300, 1_000)
# An edge is cut below this part of its weight.
_CUT = 0.2
_TARGETS = {10_000: 10.0, 100_000: 120.0, 1_000_000: 1_800.0}
_GROWTH = 1.15
# Vertices of the scanned body, and of the modeled one: where the data are, where they are not, and to be quick.
SCANNED, MODELED, QUICK_BODY = 52_565, 5_000, 1_000
_BODY_SECONDS, _BODY_LEFT = 180.0, 0.02
STARTS_SIZE = 100_000


def run(*, quick: bool = False, data: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Measure each size, and the two poses; the report that ``table`` prints."""
    rows = [_measured(f"measure_shortcuts({n})") for n in (QUICK if quick else SIZES)]
    growth = [
        float(np.log(b["seconds"] / a["seconds"]) / np.log(b["vertices"] / a["vertices"])) for a, b in pairwise(rows)
    ]
    return {
        "problem": "planted short cuts, strip, q = 6, k = 10",
        "sizes": rows,
        "growth": growth,
        "poses": _two_poses(data, quick=quick),
        "starts": _measured(f"measure_starts({QUICK[-1] if quick else STARTS_SIZE})"),
    }


def table(report: dict[str, Any]) -> str:
    lines = [
        report["problem"],
        f"  {'vertices':>10}{'edges':>12}{'seconds':>10}{'target':>8}{'GB':>8}{'predicted':>10}"
        f"{'recall':>8}{'precision':>11}  status",
    ]
    for row in report["sizes"]:
        target = _TARGETS.get(row["vertices"])
        lines.append(
            f"  {row['vertices']:>10,}{row['edges']:>12,}{row['seconds']:>10.1f}{target or '':>8}"
            f"{row['memory'] / 1e9:>8.2f}{row['predicted'] / 1e9:>10.2f}"
            f"{row['recall']:>8.2f}{row['precision']:>11.2f}  {row['status']}"
        )
    exponents = ", ".join(f"{exponent:.2f}" for exponent in report["growth"])
    lines.append(f"  time grows like n to the power of {exponents} (target: at most {_GROWTH})")
    return "\n".join(
        [
            *lines,
            *_poses_lines(report["poses"]),
            *_starts_lines(report["starts"]),
        ]
    )


def _poses_lines(row: dict[str, Any]) -> list[str]:
    scanned = row["vertices"] == SCANNED
    return [
        f"two poses, {row['body']} body, hands joined and apart, q = 2, k = 5",
        f"  {'vertices':>10}{'edges':>12}{'seconds':>10}{'target':>8}{'GB':>8}{'predicted':>10}{'left':>8}{'target':>8}"
        "  others cut, status",
        f"  {row['vertices']:>10,}{row['edges']:>12,}{row['seconds']:>10.1f}{_BODY_SECONDS if scanned else '':>8}"
        f"{row['memory'] / 1e9:>8.2f}{row['predicted'] / 1e9:>10.2f}{row['left']:>8.2%}{_BODY_LEFT:>8.0%}"
        f"  {' and '.join(map(str, row['others']))}, {row['status']}",
        f"  left: the weight of the {row['wrong']:,} edges between the hands after coupling, as a part of before",
    ]


def _starts_lines(row: dict[str, Any]) -> list[str]:
    return [
        f"where coupling starts, {row['vertices']:,} vertices",
        f"  {'start':<24}{'seconds':>10}{'steps':>8}{'cost':>14}",
        *(
            f"  {start:<24}{row[key]['seconds']:>10.1f}{row[key]['steps']:>8}{row[key]['cost']:>14.7g}"
            for start, key in (("the graphs as given", "given"), ("short cuts cut", "cut"))
        ),
    ]


def _two_poses(data: str | os.PathLike[str] | None, *, quick: bool) -> dict[str, Any]:
    if quick:
        return _measured(f"measure_poses({QUICK_BODY}, None)")
    try:
        locate("tosca/michael13.off", data)
    except CothermError:
        if data is not None:
            raise
        return _measured(f"measure_poses({MODELED}, None)")
    return _measured(f"measure_poses({SCANNED}, {None if data is None else os.fspath(data)!r}, scanned=True)")


def _measured(call: str) -> dict[str, Any]:
    code = f"from benchmarks import scale; scale.{call}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure_shortcuts(n: int) -> None:
    """Couple one size and print what was measured as JSON."""
    from cotherm.datasets.shortcuts import shortcuts
    from cotherm.methods.coupling.couple import couple

    small = shortcuts(1_000)  # compiles what large graphs use
    couple(small.graphs, small.functions, small.times, "auto", options={"max_iterations": 2})
    views = shortcuts(n)
    result = couple(views.graphs, views.functions, "auto", "auto")
    cut = [new.w < _CUT * old.w for new, old in zip(result.graphs, result.originals, strict=True)]
    assert views.wrong is not None
    found = int(np.sum(cut[0] & views.wrong[0]))
    report = {
        "vertices": n,
        "edges": sum(g.m for g in views.graphs),
        "seconds": result.seconds,
        "memory": peak(),
        "predicted": result.settings["memory"]["peak"],
        "recall": found / int(views.wrong[0].sum()),
        "precision": found / max(1, sum(int(mask.sum()) for mask in cut)),
        "times": result.times,
        "alpha": result.alpha,
        "steps": len(result.history),
        "status": result.status,
    }
    sys.stdout.write(json.dumps(report) + "\n")


def measure_starts(n: int) -> None:
    """Couple from the graphs as given, and from graphs whose planted edges are cut: what coarser graphs could save.

    Graphs of fewer vertices would show above all which edges to cut, and coupling them would take time as well.
    """
    from cotherm.datasets.shortcuts import shortcuts
    from cotherm.methods.coupling.couple import couple

    small = shortcuts(1_000)
    couple(small.graphs, small.functions, small.times, "auto", options={"max_iterations": 2})
    views = shortcuts(n)
    assert views.wrong is not None
    cut = [
        graph.with_weights(np.where(wrong, 0.0, graph.w))
        for graph, wrong in zip(views.graphs, views.wrong, strict=True)
    ]
    report: dict[str, Any] = {"vertices": n}
    for name, start in (("given", None), ("cut", cut)):
        result = couple(views.graphs, views.functions, "auto", "auto", start=start)
        report[name] = {"seconds": result.seconds, "steps": len(result.history), "cost": result.cost}
    sys.stdout.write(json.dumps(report) + "\n")


def measure_poses(n: int, data: str | None, *, scanned: bool = False) -> None:
    """Couple the two poses of a body and print what was measured as JSON."""
    from cotherm.datasets import human
    from cotherm.methods.coupling.couple import couple
    from paper.data import man

    small = human(300)  # compiles what large graphs use
    couple(small.graphs, small.functions, small.times, "auto", options={"max_iterations": 2})
    views = man(n, data=data) if scanned else human(n)
    result = couple(views.graphs, views.functions, "auto", "auto")
    assert views.wrong is not None
    between = views.wrong[0]
    pairs = zip(result.graphs, result.originals, views.wrong, strict=True)
    report = {
        "body": "scanned" if scanned else "modeled",
        "vertices": n,
        "edges": sum(g.m for g in views.graphs),
        "wrong": int(between.sum()),
        "seconds": result.seconds,
        "memory": peak(),
        "predicted": result.settings["memory"]["peak"],
        "left": float(result.graphs[0].w[between].sum() / result.originals[0].w[between].sum()),
        "others": [int(np.sum((new.w < _CUT * old.w) & ~mask)) for new, old, mask in pairs],
        "times": result.times,
        "alpha": result.alpha,
        "steps": len(result.history),
        "status": result.status,
    }
    sys.stdout.write(json.dumps(report) + "\n")
