"""The GPU engine without a GPU: its kernels, compiled by the C++ compiler of the system, on arrays of the tests.

The source of the kernels is the same; ``cuda.h`` supplies the part of CUDA that they use. The arrays are those of
``numpy_engine.py``, which refuse to be mixed with NumPy's, as CuPy's do. Without a compiler, tests are skipped; with
COTHERM_COMPILER=1, as in continuous integration, they fail instead. With COTHERM_GPU=1 the same tests run on a GPU.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from cotherm import memory
from cotherm.engines.gpu.device import Device, Shape, cuda_device, source, typed
from cotherm.engines.gpu.engine import GpuEngine
from cotherm.engines.interface import Engine
from tests.engines.numpy_engine import DeviceArray

_BARRIERS = re.compile("__syncthreads|__syncwarp|_over_|wait_for_all")
_KERNEL = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\)\s*)?(\w+)')


def compiler() -> str:
    """The C++ compiler, or a skipped test."""
    found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
    if found is None:
        if os.environ.get("COTHERM_COMPILER"):
            pytest.fail("COTHERM_COMPILER is set, but there is no C++ compiler")
        pytest.skip("a C++ compiler (g++ or clang++), with which the kernels of the GPU run on the processor")
    return found


class _Namespace:
    """The functions of CuPy that make new arrays."""

    def __getattr__(self, name: str) -> Any:
        if name not in {"arange", "ascontiguousarray", "empty", "eye", "full", "ones", "zeros"}:
            raise AttributeError(name)

        def make(*args: Any, **options: Any) -> DeviceArray:
            made = getattr(np, name)(*(x.values if isinstance(x, DeviceArray) else x for x in args), **options)
            if name == "empty" and made.dtype.kind == "f":
                made.fill(np.nan)  # what a kernel leaves out shows
            return DeviceArray(made)

        return make


class EmulatedDevice(Device):
    """See :class:`cotherm.engines.gpu.device.Device`."""

    name = "emulated"
    xp = _Namespace()
    processors = 1
    number = 0

    def __init__(self) -> None:
        self.launches: dict[str, int] = {}
        self.uploads: list[int] = []

    def holds(self, x: object) -> bool:
        return isinstance(x, DeviceArray)

    def asarray(self, x: Any) -> Any:
        if isinstance(x, DeviceArray):
            return x
        self.uploads.append(np.size(x))
        return DeviceArray(np.array(x))

    def to_numpy(self, x: Any) -> np.ndarray:
        return x.values if isinstance(x, DeviceArray) else np.asarray(x)

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
        assert np.prod(block) <= 1_024
        assert shared <= 48 * 1_024
        self.launches[kernel] = self.launches.get(kernel, 0) + 1
        library, barriers = self._emulated(file)
        values = [_argument(argument) for argument in arguments]
        places = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        sizes = [(ctypes.c_uint * 3)(*(*size, 1, 1)[:3]) for size in (grid, block)]
        run = getattr(library, f"emulate_{kernel}")
        run(places, *sizes, ctypes.c_size_t(shared), int(kernel in barriers), int(together))

    @cache  # noqa: B019, there is one of them
    def _emulated(self, file: str) -> tuple[Any, set[str]]:
        text = source(file)
        kernels = _KERNEL.findall(text)
        bodies = _KERNEL.split(text)[2::2]
        entries = "\n".join(
            f'extern "C" void emulate_{name}(void **a, const unsigned *g, const unsigned *b, size_t s, int w, int t) '
            f"{{ emulated::run({name}, a, g, b, s, w, t); }}"
            for name in kernels
        )
        header = (Path(__file__).parent / "cuda.h").read_text(encoding="utf-8")
        code = "\n".join([header, text.replace('extern "C" __global__', "__global__"), entries])
        barriers = {name for name, body in zip(kernels, bodies, strict=True) if _BARRIERS.search(body)}
        return ctypes.CDLL(str(_library(code))), barriers

    def counter(self) -> Any:
        return DeviceArray(np.zeros(1, dtype=np.uint32))

    def sort(self, keys: Any) -> Any:
        return DeviceArray(np.sort(keys.values))

    def cholesky(self, A: Any) -> Any:
        return DeviceArray(np.linalg.cholesky(A.values))

    def solve_triangular(self, L: Any, Y: Any, *, transposed: bool = False) -> Any:
        return DeviceArray(scipy.linalg.solve_triangular(L.values, Y.values, trans=1 if transposed else 0, lower=True))

    def memory(self) -> tuple[int, int]:
        return memory.available() or 2**33, 0

    def return_free_memory(self) -> None:
        pass

    @contextmanager
    def guarded(self, expected: float, budget: int | None) -> Iterator[None]:
        yield


def _library(code: str) -> Path:
    """The compiled code, once for all processes and runs of the tests."""
    folder = Path(tempfile.gettempdir()) / f"cotherm-kernels-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"{hashlib.sha256(code.encode()).hexdigest()}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as made:
            text, new = Path(made, "kernels.cpp"), Path(made, "kernels.so")
            text.write_text(code, encoding="utf-8")
            options = ["-std=c++17", "-O2", "-w", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-o", str(new)]
            subprocess.run([compiler(), *options, str(text)], check=True)
            new.replace(library)
    return library


def _argument(argument: Any) -> Any:
    """An array by its address; kernels trust that it is contiguous."""
    if isinstance(argument, DeviceArray):
        assert argument.values.flags.c_contiguous
        return ctypes.c_void_p(argument.values.ctypes.data)
    number = typed(argument)
    kinds = {np.int32: ctypes.c_int32, np.int64: ctypes.c_int64, np.float64: ctypes.c_double}
    return kinds[type(number)](number)


@cache
def emulated_engine(together: int = 2_000) -> Engine:
    """The GPU engine on this processor, also for the smallest problems; with COTHERM_GPU=1 on the GPU that is there."""
    if os.environ.get("COTHERM_GPU"):
        return GpuEngine(cuda_device(), smallest=0, together=together)
    compiler()
    return GpuEngine(EmulatedDevice(), smallest=0, together=together)
