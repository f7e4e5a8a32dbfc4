"""The interface of engines is complete, and kernels do what it says: all runs on two more engines.

One is in plain NumPy, the other that for GPUs, whose kernels run on the processor here: see ``emulated/device.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm.engines import default_engine, get_engine
from cotherm.engines.interface import Engine
from cotherm.heat.distance import pairwise_distances
from paper.data import man, nus
from tests import problems
from tests.engines.emulated.device import emulated_engine
from tests.engines.numpy_engine import NUMPY, DeviceArray
from tests.problems import refused

CPU = default_engine()
GRAPH = problems.random_graph(30, 80, seed=3)


@pytest.fixture(params=["numpy", "gpu"])
def other(request: pytest.FixtureRequest) -> Engine:
    return NUMPY if request.param == "numpy" else emulated_engine()


def both(other: Engine, kernel: str, *arguments: Any) -> None:
    """The kernel gives the same on both engines; functions among the arguments make them for an engine."""
    cpu, found = (engine.to_numpy(result(engine, kernel, arguments)) for engine in (CPU, other))
    assert_allclose(cpu, found, atol=1e-12)


def result(engine: Engine, kernel: str, arguments: tuple[Any, ...]) -> Any:
    made = [argument(engine) if callable(argument) else argument for argument in arguments]
    return getattr(engine, kernel)(*made)


def device(x: np.ndarray) -> Any:
    return lambda engine: engine.asarray(x)


def pattern(engine: Engine) -> Any:
    return engine.pattern(GRAPH.n, GRAPH.i, GRAPH.j)


def laplacian(engine: Engine) -> Any:
    return engine.laplacian(pattern(engine), engine.asarray(GRAPH.w))


RNG = np.random.default_rng(0)
F = RNG.standard_normal((GRAPH.n, 3))
EDGES = RNG.standard_normal((GRAPH.m, 4))
ORDER = 12


def test_vectors(other: Engine) -> None:
    d, e = RNG.standard_normal((2, GRAPH.m))
    both(other, "elementwise", lambda _: lambda a, b: np.where(a > 0.0, a * b, -b), device(d), device(e))
    for expected, found in zip(CPU.column_sums(F), other.column_sums(other.asarray(F)), strict=True):
        assert_allclose(found, expected, atol=1e-12)


def test_incidence(other: Engine) -> None:
    both(other, "sums_at_vertices", pattern, device(RNG.standard_normal(GRAPH.m)))
    both(other, "sums_at_edges", pattern, device(RNG.standard_normal(GRAPH.n)))
    free = RNG.random(GRAPH.m) < 0.7
    sums, solutions = [], []
    for engine in (CPU, other):
        edges = pattern(engine)
        out = engine.asarray(np.ones((GRAPH.n, 4)))
        engine.add_at_vertices(engine.asarray(EDGES), edges.i, edges.j, out)
        sums.append(engine.to_numpy(out))
        solve = engine.signless_solver(edges, engine.asarray(free))
        solutions.append(engine.to_numpy(solve(engine.asarray(F), 1e-13, None)))
    assert_allclose(sums[0], sums[1], atol=1e-12)
    assert_allclose(solutions[0], solutions[1], atol=1e-11)


def test_chebyshev_sums_do_not_depend_on_the_layout(other: Engine) -> None:
    """Both engines with one bound on the spectrum: series mean nothing without it."""
    bound = max(laplacian(CPU).bound, laplacian(other).bound)
    coefficients = RNG.standard_normal((ORDER, 2))
    both(other, "chebyshev_sums", laplacian, device(F), coefficients, bound)
    for engine in (CPU, other):
        L = laplacian(engine)
        assert L.bound >= np.linalg.eigvalsh(GRAPH.laplacian().toarray())[-1]


def test_edge_products(other: Engine) -> None:
    x, weights, scale = RNG.standard_normal((GRAPH.n, 5, 3)), RNG.standard_normal(2), RNG.random(6)
    written = []
    for engine in (CPU, other):
        edges, out = pattern(engine), engine.asarray(np.zeros((GRAPH.m, 8)))
        engine.edge_products(engine.asarray(x), edges.i, edges.j, weights, 1, scale, out, 2)
        written.append(engine.to_numpy(out))
    assert_allclose(written[0], written[1], atol=1e-12)
    assert not written[0][:, :2].any()


@pytest.mark.parametrize("q", [1, 3, 8, 21])
def test_edge_inner_products(q: int, other: Engine) -> None:
    x, z, weights = RNG.standard_normal((GRAPH.n, 5, q)), RNG.standard_normal((GRAPH.n, 5, q)), RNG.standard_normal(5)
    found = []
    for engine in (CPU, other):
        edges = pattern(engine)
        sums = engine.edge_inner_products(engine.asarray(x), engine.asarray(z), edges.i, edges.j, weights)
        found.append(engine.to_numpy(sums))
    assert_allclose(found[0], found[1], atol=1e-12)


@pytest.mark.parametrize("q", [1, 3, 8, 21])
def test_edge_forms(q: int, other: Engine) -> None:
    """In both engines, and each the adjoint of the other."""
    x = RNG.standard_normal((GRAPH.n, 5, q))
    S = RNG.standard_normal((q, q))
    S, v, weights = S + S.T, RNG.standard_normal(GRAPH.m), RNG.standard_normal(5)
    forms, sums = [], []
    for engine in (CPU, other):
        edges, terms = pattern(engine), engine.asarray(x)
        others = np.tensordot(terms, engine.asarray(S), 1)
        forms.append(engine.to_numpy(engine.edge_inner_products(terms, others, edges.i, edges.j, weights)))
        sums.append(engine.to_numpy(engine.laplacian_forms(edges, engine.asarray(v), terms, weights)))
    rounding = 100 * q * float(np.finfo(np.float64).eps)
    assert_allclose(forms[0], forms[1], atol=rounding * np.abs(forms[1]).max())
    assert_allclose(sums[0], sums[1], atol=rounding * np.abs(sums[1]).max())
    assert_allclose(np.sum(sums[0] * S), v @ forms[0], atol=rounding * np.abs(sums[0] * S).sum())
    assert forms[0].dtype == sums[0].dtype == np.float64


def test_dense_algebra(other: Engine) -> None:
    A = F.T @ F + np.eye(3)
    for engine in (CPU, other):
        solve = engine.cholesky_solver(engine.asarray(A))
        assert_allclose(engine.to_numpy(solve(engine.asarray(F.T))), np.linalg.solve(A, F.T))
        with pytest.raises(np.linalg.LinAlgError):
            engine.cholesky_solver(engine.asarray(-A))


def test_distances(other: Engine) -> None:
    expected = np.linalg.norm(F[:, np.newaxis] - F, axis=2)
    assert_allclose(pairwise_distances(other.asarray(F), other), expected, atol=1e-12)
    rows, others = np.arange(4), RNG.integers(0, GRAPH.n, (4, 6))
    squares = [np.ones((4, 6)), np.ones((4, 6))]
    for engine, out in zip((CPU, other), squares, strict=True):
        engine.add_squared_differences(F, rows, others, out)
    assert_allclose(squares[0], squares[1], atol=1e-12)


def test_arrays_of_the_engine_are_not_those_of_the_host() -> None:
    x = NUMPY.asarray(np.arange(3.0))
    assert isinstance(x + 1.0, DeviceArray)
    assert NUMPY.asarray(x) is x
    assert NUMPY.to_numpy(np.sqrt(x) @ x) == pytest.approx(1.0 + 2.0 * np.sqrt(2.0))
    for mixed in (lambda: np.asarray(x), lambda: x + np.arange(3.0), lambda: np.concatenate([x, np.arange(3.0)])):
        with pytest.raises(TypeError, match="use engine"):
            mixed()


def same_on_both(other: Engine, views: ct.datasets.Views, **options: Any) -> None:
    """Cost, coupling and every weight to 1e-8, and the same edges cut."""
    given = (views.graphs, views.functions, views.times)
    cpu, found = (ct.couple(*given, engine=engine, **problems.nested(**options)) for engine in ("cpu", other))
    assert found.settings["engine"] == other.name
    assert_allclose(found.cost, cpu.cost, rtol=1e-8)
    assert_allclose(found.coupling, cpu.coupling, rtol=1e-8, atol=1e-8 * float(cpu.coupling_before.max()))
    for a, b in zip(found.graphs, cpu.graphs, strict=True):
        assert_allclose(a.w, b.w, rtol=0.0, atol=1e-8 * float(b.w.max()))
    assert [c.counts() for c in found.changes()] == [c.counts() for c in cpu.changes()]


@pytest.mark.parametrize("name", ["ring", "circles"])
def test_coupling_is_the_same_on_both_engines(name: str, other: Engine) -> None:
    same_on_both(other, getattr(ct.datasets, name)())


def test_coupling_of_images_and_tags_is_the_same_on_both_engines(data_file: Any, other: Engine) -> None:
    data = data_file("nus/NUS_results.mat").parents[1]
    same_on_both(other, nus(data=data))


def test_coupling_of_a_body_in_two_poses_is_the_same_on_both_engines(data_file: Any, other: Engine) -> None:
    data = data_file("tosca/michael7.off").parents[1]
    same_on_both(other, man(500, data=data))


def test_coupling_of_larger_graphs_is_the_same_on_both_engines(other: Engine) -> None:
    """Chebyshev series, renumbered vertices and conjugate gradients against dense matrices."""
    same_on_both(other, ct.datasets.shortcuts(700))


def test_heat_flow_on_both_engines(other: Engine) -> None:
    found = ct.heat_flow(GRAPH, F, [0.0, 0.5, 3.0], method="chebyshev", engine=other)
    assert_allclose(found, ct.heat_flow(GRAPH, F, [0.0, 0.5, 3.0], method="exact"), atol=1e-8)


@pytest.mark.parametrize("engine", ["abacus", 5, None, object()])
def test_unknown_engines_are_refused(engine: Any) -> None:
    assert refused(lambda: get_engine(engine)) == "engine"
    assert refused(lambda: ct.heat_flow(GRAPH, F, [1.0], engine=engine)) == "engine"
