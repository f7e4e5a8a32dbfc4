"""Where the GPU engine's arrays live and its kernels run: a GPU through CuPy, or in tests something that stands for it.

Kernels are CUDA C++ in ``kernels/``. They are compiled when they are first used, for the GPU that is there, and CuPy
keeps them on disk.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.engines.gpu.resident import Resident
from cotherm.engines.interface import Array
from cotherm.errors import CothermError
from cotherm.lazy import lazy
from cotherm.memory import words
from cotherm.optional import require

KERNELS = Path(__file__).parent / "kernels"
# Zeros that are made at once: each is used by one launch.
_COUNTERS = 4_096
# Sizes of arrays are rounded up to a multiple of less than this.
_BLOCK = 2**20
# What a number is to a kernel.
_TYPES = {int: np.int32, float: np.float64}

Shape = tuple[int, ...]


def source(file: str) -> str:
    """A file of kernels with what it includes."""
    text = (KERNELS / file).read_text(encoding="utf-8")
    for header in ("common.cuh", "grid.cuh"):
        text = text.replace(f'#include "{header}"\n', (KERNELS / header).read_text(encoding="utf-8"))
    return text


def typed(argument: Any) -> Any:
    """Numbers as kernels take them; None is the address of no array."""
    if argument is None:
        return np.intp(0)
    kind = _TYPES.get(type(argument))
    return argument if kind is None else kind(argument)


class Device:
    """The current GPU of CuPy: a place for arrays, with what the engine needs besides NumPy's functions.

    ``xp`` has NumPy's functions that make new arrays; at least ``processors`` blocks of threads run at the same time.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self.xp = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.name = str(properties["name"].decode())
        self.processors = int(properties["multiProcessorCount"])
        self._kernels: dict[tuple[Any, ...], Callable[..., None]] = {}
        self._zeros = cupy.zeros(0, dtype=np.uint32)

    @lazy
    def resident(self) -> Resident:
        """What is kept between calls."""
        return Resident()

    @property
    def number(self) -> int:
        """Which one is in use, where there are several."""
        return int(self._cupy.cuda.Device().id)

    def holds(self, x: object) -> bool:
        """Whether it is an array that lives here."""
        return validation.lives_on_gpu(x)

    def asarray(self, x: Any) -> Array:
        if self.holds(x):  # no copy; of PyTorch's tensors without their history
            x = self._cupy.asarray(x.detach() if hasattr(x, "detach") else x)
        if isinstance(x, self._cupy.ndarray) and x.device != self._cupy.cuda.Device():
            raise CothermError(
                "engine",
                f"an array on {x.device}, with {self._cupy.cuda.Device()} in use",
                "all arrays on the same GPU",
                "Use `with cupy.cuda.Device(number):` around all of it.",
            )
        return self._cupy.asarray(x)

    def to_numpy(self, x: Array) -> NDArray[Any]:
        return x if isinstance(x, np.ndarray) else self._cupy.asnumpy(x)

    def launch(
        self,
        file: str,
        kernel: str,
        grid: Shape,
        block: Shape,
        arguments: Sequence[Any],
        *,
        shared: int = 0,
        together: bool = False,
    ) -> None:
        """Run a kernel of a file in ``kernels/``; ``together``: all blocks at the same time, for they wait for others.

        Whole numbers are ``int``, or NumPy's where they are longer.
        """
        key = (file, kernel, together)
        function = self._kernels.get(key)
        if function is None:
            function = self._kernels[key] = self._compiled(*key)
        function(grid, block, tuple(map(typed, arguments)), shared_mem=shared)

    def _compiled(self, file: str, kernel: str, together: bool) -> Callable[..., None]:
        options = ("-std=c++17",)
        module = self._cupy.RawModule(code=source(file), options=options, enable_cooperative_groups=together)
        return module.get_function(kernel)

    def counter(self) -> Array:
        """A zero, by which blocks that wait for each other are counted."""
        if not len(self._zeros):
            self._zeros = self._cupy.zeros(_COUNTERS, dtype=np.uint32)
        counter, self._zeros = self._zeros[:1], self._zeros[1:]
        return counter

    def sort(self, keys: Array) -> Array:
        """Ascending."""
        return self._cupy.sort(keys)

    def cholesky(self, A: Array) -> Array:
        """L with A = LLᵀ, lower triangular; ``numpy.linalg.LinAlgError`` if there is none."""
        import cupyx

        with cupyx.errstate(linalg="raise"):
            return self._cupy.linalg.cholesky(A)

    def solve_triangular(self, L: Array, Y: Array, *, transposed: bool = False) -> Array:
        """L⁻¹Y, or L⁻ᵀY."""
        from cupyx.scipy.linalg import solve_triangular

        return solve_triangular(L, Y, trans=1 if transposed else 0, lower=True, check_finite=False)

    def memory(self) -> tuple[int, int]:
        """Bytes that are free, and bytes that our arrays take."""
        pool = self._cupy.get_default_memory_pool()
        free, _ = self._cupy.cuda.runtime.memGetInfo()
        return int(free + pool.free_bytes()), int(pool.used_bytes())

    def return_free_memory(self) -> None:
        self._cupy.get_default_memory_pool().free_all_blocks()

    @contextmanager
    def guarded(self, expected: float, budget: int | None) -> Iterator[None]:
        """A context in which our arrays take no more than the budget: a lack of memory is an error that says so.

        Without one they take what they need. Blocks that are free are kept for reuse up to what is ``expected``, if
        that is not zero.
        """
        pool, lacks = self._cupy.get_default_memory_pool(), self._cupy.cuda.memory.OutOfMemoryError
        before, used = pool.get_limit(), pool.used_bytes()
        if budget is not None or expected:
            pool.set_limit(size=int(used + expected) if budget is None else budget)

        def allocate(size: int) -> Any:
            try:
                return pool.malloc(size)
            except lacks:
                if budget is None:  # more than expected, or in pieces that do not fit: but no one forbids it
                    pool.set_limit(size=pool.total_bytes() + size + _BLOCK)
                return self._in_place_of_others(size)

        try:
            with self._cupy.cuda.using_allocator(allocate):
                yield
        except lacks as error:
            error.__traceback__ = None  # and with it the arrays of the calls that failed
            raise self._lack(budget, str(error)) from None
        finally:
            pool.set_limit(size=before)

    def _in_place_of_others(self, size: int) -> Any:
        """Memory, if need be of what is kept between calls, the least recently used first."""
        while True:
            try:
                return self._cupy.get_default_memory_pool().malloc(size)
            except self._cupy.cuda.memory.OutOfMemoryError:
                if not self.resident.drop_oldest():
                    raise

    def _lack(self, budget: int | None, reason: str) -> CothermError:
        gc.collect()
        self.return_free_memory()
        free, used = self.memory()
        if budget is not None:
            return CothermError(
                "memory",
                f"{words(budget)} on {self.name}, which is not enough ({reason})",
                "more memory",
                "Use fewer functions or times, or allow more: without a limit the whole GPU may be used.",
            )
        return CothermError(
            "engine",
            f"'gpu' with {words(free)} free on {self.name} and {words(used)} in use ({reason})",
            "more memory on the GPU, or a smaller problem",
            "Other programs may use the GPU too. Use fewer functions or times, or engine='cpu'.",
        )


@cache
def cuda_device() -> Device:
    """The GPU, or an error that says what is missing."""
    cupy = require("cupy", "gpu")
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # CuPy's own errors, and those of a driver that cannot be loaded
        raise _no_device(str(error)) from None
    if not count:
        raise _no_device("no device")
    return Device(cupy)


def _no_device(reason: str) -> CothermError:
    return CothermError(
        "engine",
        f"'gpu', but CuPy finds no GPU here ({reason})",
        "an NVIDIA GPU with its driver, and the CuPy that belongs to its CUDA",
        "See `nvidia-smi`. Without one: engine='cpu'.",
    )
