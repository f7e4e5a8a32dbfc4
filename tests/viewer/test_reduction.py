"""Graphs that are too large for a page: what is shown of them, and that the page says so."""

from __future__ import annotations

import numpy as np
import pytest

import cotherm as ct
from cotherm import limits
from cotherm.pairs import Pairs
from cotherm.viewer.reduction import edges_of, parts_of
from tests.viewer.reading import Read


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VIEWER_VERTICES", 600)


def test_reductions_are_stated(large: ct.Coupling, small_pages: None) -> None:
    page = ct.viewer.make_page(large)
    read = Read(page.html)
    for k, (view, graph) in enumerate(zip(read.header["views"], large.graphs, strict=True)):
        assert view["n"] == 600
        assert view["whole"] == {"n": graph.n, "m": graph.m}
        note = read.header["notes"][k]
        assert note.startswith(f"{graph.name}: 600 of 2,000 vertices and {view['m']:,} of {graph.m:,} edges are shown")
    assert "heat from a vertex flows on what is shown alone" in read.header["notes"][2]
    assert page.notes == tuple(read.header["notes"])


def test_small_graphs_are_not_reduced(large: ct.Coupling) -> None:
    header = Read(ct.viewer.make_page(large).html).header
    assert header["heat"]["frames"] is None
    assert [view["n"] for view in header["views"]] == [2_000, 2_000]


def test_changed_edges_and_their_neighborhoods_are_kept(large: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VIEWER_VERTICES", 1_000)
    read = Read(ct.viewer.make_page(large).html)
    for k, changes in enumerate(large.changes()):
        names = np.array(read.header["views"][k]["names"]).astype(int)
        shown = {tuple(sorted((names[i], names[j]))): kind for i, j, kind in read.edges(k)}
        weights = {
            tuple(sorted((names[i], names[j]))): pair
            for i, j, pair in zip(
                *(read.view(k, end).tolist() for end in "ij"),
                zip(read.view(k, "before").tolist(), read.view(k, "after").tolist(), strict=True),
                strict=True,
            )
        }
        present = set(names.tolist())
        for i, j, before, after, kind in zip(
            changes.i.tolist(), changes.j.tolist(), changes.before, changes.after, changes.kind, strict=True
        ):
            if kind != "kept":
                assert {i, j} <= present
            assert ((i, j) in shown) == ({i, j} <= present)  # all edges between shown vertices, and no others
            if (i, j) in shown:
                assert shown[i, j] == ["kept", "cut", "weakened", "strengthened", "switched on"].index(str(kind))
                np.testing.assert_allclose(weights[i, j], (before, after), rtol=1e-6)
        ends = np.unique(np.concatenate([changes.i[changes.kind == "cut"], changes.j[changes.kind == "cut"]]))
        near = [v for v in ends.tolist() if set(neighbors(large.graphs[k], v)) <= present]
        assert len(near) >= 0.9 * len(ends)


def neighbors(graph: ct.Graph, v: int) -> list[int]:
    return [*graph.j[graph.i == v].tolist(), *graph.i[graph.j == v].tolist()]


def test_shown_vertices_are_as_dense_as_the_graph(large: ct.Coupling) -> None:
    """Patches, not single vertices: of a tenth drawn one by one a tenth of the neighbors would be left."""
    edges = edges_of(large)
    parts = parts_of(edges, [2_000, 2_000], None, 200, 5_000)
    for part, graph in zip(parts, large.graphs, strict=True):
        share = (len(part.edges) / len(part.vertices)) / (graph.m / graph.n)
        assert share > 0.25


def test_all_over_the_graph(large: ct.Coupling) -> None:
    """Of every tenth of the strip something is shown."""
    parts = parts_of(edges_of(large), [2_000, 2_000], None, 400, 5_000)
    along = np.asarray(large.originals[1].coordinates)[:, 0]
    tenth = np.digitize(along, np.quantile(along, np.linspace(0.1, 0.9, 9)))
    counts = np.bincount(tenth[parts[1].vertices], minlength=10)
    assert counts.min() > 5


def test_too_many_changed_edges(large: ct.Coupling) -> None:
    edges = edges_of(large)
    for one in edges:
        one.kind[:] = 2
    part = parts_of(edges, [2_000, 2_000], None, 100, 60)[0]
    assert (len(part.vertices), len(part.edges)) == (100, 60)
    assert part.changed < part.of_changed
    assert f"{part.changed:,} of {part.of_changed:,} changed edges, those that changed most among them" in part.note(
        "x"
    )
    change = np.abs(edges[0].after - edges[0].before)
    most = np.argsort(-change)[:10]
    assert set(most.tolist()) <= set(part.edges.tolist())


def test_pairs_are_shown_together(large: ct.Coupling) -> None:
    order = np.random.default_rng(1).permutation(2_000)
    pairs = Pairs(np.column_stack([np.arange(2_000), order]), (2_000, 2_000))
    first, second = parts_of(edges_of(large), [2_000, 2_000], pairs, 400, 5_000)
    assert np.isin(order[first.vertices], second.vertices).sum() > 60
    changed = edges_of(large)[0]
    ends = np.unique(np.concatenate([changed.i[changed.kind > 0], changed.j[changed.kind > 0]]))
    assert np.isin(order[ends], second.vertices).all()


def test_components_without_changes_are_shown_too() -> None:
    n = 300
    i = np.concatenate([np.arange(99), np.arange(200, 299)])
    graph = ct.Graph(n, i, i + 1, np.ones(len(i)))  # a path, a hundred lone vertices, a path
    F = np.eye(n)[:, :1]
    made = ct.couple([graph, graph], [F, F], [1.0], options={"max_iterations": 1})
    part = parts_of(edges_of(made), [n, n], None, 299, 10_000)[0]
    assert len(part.vertices) == 299


def test_frames_are_heat_of_the_whole_graph(large: ct.Coupling, small_pages: None) -> None:
    read = Read(ct.viewer.make_page(large).html)
    times = read.header["times"]
    stops = np.concatenate([[0.0], np.geomspace(times["least"], times["most"], times["count"])])
    frames = read.header["heat"]["frames"]
    q = len(read.header["functions"])
    assert len(frames) == 2 * 2 * q
    for one in frames[:: max(1, q - 1)]:
        graph = (large.originals if one["graph"] == "before" else large.graphs)[one["view"]]
        vertices = np.array(read.header["views"][one["view"]]["names"]).astype(int)
        start = large.functions[one["view"]][:, one["function"]]
        exact = ct.heat_flow(graph, start, stops)[:, vertices, 0]
        offset, scale = (np.array(one[end])[:, np.newaxis] for end in ("offset", "scale"))
        found = offset + scale * read.array(one["values"]) / 65_535
        assert np.all(np.abs(found - exact) <= scale / 8_000 + 1e-7)
        assert one["sum"] == pytest.approx(start.sum())


def test_reduced_pages_keep_to_the_size(large: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    from cotherm.viewer.page import asset

    fixed = len(asset("viewer.js").encode()) + len(asset("viewer.css").encode())
    monkeypatch.setattr(limits, "PAGE_BYTES", fixed + 150_000)
    page = ct.viewer.make_page(large)
    assert len(page.html.encode()) <= limits.PAGE_BYTES
    assert 50 < Read(page.html).header["views"][0]["n"] < 2_000
