"""Numbers as small and as large as floats are: every public verb gives an answer or names what it cannot use.

Warnings are errors, so none may escape either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cotherm as ct
from tests import references

WEIGHTS = [0.0, 1e-308, 1e-300, 1e-200, 1e-161, 1e-155, 1e-17, 1.0, 1e17, 1e155, 1e200, 1e290]
TIMES = [0.0, 1e-300, 1e-160, 1e-17, 1.0, 1e10, 1e17, 1e160, 1e300]
SIZES = [1e-300, 1e-200, 1e-160, 1e-100, 1.0, 1e100, 1e160, 1e200]


class Case:
    """Two graphs on the same edges, one on others, functions on all, times: of any sizes, each ordinary as often."""

    def __init__(self, seed: int) -> None:
        self.random = random = np.random.default_rng(seed)
        self.graph, self.other = self._graph(), self._graph()
        self.again = self.graph.with_weights(random.random(self.graph.m) * random.choice(WEIGHTS))
        q = int(random.integers(1, 3))
        self.F, self.G, self.again_F = (self._functions(g.n, q) for g in (self.graph, self.other, self.graph))
        self.times = random.choice(TIMES if random.random() < 0.6 else [0.1, 1.0, 10.0], 2)
        self.t = float(self.times[0])
        self.points = random.standard_normal((8, 2)) * self._size()
        self.alpha = float(random.choice([1e-10, 1.0, 1e6]))

    @property
    def pair(self) -> tuple[list[ct.Graph], list[np.ndarray]]:
        return [self.graph, self.other], [self.F, self.G]

    @property
    def same(self) -> list[ct.Graph]:
        return [self.graph, self.again]

    def _size(self) -> float:
        return float(self.random.choice(SIZES)) if self.random.random() < 0.3 else 1.0

    def _functions(self, n: int, q: int) -> np.ndarray:
        F = self.random.standard_normal((n, q))
        return (np.abs(F) if self.random.random() < 0.5 else F) * self._size()

    def _graph(self) -> ct.Graph:
        random = self.random
        n = int(random.integers(1, 7))
        pairs = [(a, b) for a in range(n) for b in range(a) if random.random() < 0.7]
        i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        m = len(i)
        kinds: list[Callable[[], Any]] = [
            lambda: np.full(m, random.choice(WEIGHTS)),
            lambda: random.choice(WEIGHTS, m),
            lambda: random.random(m) * random.choice(WEIGHTS),
            lambda: 10.0 ** random.uniform(-30, 5, m),
            lambda: random.random(m),
            lambda: random.random(m),
        ]
        return ct.Graph(n, i, j, kinds[random.integers(len(kinds))]())


VERBS: dict[str, Callable[[Case], Any]] = {
    "heat_flow": lambda c: ct.heat_flow(c.graph, c.F, c.times),
    "heat_flow by series": lambda c: ct.heat_flow(c.graph, c.F, c.times, method="chebyshev"),
    "heat_kernel": lambda c: ct.heat_kernel(c.graph, c.t),
    "heat_trace": lambda c: ct.heat_trace(c.graph, c.times),
    "coupling_error": lambda c: ct.coupling_error(*c.pair, c.times),
    "strong coupling_error": lambda c: ct.coupling_error(
        c.same, [c.F, c.again_F], c.times, correspondence=np.arange(c.graph.n)
    ),
    "diffusion_distance": lambda c: ct.diffusion_distance(c.graph, c.t),
    "nearest": lambda c: ct.diffusion_distance(c.graph, c.t, nearest=1).distances,
    "diffusion_map": lambda c: ct.diffusion_map(c.graph, c.t, k=1),
    "landmark_functions": lambda c: ct.landmark_functions(c.graph, [0]),
    "landmark_functions at a time": lambda c: ct.landmark_functions(c.graph, [0], time=c.t),
    "landmark_functions that cover": lambda c: ct.landmark_functions(c.graph, [0], cover=0.5),
    "feature_functions": lambda c: ct.feature_functions(c.graph, c.F),
    "feature_functions at a time": lambda c: ct.feature_functions(c.graph, c.F, time=c.t),
    "couple": lambda c: ct.couple(*c.pair, c.times, c.alpha, options={"max_iterations": 8}),
    "couple by itself": lambda c: ct.couple(c.same, [c.F, c.again_F], "auto", "auto", options={"max_iterations": 5}),
    "coupling_memory": lambda c: ct.coupling_memory(*c.pair),
    "average": lambda c: ct.average(c.same),
    "closest_commuting": lambda c: ct.closest_commuting(c.same),
    "joint_diagonalize": lambda c: ct.joint_diagonalize(c.same),
    "coupled_bases": lambda c: ct.coupled_bases(*c.pair, k=1),
    "align": lambda c: ct.align(*c.pair, k=1),
    "match": lambda c: ct.match(*c.pair),
    "knn_graph": lambda c: ct.knn_graph(c.points, 2),
    "nearest_neighbors": lambda c: ct.nearest_neighbors(c.points, 2).distances,
}


@pytest.mark.filterwarnings("ignore:heat_flow:cotherm.CothermWarning")
@pytest.mark.parametrize("verb", VERBS)
@settings(derandomize=True, max_examples=40, database=None)
@given(seed=st.integers(0, 10**6))
def test_an_answer_or_a_refusal(verb: str, seed: int) -> None:
    try:
        answer = VERBS[verb](Case(seed))
    except ct.CothermError:
        return
    if isinstance(answer, np.ndarray):
        assert np.all(np.isfinite(answer))
    if isinstance(answer, ct.Coupling):
        assert np.isfinite(answer.cost)
        assert_allclose(answer.cost, answer.distance + answer.alpha * np.sum(answer.coupling**2), rtol=1e-9)


@settings(derandomize=True, max_examples=60, database=None)
@given(seed=st.integers(0, 10**6))
def test_heat_is_right(seed: int) -> None:
    """Against whole numbers, wherever these are not too many."""
    case = Case(seed)
    for x, t in zip(ct.heat_flow(case.graph, case.F, case.times), case.times, strict=True):
        if float(t) < 1e60 / max(float(case.graph.w.max(initial=0.0)), 1e-240):
            unit = np.abs(case.F).max()
            expected = references.exact_heat_kernel(case.graph, float(t)) @ (case.F / unit)
            assert_allclose(x / unit, expected, atol=1e-9)


@pytest.mark.parametrize(
    ("weight", "t"), [(1e-161, 1.0), (1e-200, 1e200), (1e120, 1.0), (1e290, 1e-290), (5e-324, 1.0)]
)
def test_couplings_whose_distance_is_no_number_are_refused(weight: float, t: float) -> None:
    graphs = [ct.Graph(3, [0, 1], [1, 2], [weight, 0.5 * weight]), ct.Graph(3, [0, 1], [1, 2], [weight, weight])]
    with pytest.raises(ct.CothermError) as caught:
        ct.couple(graphs, [np.eye(3)[:, :2]] * 2, [t])
    assert caught.value.argument == "graphs"
