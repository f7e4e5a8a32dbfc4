"""What experiments on surgery share: were wrong edges removed, and only those, and does heat flow alike?"""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats
from cotherm.datasets import Views
from cotherm.graphs.graph import Graph
from cotherm.heat.coupling import coupling_error
from cotherm.heat.flow import heat_flow
from cotherm.methods.coupling.result import Coupling
from paper.report import Table


def wrong_weight_left(views: Views, result: Coupling) -> float:
    """The weight that wrong edges have left, as a part of what they had, in all graphs together."""
    assert views.wrong is not None
    before = sum(float(g.w[mask].sum()) for g, mask in zip(result.originals, views.wrong, strict=True))
    after = sum(float(g.w[mask].sum()) for g, mask in zip(result.graphs, views.wrong, strict=True))
    return after / before


def others_below(views: Views, result: Coupling, part: float) -> list[int]:
    """For each graph, how many edges that are not wrong lost so much that less than a part is left."""
    assert views.wrong is not None
    triples = zip(result.originals, result.graphs, views.wrong, strict=True)
    return [int(np.sum((new.w < part * old.w) & ~mask)) for old, new, mask in triples]


def components(result: Coupling) -> list[int]:
    """Of each coupled graph, not counting edges that were cut."""
    kept = [np.where(changes.kind == "cut", 0.0, changes.after) for changes in result.changes()]
    return [graph.with_weights(w).component_count for graph, w in zip(result.graphs, kept, strict=True)]


def strong_errors(graphs: tuple[Graph, ...], views: Views, times: list[float]) -> Floats:
    """‖H₁F − H₂F‖ at each time, the vertices corresponding one to one."""
    return coupling_error(graphs, views.functions, times, correspondence=np.arange(graphs[0].n))


def heat_of(graph: Graph, function: Floats, times: list[float]) -> Floats:
    """One function's heat at some times, (times, n)."""
    return np.asarray(heat_flow(graph, function, times)[:, :, 0])


def error_table(views: Views, result: Coupling, times: list[float]) -> tuple[Table, Floats, Floats]:
    """Weak and strong coupling errors before and after; and the strong ones."""
    before, after = (strong_errors(graphs, views, times) for graphs in (result.originals, result.graphs))
    weak = [coupling_error(graphs, views.functions, times) for graphs in (result.originals, result.graphs)]
    rows = [
        [f"{t:g}", f"{weak[0][k]:.3g}", f"{weak[1][k]:.2g}", f"{before[k]:.3g}", f"{after[k]:.2g}"]
        for k, t in enumerate(times)
    ]
    header = ["t", "‖Q₁ − Q₂‖ before", "after", "‖H₁F − H₂F‖ before", "after"]
    return Table("Difference in heat", header, rows), before, after
