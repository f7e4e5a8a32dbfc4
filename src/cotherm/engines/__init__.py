"""The array kernels in which everything above is written: one interface, one folder for each kind of machine."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from cotherm import optional, validation
from cotherm.engines.interface import Engine
from cotherm.errors import CothermError

if TYPE_CHECKING:
    from cotherm.engines.cpu.engine import CpuEngine

__all__ = ["Engine", "default_engine", "get_engine"]


def default_engine() -> Engine:
    """Return the engine for the processor.

    Returns
    -------
    Engine
        The default of every function that takes an engine.
    """
    return processor()


def processor() -> CpuEngine:
    """The same, with the kernels that no other engine has."""
    from cotherm.engines.cpu.engine import CPU

    return CPU


def get_engine(engine: object) -> Engine:
    """Return the engine with a name, or check an object that should be one.

    Parameters
    ----------
    engine : {"auto", "cpu", "gpu", "petsc"} or Engine
        The name of an engine, or an object with the methods of :class:`Engine`. "petsc" is for programs of which
        mpiexec starts several: all of them call the same functions with the same arguments. "auto" means the
        processor here, since there are no arrays to choose by.

    Returns
    -------
    Engine
        The engine.

    Raises
    ------
    CothermError
        If there is no engine of that name, if methods are missing, or if there is no GPU or no CuPy for "gpu".
    """
    if isinstance(engine, str) and engine in ("auto", "cpu"):
        return default_engine()
    if isinstance(engine, str) and engine == "gpu":
        return _gpu_engine()
    if isinstance(engine, str) and engine == "petsc":
        return _petsc_engine()
    if isinstance(engine, str) or not isinstance(engine, Engine):
        given = repr(engine) if isinstance(engine, str) else f"an object of type {type(engine).__name__}"
        needed = "'auto', 'cpu', 'gpu', 'petsc', or an object with the methods of cotherm.engines.Engine"
        raise CothermError("engine", given, needed)
    return engine


def engine_for(engine: object, *arrays: object) -> Engine:
    """The engine, as :func:`get_engine`; "auto" is the GPU if one of the arrays lives there and CuPy is installed."""
    return get_engine(resolved(engine, *arrays))


def engine_for_views(engine: object, arrays: object) -> Engine:
    """The same for a list of arrays, one for every graph; anything else is left to those who check it."""
    return engine_for(engine, *(arrays if isinstance(arrays, list | tuple) else ()))


def resolved(engine: object, *arrays: object) -> object:
    """What is meant by "auto", without loading it; other engines as they are given. See :func:`engine_for`."""
    if not isinstance(engine, str) or engine != "auto":
        return engine
    # The GPU needs CuPy: without it, arrays of PyTorch and Numba are copied like all others.
    is_there = any(map(validation.lives_on_gpu, arrays)) and optional.is_installed("cupy")
    return "gpu" if is_there else "cpu"


@cache
def _gpu_engine() -> Engine:
    from cotherm.engines.gpu.device import cuda_device
    from cotherm.engines.gpu.engine import GpuEngine

    return GpuEngine(cuda_device())


@cache
def _petsc_engine() -> Engine:
    from cotherm.engines.petsc.engine import PetscEngine

    return PetscEngine()
