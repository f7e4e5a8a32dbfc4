"""The memory of a coupling: predicted before it begins, and how derivatives are kept so that it fits.

The largest part is the Jacobian, a row for every edge and a column for every pair of functions at every time. It is
*stored* in memory, *recomputed* whenever it is used, or *streamed* from a temporary file
(:mod:`cotherm.methods.coupling.jacobian`). The plan is made once, before anything else: the fastest way that fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cotherm import memory
from cotherm.engines import Engine
from cotherm.errors import CothermError

# Ways to keep the Jacobian, the fastest first.
WAYS = ("stored", "recomputed", "streamed")

# Terms of the derivative for every time: see cotherm.heat.low_rank_kernel.
_TERMS = 10
# Vectors over the edges that a step needs at a time, and bytes an edge takes in two numberings, a layout and two sets
# of weights.
_VECTORS, _EDGE = 8, 104
# Blocks over the vertices as wide as the Jacobian while the small system is made, and those of conjugate gradients.
_BLOCKS, _PANELS = 3, 5
_VERTEX = 80
# What compiled code and the rest take, whatever the size.
_FIXED = 80_000_000
# The part of the free memory that may be used without being asked.
_PART = 0.9


@dataclass(frozen=True)
class CouplingMemory:
    """Peak memory of a coupling for each way of keeping its derivatives, in bytes.

    The largest part is the Jacobian, with a row for every edge and a column for every pair of functions at every
    time. The amounts come on top of what the process uses already. Print the object for a table.

    Attributes
    ----------
    stored : int
        With the Jacobian in memory. This is the fastest way.
    recomputed : int
        With the Jacobian recomputed whenever it is needed.
    streamed : int
        With the Jacobian read from a temporary file.
    in_use : int
        Memory that the process uses already; 0 if that is not known.

    See Also
    --------
    coupling_memory : Predict these amounts.
    couple : Takes the fastest way that fits.
    """

    stored: int
    recomputed: int
    streamed: int
    in_use: int

    def __str__(self) -> str:
        lines = ["Memory a coupling takes at its peak, by how its derivatives are kept:"]
        lines += [f"  {way:<12}{memory.words(getattr(self, way)):>10}" for way in WAYS]
        return "\n".join([*lines, f"This process already uses {memory.words(self.in_use)}."])


@dataclass(frozen=True)
class MemoryPlan:
    """How the Jacobian is kept, one of ``WAYS``, in which precision, and how much memory that takes in addition."""

    way: str = "stored"
    precision: str = "float64"
    added: int = 0
    in_use: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.precision)

    @property
    def peak(self) -> int:
        """Bytes of the whole process."""
        return self.in_use + self.added


def predicted(sizes: Sequence[tuple[int, int]], q: int, p: int, precision: str, engine: Engine) -> CouplingMemory:
    """For graphs with so many vertices and free edges, q functions and p times."""
    n, m = (sum(part) for part in zip(*sizes, strict=True))
    largest = max(vertices for vertices, _ in sizes)
    # Heat of all graphs at a time, or of one.
    flowing = n if engine.is_concurrent(largest) else largest
    columns = (len(sizes) - 1) * p * q * (q + 1) // 2
    terms = 8 * _TERMS * p * q
    itemsize = 4 if precision == "float32" else 8
    lasting = n * (_VERTEX + 24 * q) + m * (_EDGE + 8 * _VECTORS) + _FIXED
    system = 8 * columns * (n + (_BLOCKS - 1) * largest) + 8 * _PANELS * engine.signless_panel(columns) * largest
    jacobian, heat = itemsize * columns * m, (terms + 24 * q) * flowing
    stored = lasting + jacobian + max(system, heat)
    recomputed = lasting + terms * n + system
    streamed = lasting + max(system, heat)
    return CouplingMemory(stored, recomputed, streamed, memory.in_use() or 0)


def planned(needs: CouplingMemory, budget: int | None, precision: str) -> MemoryPlan:
    """The fastest way that fits the budget for the whole process; refuses if none does.

    Without a budget the memory that is free counts.
    """
    free = memory.available() if budget is None else budget - needs.in_use
    allowed = None if free is None else free * (_PART if budget is None else 1.0)
    for way in WAYS:
        if allowed is None or getattr(needs, way) <= allowed:
            return MemoryPlan(way, precision, getattr(needs, way), needs.in_use)
    least = min(needs.stored, needs.recomputed, needs.streamed)
    given = (
        f"{memory.words(free or 0)} free"
        if budget is None
        else f"{memory.words(budget)} in all, of which {memory.words(needs.in_use)} are in use already"
    )
    raise CothermError(
        "memory",
        given,
        f"{memory.words(needs.in_use + least)} in all, the least this coupling takes",
        'Use fewer functions or times, precision="float32", freeze edges, or couple samples of the graphs.',
    )
