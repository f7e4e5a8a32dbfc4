"""How much memory a coupling will take, counted before it begins, and how its derivatives are kept to make it fit.

The largest part is the Jacobian, a row for every edge and a column for every pair of functions at every time. In order
of speed it is *stored*, *recomputed* or *streamed* (:mod:`cotherm.methods.coupling.jacobian`); the first that fits is
taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cotherm import memory
from cotherm.engines.cpu.incidence import panel_width
from cotherm.errors import CothermError
from cotherm.methods.coupling.jacobian import WAYS
from cotherm.methods.coupling.problem import ROOM_FOR_ALL, Storage

# Terms of the derivative for every time: see cotherm.heat.low_rank_kernel.
_TERMS = 10
# Vectors over the edges that a step holds at a time, and bytes an edge takes in two numberings, a layout and two sets
# of weights.
_VECTORS, _EDGE = 8, 104
# Blocks over the vertices as wide as the Jacobian while the small system is made, and those of conjugate gradients.
_BLOCKS, _PANELS = 3, 5
_VERTEX = 80
# What compiled code and the rest take, whatever the size.
_ANYWAY = 80_000_000
# Of the memory there is, this part may be taken without being asked.
_PART = 0.9


@dataclass(frozen=True)
class CouplingMemory:
    """Bytes that coupling takes at its peak, besides what the process holds already, for each way to keep derivatives.

    ``held`` is what the process holds already, 0 if that is not known.
    """

    stored: int
    recomputed: int
    streamed: int
    held: int

    def __str__(self) -> str:
        lines = ["Memory a coupling takes at its peak, by how its derivatives are kept:"]
        lines += [f"  {way:<12}{memory.words(getattr(self, way)):>10}" for way in WAYS]
        return "\n".join([*lines, f"This process already holds {memory.words(self.held)}."])


def predicted(sizes: Sequence[tuple[int, int]], q: int, p: int, precision: str) -> CouplingMemory:
    """For graphs with so many vertices and free edges, q functions and p times."""
    n, m = (sum(part) for part in zip(*sizes, strict=True))
    largest = max(vertices for vertices, _ in sizes)
    # Heat of all graphs at a time, or of one.
    flowing = n if largest <= ROOM_FOR_ALL else largest
    columns = (len(sizes) - 1) * p * q * (q + 1) // 2
    terms = 8 * _TERMS * p * q
    itemsize = 4 if precision == "float32" else 8
    lasting = n * (_VERTEX + 24 * q) + m * (_EDGE + 8 * _VECTORS) + _ANYWAY
    system = 8 * columns * (n + (_BLOCKS - 1) * largest) + 8 * _PANELS * panel_width(columns) * largest
    jacobian, heat = itemsize * columns * m, (terms + 24 * q) * flowing
    stored = lasting + jacobian + max(system, heat)
    recomputed = lasting + terms * n + system
    streamed = lasting + max(system, heat)
    return CouplingMemory(stored, recomputed, streamed, memory.held() or 0)


def chosen(needs: CouplingMemory, budget: int | None, precision: str) -> tuple[Storage, int]:
    """The fastest way that fits the budget for the whole process, and its peak; refuses if none does.

    Without a budget the memory that is free counts.
    """
    free = memory.available() if budget is None else budget - needs.held
    allowed = None if free is None else free * (_PART if budget is None else 1.0)
    for way in WAYS:
        if allowed is None or getattr(needs, way) <= allowed:
            return Storage(way, precision), needs.held + getattr(needs, way)
    least = min(needs.stored, needs.recomputed, needs.streamed)
    given = (
        f"{memory.words(free or 0)} free"
        if budget is None
        else f"{memory.words(budget)} in all, of which {memory.words(needs.held)} are taken already"
    )
    raise CothermError(
        "memory",
        given,
        f"{memory.words(needs.held + least)} in all, the least this coupling takes",
        'Use fewer functions or times, precision="float32", freeze edges, or couple samples of the graphs.',
    )
