"""Coupling by pairs of items, as a user meets it."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from cotherm.progress import Meter
from tests import problems
from tests.problems import nested, refused

RNG = np.random.default_rng(0)


def permuted(graph: ct.Graph, seed: int = 0) -> ct.Graph:
    """The same graph with other names of its vertices: as a view it has nothing in common with the graph."""
    order = np.random.default_rng(seed).permutation(graph.n)
    return ct.Graph(graph.n, order[graph.i], order[graph.j], graph.w, name="noise")


def clustered(seed: int, n: int = 120, noise: float = 1.0) -> ct.Graph:
    """A view of n items in six groups, seen with noise of its own."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(99).standard_normal((6, 5)) * 2.0
    return ct.knn_graph(centers[np.arange(n) % 6] + noise * rng.standard_normal((n, 5)), k=10)


def precision(graph: ct.Graph) -> float:
    """Mean average precision of the groups by diffusion distances."""
    distances = ct.diffusion_distance(graph, 8.0 / np.median(graph.degrees))
    return float(ct.evaluate.retrieval(distances, np.arange(graph.n) % 6).mean_average_precision)


@pytest.fixture(scope="module")
def pair() -> ct.Coupling:
    return ct.couple_pairs([clustered(1, noise=1.6), clustered(2, noise=2.2)])


def test_no_label_is_needed_to_gain(pair: ct.Coupling) -> None:
    before, after = ([precision(graph) for graph in views] for views in (pair.originals, pair.graphs))
    assert min(np.subtract(after, before)) > 0.0
    assert np.mean(np.subtract(after, before)) > 0.03


def test_agreement_is_reported(pair: ct.Coupling) -> None:
    assert pair.pairs is not None
    (found,) = pair.pairs.agreement
    assert found.views == (0, 1)
    assert found.shared == 120
    assert found.kept_back >= 90
    assert found.after > found.before > 1.5 * found.chance
    assert found.coupled
    assert not pair.pairs.notes
    assert "borrowed  coupled" in str(pair)


def test_results_are_valid_and_repeatable(pair: ct.Coupling) -> None:
    again = ct.couple_pairs([clustered(1, noise=1.6), clustered(2, noise=2.2)])
    for one, two in zip(pair.graphs, again.graphs, strict=True):
        assert one.is_valid()
        assert_array_equal(one.w, two.w)


def test_save_and_load(pair: ct.Coupling, tmp_path: Any) -> None:
    pair.save(tmp_path / "pairs.npz")
    loaded = ct.Coupling.load(tmp_path / "pairs.npz")
    assert loaded.pairs is not None
    assert pair.pairs is not None
    assert loaded.pairs.agreement == pair.pairs.agreement
    assert_array_equal(loaded.pairs.table, pair.pairs.table)
    assert str(loaded) == str(pair)


def test_a_view_with_nothing_in_common_is_left_alone() -> None:
    views = [clustered(1, noise=1.6), permuted(clustered(2, noise=1.6)), clustered(3, noise=2.2)]
    result = ct.couple_pairs(views)
    assert result.pairs is not None
    assert_array_equal(result.graphs[1].w, views[1].w)
    (note,) = result.pairs.notes
    assert note.startswith("noise has nothing in common with the others beyond chance (p = ")
    assert note.endswith(") and was left as it is.")
    assert [one.coupled for one in result.pairs.agreement] == [False, True, False]
    assert precision(result.graphs[0]) > precision(views[0])
    assert precision(result.graphs[2]) > precision(views[2])


def test_two_views_with_nothing_in_common_are_both_left_as_they_are() -> None:
    views = [clustered(1), permuted(clustered(2))]
    result = ct.couple_pairs(views)
    assert result.pairs is not None
    for given, kept in zip(views, result.graphs, strict=True):
        assert_array_equal(kept.w, given.w)
    assert len(result.pairs.notes) == 2
    assert result.pairs.shares == (0.0, 0.0)


def test_order_of_vertices_does_not_matter() -> None:
    views = [clustered(1), clustered(2)]
    order = np.random.default_rng(4).permutation(120)
    place = np.argsort(order)
    shuffled = ct.Graph(120, place[views[1].i], place[views[1].j], views[1].w)
    same = ct.couple_pairs(views, options={"kept_back": 0.0, "tolerance": 1e-9})
    by_index = ct.couple_pairs(
        [views[0], shuffled], [order, np.arange(120)], options={"kept_back": 0.0, "tolerance": 1e-9}
    )
    expected, found = (np.sort(result.graphs[0].w) for result in (same, by_index))
    assert_allclose(found, expected, atol=1e-3 * expected.max())


def test_units_do_not_matter() -> None:
    views = [clustered(1), clustered(2)]
    scaled = [views[0], views[1].with_weights(1000.0 * views[1].w)]
    plain, large = (
        ct.couple_pairs(graphs, options={"kept_back": 0.0, "tolerance": 1e-9}) for graphs in (views, scaled)
    )
    assert_allclose(large.graphs[1].w / 1000.0, plain.graphs[1].w, rtol=1e-3, atol=1e-5)


def test_cohorts_that_overlap_in_part() -> None:
    """Three views of different sizes; the overlap differs from pair to pair, and some items are in one view only."""
    whole = [clustered(seed, 150, noise=1.8) for seed in (1, 2, 3)]
    members = [np.arange(0, 110), np.arange(40, 150), np.concatenate([np.arange(0, 60), np.arange(90, 150)])]
    views, table = [], np.full((150, 3), -1)
    for k, (graph, rows) in enumerate(zip(whole, members, strict=True)):
        keep = np.full(150, -1)
        keep[rows] = np.arange(len(rows))
        used = (keep[graph.i] >= 0) & (keep[graph.j] >= 0)
        views.append(ct.Graph(len(rows), keep[graph.i[used]], keep[graph.j[used]], graph.w[used]))
        table[rows, k] = np.arange(len(rows))
    result = ct.couple_pairs(views, table)
    assert result.pairs is not None
    assert [one.shared for one in result.pairs.agreement] == [70, 80, 80]
    assert all(one.coupled for one in result.pairs.agreement)
    assert [graph.n for graph in result.graphs] == [110, 110, 120]


def test_functions_beside_the_pairs() -> None:
    views = [clustered(1), clustered(2)]
    labels = ct.label_functions(np.arange(120) % 6)
    half = [np.arange(60), np.arange(60)]
    result = ct.couple_pairs(views, half, functions=[labels, labels], borrow=0.0, options={"kept_back": 0.0})
    assert result.mismatch < 1e-12
    assert result.functions[0].shape[1] > labels.shape[1]
    without = ct.couple_pairs(views, half, borrow=0.0, options={"kept_back": 0.0})
    unpaired = np.arange(120) >= 60
    gaps = [np.linalg.norm((one.graphs[0].w - views[0].w)[unpaired[views[0].i]]) for one in (result, without)]
    assert gaps[0] > gaps[1]  # labels reach the items that no pair reaches


def test_borrowed_weight_comes_from_edges_that_the_other_view_bears_out() -> None:
    """Half of the weight borrowed and no coupling to speak of: totals stay, edges of both views, wrong ones weaker."""
    views = [clustered(1, noise=1.8), clustered(2, noise=1.8)]
    result = ct.couple_pairs(views, borrow=0.5, alpha=1e-9, options={"kept_back": 0.0})
    labels = np.arange(120) % 6
    for given, graph in zip(views, result.graphs, strict=True):
        assert_allclose(graph.w.sum(), given.w.sum(), rtol=0.05)
        wrong = [float(one.w[labels[one.i] != labels[one.j]].sum() / one.w.sum()) for one in (given, graph)]
        assert wrong[1] < wrong[0]
        assert np.sum(graph.w > 0.0) > given.m


def test_callback_stops_the_search() -> None:
    steps: list[ct.Step] = []

    def stop(step: ct.Step) -> bool:
        steps.append(step)
        return len(steps) == 3

    result = ct.couple_pairs([clustered(1), clustered(2)], options={"kept_back": 0.0}, callback=stop)
    assert result.status == "interrupted"
    assert len(result.history) == 3
    assert steps[-1].cost <= steps[0].cost


def interrupt_at(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """A keyboard interrupt at a step, counted over all couplings of a call."""
    done: list[object] = []

    def show(self: Meter, **figures: float) -> None:
        done.append(figures)
        if len(done) == steps:
            raise KeyboardInterrupt

    monkeypatch.setattr(Meter, "show", show)


def test_an_interrupt_while_trying_returns_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    views = [clustered(1), clustered(2)]
    interrupt_at(monkeypatch, 3)
    result = ct.couple_pairs(views)
    assert result.status == "interrupted"
    assert result.pairs is not None
    assert "Interrupted before" in result.pairs.notes[-1]
    assert result.pairs.agreement[0].kept_back == 0  # nothing was measured yet
    assert len(result.history) == 3
    assert not np.array_equal(result.graphs[0].w, result.originals[0].w)
    assert result.history[-1]["cost"] < result.history[0]["cost"]
    assert result.coupling.max() < result.coupling_before.max()


def test_an_interrupt_of_the_second_trial_returns_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first was finished, and its pairs kept back were looked at."""
    views = [clustered(1), clustered(2)]
    begun: list[str] = []

    def advance(self: Meter, label: str, **figures: float) -> None:
        begun.append(label)
        if label.startswith("trial coupling 2 of"):
            raise KeyboardInterrupt

    monkeypatch.setattr(Meter, "advance", advance)
    result = ct.couple_pairs(views)
    stages = [label for label in begun if "coupling" in label]
    assert "trial coupling 2 of" in stages[-1]
    assert result.status == "interrupted"
    assert result.pairs is not None
    assert result.pairs.agreement[0].kept_back > 0


@pytest.mark.parametrize("seconds", [1e-9, 1e9])
def test_time_limits(seconds: float) -> None:
    views = [clustered(1), clustered(2)]
    result = ct.couple_pairs(views, max_seconds=seconds)
    free = ct.couple_pairs(views)
    assert result.pairs is not None
    assert result.settings["max_seconds"] == seconds
    if seconds > 1.0:
        assert result.status == free.status
        assert_allclose(result.graphs[0].w, free.graphs[0].w)
    else:
        assert result.status == "time limit"
        assert not result.history
        assert result.pairs.notes == ("Time was too short to prepare the coupling: all views were left as they are.",)
        assert "max_seconds" in result.advice
        assert_array_equal(result.graphs[0].w, views[0].w)
        assert "The cost was not computed." in str(result)
        assert str(ct.couple_pairs(views, max_seconds=seconds).common_graph())


def test_time_that_ends_in_the_first_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial ends after a step, and so does the coupling by all pairs."""
    monkeypatch.setattr("cotherm.methods.coupling.search.time", SimpleNamespace(perf_counter=lambda: np.inf))
    result = ct.couple_pairs([clustered(1), clustered(2)], max_seconds=100.0)
    assert result.status == "time limit"
    assert len(result.history) == 1
    assert result.pairs is not None
    assert "Time was too short to measure all agreement" in result.pairs.notes[-1]


def test_an_interrupt_before_the_first_step_ends_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cotherm.methods.coupling.problem.Problem.at", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ct.couple_pairs([clustered(1), clustered(2)])


def test_equal_graphs_stay() -> None:
    graph = clustered(1)
    result = ct.couple_pairs([graph, graph])
    for coupled in result.graphs:
        assert_allclose(coupled.w, graph.w, atol=1e-8)


@pytest.mark.parametrize("few", [2, 5, 12, 19])
def test_few_pairs_do_no_harm(few: int) -> None:
    """Too few to tell whether views are related: they are coupled only if that is asked for."""
    views = [clustered(1), clustered(2)]
    result = ct.couple_pairs(views, [range(few), range(few)])
    assert result.pairs is not None
    for given, kept in zip(views, result.graphs, strict=True):
        assert_array_equal(kept.w, given.w)
    assert not result.pairs.agreement[0].coupled
    assert len(result.pairs.notes) == 2
    assert all(f"shares {few} items" in note and "include_unrelated" in note for note in result.pairs.notes)
    asked = ct.couple_pairs(views, [range(few), range(few)], options={"include_unrelated": True})
    assert asked.pairs is not None
    assert asked.pairs.n_modes >= 1
    assert asked.pairs.agreement[0].coupled
    assert all(graph.is_valid() for graph in asked.graphs)


def laplacian_distance(first: ct.Graph, second: ct.Graph) -> float:
    return float(np.sum((first.laplacian() - second.laplacian()).toarray() ** 2))


def test_figures_are_about_the_graphs_that_were_given(pair: ct.Coupling) -> None:
    """Although the search begins after borrowing."""
    given = [clustered(1, noise=1.6), clustered(2, noise=2.2)]
    for original, graph, coupled in zip(pair.originals, given, pair.graphs, strict=True):
        assert original is not coupled
        assert_array_equal(
            np.column_stack([original.i, original.j, original.w]), np.column_stack([graph.i, graph.j, graph.w])
        )
        assert coupled.m > graph.m
        assert_array_equal(coupled.edges[: graph.m], graph.edges)
    assert_allclose(pair.distance, sum(map(laplacian_distance, given, pair.graphs)))
    assert_allclose(pair.cost, pair.distance + pair.alpha * np.sum(pair.coupling**2))
    unchanged = ct.couple_pairs(given, times=pair.times, alpha=1e-9, borrow=0.0, options={"kept_back": 0.0})
    assert_allclose(pair.coupling_before, unchanged.coupling_before)
    changes = pair.changes()[0]
    assert_array_equal(changes.before[: given[0].m], given[0].w)
    assert set(changes.kind[given[0].m :]) <= {"switched on", "kept"}


def test_the_printed_cost_adds_up(pair: ct.Coupling) -> None:
    found = re.search(r"cost (\S+) = distance (\S+) \+ (\S+), coupling times α", str(pair))
    assert found is not None
    cost, distance, coupling = map(float, found.groups())
    assert_allclose(distance + coupling, cost, rtol=1e-5)


@pytest.mark.parametrize("rigid", [0, 1])
def test_a_rigid_view_is_held(rigid: int) -> None:
    views, rigidity = [clustered(1), clustered(2)], np.ones(2)
    rigidity[rigid] = 1e12
    result = ct.couple_pairs(views, options={"rigidity": rigidity})
    assert_allclose(result.graphs[rigid].w, views[rigid].w, atol=1e-9)
    assert not np.allclose(result.graphs[1 - rigid].w[: views[1 - rigid].m], views[1 - rigid].w)
    assert result.pairs is not None
    assert result.pairs.shares[rigid] == 0.0 < result.pairs.shares[1 - rigid]


def test_rigidity_is_relative() -> None:
    views = [clustered(1), clustered(2)]
    one, two = (
        ct.couple_pairs(views, options={"rigidity": c * np.array([4.0, 1.0]), "kept_back": 0.0}) for c in (1.0, 8.0)
    )
    assert one.pairs is not None
    assert_allclose(one.pairs.shares[0], one.pairs.shares[1] / 4.0)
    assert_allclose(two.graphs[0].w, one.graphs[0].w, atol=1e-3)


def test_what_was_not_measured_is_not_zero(tmp_path: Any) -> None:
    result = ct.couple_pairs([clustered(1), clustered(2)], options={"kept_back": 0.0})
    result.save(tmp_path / "result.npz")
    for one in (result, ct.Coupling.load(tmp_path / "result.npz")):
        assert one.pairs is not None
        (row,) = one.pairs.agreement
        assert row.kept_back == 0
        assert np.isnan([row.before, row.after, row.chance]).all()
        assert " - " in str(one)


@pytest.mark.parametrize("alpha", ["auto", 1e-9, 1e6])
def test_converged_means_that_gradients_balance(alpha: float | str) -> None:
    result = ct.couple_pairs(
        [clustered(1), clustered(2)], alpha=alpha, options={"kept_back": 0.0, "max_iterations": 10_000}
    )
    assert (result.status == "converged") == (result.optimality <= 0.1)


def test_pieces_on_which_every_mode_is_constant() -> None:
    """No weight changes such heat. The strength was once 10⁴⁷ there."""
    starts = np.arange(0, 200, 4)
    pieces = ct.Graph(200, starts, starts + 1, np.ones(50))
    result = ct.couple_pairs([pieces, pieces])
    assert result.status == "converged"
    assert result.optimality == 0.0
    assert result.alpha < 1e3
    assert result.pairs is not None
    assert any("coupling has no effect" in note for note in result.pairs.notes)


def test_graphs_in_pieces_and_without_edges() -> None:
    pieces = ct.Graph(30, np.arange(0, 30, 3), np.arange(1, 30, 3), np.ones(10))
    empty = ct.Graph(30, [], [], [])
    for views in ([pieces, pieces], [pieces, empty], [empty, empty], [problems.path(30), empty]):
        result = ct.couple_pairs(views)
        assert all(graph.is_valid() for graph in result.graphs)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"pairs": "others"}, "pairs"),
        ({"n_modes": 0}, "n_modes"),
        ({"n_modes": 120}, "n_modes"),
        ({"n_modes": "many"}, "n_modes"),
        ({"times": [0.0]}, "times"),
        ({"times": [-1.0]}, "times"),
        ({"alpha": -1.0}, "alpha"),
        ({"borrow": 1.5}, "borrow"),
        ({"borrow": "yes"}, "borrow"),
        ({"rigidity": [1.0]}, "rigidity"),
        ({"kept_back": 0.7}, "kept_back"),
        ({"random_state": -1}, "random_state"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"callback": 3}, "callback"),
        ({"options": {"kept": 0.1}}, "options"),
        ({"engine": "abacus"}, "engine"),
        ({"functions": [np.ones((120, 1))]}, "functions"),
    ],
)
def test_arguments_that_cannot_be_used(arguments: dict[str, Any], wrong: str) -> None:
    views = [clustered(1), clustered(2)]
    assert refused(lambda: ct.couple_pairs(views, **nested(**arguments))) == wrong


def test_single_graphs_are_refused() -> None:
    assert refused(lambda: ct.couple_pairs([clustered(1)])) == "graphs"
