"""Data that live on the GPU: what was made of a graph stays there between calls, and so do functions and their heat."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm import engines, limits, optional
from cotherm.engines.gpu.device import Device
from cotherm.engines.gpu.engine import GpuEngine
from cotherm.engines.gpu.resident import Resident
from tests.engines.emulated.device import EmulatedDevice, emulated_engine
from tests.engines.numpy_engine import DeviceArray
from tests.engines.test_gpu_engine import fake_cupy
from tests.problems import refused

RNG = np.random.default_rng(0)
# Enough for heat to flow by the recurrence, not on the host.
N = limits.EXACT_FLOW + 100


def path(n: int = N) -> ct.Graph:
    return ct.Graph(n, np.arange(n - 1), np.arange(1, n), RNG.random(n - 1))


def new_engine() -> Any:
    """With a device of its own, whose counts are of one test."""
    emulated_engine()  # or a skipped test
    return GpuEngine(EmulatedDevice(), smallest=0)


def flow(graph: ct.Graph, F: Any, engine: Any = "cpu") -> Any:
    return ct.heat_flow(graph, F, [0.5, 2.0], method="chebyshev", engine=engine)


def test_a_graph_is_laid_out_once() -> None:
    engine, graph, F = new_engine(), path(), RNG.standard_normal((N, 2))
    first = flow(graph, F, engine)
    made, uploads = dict(engine.device.launches), engine.device.uploads
    assert uploads.count(graph.m) == 3
    uploads.clear()
    again = flow(graph, F, engine)
    assert np.array_equal(again, first)
    assert_allclose(again, flow(graph, F), atol=1e-8)
    assert engine.device.launches["fill_rows"] == made["fill_rows"] == 1
    assert engine.device.launches["spectral_bound"] == 1
    assert graph.m not in uploads
    assert 2 * N in uploads  # the functions


def test_other_verbs_use_what_is_there() -> None:
    engine, graph = new_engine(), path()
    F = RNG.standard_normal((N, 2))
    flow(graph, F, engine)
    ct.diffusion_distance(graph, 5.0, sources=[0], nearest=3, method="sketch", probes=16, engine=engine)
    assert engine.device.launches["fill_rows"] == 1
    engine.device.uploads.clear()
    found = ct.coupling_error([graph, graph], [F, 2.0 * F], 1.0, engine=engine)
    assert_allclose(found, ct.coupling_error([graph, graph], [F, 2.0 * F], 1.0), rtol=1e-8)
    assert engine.device.uploads.count(graph.m) <= 2  # weights; the edges are there


def test_other_weights_are_another_graph_on_the_same_edges() -> None:
    engine, graph, F = new_engine(), path(), RNG.standard_normal((N, 2))
    flow(graph, F, engine)
    heavier = graph.with_weights(3.0 * graph.w)
    engine.device.uploads.clear()
    assert_allclose(flow(heavier, F, engine), flow(heavier, F), atol=1e-8)
    assert engine.device.uploads.count(graph.m) == 1  # the weights: the edges are there
    assert_allclose(flow(graph, F, engine), flow(graph, F), atol=1e-8)
    assert engine.device.launches["fill_rows"] == 2


def test_what_was_made_of_a_graph_goes_with_it() -> None:
    engine, graph, F = new_engine(), path(), RNG.standard_normal((N, 2))
    kept = engine.device.resident
    flow(graph, F, engine)
    both = kept.size
    heavier = graph.with_weights(3.0 * graph.w)
    flow(heavier, F, engine)
    assert kept.size > both > 24 * graph.m
    del heavier
    gc.collect()
    assert kept.size == both
    del graph
    gc.collect()
    assert kept.size == 0


def test_arrays_that_may_change_are_not_kept() -> None:
    engine: Any = new_engine()
    i, j, w = np.arange(3), np.arange(1, 4), np.ones(3)
    view = w[:]
    view.flags.writeable = False  # but w can be written to
    for array in (i, j):
        array.flags.writeable = False
    assert engine.reordered_laplacian(4, i, j, view).bound > 0.0
    w *= 2.0
    doubled = engine.reordered_laplacian(4, i, j, view)
    assert np.array_equal(engine.to_numpy(doubled.degrees), [2.0, 4.0, 4.0, 2.0])


def test_memory_that_is_kept_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, graph = new_engine(), path()
    monkeypatch.setattr(engine.device, "memory", lambda: (1_000_000, 500_000))
    assert engine.memory() == (1_000_000, 500_000)
    flow(graph, np.ones(N), engine)
    size = engine.device.resident.size
    assert size > 0
    assert engine.memory() == (1_000_000 + size, 500_000 - size)


def test_the_least_recently_used_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, F = new_engine(), np.ones(N)
    first, second, third = (path() for _ in range(3))
    flow(first, F, engine)
    each = engine.device.resident.size
    # A quarter of what is free, and of what is kept: room for two of them.
    monkeypatch.setattr(engine.device, "memory", lambda: (int(10.0 * each) - engine.device.resident.size, 0))
    flow(second, F, engine)
    flow(first, F, engine)
    flow(third, F, engine)
    assert engine.device.resident.size == 2 * each
    before = engine.device.launches["fill_rows"]
    flow(first, F, engine)
    assert engine.device.launches["fill_rows"] == before
    assert_allclose(flow(second, F, engine), flow(second, F), atol=1e-8)
    assert engine.device.launches["fill_rows"] == before + 1


def test_what_does_not_fit_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, graph = new_engine(), path()
    monkeypatch.setattr(engine.device, "memory", lambda: (0, 0))
    assert_allclose(flow(graph, np.ones(N), engine), flow(graph, np.ones(N)), atol=1e-8)
    assert engine.device.resident.size == 0


def keep(resident: Resident, size: int) -> Any:
    """An array of which so many bytes were made, which are kept while it lives."""
    array = np.zeros(1)
    array.flags.writeable = False
    resident.made_of("thing", (array,), object, size=lambda _: size, free=lambda: 10**9)
    return array


def test_a_lack_of_memory_lets_go_of_what_is_kept_first() -> None:
    """The pool has 8,500 bytes left, and what is kept is none of it until it is let go."""
    cupy = fake_cupy(1)
    device, pool = Device(cupy), cupy.get_default_memory_pool()
    arrays = [keep(device.resident, 2_000) for _ in range(3)]
    drop = device.resident.drop_oldest

    def freed() -> bool:
        pool.used -= 2_000
        return drop()

    device.resident.drop_oldest = freed  # type: ignore[method-assign]
    pool.used = 7_000
    with device.guarded(0.0, 8_000):
        cupy.cuda.allocators[-1](500)
        assert device.resident.size == 6_000
        cupy.cuda.allocators[-1](4_000)
        assert device.resident.size == 2_000
    with pytest.raises(ct.CothermError, match="not enough"), device.guarded(0.0, 8_000):
        cupy.cuda.allocators[-1](50_000)
    assert device.resident.size == 0
    assert len(arrays) == 3


class OnGpu(DeviceArray):
    """An array of the engine that says where it is, as CuPy's do."""

    __cuda_array_interface__: dict[str, Any] = {}  # noqa: RUF012


def test_heat_of_functions_that_live_there_stays_there() -> None:
    engine, graph, F = new_engine(), path(), RNG.standard_normal((N, 2))
    there = engine.asarray(F)
    flow(graph, there, engine)
    engine.device.uploads.clear()
    heat = flow(graph, there, engine)
    assert isinstance(heat, DeviceArray)
    assert_allclose(engine.to_numpy(heat), flow(graph, F), atol=1e-8)
    assert max(engine.device.uploads) < N  # coefficients and units alone
    assert isinstance(flow(graph, F, engine), np.ndarray)
    assert np.array_equal(engine.to_numpy(there), F)


@pytest.mark.parametrize("given", ["int32", "float32", "vector", "transposed", "exact", "none", "huge"])
def test_functions_of_any_kind_that_live_there(given: str) -> None:
    engine: Any = emulated_engine()
    graph = path(50 if given == "exact" else N)
    F = RNG.standard_normal((graph.n, 3))
    kinds: dict[str, Any] = {
        "int32": (10.0 * F).astype(np.int32),
        "float32": F.astype(np.float32),
        "vector": F[:, 0].copy(),
        "none": F[:, :0],
        "huge": 1e300 * F,
    }
    F = kinds.get(given, F)
    there = engine.asarray(np.ascontiguousarray(F.T)).T if given == "transposed" else engine.asarray(F)
    expected = ct.heat_flow(graph, F, [0.0, 1.0])
    found = ct.heat_flow(graph, there, [0.0, 1.0], engine=engine)
    assert engine.holds(found)
    assert found.shape == expected.shape
    assert_allclose(engine.to_numpy(found), expected, atol=1e-8 * np.abs(expected).max(initial=0.0))


def test_wrong_functions_that_live_there_are_refused() -> None:
    engine: Any = emulated_engine()
    graph, F = path(), np.ones((N, 2))
    F[3, 1] = np.nan
    for wrong in (F, np.ones(N - 1), np.ones((N, 2, 1)), np.ones(N, dtype=np.complex128)):
        assert refused(partial(ct.heat_flow, graph, engine.asarray(wrong), 1.0, engine=engine)) == "F"
    with pytest.raises(ct.CothermError, match=r"nan at position \(3, 1\)"):
        ct.heat_flow(graph, engine.asarray(F), 1.0, engine=engine)


def test_a_warning_of_rounding_for_functions_that_live_there() -> None:
    engine: Any = emulated_engine()
    ring = ct.Graph(N, np.arange(N), (np.arange(N) + 1) % N, np.ones(N))
    F = np.tile([1.0, -1.0], N // 2)  # decays to nothing, as e^{−4t}
    with pytest.warns(ct.CothermWarning, match="rounding"):
        ct.heat_flow(ring, engine.asarray(F), 20.0, method="chebyshev", engine=engine)


def test_arrays_choose_where_they_are_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, graph, F = new_engine(), path(), RNG.standard_normal((N, 2))
    monkeypatch.setattr(engines, "_gpu_engine", lambda: engine)
    monkeypatch.setattr(optional, "is_installed", lambda _: True)
    there: Any = OnGpu(F)
    heat: Any = ct.heat_flow(graph, there, 1.0)
    assert isinstance(heat, DeviceArray)
    assert_allclose(heat.values, ct.heat_flow(graph, F, 1.0), atol=1e-8)
    engine.device.launches.clear()
    assert isinstance(ct.heat_flow(graph, F, 1.0), np.ndarray)
    assert not engine.device.launches
    assert engines.engine_for_views("auto", [F, OnGpu(F)]) is engine
    assert engines.engine_for_views("auto", [F, F]).name == "cpu"
    assert engines.engine_for("cpu", OnGpu(F)).name == "cpu"
    monkeypatch.setattr(optional, "is_installed", lambda _: False)
    assert engines.engine_for("auto", OnGpu(F)).name == "cpu"
