"""The memory of a coupling: predicted before it begins, and how derivatives are kept so that it fits.

The largest part is the Jacobian, a row for every edge and a column for every pair of functions at every time. It is
*stored* in memory, *recomputed* whenever it is used, or *streamed* from a temporary file
(:mod:`cotherm.methods.coupling.jacobian`). The plan is made once, before anything else: the fastest way that fits.

The small systems have as many rows as the Jacobian has columns, or rows where these are fewer
(:mod:`cotherm.solve.compression`), and there are several of them at a time, however the Jacobian is kept. The choice of
times and of α, every route and the report are within the forecast.

With many functions the Jacobian is never formed (:mod:`cotherm.methods.coupling.implicit_jacobian`). Then the largest
part are factors of the systems: *stored* is with these, the others are without them, which takes more iterations. How
large they are depends on how many edges turn out to be cut. The forecast is for what is usual, and factors that would
exceed the limit all the same are not made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cotherm import limits, memory
from cotherm.engines import Engine, default_engine
from cotherm.engines.interface import PANEL
from cotherm.errors import CothermError
from cotherm.ranks import together
from cotherm.solve.filtered_eigenpairs import block_width
from cotherm.solve.incidence import ROUGH_PANELS
from cotherm.solve.rough_inverse import uses_unknowns

# Ways to keep the Jacobian, the fastest first.
WAYS = ("stored", "recomputed", "streamed")

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
# If the Jacobian is only applied: vectors over all edges and over its columns, and bytes of a row of a matrix during
# its conversion to single precision.
_APPLIED_VECTORS, _APPLIED_RESIDUALS, _ROUGH_ROW = 36, 12, 12
# Matrices over the free edges of a graph while a factor is made from them.
_FORMS = 2
# The part of the edges that is free when factors are made, with enough functions for it to matter: 0.2 to 0.45 in
# the runs of `python -m benchmarks many`.
_USUALLY_FREE = 0.3
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
    applied : bool
        Whether there are so many functions that the Jacobian is never formed. Then ``stored`` is with the factors of
        the systems in memory, and the two others are without them, which takes longer.
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
    applied: bool = False

    def __str__(self) -> str:
        lines = ["Memory a coupling takes at its peak, by how its derivatives are kept:"]
        lines += [f"  {way:<12}{memory.words(getattr(self, way)):>10}" for way in WAYS]
        if self.applied:
            lines = ["Memory a coupling takes at its peak (derivatives are applied, not kept):"]
            lines += [f"  {'with factors':<18}{memory.words(self.stored):>10}"]
            lines += [f"  {'without factors':<18}{memory.words(self.recomputed):>10}"]
        return "\n".join([*lines, f"This process already uses {memory.words(self.in_use)}."])


@dataclass(frozen=True)
class MemoryPlan:
    """How the Jacobian is kept, one of ``WAYS``, in which precision, and how much memory that takes in addition.

    Where it is ``applied``, only "stored" is with factors; ``factors`` is their part of what is added, and ``room``
    what they may take at most.
    """

    way: str = "stored"
    precision: str = "float64"
    added: int = 0
    in_use: int = 0
    applied: bool = False
    factors: int = 0
    room: float = math.inf

    def with_factors(self, amount: int) -> MemoryPlan:
        """The memory really taken: factors are smaller if few edges are free, and may not be needed at all."""
        way = self.way if amount else "recomputed"
        return replace(self, way=way, added=self.added - self.factors + amount, factors=amount)

    @property
    def description(self) -> str:
        """The way in a word or two."""
        return ("applied" if self.way == "stored" else "applied without factors") if self.applied else self.way

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.precision)

    @property
    def peak(self) -> int:
        """Bytes of the whole process."""
        return self.in_use + self.added


def predicted(
    sizes: Sequence[tuple[int, int]], q: int, p: int, precision: str, engine: Engine, *, choosing: bool, modes: int = 0
) -> CouplingMemory:
    """For graphs with these vertices and free edges, q functions and p times; ``choosing``: the times are "auto".

    Where graphs are spread over ranks, vertices and edges are those of a rank. ``modes`` is how many modes of every
    graph the functions are made of, where that is done on ranks.
    """
    shape = _Shape(sizes, q, p, engine)
    other = max(shape.report, shape.choosing if choosing else 0, shape.pairing(modes) if modes else 0)
    if shape.is_applied:
        of_rank = _EDGE_OF_RANK * shape.edges if engine.is_distributed else 0
        ways = (shape.lasting + of_rank + max(shape.applied + part, other) for part in (shape.factors, 0))
        with_factors, without = (int(engine.overhead * way) for way in ways)
        return CouplingMemory(with_factors, without, without, engine.memory()[1], applied=True)
    jacobian = (4 if precision == "float32" else 8) * shape.columns * shape.edges
    step, heat = max(shape.compressing, shape.step), shape.heat
    stored = jacobian + max(step, heat) + (_EDGE_OF_RANK * shape.edges if engine.is_distributed else 0)
    recomputed = shape.kept_terms + max(step, heat - shape.kept_terms)
    streamed = max(step, heat)
    ways = (shape.lasting + max(way, other) for way in (stored, recomputed, streamed))
    stored, recomputed, streamed = (int(engine.overhead * way) for way in ways)
    return CouplingMemory(stored, recomputed, streamed, engine.memory()[1])


def factors_memory(free: Sequence[int], vertices: Sequence[int], own: int, engine: Engine) -> int:
    """Bytes of factors for graphs with ``free`` edges and ``vertices``, each with ``own`` entries of Q."""
    return int(engine.overhead * _factors_memory(free, vertices, own, engine))


def _factors_memory(free: Sequence[int], vertices: Sequence[int], own: int, engine: Engine) -> int:
    """One factor for each graph, one where they meet, and what is needed to make some of them at a time.

    See :mod:`cotherm.solve.rough_inverse`.
    """
    at_once = engine.at_once(max(vertices), len(vertices))
    if len(vertices) == 2:
        lasting, making = _inverse_memory(sum(free), max(vertices), own, engine)
        return lasting + (lasting + making if uses_unknowns(engine, sum(free), own) else lasting + at_once * making)
    parts = [_inverse_memory(*sizes, own, engine) for sizes in zip(free, vertices, strict=True)]
    total, making = sum(lasting for lasting, _ in parts), at_once * max(making for _, making in parts)
    meeting = 4 * own**2
    return total + max(meeting, making)  # the one after the other


def _inverse_memory(free: int, n: int, own: int, engine: Engine) -> tuple[int, int]:
    """Bytes of one factor, and of what it is made from."""
    rows = _ROUGH_ROW * min(engine.block_size, own * free)
    if uses_unknowns(engine, free, own):
        return 4 * own * free, _FORMS * 4 * free**2 + rows
    # Systems are solved for some columns at a time: these, and one panel.
    solving = 8 * n * min(own, PANEL) * (2 * ROUGH_PANELS + _PANELS)
    return 4 * own**2, 4 * own**2 + 12 * own * n + rows + solving


class _Shape:
    """The sizes of a coupling, and the bytes of its parts."""

    def __init__(self, sizes: Sequence[tuple[int, int]], q: int, p: int, engine: Engine) -> None:
        self.sizes, self.graphs, self.q, self.p = sizes, len(sizes), q, p
        self.block_size, self.engine = engine.block_size, engine
        self.vertices, self.edges = (sum(part) for part in zip(*sizes, strict=True))
        self.largest = max(vertices for vertices, _ in sizes)
        self.columns = (self.graphs - 1) * p * q * (q + 1) // 2
        # Rows of the small system.
        self.rank = min(self.columns, self.edges)
        self.at_once = engine.at_once(self.largest, self.graphs)
        # Vertices in which heat flows at a time.
        self.flowing = min(self.vertices, self.at_once * self.largest)
        self.panel = min(self.rank, PANEL)

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
        return self.columns > limits.FORMED_RESIDUALS

    @property
    def applied(self) -> int:
        """Bytes of products with it: terms at two points, at one in both precisions, and what is made of them."""
        vectors = 8 * (_APPLIED_VECTORS * self.edges + _APPLIED_RESIDUALS * self.columns)
        terms = _APPLIED_TERMS * 8 * self.p * self.q * (2 * self.vertices + self.flowing)
        spectra = 2 * 8 * self.vertices * self.largest if self.is_spectral else 0
        return vectors + terms + spectra + 8 * self.q * (self.p + 3) * self.flowing

    @property
    def factors(self) -> int:
        """Bytes of the usual factors: with many functions, many of the edges that may be free are cut."""
        vertices, edges = zip(*self.sizes, strict=True)
        usual = [math.ceil(_USUALLY_FREE * m) for m in edges]
        return _factors_memory(usual, vertices, self.columns // (self.graphs - 1), self.engine)

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
    def compressing(self) -> int:
        """While the Jacobian, with more columns than rows, is made square: the square and a block of columns."""
        if self.columns <= self.edges:
            return 0
        width = min(self.columns, max(self.edges, 1, self.block_size // max(1, self.edges)))
        return 8 * self.edges * (self.edges + width)

    @property
    def step(self) -> int:
        """Bytes of a step: the small systems, and heat at the point it leads to."""
        equations = 8 * self.edges**2 if self.columns > self.edges else 0
        squares = 8 * self.rank**2 * (self.graphs + _SQUARES)
        blocks = 8 * self.rank * (_LASTING_BLOCKS * self.vertices + _BLOCKS * self.largest)
        panels = 8 * _PANELS * self.panel * self.largest
        heat = 8 * self.q * (self.p + 3) * self.flowing
        return equations + squares + blocks + panels + heat + self.learning

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
    precision: str,
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
    needs = replace(
        needs,
        stored=int(most(needs.stored)),
        recomputed=int(most(needs.recomputed)),
        streamed=int(most(needs.streamed)),
    )
    allowed = free * (_PART if budget is None else 1.0)
    for way in WAYS:
        if getattr(needs, way) <= allowed:
            plan = MemoryPlan(way, precision, getattr(needs, way), needs.in_use, needs.applied)
            if not needs.applied:
                return plan
            if way != "stored":
                return replace(plan, room=0.0)
            return replace(plan, factors=needs.stored - needs.recomputed, room=allowed - needs.recomputed)
    least = min(needs.stored, needs.recomputed, needs.streamed)
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
            f'{ranks} fewer functions or times, precision="float32", freeze edges, or couple samples of the graphs.',
        )
