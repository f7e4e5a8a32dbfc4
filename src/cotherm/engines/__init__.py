"""The array kernels in which everything above is written: one interface, one folder for each kind of machine."""

from __future__ import annotations

from cotherm.engines.interface import Engine
from cotherm.errors import CothermError

__all__ = ["Engine", "default_engine", "get_engine"]


def default_engine() -> Engine:
    """The engine for the processor."""
    from cotherm.engines.cpu.engine import CPU

    return CPU


def get_engine(engine: object) -> Engine:
    """The engine with a name, or an object with the interface of one."""
    if isinstance(engine, str) and engine == "cpu":
        return default_engine()
    if isinstance(engine, str) or not isinstance(engine, Engine):
        given = repr(engine) if isinstance(engine, str) else f"an object of type {type(engine).__name__}"
        raise CothermError("engine", given, "'cpu', or an object with the methods of cotherm.engines.Engine")
    return engine
