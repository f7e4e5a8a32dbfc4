"""Labels of views from tables, as the options of a command name them."""

from __future__ import annotations

from collections.abc import Sequence

from cotherm.cli.header import NOTHING_SAID, Header, as_options
from cotherm.cli.inputs import View, name_of
from cotherm.errors import known_as
from cotherm.io import atomic
from cotherm.io.labels import UNKNOWN, Items, Labels, Words, labels_of_sets

__all__ = ["UNKNOWN", "Labels", "Words", "read_labels"]


def read_labels(
    views: Sequence[View], paths: Sequence[str], column: str | None, header: Header = NOTHING_SAID
) -> Labels:
    """From one file for all views or one for each."""
    places = [atomic.as_path(path) for path in paths]
    sets = [Items(view.graph.n, view.names, name_of(view.graph, k)) for k, view in enumerate(views)]
    with as_options(*places), known_as("paths", "--labels"):
        return labels_of_sets(sets, places, column, [header.said(place) for place in places])
