"""The main job on embedded data, for ``make demo``: heat on a ring and on the same ring with a crack."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cotherm.datasets import ring
from cotherm.draw import draw_heat
from cotherm.errors import CothermError
from cotherm.heat.flow import heat_flow


def run(out: Path) -> str:
    """Flow, draw into ``out``, and give the readable result."""
    views = ring()
    flows = [heat_flow(g, F[:, 0], views.times)[:, :, 0] for g, F in zip(views.graphs, views.functions, strict=True)]
    whole, cracked = flows
    lines = [
        "Heat started beside the seam of a ring (70 vertices, 4 nearest neighbours), whole and cracked at the seam.",
        "",
        f"{'time':>6} {'heat across the seam':>30} {'difference':>14}",
        f"{'':>6} {'ring':>15} {'cracked':>14} {'‖H₁f − H₂f‖':>14}",
    ]
    far = np.arange(whole.shape[1]) >= whole.shape[1] // 2
    for k, t in enumerate(views.times):
        # Rounding may leave −1e-17.
        across = [max(0.0, float(flow[k, far].sum() / flow[k].sum())) for flow in flows]
        gap = float(np.linalg.norm(whole[k] - cracked[k]))
        lines.append(f"{t:6g} {across[0]:>15.1%} {across[1]:>14.1%} {gap:>14.4f}")
    picture = out / "demo.png"
    try:
        out.mkdir(parents=True, exist_ok=True)
        draw_heat(views.graphs, flows, views.times).savefig(picture, dpi=150)
    except OSError as error:
        raise CothermError("out", f"{out}: {error.strerror}", "a directory that can be written to") from None
    lines += [
        "",
        "The same start, the same times, another answer: one wrong place in a graph changes its geometry.",
        "",
    ]
    return "\n".join([*lines, f"Picture: {picture}"])
