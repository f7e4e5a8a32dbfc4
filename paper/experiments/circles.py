"""Circles: two eccentric circles bridged in different places; coupling takes the bridges down."""

from __future__ import annotations

import os
import time

import numpy as np
from matplotlib.figure import Figure

from cotherm.datasets import circles
from cotherm.draw import draw_coupling, draw_heat, draw_result
from cotherm.heat.coupling import coupling_error
from cotherm.methods.coupling.couple import couple
from paper.experiments.surgery import components, error_table, heat_of, others_below, wrong_weight_left
from paper.report import Claim, Experiment, Picture, Table

_TIMES = [0.0, 1.0, 3.0, 5.0, 10.0]
_STEPS = "How the views come to agree, step by step, and how far they move for it"
_NAMES = ("G₁", "G₂", "G₁ coupled", "G₂ coupled")


def run(data: str | os.PathLike[str] | None = None) -> Experiment:  # noqa: ARG001 (all experiments are called alike)
    """Couple and judge; needs no data."""
    began = time.perf_counter()
    views = circles()
    result = couple(views.graphs, views.functions, views.times, alpha=1e6)
    errors, before, after = error_table(views, result, _TIMES[1:])
    parts = components(result)
    left = wrong_weight_left(views, result)
    assert views.wrong is not None
    surgery = Table(
        "Surgery",
        ["", "here", "paper"],
        [
            ["bridges", sum(int(mask.sum()) for mask in views.wrong), "-"],
            ["weight left on them", f"{left:.2%}", '"disconnecting the inconsistent connections"'],
            ["components after", " and ".join(map(str, parts)), '"two connected components"'],
            ["other edges below a tenth of their weight", sum(others_below(views, result, 0.1)), "-"],
            ["cost, distance", f"{result.cost:.2f}, {result.distance:.2f}", "-"],
        ],
    )

    def heat() -> Figure:
        graphs = [*result.originals, *result.graphs]
        flows = [heat_of(g, views.functions[0][:, 0], _TIMES) for g in graphs]
        return draw_heat(graphs, flows, _TIMES, names=_NAMES)

    times = np.geomspace(0.03, 30.0, 40)
    return Experiment(
        name="circles",
        title="Circles",
        about="Two views of two eccentric circles of 32 points each, bridged in different places; four functions.",
        tables=[surgery, errors],
        claims=[
            Claim("weight left on the bridges", left, "<=", 0.02),
            Claim("components of the graph with most", float(max(parts)), "<=", 2.0),
            Claim("components of the graph with fewest", float(min(parts)), ">=", 2.0),
            Claim("strong error at t = 1 falls by a factor of", float(before[0] / after[0]), ">=", 10.0),
        ],
        pictures=[
            Picture("heat", "Heat on both graphs, before and after coupling", heat),
            Picture(
                "coupling",
                "Weak coupling error against time; coupled at t = 1, 3, 5, 10",
                lambda: draw_coupling(
                    times, *(coupling_error(g, views.functions, times) for g in (result.originals, result.graphs))
                ),
            ),
            Picture("convergence", _STEPS, lambda: draw_result(result, "convergence")),
        ],
        seconds=time.perf_counter() - began,
    )
