"""Curves and bodies: what is drawn is what was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import cotherm as ct
from cotherm.graphs.faces import faces_of, is_mesh
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
    ax: Any = ct.draw.draw_result(result, "convergence").axes[0]
    shown = ax.get_lines()[0].get_ydata()
    assert shown[-1] == pytest.approx(np.linalg.norm(result.coupling), rel=1e-3)
    ax = ct.draw.draw_coupling(result.times, result.coupling_before, result.coupling).axes[0]
    assert np.allclose(ax.get_lines()[1].get_ydata(), result.coupling)


def test_coupling_at_one_time_is_two_bars() -> None:
    ax: Any = ct.draw.draw_coupling([2.0], [0.5], [0.1]).axes[0]
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.1]
    assert "t = 2" in ax.get_title()


def test_times_of_a_coupling_are_the_ticks() -> None:
    ax: Any = ct.draw.draw_coupling([0.05, 0.2, 0.75], [3, 2, 1], [0.3, 0.2, 0.1]).axes[0]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.05", "0.2", "0.75"]


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
    assert [ax.get_title() for ax in figure.axes] == ["one", "two", "", ""]
    surface = faces_drawn(figure.axes[0])
    assert len(surface.get_paths()) > 200
    # The same values have the same hue; faces differ in how they are turned to the light.
    brightness = faces_drawn(figure.axes[1]).get_facecolor()[:, :3].max(axis=1)
    assert brightness.max() - brightness.min() > 0.2


def faces_drawn(ax: Any) -> Any:
    return next(part for part in ax.collections if isinstance(part, PolyCollection))


def grid_mesh(side: int = 6) -> ct.Mesh:
    """A sheet of side × side vertices that rises to the right."""
    number = np.arange(side * side).reshape(side, side)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]))
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    vertices = np.column_stack([x.ravel(), y.ravel(), 0.3 * x.ravel() ** 2])
    return ct.Mesh(vertices, np.concatenate([np.column_stack([a, b, d]), np.column_stack([a, d, c])]))


def test_faces_of_a_mesh_are_found_again() -> None:
    mesh = grid_mesh()
    graph = ct.mesh_graph(*mesh)
    assert is_mesh(graph)
    assert {tuple(sorted(face)) for face in mesh.faces.tolist()} == {tuple(face) for face in faces_of(graph).tolist()}


def test_points_are_no_mesh_but_have_a_surface() -> None:
    graph = ct.datasets.human(300).graphs[0]
    assert not is_mesh(graph)
    assert len(np.unique(faces_of(graph))) == graph.n


def test_marked_edges_are_lines_on_the_surface() -> None:
    mesh = grid_mesh()
    graph = ct.mesh_graph(*mesh)
    marked = np.arange(graph.m) < 3
    values = [[graph.coordinates[:, 0]]]  # type: ignore[index]
    ax: Any = ct.draw.draw_bodies([[graph]], values, titles=["a"], names=["x"], marked=[[marked]]).axes[0]
    assert len(faces_drawn(ax).get_paths()) == len(mesh.faces)
    assert len(ax.collections[-1].get_segments()) == 3


def test_near_faces_are_drawn_after_far_ones() -> None:
    """Two sheets, one behind the other: the one towards the reader covers it."""
    X = [[x, depth, z] for depth in (0.0, 5.0) for x, z in ((0.0, 0.0), (4.0, 0.0), (0.0, 9.0))]
    graph = ct.mesh_graph(X, [[0, 1, 2], [3, 4, 5]])
    order = []
    for azimuth in (-90.0, 90.0):
        figure = ct.draw.draw_bodies(
            [[graph]], [[[0.0] * 3 + [1.0] * 3]], titles=["a"], names=["x"], up=2, azimuth=azimuth
        )
        colors = faces_drawn(figure.axes[0]).get_facecolor()
        order.append(int(np.argmin(colors[:, 1])))  # where the sheet with the large values is drawn
    assert order == [0, 1]


def test_bad_grids_are_refused() -> None:
    body = ct.datasets.human(200).graphs[0]
    flat = problems.ring(5)
    draw = ct.draw.draw_bodies
    assert problems.refused(lambda: draw([[body]], [[np.ones(200)]], titles=["a", "b"], names=["x"])) == "graphs[0]"
    assert problems.refused(lambda: draw([[flat]], [[np.ones(5)]], titles=["a"], names=["x"])) == "graphs[0][0]"
    assert problems.refused(lambda: draw([[body]], [[np.ones(3)]], titles=["a"], names=["x"])) == "values[0][0]"
    one: dict[str, Any] = {"titles": ["a"], "names": ["x"]}
    assert problems.refused(lambda: draw([[body]], [[np.ones(200)]], **one, up=3)) == "up"
