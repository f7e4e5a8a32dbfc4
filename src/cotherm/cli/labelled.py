"""Labels on graphs, from files or from before."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.cli.known import Words, read_labels
from cotherm.cli.views import View, chosen, name_of
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.result import Coupling


def labelled(graph: Graph, labels: Words | NDArray[Any]) -> Graph:
    """The same graph with other labels."""
    return Graph(graph.n, graph.i, graph.j, graph.w, coordinates=graph.coordinates, labels=labels, name=graph.name)


def with_labels(result: Coupling | Graph, options: argparse.Namespace) -> list[tuple[str, Graph, NDArray[np.bool_]]]:
    """(what to call it, graph with labels, which vertices have one) before and after for every view asked for."""
    before = [result] if isinstance(result, Graph) else list(result.originals)
    after = [] if isinstance(result, Graph) else list(result.graphs)
    if options.labels:
        labels: list[Any] = read_labels([View(g) for g in before], options.labels, options.column)
    else:
        labels = [g.labels for g in before]
        if any(one is None for one in labels):
            raise CothermError("--labels", f"none, and none in {options.file}", "a file with the class of each item")
    numbers = range(len(before)) if options.view is None else [chosen(options.view, len(before))]
    states = []
    for k in numbers:
        name, known = name_of(before[k], k), labels[k].astype(str) != ""
        if known.sum() < 2:
            raise CothermError("--labels", f"{known.sum()} labels for {name}", "at least two")
        states.append((name + (", before" if after else ""), labelled(before[k], labels[k]), known))
        if after:
            states.append((name + ", coupled", labelled(after[k], labels[k]), known))
    return states
