"""Coupling graphs by items that are known to be the same, without labels."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine, engine_for_views, handed_over
from cotherm.errors import CothermError, visible
from cotherm.functions import paired_modes, smooth_modes
from cotherm.graphs.graph import Graph
from cotherm.heat.times import median_degree
from cotherm.heat.validation import checked_views
from cotherm.methods.checkpoint import Checkpoint, checked_place, fingerprint_of_graphs, hashed, ranks_of
from cotherm.methods.coupling.options import checked_seconds, checked_times, require_squares
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.coupling.search import Step
from cotherm.methods.coupling.solve import shown_once
from cotherm.methods.pairs import choice
from cotherm.methods.pairs.agreement import Agreement
from cotherm.methods.pairs.agreement import trust as trusted
from cotherm.methods.pairs.borrow import Borrowing, with_edges_of
from cotherm.methods.pairs.choice import Relation, Setting
from cotherm.methods.pairs.descent import Outcome, descend, ladder
from cotherm.methods.pairs.kept_back import KeptBack
from cotherm.methods.pairs.problem import PairProblem, Term
from cotherm.methods.pairs.report import PairReport
from cotherm.methods.pairs.support import Link, Support
from cotherm.methods.validation import checked_graphs, is_auto, moderate, positive, versions
from cotherm.pairs import Pairs, checked_pairs
from cotherm.progress import Meter

# Couplings that only serve to choose need not be exact.
_ROUGH, _TRIAL_STEPS = 1e-4, 500
# Agreement that falls by more than so many standard errors is no accident.
_WORSE = 2.0
# Part of the allowed time in which agreement is measured.
_TRIALS_PART = 0.5
# About how many functions every view brings, to tell which engine such a problem is for.
_COLUMNS = 10
_HURRIED = "Time was too short to measure all agreement: the likeliest way to couple was taken."
_INTERRUPTED = "Interrupted before the coupling by all pairs: a part of them was kept back."


def couple_pairs(
    graphs: Sequence[Graph],
    pairs: ArrayLike | Sequence[ArrayLike] | str = "same",
    *,
    functions: Sequence[ArrayLike] | None = None,
    n_modes: int | str = "auto",
    times: ArrayLike | str = "auto",
    alpha: float | str = "auto",
    borrow: float | str = "auto",
    rigidity: ArrayLike | None = None,
    kept_back: float = 0.25,
    seed: int = 0,
    tolerance: float = 1e-5,
    max_iterations: int = 1_000,
    max_seconds: float | None = None,
    callback: Callable[[Step], Any] | None = None,
    engine: str | Engine = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
) -> Coupling:
    r"""Couple graphs by items that are known to be the same, without labels.

    Changes edge weights as little as possible so that heat from the items that two views share diffuses alike on both.
    Minimizes

    .. math::

        \sum_k \rho_k \|L(u_k) - L(w_k)\|_F^2
        + \alpha \sum_{k<l} \sum_t \|F_{kl}^\top e^{-t L(u_k)} F_{kl} - F_{lk}^\top e^{-t L(u_l)} F_{lk}\|_F^2

    over edge weights :math:`u_k \ge 0`. The columns of :math:`F_{kl}` and :math:`F_{lk}` are the smoothest modes of the
    graphs k and l, restricted to the items that both have, with zeros elsewhere. Every two views are coupled by the
    items that these two share.

    How many modes, the time, α and how much views borrow from each other is chosen from the data. A part of the pairs
    is kept back at first: they tell how far the views agree before and after coupling. Views that have nothing in
    common with the others, and all views if coupling does not help, are left as they are, and the result says so.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more views, graphs of any sizes.
    pairs : "same", "names", sequence of array_like, or array_like of int of shape (items, graphs), default "same"
        Which vertices are the same item. "same": vertex v of every graph; graphs whose vertices have other names are
        refused. "names": vertices with the same name. An index array for each graph: entry by entry the same item. A
        table: a row for each item, a column for each graph, with -1, NaN or None where an item is missing from a view;
        an array, since a list with an entry for each graph is read as index arrays. See :func:`cotherm.pair_names` for
        names that graphs do not hold.
    functions : sequence of array_like of shape (n_k, q), optional
        Further corresponding functions, one array for each graph, such as landmarks, labels or features. They are
        scaled to unit norm.
    n_modes : int or "auto", default "auto"
        Number of smooth modes of every graph. "auto": one for every six items that two coupled views share, at most 24.
    times : "auto" or array_like of float, default "auto"
        Diffusion times at which heat is compared, for graphs scaled to the same median degree. "auto": one move along
        edges, eight with borrowed weight.
    alpha : "auto" or float, default "auto"
        Weight α of the coupling term. "auto", in units of the α at which both terms have equal weight: 50 times the
        number of views, and 1 with borrowed weight.
    borrow : float or "auto", default "auto"
        Share of the weights between shared items that a view borrows from the others before coupling, from 0 for none
        to 1. "auto": for each view the mean correlation of its heat kernel with the others', or of the others' with
        each other where that is more, at most 0.4. If all these correlations are 0.3 or more, and all views have 20
        neighbors a vertex or more, 0 is tried as well, and taken if it adds 15 percent more to the agreement on pairs
        kept back.
    rigidity : array_like of float, optional
        Penalty ρ > 0 on changing each graph, 1 by default. Give a view that you trust more than 1.
    kept_back : float, default 0.25
        Fraction of the pairs to keep back when agreement is measured, at most one half. 0 for no measurement: the
        likeliest choice is taken. The final coupling uses all pairs.
    seed : int, default 0
        Seed of the choice of pairs to keep back.
    tolerance : float, default 1e-5
        Stop when a step lowers the cost by less than this fraction.
    max_iterations : int, default 1000
        Maximum number of steps of the final coupling.
    max_seconds : float, optional
        Stop after this time with the best weights so far and the status "time limit". Up to half of it serves to
        measure agreement. The clock is looked at after every step; comparing the views before the first and evaluating
        the result come on top. By default there is no limit.
    callback : callable, optional
        Called with a :class:`cotherm.Step` after every step of the final coupling. If it returns a true value, the
        search stops.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What runs the array kernels, as for :func:`cotherm.couple`.
    checkpoint : path-like, optional
        File for the state of the run, from which the same call goes on, as for :func:`cotherm.couple`.

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
    of the other as given, as mean average precision. Two views have nothing in common if the correlation of their heat
    kernels is below 0.05, or exceeds that of permuted views by less than four standard deviations.

    Without borrowing, coupling is strong and only changes the edges that a view has. That is right where a graph has
    many wrong edges. Where it lacks edges, strong coupling would only cut, and a weak coupling after borrowing does
    better. If only a part of the items is shared, strong coupling is stronger still, by the fourth power of the part.

    With borrowed weight, views of fewer than 20 neighbors a vertex also get second neighbors: half of the weight goes
    to these, about 20 a vertex, and all degrees become about equal. That alone makes short times see more, coupled or
    not. It adds edges, up to about twice as many as there were.

    Graphs are first scaled to the same median degree, so that units do not matter, and scaled back at the end. `times`,
    `alpha` and the cost refer to the scaled graphs.

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
    engine = engine_for_views(engine, functions)
    with engine.checking():
        given = _Given.checked(graphs, pairs, functions, rigidity, engine)
    engine.require_equal("graphs", *(array for g in given.graphs for array in (np.array(g.n), g.i, g.j, g.w)))
    engine.require_equal("pairs", given.pairs.table)
    numbers = _Numbers.checked(
        n_modes, times, alpha, borrow, kept_back, seed, tolerance, max_iterations, max_seconds, callback
    )
    place = None if checkpoint is None else checked_place(checkpoint)
    session = given.engine.session(max(graph.n for graph in given.graphs), 0.0)
    with session, shown_once(engine), Meter(limit=numbers.max_seconds) as meter:
        meter.advance("comparing the views")
        kept = None if place is None else _opened(place, given, numbers)
        return _Coupler(given, numbers, meter, began, kept).run()


def _opened(place: Path, given: _Given, numbers: _Numbers) -> Checkpoint:
    """The checkpoint of this run, with what the file holds already."""
    fixed = {name: getattr(numbers, name) for name in ("n_modes", "alpha", "borrow")}
    named = ("kept_back", "seed", "tolerance", "max_iterations")
    arguments = {
        "method": "couple_pairs",
        **fingerprint_of_graphs(given.originals),
        "pairs": f"{len(given.pairs.table)} items, {hashed(given.pairs.table)}",
        "functions": "none" if given.functions is None else hashed(*given.functions),
        "times": "auto" if numbers.times is None else repr(numbers.times.tolist()),
        **{name: "auto" if value is None else repr(value) for name, value in fixed.items()},
        "rigidity": repr(given.rigidity.tolist()),
        **{name: repr(getattr(numbers, name)) for name in named},
        "engine": given.engine.name,
    }
    return Checkpoint(place, arguments, given.engine, ranks_of(given.engine))


@dataclass(frozen=True, eq=False)
class _Given:
    """Checked graphs, pairs and functions; ``graphs`` are scaled to one median degree by dividing by ``units``."""

    originals: list[Graph]
    graphs: list[Graph]
    units: Floats
    degree: float
    pairs: Pairs
    functions: list[Floats] | None
    rigidity: Floats
    engine: Engine
    asked: str  # the engine that was asked for

    @classmethod
    def checked(
        cls,
        graphs: Sequence[Graph],
        pairs: Any,
        functions: Sequence[ArrayLike] | None,
        rigidity: ArrayLike | None,
        engine: Engine,
    ) -> _Given:
        originals = checked_graphs(graphs)
        require_squares(originals)
        found = checked_pairs(pairs, [graph.n for graph in originals], [graph.vertex_names for graph in originals])
        columns = None if functions is None else _unit(checked_views(originals, functions)[1])
        rho = positive("rigidity", rigidity, len(originals), "graphs")
        degrees = np.array([median_degree(graph) or 1.0 for graph in originals])
        common = float(np.exp(np.mean(np.log(degrees))))
        units = degrees / common
        scaled = [graph.with_weights(graph.w / unit) for graph, unit in zip(originals, units, strict=True)]
        run_by = engine.serving(sum(graph.n for graph in originals), _COLUMNS * len(originals))
        return cls(originals, scaled, units, common, found, columns, rho, run_by, engine.name)

    def names(self) -> list[str]:
        return [visible(graph.name or f"view {k + 1}") for k, graph in enumerate(self.originals)]


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Checked numbers, None for "auto"."""

    n_modes: int | None
    times: Floats | None
    alpha: float | None
    borrow: float | None
    kept_back: float
    seed: int
    tolerance: float
    max_iterations: int
    max_seconds: float | None
    callback: Callable[[Step], Any] | None

    @classmethod
    def checked(
        cls,
        n_modes: int | str,
        times: ArrayLike | str,
        alpha: float | str,
        borrow: float | str,
        kept_back: float,
        seed: int,
        tolerance: float,
        max_iterations: int,
        max_seconds: float | None,
        callback: Callable[[Step], Any] | None,
    ) -> _Numbers:
        compared = checked_times(times)
        if compared is not None and not np.any(compared > 0.0):
            raise CothermError("times", "no time above 0", "a time t > 0: at t = 0 nothing depends on the weights")
        share = validation.real("kept_back", kept_back)
        if share > 0.5:
            raise CothermError("kept_back", f"{share:g}", "a fraction of the pairs, at most 0.5")
        if callback is not None and not callable(callback):
            raise CothermError("callback", validation.describe(callback), "a function of one argument, or None")
        return cls(
            n_modes=None if is_auto("n_modes", n_modes) else validation.integer("n_modes", n_modes, least=1),
            times=None if compared is None else compared[compared > 0.0],
            alpha=None if is_auto("alpha", alpha) else _strength(alpha),
            borrow=None if is_auto("borrow", borrow) else _share(borrow),
            kept_back=share,
            seed=validation.integer("seed", seed, least=0, most=2**32 - 1),
            tolerance=validation.real("tolerance", tolerance, positive=True),
            max_iterations=validation.integer("max_iterations", max_iterations, least=1),
            max_seconds=checked_seconds(max_seconds),
            callback=callback,
        )


@dataclass(frozen=True, eq=False)
class _Solved:
    """A coupling of the scaled graphs: these before, with borrowed edges, and after."""

    problem: PairProblem
    outcome: Outcome
    times: Floats
    alpha: float
    before: list[Graph]
    after: list[Graph]


@dataclass(frozen=True, eq=False)
class _Trial:
    """A coupling that only serves to choose, which an interrupted call has nothing better than."""

    setting: Setting
    measured: KeptBack
    solved: _Solved


class _Coupler:
    def __init__(
        self, given: _Given, numbers: _Numbers, meter: Meter, began: float, checkpoint: Checkpoint | None = None
    ) -> None:
        self._given, self._numbers, self._meter, self._began = given, numbers, meter, began
        self._checkpoint = checkpoint
        self._trial: _Trial | None = None
        self._relations = choice.relations(given.graphs, given.pairs, numbers.seed, given.engine)
        self._linked = [one.views for one in self._relations if one.linked]
        most = min(graph.n for graph in given.graphs) - 1
        self._n_modes = choice.n_modes(given.pairs, self._linked) if numbers.n_modes is None else numbers.n_modes
        if self._n_modes > most:
            needed = f"at most {most}, one less than the smallest graph has vertices"
            raise CothermError("n_modes", str(self._n_modes), needed)
        self._modes = [smooth_modes(graph, self._n_modes) for graph in given.graphs]
        trust = {one.views: trusted(one.correlation, one.deviations) for one in self._relations if one.linked}
        support = Support(given.graphs, given.pairs, self._linked, numbers.seed, given.engine)
        self._borrowing = Borrowing(given.graphs, trust, support)

    def run(self) -> Coupling:
        if self._checkpoint is None:
            return self._interruptible()
        with self._checkpoint.kept():
            result = self._interruptible()
        self._checkpoint.flush(agreed=True)
        return result

    def _interruptible(self) -> Coupling:
        try:
            return self._run()
        except KeyboardInterrupt:
            trial = self._trial
            if trial is None:  # there is nothing yet to give back
                raise
        solved = replace(trial.solved, outcome=replace(trial.solved.outcome, status="interrupted"))
        return self._result(trial.setting, trial.measured, solved, bool(self._linked), _INTERRUPTED)

    def _run(self) -> Coupling:
        numbers = self._numbers
        settings = choice.settings(self._given.graphs, self._relations, numbers.borrow)
        settings = [replace(one, times=numbers.times, alpha=numbers.alpha) for one in settings]
        kept = list(choice.parts(self._given.pairs, numbers.kept_back, numbers.seed)) if numbers.kept_back else []
        trials = [(number, rows) for number in range(len(settings)) for rows in kept]
        measured, finished = self._measured(settings, trials)
        # A trial that time cut short goes on when the same is called again, and the coupling now leaves no trace.
        checkpoint = self._checkpoint if finished else None
        # What was not measured to the end does not decide: then the likeliest is taken, as without pairs kept back.
        best = choice.best(settings, [one.gain(self._linked)[0] if finished else 0.0 for one in measured])
        helps = self._helps(measured[best])
        known = measured[best].agreement()
        self._meter.advance("coupling by all pairs", **({} if np.isnan(known) else {"agreement": known}))
        solved = self._solved(settings[best], self._given.pairs, "last", checkpoint, final=True, couple=helps)
        return self._result(settings[best], measured[best], solved, helps, "" if finished else _HURRIED)

    def _measured(self, settings: Sequence[Setting], trials: Sequence[tuple[int, Ints]]) -> tuple[list[KeptBack], bool]:
        """Couple by the pairs that are not kept back, and look at those that are; whether the time sufficed for all."""
        given, views = self._given, [one.views for one in self._relations]
        found = [KeptBack(given.graphs, views, self._numbers.seed, given.engine) for _ in settings]
        agreement: dict[str, float] = {}
        for done, (number, rows) in enumerate(trials, 1):
            self._meter.advance(f"trial coupling {done} of {len(trials)}", **agreement)
            pairs, name = given.pairs.without(rows), f"trial {done}"
            solved = self._solved(settings[number], pairs, name, self._checkpoint, final=False)
            status = solved.outcome.status
            if self._trial is None or status != "interrupted":
                self._trial = _Trial(settings[number], found[number], solved)
            if status == "interrupted":
                raise KeyboardInterrupt
            if status == "time limit":
                return found, False
            found[number].add(solved.after, given.pairs, rows)
            agreement = {"agreement": found[number].agreement()}
        return found, True

    def _helps(self, measured: KeptBack) -> bool:
        """Unless agreement on the pairs kept back falls."""
        gain, error = measured.gain(self._linked)
        return bool(self._linked) and not gain < -_WORSE * error

    def _deadline(self, part: float) -> float | None:
        """When so large a part of the allowed time is over."""
        seconds = self._numbers.max_seconds
        return None if seconds is None else self._began + part * seconds

    def _solved(
        self,
        setting: Setting,
        pairs: Pairs,
        name: str,
        kept: Checkpoint | None,
        *,
        final: bool,
        couple: bool = True,
    ) -> _Solved:
        given, numbers = self._given, self._numbers
        linked = [views for views in self._linked if pairs.count(*views)] if couple else []
        graphs = self._borrowing.lent(pairs, numbers.borrow) if setting.borrows and linked else given.graphs
        times = np.array([setting.moves / given.degree]) if setting.times is None else setting.times
        problem = PairProblem(graphs, self._terms(pairs, linked), times, given.rigidity, given.engine)
        size = problem.stiffness() if linked else 0.0
        unit = 1.0 / size if size > 0.0 else 1.0
        alpha = choice.strength(setting, pairs, linked) * unit if setting.alpha is None else setting.alpha
        alphas = ladder(alpha, unit) if size > 0.0 else [alpha]
        if final:
            outcome = descend(
                problem,
                alphas,
                tolerance=numbers.tolerance,
                max_iterations=numbers.max_iterations,
                meter=self._meter,
                deadline=self._deadline(1.0),
                callback=numbers.callback,
                checkpoint=kept,
                name=name,
            )
        else:
            outcome = descend(
                problem,
                alphas,
                tolerance=_ROUGH,
                max_iterations=_TRIAL_STEPS,
                meter=self._meter,
                deadline=self._deadline(_TRIALS_PART),
                checkpoint=kept,
                name=name,
            )
        weights = problem.weights(outcome.u)
        after = [graph.with_weights(w) for graph, w in zip(graphs, weights, strict=True)]
        return _Solved(problem, outcome, times, alpha, list(graphs), after)

    def _terms(self, pairs: Pairs, linked: Sequence[Link]) -> list[Term]:
        terms = []
        for (a, b), (F, G) in paired_modes(self._modes, pairs).items():
            if (a, b) in linked:
                more = self._given.functions
                columns = (F, G) if more is None else (np.hstack([F, more[a]]), np.hstack([G, more[b]]))
                terms.append(Term(a, b, *columns))
        return terms

    def _result(self, setting: Setting, measured: KeptBack, solved: _Solved, helps: bool, note: str) -> Coupling:
        given, outcome = self._given, solved.outcome
        originals, coupled = [], []
        changed = {k for views in self._linked for k in views} if helps else set()
        views = zip(given.originals, solved.before, solved.after, given.units, strict=True)
        for k, (original, before, after, unit) in enumerate(views):
            originals.append(with_edges_of(original, before) if before.m > original.m else original)
            # Views that are left as they are keep their weights to the last bit, which scaling would change.
            coupled.append(originals[-1].with_weights(after.w * unit) if k in changed else original)
        relations = [replace(one, linked=one.linked and helps) for one in self._relations]
        report = PairReport(
            table=given.pairs.table,
            n_modes=self._n_modes,
            shares=tuple(self._shares(setting if helps else None)),
            agreement=tuple(self._agreement(one, measured, helps) for one in relations),
            notes=(*_notes(given.names(), self._relations, helps), *filter(None, [note])),
        )
        return Coupling(
            graphs=tuple(coupled),
            originals=tuple(originals),
            functions=tuple(self._shown_functions()),
            times=tuple(solved.times.tolist()),
            alpha=solved.alpha,
            cost=outcome.distance + solved.alpha * outcome.coupling,
            distance=outcome.distance,
            coupling_before=solved.problem.errors(solved.problem.center),
            coupling=solved.problem.errors(outcome.u),
            mismatch=0.0 if given.functions is None else _mismatch(self._terms(given.pairs, self._linked)),
            status=outcome.status,
            optimality=outcome.optimality,
            history=tuple(outcome.history),
            settings=self._settings(),
            versions=versions(),
            seconds=time.perf_counter() - self._began,
            pairs=report,
        )

    def _shares(self, setting: Setting | None) -> list[float]:
        if setting is None or not setting.borrows:
            return [0.0] * len(self._given.graphs)
        return self._borrowing.shares(self._numbers.borrow)

    def _agreement(self, relation: Relation, measured: KeptBack, helps: bool) -> Agreement:
        found = measured.of(relation)
        return found if helps else replace(found, after=found.before)

    def _shown_functions(self) -> list[Floats]:
        """The modes of all views on each view, where items are shared, and zero elsewhere."""
        given = self._given
        found = []
        for k, graph in enumerate(given.graphs):
            blocks = []
            for other, modes in enumerate(self._modes):
                block = np.zeros((graph.n, self._n_modes))
                mine, theirs = given.pairs.shared(k, other)
                block[mine] = modes[theirs]
                blocks.append(block)
            found.append(np.hstack(blocks if given.functions is None else [*blocks, given.functions[k]]))
        return found

    def _settings(self) -> dict[str, Any]:
        """The arguments as understood."""
        numbers = self._numbers
        return {
            "times": "auto" if numbers.times is None else numbers.times.tolist(),
            "alpha": "auto" if numbers.alpha is None else numbers.alpha,
            "n_modes": "auto" if numbers.n_modes is None else numbers.n_modes,
            "borrow": "auto" if numbers.borrow is None else numbers.borrow,
            "rigidity": self._given.rigidity.tolist(),
            "kept_back": numbers.kept_back,
            "seed": numbers.seed,
            "tolerance": numbers.tolerance,
            "max_iterations": numbers.max_iterations,
            "max_seconds": numbers.max_seconds,
            "units": self._given.units.tolist(),
            "engine": self._given.engine.name,
            **handed_over(self._given.asked, self._given.engine),
        }


def _strength(value: object) -> float:
    return moderate("alpha", validation.real("alpha", value, positive=True))


def _share(value: object) -> float:
    share = validation.real("borrow", value)
    if share > 1.0:
        raise CothermError("borrow", f"{share:g}", "a share from 0 to 1")
    return share


def _notes(names: Sequence[str], relations: Sequence[Relation], helps: bool) -> list[str]:
    linked = {k for one in relations if one.linked for k in one.views}
    sharing = {k for one in relations for k in one.views}
    notes = []
    for k, name in enumerate(names):
        if k not in sharing:
            notes.append(f"{name} shares no item with the others and was left as it is.")
        elif k not in linked:
            notes.append(f"{name} has nothing in common with the others beyond chance and was left as it is.")
    if linked and not helps:
        notes.append("Coupling lowers the agreement on pairs that were kept back: all views were left as they are.")
    return notes


def _unit(functions: list[Floats]) -> list[Floats]:
    """Columns divided by the root mean square of their norms over all graphs."""
    size = np.sqrt(np.mean([np.sum(F**2, axis=0) for F in functions], axis=0))
    return [F / np.where(size > 0.0, size, 1.0) for F in functions]


def _mismatch(terms: Sequence[Term]) -> float:
    """How much functions differ at t = 0, ‖FᵀF − GᵀG‖ relative to their size."""
    apart = sum(float(np.sum((one.F.T @ one.F - one.G.T @ one.G) ** 2)) for one in terms)
    size = sum(float(np.sum((one.F.T @ one.F) ** 2) + np.sum((one.G.T @ one.G) ** 2)) for one in terms)
    return float(np.sqrt(2.0 * apart / size)) if size > 0.0 else 0.0
