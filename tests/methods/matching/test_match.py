"""Correspondences between graphs that are known to be the same, turned, refined or joined where they should not be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import cotherm as ct
from cotherm.methods.matching.modes import coefficients, first, graph_modes, signatures, time_ratio
from cotherm.methods.matching.refinement import (
    from_signatures,
    from_vertices,
    random_halves,
    round_trip,
    schedule,
    shares,
)
from tests import problems


def turned(n: int = 300, seed: int = 0) -> tuple[list[ct.Graph], list[np.ndarray], np.ndarray]:
    """A cloud and the same with its vertices in another order: three landmarks, and the right answer."""
    graph = problems.cloud(n)
    order = np.random.default_rng(seed).permutation(n)
    other = problems.relabeled(graph, order)
    right = np.argsort(order)
    marks = np.array([5, n // 5, n // 2])
    return [graph, other], [ct.landmark_functions(graph, marks), ct.landmark_functions(other, right[marks])], right


def test_a_relabeled_graph_is_found_again() -> None:
    graphs, functions, right = turned()
    found = ct.match(graphs, functions)
    assert np.mean(found.hard == right) > 0.99
    assert (
        np.array_equal(found.hard_back[right], np.arange(300))
        or np.mean(found.hard_back[right] == np.arange(300)) > 0.99
    )
    assert found.status == "supported"
    assert found.agreement.mean() > 0.9
    # In the right correspondence the functional map is a diagonal of signs.
    assert np.allclose(np.abs(found.functional_map), np.eye(len(found.functional_map)), atol=0.02)


def test_time_and_weights_have_units_of_their_own() -> None:
    graphs, functions, right = turned()
    faster = [graphs[0].with_weights(1e3 * graphs[0].w), graphs[1]]
    assert np.mean(ct.match(faster, functions).hard == right) > 0.99


def test_soft_rows_are_shares_and_the_largest_is_the_hard_match() -> None:
    graphs, functions, _ = turned()
    found = ct.match(graphs, functions, n_neighbors=7)
    for soft, hard in ((found.soft, found.hard), (found.soft_back, found.hard_back)):
        assert soft.format == "csr"
        assert np.all(np.diff(soft.indptr) == 7)
        assert np.allclose(soft.sum(axis=1), 1.0)
        assert np.array_equal(soft.toarray().argmax(axis=1), hard)
    assert np.all((found.round_trip >= 0.0) & (found.round_trip <= 1.0))


def test_different_sizes_and_any_pair_of_three() -> None:
    graphs = [problems.grid(9, 20), problems.grid(12, 27), problems.grid(15, 33)]
    corners = [[0, c - 1, (r - 1) * c, r * c - 1, c // 3] for r, c in ((9, 20), (12, 27), (15, 33))]
    functions = [ct.landmark_functions(g, v) for g, v in zip(graphs, corners, strict=True)]
    found = ct.match(graphs, functions, source=2, target=0)
    assert found.soft.shape == (15 * 33, 9 * 20)
    at = np.column_stack(np.divmod(np.arange(15 * 33), 33)) / [14, 32]
    to = np.column_stack(np.divmod(found.hard, 20)) / [8, 19]
    assert np.abs(at - to).max() < 0.15
    assert (found.source, found.target) == (2, 0)
    back = ct.match(graphs, functions, source=0, target=2)
    assert np.mean(back.hard == found.hard_back) > 0.9


def test_landmarks_decide_between_left_and_right() -> None:
    """A ladder is its own mirror image; two landmarks choose which of the two it is."""
    ladder = problems.grid(3, 40)
    marks = np.array([3, 36])
    F = ct.landmark_functions(ladder, marks)
    mirrored = ct.landmark_functions(ladder, marks[::-1])
    column = np.arange(120) % 40
    assert np.abs(ct.match([ladder, ladder], [F, F]).hard % 40 - column).max() <= 1
    assert np.abs(ct.match([ladder, ladder], [F, mirrored]).hard % 40 - (39 - column)).max() <= 1


def test_coupling_repairs_what_joined_hands_spoil() -> None:
    views = ct.datasets.human(200)
    coupled = ct.couple(views.graphs, views.functions, views.times, 1e6, options={"continuation": "times"})
    right = np.arange(200)
    X = views.graphs[1].coordinates
    assert X is not None
    error = {
        name: np.linalg.norm(X[ct.match(graphs, views.functions).hard] - X[right], axis=1).mean()
        for name, graphs in (("given", views.graphs), ("coupled", coupled))
    }
    assert error["coupled"] < 0.2 * error["given"]
    assert error["coupled"] < 3.0


def test_common_bases_need_no_functions() -> None:
    graphs, _, right = turned(n=150)
    marks = np.arange(0, 150, 5)
    functions = [ct.landmark_functions(g, v) for g, v in zip(graphs, (marks, right[marks]), strict=True)]
    aligned = ct.align(graphs, functions, k=20)
    bases = ct.match(aligned, refine=False)
    assert np.array_equal(bases.functional_map, np.eye(20))
    refined = ct.match(aligned)
    assert np.mean(refined.hard == right) >= np.mean(bases.hard == right)
    assert np.mean(refined.hard == right) > 0.95


def test_modes_are_orthogonal_and_of_one_size() -> None:
    graph = problems.random_graph(80, 300, seed=4)
    modes = graph_modes(graph, 12)
    values = np.linalg.eigvalsh(graph.laplacian().toarray())
    assert np.allclose(modes.values, values[:12], atol=1e-9 * values[-1])
    assert np.allclose(modes.vectors.T @ modes.vectors / graph.n, np.eye(12), atol=1e-9)


def test_signatures_are_heat() -> None:
    graph = problems.cloud(60)
    modes = graph_modes(graph, 60)
    F = np.random.default_rng(0).standard_normal((60, 2))
    heat = ct.heat_flow(graph, F, [0.3, 2.0])
    found = modes.vectors @ signatures(modes, F, np.array([0.3, 2.0]))
    for column, expected in zip(found.T, [heat[t, :, c] for t in range(2) for c in range(2)], strict=True):
        assert np.allclose(column / np.linalg.norm(column), expected / np.linalg.norm(expected))
    assert not signatures(modes, np.zeros((60, 1)), np.array([1.0])).any()


def test_the_functional_map_minimizes_its_cost() -> None:
    random = np.random.default_rng(1)
    A, B = random.standard_normal((5, 7)), random.standard_normal((5, 7))
    s, t = np.sort(random.random(5)), np.sort(random.random(5))

    def cost(C: np.ndarray) -> float:
        unit = max(s[-1], t[-1])
        gaps = (C * t - s[:, np.newaxis] * C) / unit
        return float(np.sum((C @ B - A) ** 2) + 0.1 * np.sum(gaps**2))

    C = from_signatures(A, B, s, t)
    assert all(cost(C) < cost(C + 1e-3 * random.standard_normal((5, 5))) for _ in range(20))


def test_maps_of_vertices_and_of_functions_agree() -> None:
    graphs, _, right = turned(n=60)
    s, t = (graph_modes(g, 60) for g in graphs)
    g = np.random.default_rng(2).standard_normal((60, 3))
    C = from_vertices(s, t, right)
    assert np.allclose(s.vectors @ C @ coefficients(t, g), g[right])
    some = np.arange(0, 60, 2)
    few = from_vertices(first(s, 8), first(t, 8), right[some], some)
    assert np.allclose(few, from_vertices(first(s, 8), first(t, 8), right), atol=1e-6)


def test_the_sampled_refinement_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, functions, right = turned()
    monkeypatch.setattr("cotherm.limits.MATCHED_VERTICES", 200)
    assert np.mean(ct.match(graphs, functions).hard == right) > 0.9


def test_shares_by_hand() -> None:
    X, Y = np.array([[0.0], [3.0]]), np.array([[3.0], [1.0], [0.0]])
    hard, soft = shares(X, Y, 2)
    assert hard.tolist() == [2, 0]
    rest = np.exp(-3.0)
    assert np.allclose(soft.toarray(), np.array([[0, rest, 1], [1, rest, 0]]) / (1 + rest))


def test_round_trip_by_hand() -> None:
    path = problems.path(4)
    there = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    back = np.array([[0.5, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]])
    found = round_trip(path, sp.csr_array(there), sp.csr_array(back))
    assert found.tolist() == [0.5, 1.0, 1.0, 1.0]


def test_schedule_and_pace() -> None:
    assert schedule(5, 5) == []
    assert schedule(15, 60)[-1] == 60
    assert all(b > a for a, b in zip(schedule(1, 30), schedule(1, 30)[1:], strict=False))
    graph = problems.cloud(50)
    fast = graph_modes(graph.with_weights(8.0 * graph.w), 10)
    assert time_ratio(fast, graph_modes(graph, 10)) == pytest.approx(8.0)
    bare = graph_modes(ct.Graph(5, [], [], []), 3)
    assert time_ratio(bare, bare) == 1.0


def test_functions_and_labels_are_carried() -> None:
    graphs, functions, right = turned()
    found = ct.match(graphs, functions, n_neighbors=1)
    values = np.random.default_rng(3).standard_normal((300, 2))
    agree = found.hard_back == np.argsort(right)
    assert np.allclose(found.transfer(values)[agree], values[np.argsort(right)][agree])
    assert found.transfer(values[:, 0]).shape == (300,)
    words = np.array(["left", "right", "middle"])[np.arange(300) % 3]
    assert np.array_equal(found.transfer(words, to="source"), words[found.hard])
    assert found.transfer(np.arange(300) % 2 == 0).dtype == np.bool_
    soft = ct.match(graphs, functions)
    assert np.allclose(soft.transfer(values, to="source"), soft.soft.toarray() @ values)


def test_file_round_trip(tmp_path: Path) -> None:
    graphs, functions, _ = turned(n=80)
    found = ct.match(graphs, functions)
    found.save(tmp_path / "match.npz")
    again = ct.Match.load(tmp_path / "match.npz")
    assert str(again) == str(found)
    for field in ("hard", "hard_back", "round_trip", "agreement", "functional_map"):
        assert np.array_equal(getattr(again, field), getattr(found, field))
    assert np.array_equal(again.soft.toarray(), found.soft.toarray())
    assert np.array_equal(again.bases[1].vectors, found.bases[1].vectors)
    assert again.settings == found.settings
    found.save(tmp_path / "match.csv")
    rows = np.genfromtxt(tmp_path / "match.csv", delimiter=",", names=True)
    assert rows.dtype.names == ("source", "target", "agreement", "round_trip")
    assert np.array_equal(rows["target"], found.hard)
    assert np.allclose(rows["round_trip"], found.round_trip, atol=1e-5)
    assert np.allclose(rows["agreement"], found.agreement, atol=1e-5)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    graphs, functions, _ = turned(n=80)
    place = tmp_path / "match.npz"
    ct.match(graphs, functions).save(place)
    arrays = dict(np.load(place, allow_pickle=False))
    changed = {
        "hard": arrays["hard"] + 80,
        "agreement": arrays["agreement"][:-1],
        "soft.data": 2.0 * arrays["soft.data"],
        "soft.indptr": arrays["soft.indptr"][::-1],
        "header": np.array("something else"),
    }
    for name, array in changed.items():
        np.savez(place, **(arrays | {name: array}))
        assert name.split(".")[0] in problems.refused(lambda: ct.Match.load(place))
    np.savez(place, **{name: array for name, array in arrays.items() if name != "hard"})
    assert "arrays" in problems.refused(lambda: ct.Match.load(place))


def test_little_graphs_are_matched_somehow() -> None:
    for make in problems.CASES.values():
        graph = make()
        found = ct.match([graph, graph], [np.eye(graph.n)[:, :1]] * 2)
        assert found.hard.shape == (graph.n,)
        assert str(found)


def clouds(noise: float, seed: int = 0) -> list[ct.Graph]:
    random = np.random.default_rng(seed)
    points = random.standard_normal((150, 3))
    return [ct.knn_graph(points + noise * random.standard_normal(points.shape), k=8) for _ in range(2)]


def landmarks(graphs: list[ct.Graph], count: int = 12) -> list[np.ndarray]:
    vertices = np.random.default_rng(1).choice(graphs[0].n, count, replace=False)
    return [ct.landmark_functions(graph, vertices) for graph in graphs]


class TestAgreement:
    def test_it_is_that_of_matches_by_halves(self) -> None:
        graphs = clouds(0.2)
        functions = landmarks(graphs, 7)
        found = ct.match(graphs, functions, n_splits=3)
        near = graphs[1].adjacency().toarray() > 0.0
        np.fill_diagonal(near, True)
        alike, same = [], []
        for halves in random_halves(7, 3):
            assert np.array_equal(np.sort(np.concatenate(halves)), np.arange(7))
            a, b = (ct.match(graphs, [F[:, half] for F in functions], n_splits=0).hard for half in halves)
            alike.append(near[a, b])
            same.append(a == b)
        assert np.allclose(found.agreement, np.mean(alike, axis=0))
        assert found.exact_agreement == pytest.approx(np.mean(same))
        assert found.chance == pytest.approx(near.mean())

    @pytest.mark.parametrize("noise", [0.02, 0.1, 3.0])
    def test_it_is_near_the_truth(self, noise: float) -> None:
        graphs = clouds(noise)
        found = ct.match(graphs, landmarks(graphs))
        near = graphs[1].adjacency().toarray() > 0.0
        np.fill_diagonal(near, True)
        assert abs(found.agreement.mean() - near[found.hard, np.arange(150)].mean()) < 0.2

    def test_a_match_of_graphs_that_have_nothing_in_common_says_so(self) -> None:
        graphs = [clouds(0.0, seed)[0] for seed in (1, 2)]
        found = ct.match(graphs, landmarks(graphs))
        assert found.round_trip.mean() > 0.5  # it leads back all the same
        assert found.status == "no better than chance"
        assert "Do not use this match" in str(found)

    def test_a_place_is_not_a_vertex(self) -> None:
        graphs = list(ct.datasets.ambiguous().graphs)
        found = ct.match(graphs, landmarks(graphs, 20))
        assert found.agreement.mean() >= 0.5 > found.exact_agreement
        assert found.status == "approximate"

    def test_what_cannot_be_judged_is_not(self) -> None:
        graphs, functions, _ = turned(n=80)
        one = [F[:, :1] for F in functions]
        for found in (ct.match(graphs, one), ct.match(graphs, functions, n_splits=0)):
            assert found.status == "not judged"
            assert np.all(np.isnan(found.agreement))
            assert "not judged" in str(found)
        bases = ct.coupled_bases(graphs, functions, k=10)
        assert ct.match(bases).status == "not judged"

    def test_an_empty_cell_for_what_was_not_judged(self, tmp_path: Path) -> None:
        graphs, functions, _ = turned(n=80)
        ct.match(graphs, functions, n_splits=0).save(tmp_path / "m.csv")
        assert (tmp_path / "m.csv").read_text().splitlines()[1].split(",")[2] == ""


GRAPHS, FUNCTIONS, _ = turned(n=60)
FOUND = ct.match(GRAPHS, FUNCTIONS)
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "no functions": (lambda: ct.match(GRAPHS), "functions"),
    "splits": (lambda: ct.match(GRAPHS, FUNCTIONS, n_splits=-1), "n_splits"),
    "functions for one": (lambda: ct.match(GRAPHS, FUNCTIONS[:1]), "functions"),
    "one graph": (lambda: ct.match(GRAPHS[:1], FUNCTIONS[:1]), "graphs"),
    "no graphs": (lambda: ct.match(3, FUNCTIONS), "graphs"),  # type: ignore[arg-type]
    "itself": (lambda: ct.match(GRAPHS, FUNCTIONS, target=0), "target"),
    "a third": (lambda: ct.match(GRAPHS, FUNCTIONS, target=2), "target"),
    "too many modes": (lambda: ct.match(GRAPHS, FUNCTIONS, n_modes=61), "n_modes"),
    "first": (lambda: ct.match(GRAPHS, FUNCTIONS, n_modes=20, n_initial_modes=21), "n_initial_modes"),
    "times": (lambda: ct.match(GRAPHS, FUNCTIONS, times=[-1.0]), "times"),
    "a word for times": (lambda: ct.match(GRAPHS, FUNCTIONS, times="soon"), "times"),
    "n_neighbors": (lambda: ct.match(GRAPHS, FUNCTIONS, n_neighbors=0), "n_neighbors"),
    "refine": (lambda: ct.match(GRAPHS, FUNCTIONS, refine=1), "refine"),  # type: ignore[arg-type]
    "functions beside bases": (lambda: ct.match(ct.align(GRAPHS, FUNCTIONS, k=5), FUNCTIONS), "functions"),
    "matrices": (lambda: ct.match(replace(ct.align(GRAPHS, FUNCTIONS, k=5), originals=(3, 3))), "result"),  # type: ignore[arg-type]
    "rows": (lambda: FOUND.transfer(np.ones(59)), "values"),
    "labels": (lambda: FOUND.transfer(np.arange(59)), "values"),
    "direction": (lambda: FOUND.transfer(np.ones(60), to="there"), "to"),
    "ending": (lambda: FOUND.save("match.txt"), "path"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument
