"""What is wrong inside an argument of a picture is refused by its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import cotherm as ct
from tests import problems

FLAT = problems.path(3).replace(coordinates=np.eye(3)[:, :2])
BODY, LARGER = problems.path(3).replace(coordinates=np.eye(3)), problems.path(4).replace(coordinates=np.eye(4)[:, :3])


def bodies(**others: Any) -> Figure:
    given = {"graphs": [[BODY]], "values": [[np.ones(3)]], "titles": ["a"], "names": ["b"], **others}
    return ct.draw.draw_bodies(**given)


def heat(**others: Any) -> Figure:
    return ct.draw.draw_heat(**{"graphs": [FLAT], "flows": [np.ones((1, 3))], "times": [1.0], **others})


def graph(**others: Any) -> Any:
    return ct.draw.draw_graph(**{"graph": FLAT, "ax": Figure().subplots(), **others})


def curves(**others: Any) -> Figure:
    return ct.draw.draw_curves(**{"curves": {"a": ([0, 1], [1, 2])}, "x": "x", "y": "y", **others})


BAD: list[tuple[Callable[..., Any], Mapping[str, Any], str]] = [
    (bodies, {"graphs": [[FLAT]]}, "graphs[0][0]"),
    (bodies, {"graphs": [[BODY, LARGER]], "titles": ["a", "b"]}, "graphs[0][1]"),
    (bodies, {"values": [[np.array([1.0, np.nan, 1.0])]]}, "values[0][0]"),
    (bodies, {"marked": [[[True]]]}, "marked[0][0]"),
    (bodies, {"common_scale": "no"}, "common_scale"),
    (bodies, {"azimuth": True}, "azimuth"),
    (heat, {"graphs": [problems.path(3)]}, "graphs[0]"),
    (heat, {"flows": [np.full((1, 3), np.inf)]}, "flows[0]"),
    (heat, {"times": [-1.0]}, "times"),
    (heat, {"marked": [[True]]}, "marked[0]"),
    (graph, {"ax": None}, "ax"),
    (graph, {"limits": (1.0, 0.0)}, "limits"),
    (graph, {"limits": (0.0, np.inf)}, "limits"),
    (curves, {"curves": {"a": ([0, 1], [1])}}, "curves['a']"),
    (curves, {"curves": {"a": ([[0, 1]], [1, 2])}}, "curves['a']"),
    (curves, {"curves": {1: ([0, 1], [1, 2])}}, "a name in curves"),
    (curves, {"styles": {"a": (0, -1)}}, "styles['a']"),
    (curves, {"log": "z"}, "log"),
]


@pytest.mark.parametrize(("draw", "others", "argument"), BAD)
def test_the_place_of_what_is_wrong_is_said(draw: Callable[..., Any], others: Mapping[str, Any], argument: str) -> None:
    draw()
    assert problems.refused(lambda: draw(**others)) == argument


@pytest.mark.parametrize("errors", [[1.0], [[1.0, 2.0]], [1j, 2.0]])
def test_there_are_as_many_errors_as_times(errors: Any) -> None:
    assert problems.refused(lambda: ct.draw.draw_coupling([1.0, 2.0], [1.0, 2.0], errors)) == "after"


def test_labels_of_axes_are_drawn_as_they_are() -> None:
    ax: Any = curves(x="cost in $, not $x$").axes[0]
    assert ax.xaxis.label.get_text() == "cost in $, not $x$"
    assert not ax.xaxis.label.get_parse_math()
