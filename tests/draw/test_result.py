"""Pictures of couplings: positions are kept, changes are marked and counted, scales and legends can be relied on."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import cotherm as ct
from cotherm.draw.graph import MOST_EDGES, MOST_MARKED, STYLES
from cotherm.draw.panels import views_figure
from cotherm.draw.parts import CLASS_COLORS, OTHER_COLOR, UNKNOWN_COLOR, distinct
from cotherm.draw.result import KINDS
from cotherm.errors import shortened
from cotherm.heat.layout import layout
from tests import problems


@pytest.fixture(scope="module")
def short() -> ct.Coupling:
    views = ct.datasets.shortcuts(100, wrong=5)
    return ct.couple(views.graphs, views.functions, views.times)


@pytest.fixture(scope="module")
def by_pairs() -> ct.Coupling:
    """Without coordinates, with labels and with borrowed edges."""
    views = ct.datasets.ambiguous()
    return ct.couple_pairs(views.graphs, borrow=0.3)


def dots(ax: Any) -> Any:
    return next(part for part in ax.collections if isinstance(part, PathCollection))


def lines(ax: Any, kind: str) -> int:
    """How many edges are drawn in the color of a kind."""
    parts: list[Any] = [part for part in ax.collections if isinstance(part, LineCollection)]
    colored = [part for part in parts if len(part.get_colors()) and to_hex(part.get_colors()[0]) == STYLES[kind].color]
    return sum(len(part.get_segments()) for part in colored)


def texts(legend: Any) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def counted(ax: Any) -> dict[str, int]:
    """Counts in the legend of a panel by the first word of their names."""
    entries = [text.rsplit(": ", 1) for text in texts(ax.get_legend())]
    return {name.split(" ")[0]: int(count.replace(",", "")) for name, count in entries}


def panels(figure: Figure) -> list[Any]:
    return [ax for ax in figure.axes if any(isinstance(part, PathCollection) for part in ax.collections)]


@pytest.mark.parametrize("name", ["short", "by_pairs"])
def test_positions_stay_and_changes_are_marked_and_counted(name: str, request: pytest.FixtureRequest) -> None:
    result = request.getfixturevalue(name)
    axes = panels(ct.draw.draw_result(result))
    assert [ax.get_title() for ax in axes] == ["before", "coupled", "", ""]
    for k, (changes, original) in enumerate(zip(result.changes(), result.originals, strict=True)):
        before, after = axes[2 * k : 2 * k + 2]
        assert np.array_equal(dots(before).get_offsets(), dots(after).get_offsets())
        assert before.get_xlim() == after.get_xlim()
        counts = changes.counts()
        names = {"cut": "cut", "weakened": "weakened", "strengthened": "strengthened", "switched on": "new"}
        found = counted(after)
        for kind, word in names.items():
            assert found.get(word, 0) == counts[kind] == lines(after, kind), kind
            assert lines(before, kind) == 0
        assert found["about"] == counts["kept"]
        assert texts(before.get_legend()) == [f"{int((original.w > 0).sum()):,} edges"]
    assert sum(one.counts()["switched on"] for one in result.changes()) > 0 or name == "short"


def test_the_legend_says_when_an_edge_counts_as_changed(by_pairs: ct.Coupling) -> None:
    words = " ".join(texts(panels(ct.draw.draw_result(by_pairs))[1].get_legend()))
    assert all(part in words for part in ("weakened (below half)", "new (no weight before)"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn(kind: str, by_pairs: ct.Coupling) -> None:
    ct.draw.draw_result(by_pairs, kind).savefig(io.BytesIO(), format="svg")


def test_heat_has_one_color_bar_and_one_scale(short: ct.Coupling) -> None:
    figure = ct.draw.draw_result(short, "heat")
    shown = panels(figure)
    assert len(figure.axes) == len(shown) + 1
    scales = {(dots(ax).norm.vmin, dots(ax).norm.vmax, dots(ax).get_cmap().name) for ax in shown}
    assert len(scales) == 1
    assert all(np.array_equal(dots(shown[0]).get_offsets(), dots(ax).get_offsets()) for ax in shown[:3])


def test_heat_of_either_sign_has_zero_in_the_middle(by_pairs: ct.Coupling) -> None:
    norm = dots(panels(ct.draw.draw_result(by_pairs, "heat"))[0]).norm
    assert norm.vmin == -norm.vmax < 0.0


def test_times_are_distinct(short: ct.Coupling) -> None:
    times = (0.5, 0.5, 0.50001, 1.0, 1.01, 2.0, 3.0, 4.0, 5.0)
    errors = np.ones(len(times))
    many = replace(short, times=times, coupling=errors, coupling_before=errors)
    titles = [ax.get_title() for ax in panels(ct.draw.draw_result(many, "heat")) if ax.get_title()]
    assert titles == ["t = 0", "t = 0.5", "t = 2", "t = 3", "t = 5"]
    assert distinct([0.5, 0.50001]) == ["0.5", "0.50001"]
    assert distinct([0.123456, 2.0]) == ["0.123", "2"]


def test_the_other_function_can_be_drawn(short: ct.Coupling) -> None:
    values = dots(panels(ct.draw.draw_result(short, "heat", function=2))[0]).get_array()
    assert np.allclose(values, short.functions[0][:, 2])


def test_a_mesh_is_drawn_as_a_surface() -> None:
    x, y = (part.ravel() for part in np.meshgrid(np.arange(5.0), np.arange(5.0)))
    faces = [[a, a + 1, a + 6] for a in range(19) if a % 5 != 4] + [[a, a + 6, a + 5] for a in range(19) if a % 5 != 4]
    graph = ct.mesh_graph(np.column_stack([x, y, 0.1 * x * y]), faces)
    F = ct.landmark_functions(graph, [0, 24])
    figure = ct.draw.draw_result(ct.couple([graph, graph], [F, F], [1.0], 1.0), "heat")
    assert isinstance(figure.axes[0].collections[0], PolyCollection)


def test_convergence_tells_what_came_of_it(short: ct.Coupling) -> None:
    figure = ct.draw.draw_result(short, "convergence")
    agree, moved = figure.axes
    assert f"differed by {np.linalg.norm(short.coupling_before):.2g}" in figure.get_suptitle()
    assert f"differs by {np.linalg.norm(short.coupling):.2g}" in figure.get_suptitle()
    assert moved.get_lines()[0].get_ydata()[-1] == pytest.approx(np.sqrt(short.distance), rel=1e-3)  # type: ignore[index]
    assert agree.get_yscale() == "log"
    assert moved.get_xlabel() == "step of the search"


def test_distances_that_the_steps_do_not_bear_out_are_left_out(short: ct.Coupling) -> None:
    """As after an interruption, when the last step belongs to another problem."""
    assert len(ct.draw.draw_result(replace(short, distance=2.0 * short.distance), "convergence").axes) == 1
    assert len(ct.draw.draw_result(replace(short, history=()), "convergence").axes) == 1


def test_bad_arguments_are_refused(short: ct.Coupling) -> None:
    draw: Any = ct.draw.draw_result
    assert problems.refused(lambda: draw(short.graphs[0])) == "result"
    assert problems.refused(lambda: draw(short, "edges")) == "kind"
    assert problems.refused(lambda: draw(short, "heat", function=6)) == "function"
    assert problems.refused(lambda: draw(short, labels=[["a"] * 100])) == "labels"
    assert problems.refused(lambda: draw(short, labels=[["a"] * 100, ["a"] * 9])) == "labels[1]"


def drawn_with(labels: list[str]) -> Figure:
    graph = ct.Graph(len(labels), range(len(labels) - 1), range(1, len(labels)), np.ones(len(labels) - 1))
    points = np.column_stack([np.arange(graph.n, dtype=float), np.zeros(graph.n)])
    return views_figure([[graph]], [[points]], [[None]], rows=["path"], columns=[], labels=[np.array(labels)])


def test_classes_and_the_unknown_are_in_the_legend() -> None:
    figure = drawn_with(["b", "a", "", "a"])
    assert texts(figure.legends[0]) == ["a", "b", "class not known"]
    shown = [to_hex(color) for color in dots(figure.axes[0]).get_facecolors()]
    assert shown == [CLASS_COLORS[1], CLASS_COLORS[0], UNKNOWN_COLOR, CLASS_COLORS[0]]


def test_more_than_ten_classes_have_colors_of_their_own_in_the_order_of_their_numbers() -> None:
    figure = drawn_with([f"type {k}" for k in range(12)])
    assert texts(figure.legends[0]) == [f"type {k}" for k in range(12)]
    assert len({to_hex(color) for color in dots(figure.axes[0]).get_facecolors()}) == 12


def test_of_many_classes_the_rarest_share_a_gray() -> None:
    names = [f"type {k}" for k in range(40)]
    figure = drawn_with(names + names[5:])
    shown = [to_hex(color) for color in dots(figure.axes[0]).get_facecolors()]
    assert texts(figure.legends[0])[-1] == f"and {40 - len(CLASS_COLORS)} more classes"
    assert shown[0] == OTHER_COLOR
    assert len(set(shown)) == len(CLASS_COLORS) + 1


def test_long_names_keep_both_ends() -> None:
    name = "gene expression of the first patient, batch 12"
    assert shortened(name, 21) == "gene expre…, batch 12"
    assert shortened(name, len(name)) == name
    points = np.zeros((4, 2))
    graph = ct.Graph(4, [0], [1], [1.0])
    figure = views_figure([[graph]], [[points]], [[None]], rows=[5 * name], columns=[5 * name], labels=None)
    ax = figure.axes[0]
    assert ax.get_title().startswith("gene")
    assert ax.get_title().endswith("batch 12")
    assert "\n" not in ax.get_title()
    beside = ax.texts[0].get_text()
    assert beside.startswith("gene")
    assert beside.endswith("12")


def large(n: int, k: int) -> ct.Graph:
    """A ring of n vertices, each joined to the next k."""
    i = np.repeat(np.arange(n), k)
    return ct.Graph(n, i, (i + np.tile(np.arange(1, k + 1), n)) % n, np.ones(n * k))


def test_of_20000_items_a_part_of_the_edges_is_drawn_and_said() -> None:
    graph = large(20_000, 5)
    points = np.column_stack([np.cos(np.arange(20_000) / 3183.0), np.sin(np.arange(20_000) / 3183.0)])
    kinds = np.where(np.arange(graph.m) % 2, "cut", "kept")
    figure = views_figure([[graph, graph]], [[points, points]], [[None, kinds]], rows=["ring"], columns=[], labels=None)
    before, after = figure.axes
    for ax in figure.axes:
        parts = [part for part in ax.collections if isinstance(part, LineCollection)]
        assert sum(len(part.get_segments()) for part in parts) <= MOST_EDGES + MOST_MARKED
        assert all(part.get_rasterized() for part in ax.collections)
    assert texts(before.get_legend()) == ["100,000 edges (1 in 13 drawn)"]
    assert texts(after.get_legend()) == ["cut: 50,000 (2,000 drawn)", "about as before: 50,000 (1 in 13 drawn)"]
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg")
    assert len(buffer.getvalue()) < 2_000_000


def test_large_graphs_are_laid_out_by_groups() -> None:
    """Neighbors on a ring of 3,000 stay neighbors; two rings stay apart; vertices without edges have places."""
    ring = large(3_000, 2)
    n = 2 * ring.n + 5
    both = ct.Graph(n, [*ring.i, *(ring.i + ring.n)], [*ring.j, *(ring.j + ring.n)], np.ones(2 * ring.m))
    places = layout(both)
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    near = np.linalg.norm(places[both.i] - places[both.j], axis=1)
    size = np.linalg.norm(places - places.mean(axis=0), axis=1).mean()
    assert np.median(near) < 0.1 * size
    assert np.array_equal(places, layout(both))


@pytest.mark.parametrize("m", [0, 1_700])
def test_odd_large_graphs_are_laid_out(m: int) -> None:
    """Without edges, or with weights of sizes that cannot be divided by each other."""
    w = np.where(np.arange(m) < 50, 1e200, 1e-200)
    assert np.isfinite(layout(ct.Graph(1_701, np.arange(m), np.arange(m) + 1, w))).all()
