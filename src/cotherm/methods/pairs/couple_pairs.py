"""Coupling graphs by items that are known to be the same, without labels."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.deadline import TimeUp, until
from cotherm.engines import Engine, engine_for_views
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.methods.checkpoint import Checkpoint
from cotherm.methods.coupling.options import Numbers, common_arguments
from cotherm.methods.coupling.problem import Comparison
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Step
from cotherm.methods.coupling.solve import shown_once
from cotherm.methods.pairs.agreement import Agreed, Agreement, KeptBack, PairReport
from cotherm.methods.pairs.arguments import RARE, Given
from cotherm.methods.pairs.coupler import Coupled, Coupler
from cotherm.methods.pairs.descent import Outcome
from cotherm.methods.pairs.relation import Link, Relation, relations
from cotherm.methods.pairs.rules import FEWEST, MOVES
from cotherm.methods.validation import are_shards, is_auto, versions
from cotherm.progress import Meter
from cotherm.ranks import require_equal_content, together
from cotherm.validation import options_of

if TYPE_CHECKING:
    from cotherm.graphs.sharded.store import ShardedGraph
    from cotherm.methods.coupling.shards import ShardedCoupling

_TOO_SHORT = "Time was too short to prepare the coupling: all views were left as they are."


@overload
def couple_pairs(
    graphs: Sequence[Graph],
    pairs: ArrayLike | Sequence[ArrayLike] | str = "same",
    *,
    functions: Sequence[ArrayLike] | None = None,
    times: ArrayLike | str = "auto",
    alpha: float | str = "auto",
    borrow: float | str = "auto",
    random_state: int = 0,
    max_seconds: float | None = None,
    callback: Callable[[Step], Any] | None = None,
    engine: str | Engine = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Coupling: ...


@overload
def couple_pairs(
    graphs: Sequence[str | os.PathLike[str] | ShardedGraph],
    pairs: ArrayLike | Sequence[ArrayLike] | str = "same",
    **others: Any,
) -> ShardedCoupling: ...


def couple_pairs(  # type: ignore[misc] # other arguments of sharded graphs are checked by name
    graphs: Any,
    pairs: ArrayLike | Sequence[ArrayLike] | str = "same",
    *,
    functions: Sequence[ArrayLike] | None = None,
    times: ArrayLike | str = "auto",
    alpha: float | str = "auto",
    borrow: float | str = "auto",
    random_state: int = 0,
    max_seconds: float | None = None,
    callback: Callable[[Step], Any] | None = None,
    engine: str | Engine = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Coupling | ShardedCoupling:
    r"""Couple graphs by items that are known to be the same, without labels.

    Changes edge weights as little as possible so that heat from the items that two views share diffuses alike on both.
    Minimizes

    .. math::

        \sum_k \rho_k \|L(u_k) - L(w_k)\|_F^2
        + \alpha \sum_{k<l} \pi_{kl} \sum_t \|F_{kl}^\top e^{-t L(u_k)} F_{kl} - F_{lk}^\top e^{-t L(u_l)} F_{lk}\|_F^2

    over edge weights :math:`u_k \ge 0`. The columns of :math:`F_{kl}` and :math:`F_{lk}` are the smoothest modes of the
    graphs k and l, restricted to the items that both have, with zeros elsewhere. Every two views are coupled by the
    items that these two share, and count by the evidence :math:`\pi_{kl}` that they are related, relative to the two
    that are most surely related.

    How many modes, the time, α, how rigid a view is and how much views borrow from each other is chosen from the data.
    A part of the pairs is kept back at first: they tell how far the views agree as given, after borrowing, and at ever
    stronger couplings. Views that have nothing in common with the others, and all views if coupling does not help, are
    left as they are, and the result says so. Such views have no influence on the others.

    Parameters
    ----------
    graphs : sequence of Graph, or of ShardedGraph or path-like
        Two or more views, graphs of any sizes. Sharded graphs, or with ``engine="petsc"`` their directories, are
        coupled in parts, see Notes.
    pairs : "same", "names", sequence of array_like, or array_like of int of shape (items, graphs), default "same"
        Which vertices are the same item. "same": vertex v of every graph, or the vertices of the same name where all
        graphs have the same names in another order; graphs whose vertices have other names are refused. "names":
        vertices with the same name. An index array for each graph: entry by entry the same item. A table: a row for
        each item, a column for each graph, with -1, NaN or None where an item is missing from a view; an array, since
        a list with an entry for each graph is read as index arrays. See :func:`cotherm.pair_names` for names that
        graphs do not hold.
    functions : sequence of array_like of shape (n_k, q), optional
        Further corresponding functions, one array for each graph, such as landmarks, labels or features. They are
        scaled to unit norm.
    times : "auto" or array_like of float, default "auto"
        Diffusion times at which heat is compared, for graphs scaled to the same median degree. "auto": one move along
        edges if all items are shared, and 1/p² moves, at most 8, if the part p of them is.
    alpha : "auto" or float, default "auto"
        Weight α of the coupling term. "auto": the strengths 1, 3.2, 10, 32, 100 and 316 are tried, in units of the α
        at which both terms have equal weight, and the weakest is taken that has 0.7 of the most that any of them adds
        to the agreement on pairs kept back. Without pairs kept back it is 32.
    borrow : float or "auto", default "auto"
        Share of the weights between shared items that a view borrows from the others before coupling, from 0 for none
        to 1. "auto": for each view the mean correlation of its heat kernel with the others', or of the others' with
        each other where that is more, at most 0.4. A correlation counts as far as there is evidence for it.
    random_state : int, default 0
        Seed of the choice of pairs to keep back.
    max_seconds : float, optional
        Stop after this time with the best weights so far and the status "time limit". Up to half of it serves to
        measure agreement. Where it does not suffice to prepare the coupling, all views are left as they are, and the
        result says so. The clock is looked at after every step, and about every second before the first; evaluating the
        result comes on top. By default there is no limit.
    callback : callable, optional
        Called with a :class:`cotherm.Step` after every step of the final coupling. If it returns a true value, the
        search stops.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What runs the array kernels, as for :func:`cotherm.couple`.
    checkpoint : path-like, optional
        File for the state of the run, from which the same call goes on, as for :func:`cotherm.couple`.
    options : dict, optional
        What few need:

        - n_modes: number of smooth modes of every graph. "auto", the default: one for every six items that two coupled
          views share, at most 24.
        - rigidity: penalty ρ > 0 on changing each graph. By default the square of a view's median correlation with the
          others, relative to the geometric mean of all views, so that two views are equally rigid. If it is given, a
          view that is ρ times as rigid as the least rigid one also borrows 1/ρ as much, and nothing from ρ = 100 on.
        - include_unrelated: whether to couple views also where they have nothing in common beyond chance, or where they
          share fewer than 20 items, too few to tell; False by default.
        - kept_back: fraction of the pairs to keep back when agreement is measured, 0.25 by default and at most one
          half. 0 for no measurement: the usual strength is taken. The final coupling uses all pairs.
        - tolerance: stop when a step lowers the cost by less than this fraction of its first value, 1e-5 by default,
          once the gradients of its two terms balance to a tenth.
        - max_iterations: maximum number of steps of the final coupling, 1000 by default.

    Returns
    -------
    Coupling
        The coupled graphs. ``result.pairs`` tells what was chosen and how far the views agree; print the result for a
        summary. On a keyboard interrupt the best weights so far, once the first coupling has begun.

    Raises
    ------
    CothermError
        If an argument cannot be used: pairs out of range, repeated or contradictory, or nothing in common.

    See Also
    --------
    couple : Couple graphs by corresponding functions of your own.
    pair_functions : The functions that this uses.
    pair_names : Pairs from names.
    average : One graph from several graphs on the same vertices.

    Notes
    -----
    Agreement of two views is how well heat in one of them, from items that were kept back, finds the nearest neighbors
    of the other as given, as mean average precision; items that heat reaches equally count as in random order. Two
    views have something in common if permuted views reach the correlation of their heat kernels with a probability of
    at most 10⁻³ [1]_ [2]_, which the result reports as ``p_value``. What they do to each other is in proportion to the
    evidence, 1 − log 10⁻³ / log p.

    With borrowed weight, views also get second neighbors: half of the weight goes to these, about √n a vertex (10 to
    32), and all degrees become about equal. That alone makes short times see more, coupled or not. It adds edges, two
    to three times as many as there were. ``borrow=0`` leaves all of this out, and only changes the edges a view has.

    What each part adds is in the result: the agreement as given, borrowed, and coupled.

    Graphs are first scaled to the same median degree, so that units do not matter, and scaled back at the end. `times`
    and `alpha` refer to the scaled graphs. ``distance``, ``coupling_before`` and ``cost`` are those of the graphs as
    given. The search, whose costs are in ``history``, begins at the scaled graphs with what they have borrowed.

    Sharded graphs are coupled in parts, as by :func:`cotherm.couple`, whose options apply, ``out`` among them, and so
    do ``graph_weights``, ``frozen`` and ``start``; of those above n_modes alone does. Items must be in all graphs, or,
    of two graphs, may be in one only. Vertices have the numbers that they had before shards were put in another order.
    Nothing is borrowed or kept back, and views are always coupled, by the modes of all of them, for one move along
    edges and with α 50 times the number of graphs, in units of that of equal weight.

    References
    ----------
    .. [1] N. Mantel, "The detection of disease clustering and a generalized regression approach", Cancer Research,
       1967.
    .. [2] P. W. Mielke, "On asymptotic non-normality of null distributions of MRPP statistics", Communications in
       Statistics, 1979.

    Examples
    --------
    Tags and colors of the same 145 items. No label is used, labels only judge:

    >>> import cotherm as ct
    >>> views = ct.datasets.ambiguous()
    >>> result = ct.couple_pairs(views.graphs)
    >>> pair = result.pairs.agreement[0]
    >>> pair.after > pair.before > pair.chance
    True

    Only some items are known to be the same:

    >>> result = ct.couple_pairs(views.graphs, pairs=[range(0, 100), range(0, 100)])
    >>> result.pairs.table.shape
    (100, 2)
    """
    began = time.perf_counter()
    if are_shards(graphs, engine):
        return _of_shards(graphs, pairs, locals(), began)
    engine = engine_for_views(engine, functions)
    with together(engine.ranks):
        rare = options_of(options, RARE)
        common = common_arguments(times, alpha, max_seconds, callback, checkpoint, engine, rare)
        given = Given.checked(graphs, pairs, functions, borrow, random_state, rare, common)
    for graph in given.graphs:
        require_equal_content(engine.ranks, "graphs", np.array(graph.n), graph.i, graph.j, graph.w)
    require_equal_content(engine.ranks, "pairs", given.pairs.table)
    session = engine.session(max(graph.n for graph in given.graphs), 0.0)
    limit = None if given.max_seconds is None or engine.is_distributed else began + given.max_seconds
    with session, shown_once(engine), Meter(limit=given.max_seconds) as meter, until(limit):
        meter.advance("comparing the views")
        kept = given.opened_checkpoint()
        try:
            return _coupled(given, meter, began, kept)
        except TimeUp:
            return _as_given(given, began)


def _of_shards(graphs: Any, pairs: Any, given: Mapping[str, Any], began: float) -> ShardedCoupling:
    """Sharded graphs; ``given`` are the other arguments."""
    from cotherm.methods.coupling.shards import PAIRS_OF_SHARDS, ShardCoupling, shard_engine

    petsc = shard_engine(given["engine"])
    with together(petsc.ranks):
        if given["functions"] is not None:
            raise CothermError("functions", "given, with sharded graphs", "pairs alone, or couple by functions alone")
        if not is_auto("borrow", given["borrow"]) and validation.real("borrow", given["borrow"]) != 0.0:
            raise CothermError("borrow", validation.describe(given["borrow"]), "0: sharded graphs do not borrow")
        rare = options_of(given["options"], PAIRS_OF_SHARDS)
        common = common_arguments(
            given["times"], given["alpha"], given["max_seconds"], given["callback"], given["checkpoint"], petsc, rare
        )
        numbers = Numbers.checked(len(graphs), rare["graph_weights"], rare, common)
    return ShardCoupling(graphs, petsc, numbers, rare, began).by_pairs(pairs, rare["frozen"], rare["start"])


def _coupled(given: Given, meter: Meter, began: float, kept: Checkpoint | None) -> Coupling:
    found = relations(given.graphs, given.pairs, given.random_state, given.engine)
    linked = {k for one in found if one.related or given.include_unrelated for k in one.views}
    views = given.part(sorted(linked) or range(len(given.graphs)))
    inside = [replace(one, views=views.here(one.views)) for one in found if set(one.views) <= set(views.numbers)]
    coupler = Coupler(views, inside, given, meter, began, kept)
    coupled = coupler.run()
    with until(None):  # keep what was found
        return _Report(given, found, coupler, coupled).result(began)


def _as_given(given: Given, began: float) -> Coupling:
    """The result if time ran out before the coupling was prepared."""
    count, degree = len(given.graphs), given.part(range(len(given.graphs))).degree
    times = np.array([MOVES / degree]) if given.times is None else given.times
    unknown, ones = np.full(len(times), np.nan), np.ones(count)
    functions = [np.zeros((graph.n, 1)) for graph in given.graphs]
    left = PairReport(given.pairs.table, 1, np.nan, (0.0,) * count, (1.0,) * count, (), (_TOO_SHORT,))
    end = Outcome([], np.nan, np.nan, "time limit")
    alpha = given.alpha or 1.0
    return _result(given, began, given.graphs, functions, times, alpha, 0.0, unknown, unknown, 0.0, end, ones, left)


def _result(
    given: Given,
    began: float,
    graphs: Sequence[Graph],
    functions: Sequence[Floats],
    times: Floats,
    alpha: float,
    distance: float,
    before: Floats,
    after: Floats,
    mismatch: float,
    end: Outcome,
    units: Floats,
    report: PairReport,
) -> Coupling:
    return Coupling(
        graphs=tuple(graphs),
        originals=tuple(given.graphs),
        functions=tuple(functions),
        times=tuple(times.tolist()),
        alpha=alpha,
        cost=distance + alpha * float(np.sum(after**2)),
        distance=distance,
        coupling_before=before,
        coupling=after,
        mismatch=mismatch,
        status=end.status,
        optimality=end.optimality,
        history=tuple(end.history),
        settings={**given.settings(), "units": units.tolist(), "engine": given.engine.name},
        versions=versions(),
        seconds=time.perf_counter() - began,
        pairs=report,
    )


class _Report:
    """Turn a coupling of the scaled linked views into the result for all views as given."""

    def __init__(self, given: Given, found: Sequence[Relation], coupler: Coupler, coupled: Coupled) -> None:
        self._given, self._found, self._coupler, self._coupled = given, found, coupler, coupled
        self._views = coupler.views
        self._links = [(self._views.numbers[a], self._views.numbers[b]) for a, b in coupler.links]

    def result(self, began: float) -> Coupling:
        given, coupled, coupler = self._given, self._coupled, self._coupler
        graphs, numbers, solved = self._graphs(), self._views.numbers, coupled.solved
        shares, units = np.zeros(len(graphs)), np.ones(len(graphs))
        rigidity = np.ones(len(graphs)) if given.rigidity is None else given.rigidity.copy()
        shares[numbers], units[numbers], rigidity[numbers] = coupled.shares, self._views.units, coupler.rigidity
        report = PairReport(
            table=given.pairs.table,
            n_modes=coupler.n_modes,
            strength=coupled.strength,
            shares=tuple(shares.tolist()),
            rigidity=tuple(rigidity.tolist()),
            agreement=tuple(self._agreement(graphs)),
            notes=(*_notes(given.names(), self._found, self._links, coupled.helps), *coupled.notes),
        )
        distance = float(sum(map(_distance, given.graphs, graphs, report.rigidity)))
        terms = [] if given.functions is None else coupler.terms(self._views.pairs, coupler.links)
        found = (coupler.times, solved.alpha, distance, *self._errors(), _mismatch(terms), solved.outcome)
        return _result(given, began, graphs, self._functions(), *found, units, report)

    def _graphs(self) -> list[Graph]:
        """The graphs in the units in which they were given; unchanged graphs are returned bit for bit."""
        graphs, views = list(self._given.graphs), self._views
        if self._coupled.helps:
            for k, after, unit in zip(views.numbers, self._coupled.solved.after, views.units, strict=True):
                graphs[k] = after.with_weights(after.w * unit)
        return graphs

    def _errors(self) -> tuple[Floats, Floats]:
        """The coupling errors of the graphs as given, with weight zero on edges that were borrowed, and after."""
        views, solved = self._views, self._coupled.solved
        problem = self._coupler.problem(solved.before, views.pairs, self._coupler.links)
        grown = zip(views.graphs, solved.before, strict=True)
        given = [np.pad(graph.w, (0, one.m - graph.m)) for graph, one in grown]
        before, after = (problem.errors(problem.free_part(one)) for one in (given, solved.outcome.weights))
        return before, after

    def _agreement(self, graphs: Sequence[Graph]) -> list[Agreement]:
        """Agreement of linked views on pairs kept back, of others on all pairs: no coupling used these."""
        given, coupled = self._given, self._coupled
        others = [one.views for one in self._found if one.views not in self._links]
        measured = Agreed(others)
        if others and given.kept_back and coupled.solved.outcome.status != "time limit":
            every = np.arange(len(given.pairs.table))
            part = KeptBack(given.graphs, others, given.pairs, every, given.random_state, given.engine)
            before, after = part.agreement(given.graphs), part.agreement(graphs)
            measured.add(part, [before, before, after])
        rows = []
        for one in self._found:
            linked = one.views in self._links
            row = coupled.agreed.of(self._views.here(one.views), coupled.stage) if linked else measured.of(one.views, 2)
            if not coupled.helps:
                row |= {"borrowed": row["before"], "after": row["before"]}
            rows.append(Agreement(**vars(one), **row, coupled=linked and coupled.helps))
        return rows

    def _functions(self) -> list[Floats]:
        """The modes of the coupled views carried to each view, zero where items are not shared."""
        given = self._given
        found = []
        for k, graph in enumerate(given.graphs):
            blocks = []
            for other, modes in zip(self._views.numbers, self._coupler.modes, strict=True):
                block = np.zeros((graph.n, self._coupler.n_modes))
                mine, theirs = given.pairs.shared(k, other)
                block[mine] = modes[theirs]
                blocks.append(block)
            found.append(np.hstack(blocks if given.functions is None else [*blocks, given.functions[k]]))
        return found


def _distance(given: Graph, coupled: Graph, rigidity: float) -> float:
    """ρ‖L(u) − L(w)‖² = ρ(‖|B|d‖² + 2‖d‖²), d the changes of the weights."""
    d = coupled.w - np.pad(given.w, (0, coupled.m - given.m))
    at_vertices = np.bincount(coupled.i, d, coupled.n) + np.bincount(coupled.j, d, coupled.n)
    return rigidity * float(at_vertices @ at_vertices + 2.0 * (d @ d))


def _notes(names: Sequence[str], found: Sequence[Relation], links: Sequence[Link], helps: bool) -> list[str]:
    linked = {k for link in links for k in link}
    notes = []
    for k, name in enumerate(names):
        own = [one for one in found if k in one.views]
        if k not in linked:
            notes.append(f"{name} {_why_left(own)}")
    if linked and not helps:
        notes.append("Coupling lowers the agreement on pairs that were kept back: all views were left as they are.")
    return notes


def _why_left(relations: Sequence[Relation]) -> str:
    """Why a view was not coupled, by its relations to the others."""
    if not relations:
        return "shares no item with the others and was left as it is."
    known = [one.p_value for one in relations if not np.isnan(one.p_value)]
    if not known:
        most = max(one.shared for one in relations)
        few = f"{most} items" if most > 1 else "one item"
        return (
            f"shares {few} with another view, fewer than the {FEWEST} it takes to tell whether they are related, and "
            "was left as it is; include_unrelated couples it all the same."
        )
    return f"has nothing in common with the others beyond chance (p = {min(known):.2g}) and was left as it is."


def _mismatch(terms: Sequence[Comparison]) -> float:
    """How much the functions differ at t = 0: ‖FᵀF − GᵀG‖ relative to their size; modes at the same items do not."""
    Q = [[F.T @ F for F in one.functions] for one in terms]
    apart = sum(float(np.sum((A - B) ** 2)) for A, B in Q)
    size = sum(float(np.sum(A**2) + np.sum(B**2)) for A, B in Q)
    return float(np.sqrt(2.0 * apart / size)) if size > 0.0 else 0.0
