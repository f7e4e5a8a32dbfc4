"""Ring: a ring and a cracked ring; coupling cuts the ring where the other is cracked."""

from __future__ import annotations

import os
import time

from matplotlib.figure import Figure

from cotherm.arrays import Floats
from cotherm.datasets import ring
from cotherm.draw import draw_graph
from cotherm.methods.coupling.couple import couple
from cotherm.methods.coupling.result import Coupling
from paper.experiments.surgery import error_table, heat_of, others_below, wrong_weight_left
from paper.report import Claim, Experiment, Picture, Table

_LATE = 10.0


def run(data: str | os.PathLike[str] | None = None) -> Experiment:  # noqa: ARG001 (all experiments are called alike)
    """Couple and judge; needs no data."""
    began = time.perf_counter()
    views = ring()
    result = couple(views.graphs, views.functions, views.times, alpha=1e6)
    errors, before, after = error_table(views, result, list(views.times))
    left = wrong_weight_left(views, result)
    weakened = others_below(views, result, 0.5)[0]
    cut = ", ".join(f"{i}-{j}" for i, j in result.changes()[0].edges("cut"))
    surgery = Table(
        "Surgery",
        ["", "here", "paper"],
        [
            ["edges cut in the whole ring", cut, '"cutting the ring G₁"'],
            ["weight left across the seam", f"{left:.2%}", "-"],
            ["other edges below half their weight", weakened, "-"],
            ["cost, distance", f"{result.cost:.3f}, {result.distance:.3f}", "-"],
        ],
    )
    return Experiment(
        name="ring",
        title="Ring",
        about="A ring and a cracked ring of 70 points, four nearest neighbors, three functions, α = 10⁶.",
        tables=[surgery, errors],
        claims=[
            Claim("weight left across the seam", left, "<=", 0.02),
            Claim("other edges of the whole ring below half", float(weakened), "<=", 0.0),
            Claim(f"strong error at t = {_LATE:g} falls by a factor of", float(before[-1] / after[-1]), ">=", 10.0),
        ],
        pictures=[
            Picture(
                "heat",
                "The three functions, and heat from the first at t = 10, before and after coupling",
                lambda: _picture(result, views.functions[0]),
            )
        ],
        seconds=time.perf_counter() - began,
    )


def _picture(result: Coupling, functions: Floats) -> Figure:
    figure = Figure(figsize=(11.0, 4.6), layout="constrained")
    axes = figure.subplots(2, 5)
    for row, (old, new) in enumerate(zip(result.originals, result.graphs, strict=True)):
        for column in range(3):
            draw_graph(old, functions[:, column], ax=axes[row, column])
            axes[row, column].set_title(f"{'fg'[row]}{'₁₂₃'[column]}", fontsize=11)
        for column, (graph, name) in enumerate(((old, "before"), (new, "after")), start=3):
            draw_graph(graph, heat_of(graph, functions[:, 0], [_LATE])[0], ax=axes[row, column])
            axes[row, column].set_title(f"t = {_LATE:g}, {name}", fontsize=11)
    return figure
