"""The array kernels in which everything above is written: one interface, one folder for each kind of machine."""

from __future__ import annotations

from functools import cache

from cotherm.engines.interface import Engine
from cotherm.errors import CothermError

__all__ = ["Engine", "default_engine", "get_engine"]


def default_engine() -> Engine:
    """Return the engine for the processor.

    Returns
    -------
    Engine
        The default of every function that takes an engine.
    """
    from cotherm.engines.cpu.engine import CPU

    return CPU


def get_engine(engine: object) -> Engine:
    """Return the engine with a name, or check an object that is to be one.

    Parameters
    ----------
    engine : {"cpu", "petsc"} or Engine
        The name of an engine, or an object with the methods of :class:`Engine`. "petsc" is for programs of which
        mpiexec starts several: all of them call the same functions with the same arguments.

    Returns
    -------
    Engine
        The engine.

    Raises
    ------
    CothermError
        If there is no engine of that name, or if methods are missing.
    """
    if isinstance(engine, str) and engine == "cpu":
        return default_engine()
    if isinstance(engine, str) and engine == "petsc":
        return _petsc_engine()
    if isinstance(engine, str) or not isinstance(engine, Engine):
        given = repr(engine) if isinstance(engine, str) else f"an object of type {type(engine).__name__}"
        raise CothermError("engine", given, "'cpu', 'petsc', or an object with the methods of cotherm.engines.Engine")
    return engine


@cache
def _petsc_engine() -> Engine:
    from cotherm.engines.petsc.engine import PetscEngine

    return PetscEngine()
