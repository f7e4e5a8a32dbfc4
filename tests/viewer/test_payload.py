"""What the page holds is what the library says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cotherm as ct
from cotherm import limits
from cotherm.viewer.reduction import KINDS
from tests.problems import random_graph
from tests.viewer.reading import Read

COUPLINGS = ["ring", "paired", "large"]


@pytest.fixture(params=COUPLINGS)
def result(request: pytest.FixtureRequest) -> ct.Coupling:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, ct.Coupling)
    return found


def read(result: ct.Coupling, **given: object) -> Read:
    return Read(ct.viewer.make_page(result, **given).html)  # type: ignore[arg-type]


def test_edges_and_kinds_are_those_of_changes(result: ct.Coupling) -> None:
    page = read(result)
    for k, changes in enumerate(result.changes()):
        i, j = page.view(k, "i"), page.view(k, "j")
        assert np.all(i < j)
        assert np.all(np.diff(i.astype(np.int64) * 10_000 + j) > 0)
        codes = [KINDS[str(word)] for word in changes.kind]
        assert page.edges(k) == set(zip(changes.i.tolist(), changes.j.tolist(), codes, strict=True))
        order = np.lexsort((changes.j, changes.i))
        np.testing.assert_array_equal(page.view(k, "before"), changes.before[order])
        np.testing.assert_array_equal(page.view(k, "after"), changes.after[order])


def test_graphs_whose_edges_are_in_another_order(ring: ct.Coupling) -> None:
    order = np.random.default_rng(0).permutation(ring.graphs[0].m)

    def shuffled(g: ct.Graph) -> ct.Graph:
        return ct.Graph(g.n, g.i[order], g.j[order], g.w[order], coordinates=g.coordinates)

    mixed = replace(
        ring,
        graphs=(shuffled(ring.graphs[0]), ring.graphs[1]),
        originals=(shuffled(ring.originals[0]), ring.originals[1]),
    )
    assert read(mixed).edges(0) == read(ring).edges(0)
    np.testing.assert_array_equal(read(mixed).view(0, "after"), read(ring).view(0, "after"))


def test_every_kind_of_change(ring: ct.Coupling) -> None:
    old = ct.Graph(6, range(5), range(1, 6), [1.0, 1.0, 1.0, 1.0, 0.0])
    new = old.with_weights(np.array([1.0, 0.001, 0.3, 5.0, 1.0]))
    F = np.eye(6)[:, :2]
    made = replace(ring, graphs=(new, new), originals=(old, new), functions=(F, F))
    assert read(made).view(0, "kind").tolist() == [0, 1, 2, 3, 4]
    assert not read(made).view(1, "kind").any()


def test_places(ring: ct.Coupling, paired: ct.Coupling) -> None:
    page = read(ring)
    np.testing.assert_allclose(page.view(0, "position"), np.asarray(ring.originals[0].coordinates), rtol=1e-6)
    assert [view["layout"] for view in page.header["views"]] == ["given", "given"]
    assert [view["layout"] for view in read(paired).header["views"]] == ["computed", "computed"]
    points = np.random.default_rng(0).random((70, 3))
    page = read(ring, positions=[points, None])
    assert [view["dimensions"] for view in page.header["views"]] == [3, 2]


def test_standing_bodies_stand_and_are_not_mirrored() -> None:
    views = ct.datasets.human(200)
    made = ct.couple(views.graphs, views.functions, views.times, options={"max_iterations": 1})
    shown = read(made).view(1, "position").astype(float)
    given = np.asarray(views.graphs[1].coordinates)
    assert np.argmax(np.ptp(shown, axis=0)) == 1
    np.testing.assert_allclose(shown[:, 1], given[:, 2], rtol=1e-6)
    turn, *_ = np.linalg.lstsq(given, shown, rcond=None)
    assert np.linalg.det(turn) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e20, 1e300])
def test_places_in_any_units(ring: ct.Coupling, scale: float) -> None:
    points = np.asarray(ring.originals[0].coordinates) * scale
    found = read(ring, positions=[points, None]).view(0, "position").astype(float)
    assert np.all(np.isfinite(found))
    assert np.ptp(found) > 0.1


def test_points_in_one_place(ring: ct.Coupling) -> None:
    assert np.all(np.isfinite(read(ring, positions=[np.zeros((70, 2)), None]).view(0, "position")))


def test_faces_of_meshes_and_surfaces() -> None:
    grid = [(a, b) for a in range(6) for b in range(6)]
    points = np.array([(a, b, 0.1 * a * b) for a, b in grid], dtype=float)
    corner = [v for v, (a, b) in enumerate(grid) if a < 5 and b < 5]
    faces = np.array([t for v in corner for t in ((v, v + 1, v + 7), (v, v + 7, v + 6))])
    graph = ct.mesh_graph(points, faces)
    F = np.eye(36)[:, :2]
    made = ct.couple([graph, graph], [F, F], [1.0], options={"max_iterations": 1})
    found = read(made).view(0, "faces")
    assert {tuple(sorted(t)) for t in found.tolist()} == {tuple(sorted(t)) for t in faces.tolist()}
    assert read(made, faces="none").header["views"][0]["faces"] is None
    np.testing.assert_array_equal(read(made, faces=[faces, None]).view(0, "faces"), faces)
    cloud = ct.knn_graph(points, 4)
    other = ct.couple([cloud, cloud], [F, F], [1.0], options={"max_iterations": 1})
    assert read(other).header["views"][0]["faces"] is None
    assert len(read(other, faces="surface").view(0, "faces")) > 20


def test_labels_mean_the_same_on_all_views(ring: ct.Coupling) -> None:
    first, second = ["b", "a", ""] * 23 + ["b"], ["c"] * 70
    page = read(ring, labels=[first, second])
    (classes,) = {tuple(view["labels"]["classes"]) for view in page.header["views"]}
    assert classes == ("a", "b", "c")
    codes = page.array(page.header["views"][0]["labels"]["codes"])
    assert codes[:4].tolist() == [1, 0, -1, 1]
    numbers = read(ring, labels=[np.arange(70) % 12, None]).header["views"]
    assert numbers[0]["labels"]["classes"] == [str(c) for c in range(12)]
    assert numbers[1]["labels"] is None


def test_many_classes_become_one(ring: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PAGE_CLASSES", 3)
    page = ct.viewer.make_page(ring, labels=[["a"] * 30 + ["b"] * 20 + ["c"] * 10 + list("defghijklm"), None])
    assert Read(page.html).header["views"][0]["labels"]["classes"] == ["a", "b", "c", "other classes"]
    assert any("10 classes" in note for note in page.notes)


def test_functions_of_classes_have_their_names(ring: ct.Coupling) -> None:
    labels = np.array(["inner"] * 30 + ["outer"] * 40)
    F = ct.label_functions(labels)
    made = replace(ring, functions=(F, F))
    page = read(made, labels=[labels, labels])
    assert [one["name"] for one in page.header["functions"]] == ["inner", "outer"]
    assert [one["name"] for one in read(ring).header["functions"]][:2] == ["function 1", "function 2"]


def test_pairs(paired: ct.Coupling, ring: ct.Coupling) -> None:
    page = read(paired)
    assert paired.pairs is not None
    (one,) = page.header["pairs"]
    assert one["views"] == [0, 1]
    table = np.column_stack([page.array(one["a"]), page.array(one["b"])])
    np.testing.assert_array_equal(table, paired.pairs.table)
    assert read(ring).header["pairs"] == []
    assert len(read(ring, pairs=[range(5), range(5, 10)]).header["pairs"]) == 1
    (agreement,) = page.header["agreement"]
    (reported,) = paired.pairs.agreement
    assert (agreement["before"], agreement["after"]) == (reported.before, reported.after)
    assert agreement["pairs"] == reported.kept_back


def in_three_views(third: ct.Graph | None = None) -> ct.Coupling:
    """Sixty items in six groups, the same in two views; the third has the last fifty of them, backwards."""
    random = np.random.default_rng(0)
    points = [np.eye(6)[np.arange(60) % 6] + 0.2 * random.standard_normal((60, 6)) for _ in range(3)]
    points[2] = points[2][:9:-1]
    graphs = [ct.knn_graph(one, k=6).replace(coordinates=None) for one in points]
    table = np.column_stack([np.arange(60), np.arange(60), np.append(np.full(10, -1), np.arange(49, -1, -1))])
    return ct.couple_pairs([*graphs[:2], third or graphs[2]], table, options={"max_iterations": 2})


def test_how_far_views_are_believed(paired: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    result = in_three_views()
    expected = result.common_graph().view_weights
    page = read(result)
    for k in range(3):
        found = page.view(k, "believed")
        for item, vertices in enumerate(result.common_graph().items):
            if vertices[k] >= 0:  # two views weigh the same, which says nothing
                row = expected[item] if np.all(vertices >= 0) else np.zeros(3)
                np.testing.assert_allclose(found[vertices[k]], row, rtol=1e-6)
        assert np.count_nonzero(found.any(axis=1)) == 50
    monkeypatch.setattr(limits, "VIEWER_VERTICES", 30)
    part = read(result)
    for k in range(3):
        shown = np.array(part.header["views"][k]["names"]).astype(int)
        assert 0 < len(shown) <= 30
        np.testing.assert_array_equal(part.view(k, "believed"), page.view(k, "believed")[shown])
    monkeypatch.setattr(limits, "VIEWER_WEIGHTS", 59)
    assert believed(read(result)) == [None] * 3
    assert believed(read(paired)) == [None] * 2


def test_two_views_that_are_believed_say_nothing(ring: ct.Coupling) -> None:
    noise = ct.knn_graph(np.random.default_rng(5).standard_normal((50, 6)), k=6).replace(coordinates=None)
    result = in_three_views(noise)
    assert list(result.common_graph().left_out) == [2]
    assert believed(read(result)) == [None] * 3
    assert believed(read(ring)) == [None] * 2


def believed(page: Read) -> list[str | None]:
    return [view["believed"] for view in page.header["views"]]


def test_figures(ring: ct.Coupling) -> None:
    header = read(ring).header
    assert header["summary"]["cost"] == ring.cost
    assert header["summary"]["text"] == str(ring)
    assert header["times"]["coupled"] == list(ring.times)
    curve = header["curve"]
    for graphs, found in ((ring.originals, curve["before"]), (ring.graphs, curve["after"])):
        np.testing.assert_allclose(found, ct.coupling_error(graphs, ring.functions, curve["times"]), rtol=1e-12)
    assert set(ring.times) <= set(curve["times"])
    assert header["history"][-1]["cost"] == pytest.approx(ring.cost, rel=1e-6)


def test_times_cover_those_of_the_coupling(result: ct.Coupling) -> None:
    times = read(result).header["times"]
    assert times["least"] < min(result.times) <= max(result.times) < times["most"]


def test_checks_are_heat(result: ct.Coupling) -> None:
    header = read(result).header
    assert {(one["view"], one["graph"]) for one in header["checks"]} == {
        (k, s) for k in (0, 1) for s in ("before", "after")
    }
    assert {one["vertex"] is None for one in header["checks"]} == {True, False}
    for one in header["checks"]:
        graph = (result.originals if one["graph"] == "before" else result.graphs)[one["view"]]
        point = (
            np.eye(graph.n)[one["vertex"]]
            if one["function"] is None
            else result.functions[one["view"]][:, one["function"]]
        )
        heat = ct.heat_flow(graph, point, [one["time"]], tolerance=1e-11)[0, one["at"], 0]
        np.testing.assert_allclose(one["heat"], heat, atol=1e-9)


def test_many_functions_are_stated(ring: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PAGE_FUNCTIONS", 2)
    page = ct.viewer.make_page(ring)
    assert "The first 2 of 3 functions can be chosen." in page.notes
    assert len(Read(page.html).header["functions"]) == 2


def test_a_graph_without_edges(ring: ct.Coupling) -> None:
    empty = ct.Graph(5, [], [], [])
    F = np.eye(5)[:, :1]
    page = read(replace(ring, graphs=(empty,) * 2, originals=(empty,) * 2, functions=(F, F)))
    assert page.header["views"][0]["m"] == 0
    assert page.header["times"]["least"] < page.header["times"]["most"]


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_weights_of_any_size(ring: ct.Coupling, size: float) -> None:
    graph = random_graph(30, 80, 0)
    graph = graph.with_weights(graph.w * size)
    F = np.eye(30)[:, :2]
    made = replace(
        ring,
        graphs=(graph,) * 2,
        originals=(graph,) * 2,
        functions=(F, F),
        times=(1.0 / size,),
        coupling=np.ones(1),
        coupling_before=np.ones(1),
    )
    header = read(made).header
    assert header["times"]["least"] * size == pytest.approx(0.1 * header["times"]["unit"] * size)
    assert all(np.isfinite(one["heat"]).all() for one in header["checks"])


def test_results_with_numbers_that_are_not_finite(ring: ct.Coupling) -> None:
    broken = replace(ring, cost=float("nan"), coupling=np.array([np.inf] * len(ring.times)))
    assert read(broken).header["summary"]["cost"] is None


def test_unfinished_searches_say_so(ring: ct.Coupling) -> None:
    page = ct.viewer.make_page(replace(ring, status="time limit"))
    assert any("raise max_seconds" in note for note in page.notes)
