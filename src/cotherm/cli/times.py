"""The times a command works at: those asked for, or defaults that suit the graphs."""

from __future__ import annotations

from collections.abc import Sequence

from cotherm import validation
from cotherm.graphs.graph import Graph
from cotherm.heat.times import diffusion_time
from cotherm.methods.coupling.result import Coupling

# Default times, in moves along edges: heat has left its neighborhood and is not yet everywhere.
_MOVES = (5.0, 10.0, 20.0)


def comparison_times(given: Sequence[float] | None, result: Coupling | Graph, option: str = "--times") -> list[float]:
    if given is not None:
        return validation.times(option, given).tolist()
    graphs = [result] if isinstance(result, Graph) else list(result.originals)
    # Two digits, because times are printed and may be passed to the next command.
    return [float(f"{diffusion_time(moves, *graphs, without_edges=moves):.2g}") for moves in _MOVES]


def comparison_time(given: float | None, result: Coupling | Graph) -> float:
    """One time; by default the middle one."""
    return comparison_times(None, result)[1] if given is None else comparison_times([given], result, "--time")[0]
