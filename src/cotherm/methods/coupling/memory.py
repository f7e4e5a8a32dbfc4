"""The memory of a coupling, predicted before it begins, so that what cannot fit is refused at once.

The largest part is the Jacobian, a row for every edge and a column for every pair of functions at every time; with many
functions, of which it is never formed, the steps that are remembered. The choice of times and of α, every route and the
report are within the forecast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cotherm import limits, memory
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import PANEL
from cotherm.errors import CothermError
from cotherm.ranks import together
from cotherm.solve.filtered_eigenpairs import block_width

# Terms of the derivative for every time, of a graph by its spectrum and of a larger one: see
# cotherm.heat.low_rank_kernel.
_SPECTRAL_TERMS, _TERMS = 12, 10
# Vectors over the edges that a step needs at a time, and bytes of an edge in two numberings, a layout and two sets of
# weights.
_VECTORS, _EDGE = 8, 104
# An edge of one rank of several takes more: its ends among all vertices, and what belongs to other ranks.
_EDGE_OF_RANK = 40
# Blocks over all vertices as wide as the small system, such blocks over those of one graph, and those of conjugate
# gradients.
_LASTING_BLOCKS, _BLOCKS, _PANELS = 2, 1, 5
_VERTEX = 80
# Matrices of the small system: one for each graph and this many more.
_SQUARES = 4
# Vectors over the columns of the Jacobian: one for each graph and this many more.
_RESIDUALS = 6
# If the Jacobian is only applied: vectors over all edges, of which those of remembered steps are most, and over its
# columns.
_APPLIED_VECTORS, _APPLIED_RESIDUALS = 100, 12
# Terms of the derivative for every time, as products use them.
_APPLIED_TERMS = 7
# Dense matrices over the vertices of a graph whose heat flows by its spectrum.
_DENSE = 5
# Numbers of heat in memory at once while times are chosen, 64 MiB, and the additional fraction of it.
HEAT_AT_ONCE, _BESIDE_HEAT = 2**23, 0.5
# Times at which heat is computed for that, with some copies of the functions.
_LOOKS, _COPIES = 11, 6
# Where functions are made from pairs of sharded graphs: copies of the block of the mode iteration, which may have been
# made wider once, and tables of all columns at the items.
_MODE_BLOCKS, _WIDENED, _PAIR_TABLES = 6, 1.5, 4
# Bytes of compiled code and the rest, for any size.
_FIXED = 80_000_000
# The part of the free memory that may be used if the caller sets no limit.
_PART = 0.9


def is_formed(residuals: int, edges: int, engine: Engine) -> bool:
    """Whether the Jacobian is formed, with a column for each residual and a row for each of all free edges."""
    is_small = residuals <= limits.FORMED_SMALL and residuals * edges <= limits.FORMED_ENTRIES
    return residuals <= limits.FORMED_RESIDUALS or (is_small and not engine.is_distributed)


@dataclass(frozen=True)
class CouplingMemory:
    """Peak memory of a coupling, in bytes.

    Attributes
    ----------
    added : int
        What the coupling takes on top of what the process uses already.
    in_use : int
        Memory that the process uses already; 0 if that is not known.
    applied : bool
        Whether there are so many functions that derivatives are never stored, only applied.

    See Also
    --------
    coupling_memory : Predict these amounts.
    couple : Refuses what does not fit.
    """

    added: int
    in_use: int
    applied: bool = False

    @property
    def peak(self) -> int:
        """Bytes of the whole process."""
        return self.in_use + self.added

    @property
    def derivatives(self) -> str:
        """How they are kept, in a word."""
        return "applied" if self.applied else "stored"

    def __str__(self) -> str:
        return (
            f"Memory a coupling takes at its peak: {memory.words(self.added)} (derivatives are {self.derivatives}).\n"
            f"This process already uses {memory.words(self.in_use)}."
        )


def predicted(
    sizes: Sequence[tuple[int, int]], q: int, p: int, engine: Engine, *, choosing: bool, modes: int = 0
) -> CouplingMemory:
    """For graphs with these vertices and free edges, q functions and p times; ``choosing``: the times are "auto".

    Where graphs are spread over ranks, vertices and edges are those of a rank. ``modes`` is how many modes of every
    graph the functions are made of, where that is done on ranks.
    """
    shape = _Shape(sizes, q, p, engine)
    of_rank = _EDGE_OF_RANK * shape.edges if engine.is_distributed else 0
    way = shape.applied if shape.is_applied else shape.formed
    other = max(shape.report, shape.choosing if choosing else 0, shape.pairing(modes) if modes else 0)
    amount = int(engine.overhead * (shape.lasting + of_rank + max(way, other)))
    return CouplingMemory(amount, engine.memory()[1], shape.is_applied)


class _Shape:
    """The sizes of a coupling, and the bytes of its parts."""

    def __init__(self, sizes: Sequence[tuple[int, int]], q: int, p: int, engine: Engine) -> None:
        self.graphs, self.q, self.p, self.block_size = len(sizes), q, p, engine.block_size
        self.vertices, self.edges = (sum(part) for part in zip(*sizes, strict=True))
        self.largest = max(vertices for vertices, _ in sizes)
        self.columns = (self.graphs - 1) * p * q * (q + 1) // 2
        self.is_applied = not is_formed(self.columns, self.edges, engine)
        self.is_spectral = self.largest <= limits.SPECTRAL_CORRELATION
        # Vertices in which heat flows at a time.
        self.flowing = min(self.vertices, engine.at_once(self.largest, self.graphs) * self.largest)
        self.dense = 8 * _DENSE * self.largest**2 if self.largest <= limits.DENSE else 0

    @property
    def lasting(self) -> int:
        """Needed all the time: graphs, functions, vectors, blocks of rows of the Jacobian, and the rest."""
        vectors = 8 * self.columns * (self.graphs + _RESIDUALS)
        blocks = 0 if self.is_applied else 2 * 8 * max(self.block_size, self.columns)
        graphs = self.vertices * (_VERTEX + 24 * self.q) + self.edges * (_EDGE + 8 * _VECTORS)
        return graphs + vectors + min(blocks, 2 * 8 * self.columns * self.edges) + _FIXED

    @property
    def flow(self) -> int:
        """Heat at a point."""
        return 8 * self.q * (self.p + 3) * self.flowing

    @property
    def applied(self) -> int:
        """Products with the Jacobian: terms at two points, at one in both precisions, and what is made of them."""
        vectors = 8 * (_APPLIED_VECTORS * self.edges + _APPLIED_RESIDUALS * self.columns)
        terms = _APPLIED_TERMS * 8 * self.p * self.q * (2 * self.vertices + self.flowing)
        spectra = 2 * 8 * self.vertices * self.largest if self.is_spectral else 0
        return vectors + terms + spectra + self.flow

    @property
    def formed(self) -> int:
        """The Jacobian, and a step or the heat that it is computed from, which a spectrum holds twice."""
        terms = 8 * self.p * self.q * (2 * _SPECTRAL_TERMS if self.is_spectral else _TERMS)
        return 8 * self.columns * self.edges + max(self.step, (terms + 24 * self.q) * self.flowing)

    @property
    def step(self) -> int:
        """The small systems, and heat at the point a step leads to; curvature learned from steps is a Jacobian more."""
        squares = 8 * self.columns**2 * (self.graphs + _SQUARES)
        blocks = 8 * self.columns * (_LASTING_BLOCKS * self.vertices + _BLOCKS * self.largest)
        panels = 8 * _PANELS * min(self.columns, PANEL) * self.largest
        entries = self.columns * self.edges
        return squares + blocks + panels + self.flow + (2 * 8 * entries if entries <= limits.LEARNED_CURVATURE else 0)

    @property
    def report(self) -> int:
        """The heat of one graph, and the correlations of all."""
        heat = 8 * self.largest * self.q * (self.p + 4)
        return heat + 8 * self.p * self.q**2 * (4 * self.graphs + 3) + self.dense

    @property
    def choosing(self) -> int:
        """The heat of some functions at a time."""
        heat = 8 * min(HEAT_AT_ONCE, _LOOKS * self.largest * self.q)
        return int((1.0 + _BESIDE_HEAT) * heat) + 8 * _COPIES * self.largest * self.q + self.dense

    def pairing(self, modes: int) -> int:
        """While functions are made from pairs: modes of one graph, with those before at the items, or all of them."""
        block = int(_WIDENED * block_width(modes))
        return 8 * self.largest * max(_MODE_BLOCKS * block + self.q, _PAIR_TABLES * self.q)


def require_room(
    needs: CouplingMemory, budget: int | None, engine: Engine | None = None, *, free: int | None = None
) -> CouplingMemory:
    """Refuse a coupling that does not fit the budget for the whole process; what the rank that takes most needs.

    Without a budget, the memory free now counts, or ``free`` if it was measured before. The rank with the least room
    decides for all.
    """
    engine = default_engine() if engine is None else engine
    if budget is not None:
        free = budget - needs.in_use
    elif free is None:
        free = engine.memory()[0]
    free = int(-engine.ranks.most(-free))
    needs = replace(needs, added=int(engine.ranks.most(needs.added)))
    if needs.added <= free * (_PART if budget is None else 1.0):
        return needs
    given = (
        f"{memory.words(free)} free"
        if budget is None
        else f"{memory.words(budget)} in all, of which {memory.words(needs.in_use)} are in use already"
    )
    ranks = "Start more ranks, use" if engine.is_distributed else "Use"
    with together(engine.ranks):
        raise CothermError(
            "memory",
            given,
            f"{memory.words(needs.peak)} in all, the least this coupling takes",
            f"{ranks} fewer functions or times, freeze edges, or couple samples of the graphs.",
        )
