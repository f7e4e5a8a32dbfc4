"""The times a command works at: those that were asked for, or some that suit the graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cotherm import validation
from cotherm.graphs.graph import Graph
from cotherm.methods.coupling.result import Coupling

# By default heat has made about so many moves along edges: it has left its neighborhood and is not yet everywhere.
_MOVES = (5.0, 10.0, 20.0)


def moments(given: Sequence[float] | None, result: Coupling | Graph, option: str = "--times") -> list[float]:
    if given is not None:
        return validation.times(option, given).tolist()
    graphs = [result] if isinstance(result, Graph) else list(result.originals)
    degrees = np.concatenate([graph.degrees for graph in graphs])
    live = degrees[degrees > 0.0]
    degree = float(np.median(live)) if len(live) else 1.0
    # Two digits: they are printed, and may be given back.
    return [float(f"{moves / degree:.2g}") for moves in _MOVES]


def moment(given: float | None, result: Coupling | Graph) -> float:
    """One time; by default the middle one."""
    return moments(None, result)[1] if given is None else moments([given], result, "--time")[0]
