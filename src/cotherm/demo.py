"""The main job on embedded data, for ``make demo``: a ring and the same ring with a crack, coupled."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cotherm.arrays import Floats
from cotherm.datasets import ring
from cotherm.draw import draw_heat
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.flow import heat_flow
from cotherm.methods.coupling.couple import couple
from cotherm.methods.coupling.result import Coupling


def run(out: Path) -> str:
    """Couple, draw into ``out``, and give the readable result."""
    views = ring()
    result = couple(views.graphs, views.functions, views.times, alpha=1e6)
    bump = views.functions[0][:, 0]
    times = [0.0, *views.times]
    before, after = ([_heat(g, bump, times) for g in graphs] for graphs in (views.graphs, result.graphs))
    picture, page = out / "demo.png", out / "demo.html"
    _draw(result, [*before, *after], times, picture)
    result.save_page(page, overwrite=True, pairs="same", title="A ring and the same ring with a crack, coupled")
    cut = ", ".join(f"{i}-{j}" for i, j in result.changes()[0].edges("cut"))
    return "\n".join(
        [
            "A ring of 70 points and the same ring with a crack; three functions that correspond, nothing else known.",
            "",
            *_table(times, before, after),
            "",
            str(result),
            "",
            f"Cut in the whole ring: the edges across the seam, {cut}.",
            "",
            f"Picture: {picture}",
            f"Page, to look at in a browser: {page}",
        ]
    )


def _heat(graph: Graph, start: Floats, times: list[float]) -> Floats:
    return heat_flow(graph, start, times)[:, :, 0]


def _table(times: list[float], before: list[Floats], after: list[Floats]) -> list[str]:
    """How much of the heat started beside the seam is on the far side of it, and how far the two flows differ."""
    lines = [
        f"{'':>6}{'heat across the seam, before':>36}{'after coupling':>36}",
        f"{'time':>6}" + 2 * f"{'ring':>10}{'cracked':>10}{'‖H₁f − H₂f‖':>16}",
    ]
    far = np.arange(before[0].shape[1]) >= before[0].shape[1] // 2
    for k, t in enumerate(times):
        row = f"{t:6g}"
        for whole, cracked in (before, after):
            # Rounding may leave −1e-17.
            across = [max(0.0, float(flow[k, far].sum() / flow[k].sum())) for flow in (whole, cracked)]
            row += f"{across[0]:>10.1%}{across[1]:>10.1%}{np.linalg.norm(whole[k] - cracked[k]):>16.4f}"
        lines.append(row)
    return lines


def _draw(result: Coupling, flows: list[Floats], times: list[float], picture: Path) -> None:
    graphs = [*result.originals, *result.graphs]
    names = [f"{g.name}" for g in result.originals] + [f"{g.name},\ncoupled" for g in result.originals]
    cut = [np.where(changes.kind == "cut", "cut", "kept") for changes in result.changes()]
    marks = [None] * len(cut) + cut
    try:
        picture.parent.mkdir(parents=True, exist_ok=True)
        draw_heat(graphs, flows, times, names=names, marked=marks).savefig(picture, dpi=130)
    except OSError as error:
        raise CothermError("out", f"{picture.parent}: {error.strerror}", "a directory that can be written to") from None
