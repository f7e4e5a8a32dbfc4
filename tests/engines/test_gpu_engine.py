"""The GPU engine, its kernels on the processor: what the tests that all engines share do not reach.

See ``test_engines.py`` for kernels and couplings that are compared on all engines, and ``emulated/device.py`` for how.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cotherm as ct
from cotherm import limits
from cotherm.engines import default_engine, get_engine
from cotherm.engines.gpu import device as gpu_device
from cotherm.engines.gpu.device import KERNELS, Device, cuda_device, source
from cotherm.engines.gpu.engine import GpuEngine
from cotherm.functions import smooth_modes
from tests.engines.emulated.device import EmulatedDevice, emulated_engine
from tests.problems import refused

CPU = default_engine()
RNG = np.random.default_rng(0)
N = 300


def edges_with_a_hub() -> tuple[Any, Any, Any]:
    """Vertex 0 has more neighbors than are added up in one part."""
    a, b = RNG.integers(0, N, (2, 1_500))
    a[:200] = 0
    low, high = np.minimum(a, b), np.maximum(a, b)
    keys = np.unique((low * N + high)[low < high])
    return keys // N, keys % N, RNG.random(len(keys))


@pytest.mark.parametrize("together", [0, 10**9])
@pytest.mark.parametrize("q", [1, 2, 5, 6, 21, 40])
def test_recurrences_step_by_step_and_in_one_launch(together: int, q: int) -> None:
    engine = emulated_engine(together)
    i, j, w = edges_with_a_hub()
    cpu, gpu = (e.laplacian(e.pattern(N, i, j), e.asarray(w)) for e in (CPU, engine))
    assert gpu.bound == pytest.approx(cpu.bound, rel=1e-14)
    F = RNG.standard_normal((N, q))
    for degree in (0, 1, 2, 3, 11):
        c = RNG.standard_normal((degree + 1, 2))
        c[2:, 0] = 0.0  # the series of one time ends before the other's
        expected = CPU.chebyshev_sums(cpu, F, c, cpu.bound)
        found = [engine.to_numpy(engine.chebyshev_sums(gpu, engine.asarray(F), c, cpu.bound)) for _ in range(2)]
        assert_allclose(found[0], expected, atol=1e-11 * np.abs(expected).max())
        assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize("has_hub", [True, False])
def test_eight_functions_and_one_time_have_a_kernel_of_their_own(has_hub: bool) -> None:
    """Unless a vertex has more neighbors than are added up in one part."""
    device = EmulatedDevice()
    i, j, w = edges_with_a_hub()
    kept = np.flatnonzero(i >= (0 if has_hub else 1))
    i, j, w = i[kept], j[kept], w[kept]
    engine: Any = GpuEngine(device, smallest=0, together=0)
    cpu, gpu = (e.laplacian(e.pattern(N, i, j), e.asarray(w)) for e in (CPU, engine))
    F = RNG.standard_normal((N, 8))
    for degree in (1, 2, 3, 11):
        c = RNG.standard_normal((degree + 1, 1))
        expected = CPU.chebyshev_sums(cpu, F, c, cpu.bound)
        found = engine.to_numpy(engine.chebyshev_sums(gpu, engine.asarray(F), c, cpu.bound))
        assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    assert ("chebyshev_step_of_8" in device.launches) is not has_hub
    assert ("chebyshev_step" in device.launches) is has_hub


def test_recurrences_without_weights() -> None:
    engine = emulated_engine()
    L = engine.laplacian(engine.pattern(3, np.array([0]), np.array([1])), engine.asarray(np.zeros(1)))
    assert L.bound == 0.0
    F = np.eye(3)
    flow = engine.to_numpy(engine.chebyshev_sums(L, engine.asarray(F), np.ones((3, 1)), L.bound))
    assert_allclose(flow[:, 0], F)  # T_0 − T_1 + T_2 at −1


@pytest.mark.parametrize("columns", [1, 3, 16, 37])
def test_systems_in_panels_from_any_start(columns: int) -> None:
    engine = emulated_engine()
    i, j, _ = edges_with_a_hub()
    free, Y, start = RNG.random(len(i)) < 0.6, RNG.standard_normal((N, columns)), RNG.standard_normal((N, columns))
    expected = CPU.signless_solver(CPU.pattern(N, i, j), free)(Y, 1e-13, None)
    solve = engine.signless_solver(engine.pattern(N, i, j), engine.asarray(free))
    for begin in (None, engine.asarray(start)):
        found = [engine.to_numpy(solve(engine.asarray(Y), 1e-13, begin)) for _ in range(2)]
        assert_allclose(found[0], expected, atol=1e-11)
        assert np.array_equal(found[0], found[1])


def many_functions(views: int) -> tuple[list[Any], list[Any]]:
    points = RNG.standard_normal((limits.SPECTRAL_CORRELATION + 20, 3))
    graphs = [ct.knn_graph(points + 0.2 * RNG.standard_normal(points.shape), 8) for _ in range(views)]
    modes = np.hstack([smooth_modes(graph, 30 // views) for graph in graphs])
    return graphs, [modes for _ in graphs]


@pytest.mark.parametrize("views", [2, 3])
def test_graphs_with_many_functions_are_coupled(views: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same minimum, to what the tolerance of the search leaves, and bit for bit the same from run to run."""
    monkeypatch.setattr(limits, "FORMED_SMALL", 0)
    graphs, functions = many_functions(views)
    engine = emulated_engine()
    given: Any = (graphs, functions, [0.2], 1e3)
    options: Any = {"options": {"continuation": "direct", "tolerance": 1e-7}}
    cpu, once, twice = (ct.couple(*given, **options, engine=e) for e in ("cpu", engine, engine))
    assert "applied" in once.settings["memory"]["derivatives"]
    assert once.cost == pytest.approx(cpu.cost, rel=1e-10)
    for a, b, c in zip(once.graphs, cpu.graphs, twice.graphs, strict=True):
        assert_allclose(a.w, b.w, atol=1e-5 * float(b.w.max()))
        assert np.array_equal(a.w, c.w)


def test_distances_and_modes() -> None:
    engine = emulated_engine()
    graph = ct.knn_graph(RNG.standard_normal((120, 2)), 6)
    exact = ct.diffusion_distance(graph, 0.5)
    assert_allclose(ct.diffusion_distance(graph, 0.5, engine=engine), exact, atol=1e-12)
    for options in ({"method": "sketch", "probes": 64}, {"method": "local"}, {"method": "sketch", "nearest": 3}):
        given: dict[str, Any] = {"sources": [3, 50], **options}
        cpu, gpu = (ct.diffusion_distance(graph, 0.5, **given, engine=e) for e in ("cpu", engine))
        assert_allclose(gpu, cpu, atol=1e-7)


def test_modes_of_large_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DENSE", 50)
    views = ct.datasets.ring()
    cpu, gpu = (ct.coupled_bases(views.graphs, views.functions, 5, engine=e) for e in ("cpu", emulated_engine()))
    assert gpu.cost == pytest.approx(cpu.cost, rel=1e-6)


def test_pairs_are_coupled() -> None:
    graphs, _ = many_functions(2)
    cpu, gpu = (
        ct.couple_pairs(graphs, options={"n_modes": 4, "max_iterations": 10}, engine=e)
        for e in ("cpu", emulated_engine())
    )
    assert gpu.settings["engine"] == "gpu"
    assert gpu.cost == pytest.approx(cpu.cost, rel=1e-6)


def test_memory_is_that_of_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    views = ct.datasets.ring(30)
    device = EmulatedDevice()
    monkeypatch.setattr(device, "memory", lambda: (1_000_000, 5_000))
    given: Any = (views.graphs, views.functions, views.times)
    engine = GpuEngine(device, smallest=0)
    assert refused(lambda: ct.couple(*given, engine=engine)) == "memory"
    needs, on_cpu = ct.coupling_memory(*given, engine=engine), ct.coupling_memory(*given)
    assert needs.in_use == 5_000
    assert needs.added > on_cpu.added


def test_without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    cuda_device.cache_clear()
    with pytest.raises(ct.CothermError, match=r"cotherm\[gpu\]"):
        get_engine("gpu")
    views = ct.datasets.ring(30)
    assert refused(lambda: ct.couple(views.graphs, views.functions, engine="gpu")) == "cupy"


class OutOfMemoryError(MemoryError):
    """As CuPy's."""


class FakePool:
    """Of a GPU with 10,000 bytes, of which 1,500 are used and 500 kept for reuse."""

    def __init__(self) -> None:
        self.limit, self.used = 0, 1_500

    def free_bytes(self) -> int:
        return 500

    def used_bytes(self) -> int:
        return self.used

    def total_bytes(self) -> int:
        return self.used + 500

    def free_all_blocks(self) -> None:
        pass

    def get_limit(self) -> int:
        return self.limit

    def set_limit(self, *, size: int) -> None:
        self.limit = size

    def malloc(self, size: int) -> int:
        if self.used + size > (self.limit or 10_000):
            raise OutOfMemoryError(f"{size} bytes")
        self.used += size
        return size


def fake_cupy(count: int, device: int = 0) -> Any:
    """What the engine asks of CuPy before it computes anything."""
    runtime = SimpleNamespace(
        getDeviceCount=lambda: count,
        getDeviceProperties=lambda _: {"name": b"A chip", "multiProcessorCount": 3},
        memGetInfo=lambda: (7_000, 9_000),
    )
    allocators: list[Any] = []

    @contextmanager
    def using_allocator(allocate: Any) -> Iterator[None]:
        allocators.append(allocate)
        yield
        allocators.pop()

    cuda = SimpleNamespace(
        runtime=runtime,
        Device=lambda: SimpleNamespace(id=device),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        using_allocator=using_allocator,
        allocators=allocators,
    )
    pool = FakePool()
    return SimpleNamespace(
        cuda=cuda, get_default_memory_pool=lambda: pool, zeros=np.zeros, ndarray=np.ndarray, asarray=np.asarray
    )


@pytest.mark.parametrize("count", [0, None])
def test_without_a_gpu(count: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = fake_cupy(0)
    if count is None:

        def broken() -> int:
            raise RuntimeError("no driver")

        cupy.cuda.runtime.getDeviceCount = broken
    monkeypatch.setattr(gpu_device, "require", lambda *_: cupy)
    cuda_device.cache_clear()
    with pytest.raises(ct.CothermError, match="finds no GPU here"):
        cuda_device()
    cuda_device.cache_clear()


def test_a_lack_of_memory_says_what_there_is() -> None:
    device = Device(fake_cupy(1))
    assert device.memory() == (7_500, 1_500)
    with pytest.raises(ct.CothermError, match="free on A chip") as caught, device.guarded(0.0, None):
        raise OutOfMemoryError("9 GB")
    assert caught.value.argument == "engine"


def test_a_budget_is_kept_and_an_expectation_is_not() -> None:
    cupy = fake_cupy(1)
    device, pool = Device(cupy), cupy.get_default_memory_pool()

    def allocate(*sizes: int) -> None:
        for size in sizes:
            cupy.cuda.allocators[-1](size)

    with device.guarded(1_000, None):
        assert pool.limit == 2_500  # what is free beyond is returned
        allocate(600, 600)
        assert pool.limit > 2_600  # no more than it takes
    assert pool.limit == 0
    with (
        pytest.raises(ct.CothermError, match=r"3 kB on A chip, which is not enough") as caught,
        device.guarded(9, 3_000),
    ):
        allocate(200, 600)
    assert caught.value.argument == "memory"
    assert pool.limit == 0
    with device.guarded(0.0, None):
        assert pool.limit == 0


class OnGpu:
    """An array that says where it is, and is copied only if asked to, as CuPy's and Numba's."""

    def __init__(self, values: Any, copy: str) -> None:
        self.__cuda_array_interface__: dict[str, Any] = {}
        setattr(self, copy, lambda: values)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("implicit conversion to a NumPy array is not allowed")


@pytest.mark.parametrize("library", ["cupy", "numba", "torch"])
def test_arrays_on_a_gpu_are_copied(library: str) -> None:
    graph, F = ct.datasets.ring(30).graphs[0], RNG.standard_normal((30, 2))
    given: Any = OnGpu(F, "get" if library == "cupy" else "copy_to_host")
    if library == "torch":
        given = OnGpu(F, "other")
        given.detach = lambda: SimpleNamespace(cpu=lambda: F)
    # Where CuPy is installed, "auto" would take them for what they say they are.
    assert_allclose(ct.heat_flow(graph, given, 1.0, engine="cpu"), ct.heat_flow(graph, F, 1.0))


def test_arrays_of_another_gpu_are_refused() -> None:
    class Elsewhere(np.ndarray):
        device: Any = "GPU 1"

    cupy = fake_cupy(2)
    x = np.zeros(3).view(Elsewhere)
    assert refused(lambda: Device(cupy).asarray(x)) == "engine"


def test_every_kernel_has_its_source() -> None:
    files = sorted(path.name for path in KERNELS.iterdir())
    assert files == [
        *("chebyshev.cu", "common.cuh", "conjugate_gradients.cu", "distances.cu", "edges.cu", "grid.cuh"),
        *("nearest.cu", "rows.cu", "sums.cu"),
    ]
    assert all("#include" not in source(name) for name in files if name.endswith(".cu"))
