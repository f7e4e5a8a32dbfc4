"""Functions that differ at t = 0: an automatic α that does no harm, and words that say so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import cotherm as ct
from benchmarks.landmarks import bumps, network_pair
from cotherm.heat.coupling import functions_mismatch, relative_mismatch
from cotherm.methods.coupling.auto import chosen_alpha, useful_strength
from cotherm.methods.coupling.problem import CouplingProblem
from cotherm.methods.coupling.result import STRENGTH
from tests.problems import path, random_graph


def _exact(views: ct.Coupling | list[ct.Graph], functions: list[np.ndarray], truth: np.ndarray) -> float:
    return float(np.mean(ct.match(views, functions, n_splits=0).hard == truth))


def _cut(result: ct.Coupling) -> int:
    return sum(change.counts()["cut"] for change in result.changes())


def test_landmarks_on_a_noisy_network_do_no_harm() -> None:
    """8 % of the edges removed, 4 % added, all defaults: strong coupling cut a third of them and lost the matches."""
    first, second, truth = network_pair("geometric", 0.08, 0.04)
    graphs = [first, second]
    functions = bumps(graphs, truth, 8)
    result = ct.couple(graphs, functions)
    assert _exact(graphs, functions, truth) > 0.6
    assert _exact(result, functions, truth) > _exact(graphs, functions, truth) - 0.03
    assert _cut(result) < 0.02 * (first.m + second.m)
    assert (result.coupling < result.coupling_before).all()
    assert (result.settings["alpha"], result.settings["strength"]) == ("auto", 1.0)
    assert "coupled weakly" in str(result)
    assert "couple the graphs first" not in ct.match(result).advice


def test_matches_of_noisy_networks_stay_about_as_given() -> None:
    """Single ones of a network whose blocks look alike may be a fifth better or worse; strong coupling loses half."""
    changes = []
    for family in ("small world", "blocks", "cliques", "regular"):
        for seed in (1, 2):
            first, second, truth = network_pair(family, 0.08, 0.04, seed)
            graphs = [first, second]
            functions = bumps(graphs, truth, 8, seed)
            result = ct.couple(graphs, functions, options={"tolerance": 1e-3, "continuation": "times"})
            assert result.settings["strength"] < 10.0
            assert _cut(result) < 0.01 * (first.m + second.m)
            changes.append(_exact(result, functions, truth) - _exact(graphs, functions, truth))
    assert np.mean(changes) > -0.02
    assert np.median(changes) > -0.01


@pytest.mark.parametrize("family", ["geometric", "scale-free", "random", "triangles"])
def test_the_same_network_in_another_order_stays_as_it_is(family: str) -> None:
    first, second, truth = network_pair(family, 0.0, 0.0, 3)
    functions = bumps([first, second], truth, 8)
    result = ct.couple([first, second], functions, options={"tolerance": 1e-3, "continuation": "times"})
    assert result.settings["strength"] == STRENGTH
    for new, old in zip(result.graphs, result.originals, strict=True):
        np.testing.assert_allclose(new.w, old.w, rtol=1e-4)
    assert "t = 0" not in str(result)


@given(st.floats(0.0, 2.0))
def test_the_strength_that_a_mismatch_leaves(mismatch: float) -> None:
    strength = useful_strength(mismatch)
    assert 1.0 <= strength <= STRENGTH
    assert strength == 1.0 or np.sqrt(strength) * mismatch <= 0.03 * (1.0 + 1e-12)
    assert strength == STRENGTH or mismatch > 0.03 / np.sqrt(STRENGTH)
    assert useful_strength(1.1 * mismatch) <= strength


@given(st.integers(0, 2**20), st.integers(-900, 900))
def test_mismatch_has_no_units(seed: int, power: int) -> None:
    """Also for numbers whose squares are none."""
    Q = np.random.default_rng(seed).standard_normal((3, 4, 4))
    plain = relative_mismatch(Q)
    pairs = [np.sum((Q[k] - Q[j]) ** 2) for k in range(3) for j in range(k)]
    assert plain == pytest.approx(np.sqrt(np.mean(pairs) / np.mean(np.sum(Q**2, axis=(1, 2)))))
    assert relative_mismatch(Q * 2.0**power) == plain
    assert relative_mismatch(np.zeros((2, 3, 3))) == 0.0
    assert functions_mismatch([2.0**power * F for F in Q]) == relative_mismatch(np.array([F.T @ F for F in Q]))


def test_alpha_is_so_many_times_that_of_equal_weight() -> None:
    graphs = [random_graph(25, 80, 0), random_graph(30, 80, 1)]
    F = np.eye(30)[:, :3]
    functions = [F[:25], F * [1.0, 1.0, 1.002]]
    result = ct.couple(graphs, functions, options={"max_iterations": 1})
    assert 1.0 < result.settings["strength"] < STRENGTH
    free, ones = [np.arange(g.m) for g in graphs], np.ones(2)
    problem = CouplingProblem(
        graphs, functions, np.array(result.times), 1.0, free=free, rigidity=ones, graph_weights=ones
    )
    assert problem.mismatch == pytest.approx(result.mismatch)
    assert result.settings["strength"] == pytest.approx(useful_strength(result.mismatch))
    assert result.alpha == pytest.approx(chosen_alpha(problem) / STRENGTH * result.settings["strength"])


def test_weights_of_functions_count() -> None:
    """A function that differs and hardly counts changes hardly anything."""
    graphs = [path(9), path(9)]
    functions = [np.eye(9)[:, [2, 6]], np.eye(9)[:, [2, 6]] * [1.0, 2.0]]
    weighted = ct.couple(graphs, functions, options={"function_weights": [1.0, 1e-6], "max_iterations": 1})
    assert weighted.settings["strength"] == STRENGTH
    assert ct.couple(graphs, functions, options={"max_iterations": 1}).settings["strength"] == 1.0


def test_what_was_done_is_said_and_kept(tmp_path: Path) -> None:
    graphs = [random_graph(25, 80, 0), random_graph(25, 80, 1)]
    functions = [ct.landmark_functions(graph, [3, 8]) for graph in graphs]
    weak = ct.couple(graphs, functions, options={"max_iterations": 3})
    assert "coupled weakly" in str(weak)
    assert "coupled weakly" in weak._repr_html_()
    weak.save(tmp_path / "weak.npz")
    assert str(ct.Coupling.load(tmp_path / "weak.npz")) == str(weak)
    chosen = ct.couple(graphs, functions, alpha=weak.alpha, options={"max_iterations": 3})
    assert "strength" not in chosen.settings
    assert "lower α" in str(chosen)
    for a, b in zip(weak.graphs, chosen.graphs, strict=True):
        assert_array_equal(a.w, b.w)
    alike = ct.couple(graphs, [functions[0]] * 2, options={"max_iterations": 3})
    assert alike.settings["strength"] == STRENGTH
    assert "t = 0" not in str(alike)


def test_coupling_is_advised_where_it_may_help() -> None:
    """Networks with nothing in common: matches are worthless, and only functions that are alike let coupling help."""
    graphs = [random_graph(60, 200, seed) for seed in (0, 1)]
    marks = [1, 20, 40, 55]
    alike = [np.eye(60)[:, marks]] * 2
    plain = ct.match(graphs, alike)
    assert plain.status in ("no better than chance", "uncertain")
    assert "couple the graphs first" in plain.advice
    coupled = ct.match(ct.couple(graphs, alike, alpha=1.0, options={"max_iterations": 1}))
    assert coupled.status in ("no better than chance", "uncertain")
    assert "couple the graphs first" not in coupled.advice
    own = ct.match(graphs, [ct.landmark_functions(graph, marks) for graph in graphs])
    assert own.status in ("no better than chance", "uncertain")
    assert "couple the graphs first" not in own.advice
