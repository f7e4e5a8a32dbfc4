"""Curves and bodies: what is drawn is what was given."""

from __future__ import annotations

from typing import Any

import numpy as np

import cotherm as ct
from tests import problems


def test_curves_show_the_numbers_and_the_names() -> None:
    figure = ct.draw.draw_curves({"a": ([0, 1], [2, 3]), "b": ([0, 1], [4, 5])}, x="time", y="error", log="")
    ax: Any = figure.axes[0]
    assert [line.get_ydata().tolist() for line in ax.get_lines()] == [[2, 3], [4, 5]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time", "error")


def test_styles_and_scales() -> None:
    curves = {"a": ([1, 2], [1, 2]), "b": ([1, 2], [2, 4])}
    ax: Any = ct.draw.draw_curves(curves, x="x", y="y", styles={"a": (0, 1), "b": (0, 0)}, log="xy").axes[0]
    first, second = ax.get_lines()
    assert first.get_color() == second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_convergence_and_coupling_of_a_result() -> None:
    views = ct.datasets.ring(20)
    result = ct.couple(views.graphs, views.functions, views.times, 1e6)
    ax: Any = ct.draw.draw_convergence(result.history).axes[0]
    assert sum(len(line.get_xdata()) for line in ax.get_lines()) == len(result.history)
    ax = ct.draw.draw_coupling(result.times, result.coupling_before, result.coupling).axes[0]
    assert np.allclose(ax.get_lines()[1].get_ydata(), result.coupling)


def test_bodies_in_a_grid() -> None:
    views = ct.datasets.human(200)
    first, second = views.graphs
    figure = ct.draw.draw_bodies(
        [[first, first], [second, second]],
        [[np.arange(200.0), np.ones(200)]] * 2,
        titles=["one", "two"],
        names=["a", "b"],
        up=2,
    )
    assert len(figure.axes) == 4
    shown: Any = figure.axes[0].collections[1].get_array()
    assert np.allclose(np.sort(shown), np.arange(200.0))


def test_bad_grids_are_refused() -> None:
    body = ct.datasets.human(200).graphs[0]
    flat = problems.ring(5)
    draw = ct.draw.draw_bodies
    assert problems.refused(lambda: draw([[body]], [[np.ones(200)]], titles=["a", "b"], names=["x"])) == "graphs"
    assert problems.refused(lambda: draw([[flat]], [[np.ones(5)]], titles=["a"], names=["x"])) == "graphs"
    assert problems.refused(lambda: draw([[body]], [[np.ones(3)]], titles=["a"], names=["x"])) == "values"
