"""The array kernels in which everything above is written: one interface, one folder for each kind of machine."""

from __future__ import annotations

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
    engine : {"cpu"} or Engine
        The name of an engine, or an object with the methods of :class:`Engine`.

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
    if isinstance(engine, str) or not isinstance(engine, Engine):
        given = repr(engine) if isinstance(engine, str) else f"an object of type {type(engine).__name__}"
        raise CothermError("engine", given, "'cpu', or an object with the methods of cotherm.engines.Engine")
    return engine
