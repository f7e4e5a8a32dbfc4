"""The times a command works at: those that were asked for, or a coupling's own."""

from __future__ import annotations

from collections.abc import Sequence

from cotherm import checks
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.result import Coupling


def moments(given: Sequence[float] | None, result: Coupling | Graph) -> list[float]:
    if given is not None:
        return checks.times("--time", given).tolist()
    if isinstance(result, Graph):
        raise CothermError("--time", "none", "a time: a graph alone has none of its own")
    return list(result.times)


def moment(given: float | None, result: Coupling | Graph) -> float:
    return moments(None if given is None else [given], result)[-1]
