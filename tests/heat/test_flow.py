"""The laws of heat, analytic spectra, and three ways to the same answer."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse.linalg
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from cotherm.engines.cpu.laplacian import PART
from cotherm.heat import trace
from tests import problems, references
from tests.problems import CASES

SPANS = [0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0]


@pytest.fixture(params=CASES)
def graph(request: pytest.FixtureRequest) -> ct.Graph:
    return CASES[request.param]()


@pytest.mark.parametrize("method", ["exact", "chebyshev"])
class TestLaws:
    """On every case, by both methods. Kernels come from flowing the identity."""

    def kernel(self, graph: ct.Graph, t: float, method: str) -> np.ndarray:
        return ct.heat_flow(graph, np.eye(graph.n), [t], method=method, tolerance=1e-13)[0]

    def test_no_time_no_change(self, graph: ct.Graph, method: str) -> None:
        assert_array_equal(self.kernel(graph, 0.0, method), np.eye(graph.n))

    def test_semigroup(self, graph: ct.Graph, method: str) -> None:
        H = {t: self.kernel(graph, t, method) for t in (0.3, 1.1, 1.4)}
        assert_allclose(H[0.3] @ H[1.1], H[1.4], atol=1e-11)

    # Rounding in a series of 45,307 terms is told from 1e-10 of a column on; with the oldest Numba it is 1.2e-10.
    @pytest.mark.filterwarnings("ignore:heat_flow. of column .* rounding may change:cotherm.CothermWarning")
    def test_rows_sum_to_one(self, graph: ct.Graph, method: str) -> None:
        for t in (0.01, 1.0, 300.0):
            assert_allclose(self.kernel(graph, t, method).sum(axis=1), 1.0, atol=1e-11)

    def test_symmetric(self, graph: ct.Graph, method: str) -> None:
        H = self.kernel(graph, 0.7, method)
        assert_allclose(H, H.T, atol=1e-12)

    def test_eigenvalues_within_zero_and_one(self, graph: ct.Graph, method: str) -> None:
        values = np.linalg.eigvalsh(self.kernel(graph, 0.2 / max(1.0, graph.degrees.max()), method))
        assert values.min() > 0
        assert values.max() <= 1 + 1e-12

    def test_equals_the_matrix_exponential(self, graph: ct.Graph, method: str) -> None:
        for t in (0.05, 2.0):
            assert_allclose(self.kernel(graph, t, method), references.heat_kernel(graph, t), atol=1e-11)

    def test_trace_is_the_sum_over_the_spectrum(self, graph: ct.Graph, method: str) -> None:
        values = np.linalg.eigvalsh(references.laplacian(graph))
        for t in (0.0, 0.5, 20.0):
            expected = np.exp(-t * values).sum()
            assert_allclose(np.trace(self.kernel(graph, t, method)), expected, rtol=1e-10)
            assert_allclose(ct.heat_trace(graph, t), expected, rtol=1e-10)


def test_kernel_is_exactly_symmetric_and_matches(graph: ct.Graph) -> None:
    H = ct.heat_kernel(graph, 0.9)
    assert_array_equal(H, H.T)
    assert_allclose(H, references.heat_kernel(graph, 0.9), atol=1e-11)


def spectrum_through_heat(graph: ct.Graph, t: float) -> np.ndarray:
    """The eigenvalues λ read off the kernel's: −log μ / t."""
    kernel = ct.heat_flow(graph, np.eye(graph.n), [t], method="chebyshev", tolerance=1e-13)[0]
    return np.sort(-np.log(np.linalg.eigvalsh(kernel)) / t)


def test_analytic_spectra() -> None:
    n = 24
    k = np.arange(n)
    cycle = np.sort(2 - 2 * np.cos(2 * np.pi * k / n))
    row = np.sort(2 - 2 * np.cos(np.pi * k / n))
    assert_allclose(spectrum_through_heat(problems.ring(n), 0.5), cycle, atol=1e-10)
    assert_allclose(spectrum_through_heat(problems.path(n), 0.5), row, atol=1e-10)
    short = 2 - 2 * np.cos(np.pi * np.arange(5) / 5)
    long = 2 - 2 * np.cos(np.pi * np.arange(8) / 8)
    sums = np.sort((short[:, np.newaxis] + long).ravel())
    assert_allclose(spectrum_through_heat(problems.grid(5, 8), 0.5), sums, atol=1e-10)


@pytest.mark.parametrize(
    "large",
    [
        pytest.param(lambda: problems.cloud(1_500), id="connected"),
        pytest.param(lambda: problems.random_graph(1_500, 1_000, seed=5), id="many components"),
        pytest.param(lambda: problems.random_graph(1_200, 9_000, seed=6, spread=2.0), id="expander"),
    ],
)
def test_exact_chebyshev_and_scipy_agree(large: object) -> None:
    graph: ct.Graph = large()  # type: ignore[operator]
    L = graph.laplacian().tocsc()
    top = scipy.sparse.linalg.eigsh(L, 1, which="LA", return_eigenvectors=False)[0]
    F = np.random.default_rng(0).standard_normal((graph.n, 3))
    times = np.array(SPANS) / top
    exact = ct.heat_flow(graph, F, times, method="exact")
    chebyshev = ct.heat_flow(graph, F, times, method="chebyshev")
    for k, t in enumerate(times):
        scipys = scipy.sparse.linalg.expm_multiply(-t * L, F)
        for c in range(F.shape[1]):
            size = np.linalg.norm(exact[k, :, c])
            assert np.linalg.norm(chebyshev[k, :, c] - exact[k, :, c]) <= 1e-8 * size
            assert np.linalg.norm(scipys[:, c] - exact[k, :, c]) <= 1e-8 * size


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-10, 1e-12])
def test_tolerance_is_kept_for_every_column_and_time(tolerance: float) -> None:
    graph = problems.random_graph(700, 500, seed=8)
    F = np.random.default_rng(1).standard_normal((graph.n, 4)) * [1.0, 1e-9, 1e9, 1.0]
    times = [0.01, 1.0, 30.0]
    exact = ct.heat_flow(graph, F, times, method="exact")
    error = ct.heat_flow(graph, F, times, method="chebyshev", tolerance=tolerance) - exact
    assert np.all(np.linalg.norm(error, axis=1) <= tolerance * np.linalg.norm(exact, axis=1))


@given(graph=problems.graphs(), t=st.floats(0.0, 50.0), seed=st.integers(0, 99))
def test_any_small_graph(graph: ct.Graph, t: float, seed: int) -> None:
    F = np.random.default_rng(seed).standard_normal((graph.n, 2))
    expected = references.heat_kernel(graph, t) @ F
    for method in ("exact", "chebyshev"):
        assert_allclose(ct.heat_flow(graph, F, t, method=method)[0], expected, atol=1e-7)


HUBS: dict[str, Callable[[], ct.Graph]] = {
    "star": lambda: problems.star(120),
    "joined stars": lambda: problems.joined_stars(2, 70),
    "wheel": lambda: problems.wheel(110),
    "few vertices with most edges": lambda: problems.preferential(130, 20, seed=0),
    "star of weights of very different sizes": lambda: problems.star(110, spread=3.0),
}


def tilted(n: int) -> np.ndarray:
    """Functions that meet a hub in every way: on it, beside it, everywhere of one sign and of both."""
    random = np.random.default_rng(0)
    at = np.arange(n)
    return np.column_stack([at == 0, at == n // 2, random.random(n), random.standard_normal(n)])


@pytest.mark.parametrize("name", HUBS)
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_hubs_keep_the_tolerance_and_the_stated_rounding(name: str, stiffness: float) -> None:
    graph = HUBS[name]()
    assert np.bincount(np.append(graph.i, graph.j)).max() > PART
    F, t = tilted(graph.n), stiffness / graph.degrees.max()
    expected = references.flow_by_squaring(graph, F, t)
    size = np.linalg.norm(expected, axis=0)
    error = np.linalg.norm(ct.heat_flow(graph, F, [t], method="chebyshev")[0] - expected, axis=0)
    assert np.all(error <= 1e-8 * size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.CothermWarning)
        finest = ct.heat_flow(graph, F, [t], method="chebyshev", tolerance=1e-15)[0]
    stated = 2.2e-16 * (16 + np.sqrt(graph.n) + stiffness**0.75) * np.linalg.norm(F, axis=0)
    assert np.all(np.linalg.norm(finest - expected, axis=0) <= stated)


@pytest.mark.parametrize("t", [0.01, 1.0, 20.0])
def test_a_hub_of_many_thousand_neighbors(t: float) -> None:
    """Spectrum 0, 1 (n − 2 times) and n in closed form; no heat is lost or won."""
    n = 50_001
    F = tilted(n)
    apart = F - F.mean(axis=0)
    hub = np.append(n - 1.0, np.full(n - 1, -1.0)) / np.sqrt(n * (n - 1.0))
    beside = apart - np.outer(hub, hub @ apart)
    expected = F.mean(axis=0) + np.exp(-t) * beside + np.exp(-t * n) * np.outer(hub, hub @ apart)
    found = ct.heat_flow(problems.star(n), F, [t])[0]  # no warning, which would be an error
    assert np.all(np.linalg.norm(found - expected, axis=0) <= 1e-8 * np.linalg.norm(expected, axis=0))
    assert_allclose(found.sum(axis=0), F.sum(axis=0), rtol=1e-9)


def test_a_tolerance_that_rounding_does_not_allow_is_told() -> None:
    hub = np.eye(1, 50_001).T
    with pytest.warns(ct.CothermWarning, match="tolerance, 1e-10, allows"):
        ct.heat_flow(problems.star(50_001), hub, [20.0], tolerance=1e-10)


def test_heat_that_has_gone_is_not_promised() -> None:
    """What is left of a dipole is below rounding: the tolerance, of what is left, cannot be kept, and that is said."""
    F = np.eye(600)[:, :1] - np.eye(600)[:, 1:2]
    with pytest.warns(ct.CothermWarning, match="column 0 at t = 1000"):
        ct.heat_flow(problems.random_graph(600, 9_000, seed=0), F, [1e3], method="chebyshev")


def test_any_number_of_columns_and_times() -> None:
    """Panels of every width, times in any order and repeated, against one column and one time at once."""
    graph = problems.cloud(150)
    F = np.random.default_rng(0).standard_normal((150, 37))
    times = [3.0, 0.0, 0.2, 3.0]
    together = ct.heat_flow(graph, F, times, method="chebyshev")
    assert together.shape == (4, 150, 37)
    for q in (1, 2, 7, 16, 17, 33):
        assert_allclose(ct.heat_flow(graph, F[:, :q], times, method="chebyshev"), together[:, :, :q], atol=1e-9)
    for k, t in enumerate(times):
        assert_allclose(ct.heat_flow(graph, F, [t], method="chebyshev")[0], together[k], atol=1e-9)


def test_memory_layout_of_the_functions_does_not_matter() -> None:
    graph = problems.cloud(600)
    F = np.random.default_rng(0).standard_normal((600, 6))
    expected = ct.heat_flow(graph, F, [1.0])
    for other in (np.asfortranarray(F), np.repeat(F, 2, axis=1)[:, ::2], F.tolist()):
        assert_array_equal(ct.heat_flow(graph, other, [1.0]), expected)


@pytest.mark.parametrize("bridge", [1e-6, 1e-12])
def test_no_heat_is_lost_over_a_weak_bridge(bridge: float) -> None:
    cliques = [(a + s, b + s) for s in (0, 20) for a in range(20) for b in range(a)]
    i, j = np.array([*cliques, (0, 20)]).T
    graph = ct.Graph(40, i, j, np.append(np.ones(len(cliques)), bridge))
    assert_allclose(ct.heat_kernel(graph, 10.0 / bridge).sum(axis=1), 1.0, atol=1e-12)


def test_tiny_and_huge_functions_keep_the_tolerance() -> None:
    graph = problems.cloud(700)
    F = np.random.default_rng(0).standard_normal((700, 2))
    expected = ct.heat_flow(graph, F, [1.0], method="chebyshev")
    for scale in (1e-165, 1e200):
        found = ct.heat_flow(graph, scale * F, [1.0], method="chebyshev") / scale
        assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("method", ["exact", "chebyshev"])
@pytest.mark.parametrize("F", [np.ones(60), np.eye(60)[:, :2], np.sign(np.sin(np.arange(60) + 0.5))])
def test_functions_near_the_largest_number_there_is(method: str, F: np.ndarray) -> None:
    huge = np.finfo(float).max
    times = [0.0, 1.0, 100.0]
    found = ct.heat_flow(problems.ring(60), huge * F, times, method=method)
    assert_allclose(found / huge, ct.heat_flow(problems.ring(60), F, times, method=method), atol=1e-7)


def test_very_long_times_on_a_small_graph_are_exact() -> None:
    flow = ct.heat_flow(problems.cloud(1_000), np.eye(1_000)[:, :1], [1e10])
    assert_allclose(flow, 1e-3, rtol=1e-9)


def test_coarse_tolerances_are_accepted() -> None:
    assert ct.heat_flow(problems.cloud(700), np.ones(700), [1.0], tolerance=10.0).shape == (1, 700, 1)


def test_input_is_left_alone_and_output_is_new() -> None:
    graph = problems.cloud(600)
    F = np.random.default_rng(0).standard_normal((600, 3))
    before = F.copy()
    flow = ct.heat_flow(graph, F, [0.0, 1.0])
    flow[:] = 0
    assert_array_equal(F, before)


def test_relabelling_the_vertices_relabels_the_heat() -> None:
    graph = problems.cloud(800)
    F = np.random.default_rng(0).standard_normal((800, 2))
    p = np.random.default_rng(1).permutation(800)  # vertex v becomes p[v]
    moved = ct.Graph(800, p[graph.i], p[graph.j], graph.w)
    G = np.empty_like(F)
    G[p] = F
    assert_allclose(ct.heat_flow(moved, G, [2.0])[0][p], ct.heat_flow(graph, F, [2.0])[0], atol=1e-9)


def test_time_is_not_rescaled() -> None:
    """Twice the weights is twice the time, on any graph."""
    graph = problems.cloud(700)
    F = np.random.default_rng(0).standard_normal((700, 2))
    assert_allclose(ct.heat_flow(graph.with_weights(2 * graph.w), F, [1.5]), ct.heat_flow(graph, F, [3.0]), atol=1e-8)


def test_same_input_same_bits() -> None:
    graph = problems.cloud(5_000)
    F = np.random.default_rng(0).standard_normal((5_000, 8))
    assert_array_equal(ct.heat_flow(graph, F, [1.0, 4.0]), ct.heat_flow(graph, F, [1.0, 4.0]))


def test_huge_and_tiny_weights_stay_finite() -> None:
    for scale in (1e-280, 1e-30, 1e30, 1e280):
        graph = problems.ring(600)
        graph = graph.with_weights(graph.w * scale)
        flow = ct.heat_flow(graph, np.eye(600)[:, :2], [1.0 / scale], method="chebyshev")
        assert_allclose(flow, ct.heat_flow(problems.ring(600), np.eye(600)[:, :2], [1.0]), atol=1e-8)


def test_method_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="cotherm")
    ct.heat_flow(problems.ring(30), np.ones(30), [1.0])
    ct.heat_flow(problems.ring(3_000), np.ones(3_000), [1.0])
    assert [("exact" in r.message, "Chebyshev" in r.message) for r in caplog.records] == [
        (True, False),
        (False, True),
    ]


def test_trace_estimate_on_a_large_graph() -> None:
    graph = problems.ring(5_000)
    t = np.array([0.0, 0.5, 3.0, 40.0])
    values = 2 - 2 * np.cos(2 * np.pi * np.arange(5_000) / 5_000)
    expected = np.exp(-t[..., np.newaxis] * values).sum(axis=-1)
    error = np.sqrt(2 * np.exp(-2 * t[..., np.newaxis] * values).sum(axis=-1) / 64)
    estimate = ct.heat_trace(graph, t)
    assert estimate.shape == t.shape
    assert np.all(np.abs(estimate - expected) <= 4 * error + 1e-6 * expected)


BAD_FLOWS = {
    "F with too few rows": ({"F": np.ones((3, 2))}, "F"),
    "F transposed": ({"F": np.ones((2, 4))}, "F"),
    "F with three dimensions": ({"F": np.ones((4, 2, 2))}, "F"),
    "F with NaN": ({"F": [1, np.nan, 0, 0]}, "F"),
    "F infinite": ({"F": [1, np.inf, 0, 0]}, "F"),
    "F complex": ({"F": np.ones(4, complex)}, "F"),
    "F of strings": ({"F": ["a", "b", "c", "d"]}, "F"),
    "F ragged": ({"F": [[1.0], [1.0, 2.0], [1.0], [1.0]]}, "F"),
    "F masked": ({"F": np.ma.masked_equal([1.0, 2.0, 3.0, 4.0], 2.0)}, "F"),
    "F sparse": ({"F": scipy.sparse.eye_array(4)}, "F"),
    "negative time": ({"times": [1.0, -0.5]}, "times"),
    "no times": ({"times": []}, "times"),
    "NaN time": ({"times": [np.nan]}, "times"),
    "times of two dimensions": ({"times": [[1.0]]}, "times"),
    "infinite time": ({"times": np.inf}, "times"),
    "time in words": ({"times": "now"}, "times"),
    "a truth for a time": ({"times": True}, "times"),
    "truths for times": ({"times": [True, False]}, "times"),
    "unknown method": ({"method": "magic"}, "method"),
    "zero tolerance": ({"tolerance": 0.0}, "tolerance"),
    "tolerance in words": ({"tolerance": "tight"}, "tolerance"),
    "a matrix for a graph": ({"graph": np.eye(4)}, "graph"),
}


@pytest.mark.parametrize(("changes", "argument"), BAD_FLOWS.values(), ids=BAD_FLOWS.keys())
def test_bad_input(changes: dict[str, object], argument: str) -> None:
    good: dict[str, object] = {"graph": problems.ring(4), "F": np.ones(4), "times": [1.0]}
    with pytest.raises(ct.CothermError) as caught:
        ct.heat_flow(**{**good, **changes})  # type: ignore[arg-type]
    assert caught.value.argument == argument
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("times", [[[1.0], [1.0, 2.0]], [-1.0], [], "now", [np.nan]])
def test_bad_times_of_a_trace(times: object) -> None:
    with pytest.raises(ct.CothermError, match="times"):
        ct.heat_trace(problems.ring(5), times)  # type: ignore[arg-type]


def test_weights_too_small_to_divide_by_are_refused() -> None:
    graph = problems.ring(600)
    with pytest.raises(ct.CothermError, match="Rescale"):
        ct.heat_flow(graph.with_weights(graph.w * 1e-300), np.ones(600), [1.0])


def test_dense_kernel_of_a_large_graph_is_refused() -> None:
    with pytest.raises(ct.CothermError, match="heat_flow"):
        ct.heat_kernel(problems.ring(30_000), 1.0)


@pytest.mark.parametrize("t", [1e12, 1e308])
def test_times_too_long_are_named_as_the_caller_knows_them(t: float) -> None:
    graph = problems.ring(5_000)
    calls: dict[str, Callable[[], object]] = {
        "times": lambda: ct.heat_flow(graph, np.ones(5_000), [0.0, t]),
        "t": lambda: ct.heat_kernel(graph, t),
        "time": lambda: ct.landmark_functions(graph, [0], time=t),
    }
    for argument, call in calls.items():
        with pytest.raises(ct.CothermError, match="at most 2e\\+09") as caught:
            call()
        assert caught.value.argument == argument
        assert ("method" in caught.value.advice) == (argument == "times")


def test_an_infinite_time_is_not_missing_data() -> None:
    with pytest.raises(ct.CothermError, match="inf at position 1") as caught:
        ct.heat_flow(problems.ring(4), np.ones(4), [1.0, np.inf])
    assert "impute" not in str(caught.value)


def test_the_exact_method_knows_its_limits() -> None:
    with pytest.raises(ct.CothermError, match="method: 'exact' for 200000 vertices: dense matrices of 960 GB"):
        ct.heat_flow(problems.ring(200_000), np.ones(200_000), [1.0], method="exact")


@pytest.mark.parametrize("n", [50, 2_100])
def test_traces_at_many_times_are_found_in_parts(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = problems.ring(n)
    times = np.linspace(0.0, 3.0, 200)
    whole = ct.heat_trace(graph, times, probes=20)
    monkeypatch.setattr(trace, "_AT_ONCE", 7 * n)
    tracemalloc.start()
    found = ct.heat_trace(graph, times, probes=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(found, whole, rtol=1e-7)
    assert peak < 8 * len(times) * n * 16 / 4 or n == 50
