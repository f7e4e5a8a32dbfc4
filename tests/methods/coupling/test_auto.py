"""Times and α chosen from the data: they do the job of numbers chosen by hand, in any units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cotherm as ct
from cotherm.datasets import Views
from cotherm.methods.coupling.auto import chosen_alpha, chosen_times
from cotherm.methods.coupling.problem import CouplingProblem
from paper.data import man
from tests.problems import path, random_graph, refused, ring


def _alpha(graphs: list[ct.Graph], functions: list[np.ndarray], times: np.ndarray) -> float:
    free = [np.arange(g.m) for g in graphs]
    ones = np.ones(len(graphs))
    return chosen_alpha(CouplingProblem(graphs, functions, times, 1.0, free=free, rigidity=ones, graph_weights=ones))


def _wrong_weight_left(views: Views, result: ct.Coupling) -> float:
    assert views.wrong is not None
    before, after = (
        sum(float(g.w[wrong].sum()) for g, wrong in zip(graphs, views.wrong, strict=True))
        for graphs in (views.graphs, result.graphs)
    )
    return after / before


@pytest.mark.parametrize("make", [ct.datasets.ring, ct.datasets.circles, ct.datasets.human], ids=lambda f: f.__name__)
def test_auto_cuts_the_wrong_edges(make: Callable[[], Views]) -> None:
    views = make()
    result = ct.couple(views.graphs, views.functions, times="auto", alpha="auto")
    assert result.converged
    assert _wrong_weight_left(views, result) < 0.02
    assert (result.coupling < 0.01 * result.coupling_before).all()


def test_auto_cuts_the_wrong_edges_of_the_scanned_man(data_file: Callable[[str], Path]) -> None:
    views = man(data=data_file("tosca/michael7.off").parent.parent)
    assert _wrong_weight_left(views, ct.couple(views.graphs, views.functions, "auto", "auto")) < 0.02


def test_auto_brings_views_together_as_numbers_chosen_by_hand_do() -> None:
    """Where classes, not edges, are known: neighbors of the same class, mAP."""
    views = ct.datasets.ambiguous()
    labels = views.labels
    assert labels is not None

    def scores(graphs: tuple[ct.Graph, ...]) -> np.ndarray:
        found = [ct.evaluate.retrieval(ct.diffusion_distance(g, 0.75), labels) for g in graphs]
        return np.array([f.mean_average_precision for f in found])

    by_hand, chosen = (
        scores(
            ct.couple(
                views.graphs, views.functions, times, alpha, options={"continuation": "times", "tolerance": 1e-3}
            ).graphs
        )
        for times, alpha in (([0.2, 0.75], 1e6), ("auto", "auto"))
    )
    assert (chosen > scores(views.graphs) + 0.1).all()
    assert (chosen > by_hand - 0.02).all()


@settings(max_examples=15)
@given(st.integers(0, 2**20), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_units_do_not_matter(seed: int, weight_unit: float, function_unit: float) -> None:
    random = np.random.default_rng(seed)
    graphs = [random_graph(25, 80, seed), random_graph(30, 80, seed + 1)]
    functions = [random.random((g.n, 2)) for g in graphs]
    times = chosen_times(graphs, functions)
    alpha = _alpha(graphs, functions, times)
    heavy = [g.with_weights(weight_unit * g.w) for g in graphs]
    assert chosen_times(heavy, functions) * weight_unit == pytest.approx(times, rel=1e-6)
    assert _alpha(heavy, functions, times / weight_unit) == pytest.approx(alpha * weight_unit**2, rel=1e-6)
    large = [function_unit * F for F in functions]
    assert chosen_times(graphs, large) == pytest.approx(times, rel=1e-6)
    assert _alpha(graphs, large, times) == pytest.approx(alpha / function_unit**4, rel=1e-6)


def test_answers_in_other_units_are_the_same_graphs() -> None:
    views = ct.datasets.ring(30)
    plain = ct.couple(views.graphs, views.functions, "auto", "auto", options={"continuation": "times"})
    heavy = [g.with_weights(1024.0 * g.w) for g in views.graphs]
    other = ct.couple(heavy, [8.0 * F for F in views.functions], "auto", "auto", options={"continuation": "times"})
    assert np.array(other.times) * 1024.0 == pytest.approx(np.array(plain.times))
    for a, b in zip(plain.graphs, other.graphs, strict=True):
        np.testing.assert_allclose(b.w / 1024.0, a.w, atol=1e-4)


def test_the_last_time_is_when_a_fifth_is_left() -> None:
    """On a ring a wave cos(2πkv/n) decays as e^{−tλ}: ‖x‖² is a fifth at t = log 5 / 2λ."""
    n = 64
    wave = np.cos(2.0 * np.pi * np.arange(n) / n)[:, np.newaxis]
    rate = 2.0 - 2.0 * np.cos(2.0 * np.pi / n)
    times = chosen_times([ring(n), ring(n)], [wave, wave])
    assert times[0] == pytest.approx(1.0)  # two moves, degrees of 2
    assert times[-1] == pytest.approx(np.log(5.0) / (2.0 * rate), rel=0.1)  # interpolated between doublings
    np.testing.assert_allclose(times[1:] / times[:-1], (times[-1] / times[0]) ** (1.0 / 3.0))


def test_what_is_chosen_is_recorded(tmp_path: Path) -> None:
    views = ct.datasets.ring(30)
    result = ct.couple(
        views.graphs, views.functions, alpha="auto", options={"continuation": "direct", "max_iterations": 3}
    )
    np.testing.assert_array_equal(result.times, chosen_times(views.graphs, views.functions))
    assert (result.settings["times"], result.settings["alpha"]) == ("auto", "auto")
    result.save(tmp_path / "coupling.npz")
    assert ct.Coupling.load(tmp_path / "coupling.npz").settings == dict(result.settings)
    numbers = ct.couple(
        views.graphs,
        views.functions,
        result.times,
        result.alpha,
        options={"continuation": "direct", "max_iterations": 3},
    )
    assert numbers.settings["times"] == list(result.times)
    for a, b in zip(result.graphs, numbers.graphs, strict=True):
        np.testing.assert_array_equal(a.w, b.w)


def test_where_nothing_can_be_chosen() -> None:
    bare, F = ct.Graph(3, [], [], []), np.eye(3)
    result = ct.couple([bare, bare], [F, F], "auto", "auto")
    assert (result.times, result.alpha, result.status) == ((1.0,), 1.0, "converged")
    chain, even = path(6), np.ones((6, 1))
    times = chosen_times([chain, chain], [even, even])  # constant functions never change
    assert (np.diff(times) > 0.0).all()
    apart = ct.Graph(4, [0, 2], [1, 3], [1.0, 1.0])
    islands = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]).T  # nor do those that are even on every component
    assert chosen_times([apart, apart], [islands, islands])[-1] < 2.0  # as if they had spread at once


def test_heat_that_hardly_spreads_is_not_followed_for_ever() -> None:
    bridge = ct.Graph(6, [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], [1.0, 1.0, 1.0, 1e-9, 1.0, 1.0, 1.0])
    side = np.repeat([1.0, 0.0], 3)[:, np.newaxis]
    assert chosen_times([bridge, bridge], [side, side])[-1] == pytest.approx(2.0**10 / 2.0)


def test_large_graphs_need_no_dense_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a dense decomposition of a large graph")

    monkeypatch.setattr("cotherm.heat.flow.full_spectrum", never)
    monkeypatch.setattr("cotherm.heat.correlation_model._SpectralCorrelation", never)
    small = np.linalg.eigh
    monkeypatch.setattr("numpy.linalg.eigh", lambda A: small(A) if len(A) < 1_000 else never())
    graph = ring(5_000)
    F = ct.landmark_functions(graph, [0, 2_500])
    times = chosen_times([graph, graph], [F, F])
    assert _alpha([graph, graph], [F, F], times) > 0.0


def test_the_defaults_are_auto_at_any_size() -> None:
    for views in (ct.datasets.ring(30), ct.datasets.shortcuts(2_500)):
        plain = ct.couple(views.graphs, views.functions, options={"max_iterations": 1})
        chosen = ct.couple(views.graphs, views.functions, "auto", "auto", options={"max_iterations": 1})
        assert (plain.settings["times"], plain.settings["alpha"]) == ("auto", "auto")
        assert (plain.times, plain.alpha) == (chosen.times, chosen.alpha)


def test_bad_words() -> None:
    views = ct.datasets.ring(20)
    assert refused(lambda: ct.couple(views.graphs, views.functions, "automatic")) == "times"
    assert refused(lambda: ct.couple(views.graphs, views.functions, "auto", "automatic")) == "alpha"
