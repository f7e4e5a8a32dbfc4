"""The memory of a coupling: predicted before it begins, and how derivatives are kept so that it fits.

The largest part is the Jacobian, a row for every edge and a column for every pair of functions at every time. It is
*stored* in memory, or *recomputed* whenever it is used (:mod:`cotherm.methods.coupling.jacobian`). The plan is made
once, before anything else: the fastest way that fits. (On 100,000 vertices reading it from a file took a tenth less
memory than recomputing it, and storing it in single precision as much.)

The small systems have as many rows as the Jacobian has columns, and there are several of them at a time, however the
Jacobian is kept. The choice of times and of α, every route and the report are within the forecast.

With many functions the Jacobian is never formed, and there is one way.
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

# Ways to keep the Jacobian, the fastest first.
WAYS = ("stored", "recomputed")

# Terms of the derivative for every time, of a graph by its spectrum and of a larger one: see
# cotherm.heat.low_rank_kernel.
_SPECTRAL_TERMS, _TERMS = 12, 10
# Vectors over the edges that a step needs at a time, and bytes of an edge in two numberings, a layout and two sets of
# weights.
_VECTORS, _EDGE = 8, 104
# Beside a stored Jacobian, or one that is only applied, an edge of one rank of several takes more: its ends among all
# vertices, and what belongs to other ranks. The other ways leave room enough for it.
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
    """Peak memory of a coupling for each way of keeping its derivatives, in bytes.

    The largest part is the Jacobian, with a row for every edge and a column for every pair of functions at every
    time. The amounts come on top of what the process uses already. Print the object for a table.

    Attributes
    ----------
    stored : int
        With the Jacobian in memory. This is the fastest way.
    recomputed : int
        With the Jacobian recomputed whenever it is needed.
    applied : bool
        Whether there are so many functions that the Jacobian is never formed. Then all amounts are the same.
    in_use : int
        Memory that the process uses already; 0 if that is not known.

    See Also
    --------
    coupling_memory : Predict these amounts.
    couple : Takes the fastest way that fits.
    """

    stored: int
    recomputed: int
    in_use: int
    applied: bool = False

    def __str__(self) -> str:
        lines = ["Memory a coupling takes at its peak, by how its derivatives are kept:"]
        lines += [f"  {way:<12}{memory.words(getattr(self, way)):>10}" for way in WAYS]
        if self.applied:
            lines = [f"Memory a coupling takes at its peak: {memory.words(self.stored)} (derivatives are not kept)."]
        return "\n".join([*lines, f"This process already uses {memory.words(self.in_use)}."])


@dataclass(frozen=True)
class MemoryPlan:
    """How the Jacobian is kept, one of ``WAYS``, and how much memory that takes in addition."""

    way: str = "stored"
    added: int = 0
    in_use: int = 0
    applied: bool = False

    @property
    def description(self) -> str:
        """The way in a word or two."""
        return "applied" if self.applied else self.way

    @property
    def peak(self) -> int:
        """Bytes of the whole process."""
        return self.in_use + self.added


def predicted(
    sizes: Sequence[tuple[int, int]], q: int, p: int, engine: Engine, *, choosing: bool, modes: int = 0
) -> CouplingMemory:
    """For graphs with these vertices and free edges, q functions and p times; ``choosing``: the times are "auto".

    Where graphs are spread over ranks, vertices and edges are those of a rank. ``modes`` is how many modes of every
    graph the functions are made of, where that is done on ranks.
    """
    shape = _Shape(sizes, q, p, engine)
    other = max(shape.report, shape.choosing if choosing else 0, shape.pairing(modes) if modes else 0)
    if shape.is_applied:
        of_rank = _EDGE_OF_RANK * shape.edges if engine.is_distributed else 0
        amount = int(engine.overhead * (shape.lasting + of_rank + max(shape.applied, other)))
        return CouplingMemory(amount, amount, engine.memory()[1], applied=True)
    jacobian = 8 * shape.columns * shape.edges
    step, heat = shape.step, shape.heat
    stored = jacobian + max(step, heat) + (_EDGE_OF_RANK * shape.edges if engine.is_distributed else 0)
    recomputed = shape.kept_terms + max(step, heat - shape.kept_terms)
    ways = (shape.lasting + max(way, other) for way in (stored, recomputed))
    stored, recomputed = (int(engine.overhead * way) for way in ways)
    return CouplingMemory(stored, recomputed, engine.memory()[1])


class _Shape:
    """The sizes of a coupling, and the bytes of its parts."""

    def __init__(self, sizes: Sequence[tuple[int, int]], q: int, p: int, engine: Engine) -> None:
        self.sizes, self.graphs, self.q, self.p = sizes, len(sizes), q, p
        self.block_size, self.engine = engine.block_size, engine
        self.vertices, self.edges = (sum(part) for part in zip(*sizes, strict=True))
        self.largest = max(vertices for vertices, _ in sizes)
        self.columns = (self.graphs - 1) * p * q * (q + 1) // 2
        self.at_once = engine.at_once(self.largest, self.graphs)
        # Vertices in which heat flows at a time.
        self.flowing = min(self.vertices, self.at_once * self.largest)
        self.panel = min(self.columns, PANEL)

    @property
    def lasting(self) -> int:
        """Bytes needed all the time: graphs, functions, vectors, blocks of rows of the Jacobian, and the rest."""
        vectors = 8 * self.columns * (self.graphs + _RESIDUALS)
        blocks = 0 if self.is_applied else 2 * 8 * max(self.block_size, self.columns)
        graphs = self.vertices * (_VERTEX + 24 * self.q) + self.edges * (_EDGE + 8 * _VECTORS)
        return graphs + vectors + min(blocks, 2 * 8 * self.columns * self.edges) + _FIXED

    @property
    def is_applied(self) -> bool:
        """Whether the Jacobian is never formed."""
        return not is_formed(self.columns, self.edges, self.engine)

    @property
    def applied(self) -> int:
        """Bytes of products with it: terms at two points, at one in both precisions, and what is made of them."""
        vectors = 8 * (_APPLIED_VECTORS * self.edges + _APPLIED_RESIDUALS * self.columns)
        terms = _APPLIED_TERMS * 8 * self.p * self.q * (2 * self.vertices + self.flowing)
        spectra = 2 * 8 * self.vertices * self.largest if self.is_spectral else 0
        return vectors + terms + spectra + 8 * self.q * (self.p + 3) * self.flowing

    @property
    def terms(self) -> int:
        """Bytes for each vertex that the terms of the derivative take."""
        return 8 * self.p * self.q * (_SPECTRAL_TERMS if self.is_spectral else _TERMS)

    @property
    def is_spectral(self) -> bool:
        return self.largest <= limits.SPECTRAL_CORRELATION

    @property
    def kept_terms(self) -> int:
        """Bytes of all graphs' terms, from which rows are recomputed."""
        return self.terms * self.vertices

    @property
    def heat(self) -> int:
        """Bytes while the Jacobian is computed; by a spectrum, terms are held twice."""
        return (self.terms * (2 if self.is_spectral else 1) + 24 * self.q) * self.flowing

    @property
    def step(self) -> int:
        """Bytes of a step: the small systems, and heat at the point it leads to."""
        squares = 8 * self.columns**2 * (self.graphs + _SQUARES)
        blocks = 8 * self.columns * (_LASTING_BLOCKS * self.vertices + _BLOCKS * self.largest)
        panels = 8 * _PANELS * self.panel * self.largest
        heat = 8 * self.q * (self.p + 3) * self.flowing
        return squares + blocks + panels + heat + self.learning

    @property
    def learning(self) -> int:
        """Bytes for curvature learned from steps: a second Jacobian, or the equations with what was learned."""
        small = self.columns * self.edges <= limits.LEARNED_CURVATURE
        return 2 * 8 * self.columns * self.edges if small else 0

    @property
    def report(self) -> int:
        """Bytes of the heat of one graph, and of the correlations of all."""
        heat = 8 * self.largest * self.q * (self.p + 4)
        return heat + 8 * self.p * self.q**2 * (4 * self.graphs + 3) + self.dense

    @property
    def choosing(self) -> int:
        """Bytes of the heat of some functions at a time."""
        heat = 8 * min(HEAT_AT_ONCE, _LOOKS * self.largest * self.q)
        return int((1.0 + _BESIDE_HEAT) * heat) + 8 * _COPIES * self.largest * self.q + self.dense

    def pairing(self, modes: int) -> int:
        """While functions are made from pairs: modes of one graph, with those before at the items, or all of them."""
        block = int(_WIDENED * block_width(modes))
        return 8 * self.largest * max(_MODE_BLOCKS * block + self.q, _PAIR_TABLES * self.q)

    @property
    def dense(self) -> int:
        return 8 * _DENSE * self.largest**2 if self.largest <= limits.DENSE else 0


def planned(
    needs: CouplingMemory,
    budget: int | None,
    engine: Engine | None = None,
    *,
    free: int | None = None,
) -> MemoryPlan:
    """The fastest way that fits the budget for the whole process; refuses if none does.

    Without a budget, the memory free now counts, or ``free`` if it was measured before. All ranks of an engine take the
    same way: the rank with the least room decides.
    """
    engine = default_engine() if engine is None else engine
    if budget is not None:
        free = budget - needs.in_use
    elif free is None:
        free = engine.memory()[0]
    most = engine.ranks.most
    free = int(-most(-free))
    needs = replace(needs, stored=int(most(needs.stored)), recomputed=int(most(needs.recomputed)))
    allowed = free * (_PART if budget is None else 1.0)
    for way in WAYS:
        if getattr(needs, way) <= allowed:
            return MemoryPlan(way, getattr(needs, way), needs.in_use, needs.applied)
    least = min(needs.stored, needs.recomputed)
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
            f"{memory.words(needs.in_use + least)} in all, the least this coupling takes",
            f"{ranks} fewer functions or times, freeze edges, or couple samples of the graphs.",
        )
