"""Figures show what they are given, and refuse what they cannot show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import cotherm as ct
from tests import problems


def test_heat_of_two_graphs_is_a_grid_of_pictures() -> None:
    views = ct.datasets.circles()
    flows = [ct.heat_flow(g, F[:, 0], [0.0, 1.0])[:, :, 0] for g, F in zip(views.graphs, views.functions, strict=True)]
    figure = ct.draw.draw_heat(views.graphs, flows, [0.0, 1.0])
    assert [ax.get_title() for ax in figure.axes[:4]] == ["t = 0", "t = 1", "", ""]
    assert np.array_equal(np.asarray(figure.axes[3].collections[1].get_array()), flows[1][1])


@pytest.mark.parametrize("graph", [None, problems.ring(5)])
def test_what_cannot_be_drawn_is_refused(graph: Any) -> None:
    with pytest.raises(ct.CothermError, match="graph"):
        ct.draw.draw_graph(graph, ax=Figure().add_subplot())


@pytest.mark.parametrize("flows", [[], [np.ones((1, 5)), np.ones((1, 5))], [np.ones((2, 5))], [np.ones((1, 4))]])
def test_flows_must_fit(flows: Any) -> None:
    with pytest.raises(ct.CothermError, match="flows"):
        ct.draw.draw_heat([problems.ring(5)], flows, [1.0])


def test_a_graph_without_values_is_drawn_in_one_color() -> None:
    graph = ct.datasets.ring().graphs[0]
    dots = ct.draw.draw_graph(graph, ax=Figure().add_subplot(), limits=(0.0, 1.0))
    assert dots.get_array() is None
    assert len(dots.get_offsets()) == graph.n


@pytest.mark.parametrize("gap", [2 * np.pi, 7.0])
def test_a_ring_is_no_more_than_a_gap(gap: float) -> None:
    with pytest.raises(ct.CothermError, match="gap"):
        ct.datasets.ring(gap=gap)
