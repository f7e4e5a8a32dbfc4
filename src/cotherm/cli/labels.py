"""Labels of views: from tables, as the options of a command name them, or those stored with graphs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.cli.advice import in_options
from cotherm.cli.header import NOTHING_SAID, Header, header_of
from cotherm.cli.inputs import View, name_of, views_of
from cotherm.cli.names import view_number
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.io import atomic
from cotherm.io.labels import UNKNOWN, Items, Labels, Words, labels_of_sets
from cotherm.methods.coupling.result import Coupling

__all__ = ["UNKNOWN", "Judged", "Labels", "Words", "kept_back", "labels_of_items", "read_labels", "with_labels"]


def read_labels(
    views: Sequence[View],
    paths: Sequence[str],
    column: str | None,
    header: Header = NOTHING_SAID,
    *,
    option: str = "--labels",
    shared: bool = True,
) -> Labels:
    """Read labels from one file for all views or one for each; ``shared`` refuses labels that no two items share."""
    places = [atomic.as_path(path) for path in paths]
    sets = [Items(view.graph.n, view.names, name_of(view.graph, k)) for k, view in enumerate(views)]
    with in_options(), known_as("paths", option):
        return labels_of_sets(sets, places, column, [header.said(place) for place in places], shared=shared)


def labels_of_items(graphs: Sequence[Graph], options: argparse.Namespace) -> list[Any] | None:
    """The class of every vertex of every graph, where --labels names files: one for all graphs or one for each."""
    if not options.labels:
        return None
    return list(read_labels([View(graph) for graph in graphs], options.labels, options.column, header_of(options)).of)


@dataclass(frozen=True)
class Judged:
    """Graphs to judge by their labels: name, graph and the vertices that count; and how labels were read."""

    states: list[tuple[str, Graph, NDArray[np.bool_]]]
    note: str
    reading: list[str]


def with_labels(result: Coupling | Graph, options: argparse.Namespace) -> Judged:
    """Before and after, for every view asked for; if labels were kept back from coupling, only those count."""
    before = [result] if isinstance(result, Graph) else list(result.originals)
    after = [] if isinstance(result, Graph) else list(result.graphs)
    labels, reading = _labels(before, options)
    numbers = range(len(before)) if options.view is None else [view_number(options.view, views_of(result))]
    known = [one.astype(str) != "" for one in labels]
    note = ""
    if not isinstance(result, Graph):
        known, note = kept_back(result, known)
    states = []
    for k in numbers:
        name = name_of(before[k], k)
        if known[k].sum() < 2:
            raise CothermError("--labels", f"{known[k].sum()} labels for {name}", "at least two")
        states.append((name + (", before" if after else ""), before[k].replace(labels=labels[k]), known[k]))
        if after:
            states.append((name + ", coupled", after[k].replace(labels=labels[k]), known[k]))
    return Judged(states, note, reading)


def kept_back(result: Coupling, known: list[NDArray[np.bool_]]) -> tuple[list[NDArray[np.bool_]], str]:
    """Labeled items whose labels the coupling did not use, if there are enough, and a note about it."""
    used = [_indicated(F) for F in result.functions]
    back = [has & ~one for has, one in zip(known, used, strict=True) if one is not None]
    if len(back) < len(used):
        return known, ""
    if all(one.sum() > 1 for one in back):
        return back, "Judged on the items whose labels were kept back from coupling."
    return known, "Labels used for the coupling raise the scores: couple with --known 0.5 to keep half back."


def _labels(graphs: list[Graph], options: argparse.Namespace) -> tuple[list[Any], list[str]]:
    """The labels of every graph, and how they were read."""
    if options.labels:
        found = read_labels([View(g) for g in graphs], options.labels, options.column, header_of(options))
        return list(found.of), found.reading
    labels = [g.labels for g in graphs]
    if any(one is None for one in labels):
        raise CothermError("--labels", f"none, and none in {options.file}", "a file with the class of each item")
    return labels, []


def _indicated(F: Floats) -> NDArray[np.bool_] | None:
    """The vertices in some class, if the functions are indicators of classes; else None."""
    counts = np.count_nonzero(F, axis=1)
    return np.asarray(counts == 1) if counts.max(initial=0) == 1 and F.min(initial=0.0) >= 0.0 else None
