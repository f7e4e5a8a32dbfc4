"""Coupling views that are linked: trials on a part of the pairs choose how, then all pairs couple."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.deadline import TimeUp
from cotherm.errors import CothermError
from cotherm.functions import paired_modes, smooth_modes
from cotherm.graphs.graph import Graph
from cotherm.methods.checkpoint import Checkpoint
from cotherm.methods.pairs import choice
from cotherm.methods.pairs.arguments import LinkedViews, Numbers
from cotherm.methods.pairs.borrow import Borrowing
from cotherm.methods.pairs.choice import Setting
from cotherm.methods.pairs.descent import Outcome, descend, ladder
from cotherm.methods.pairs.kept_back import KeptBack
from cotherm.methods.pairs.problem import PairProblem, Term
from cotherm.methods.pairs.relation import Link, Relation
from cotherm.methods.pairs.support import Support
from cotherm.pairs import Pairs
from cotherm.progress import Meter

# Couplings that only serve to choose need not be exact.
_ROUGH, _TRIAL_STEPS = 1e-4, 500
# Agreement that falls by more than so many standard errors is no accident.
_WORSE = 2.0
# Part of the allowed time in which agreement is measured.
_TRIALS_PART = 0.5
# A stiffness below this part of t² is rounding: no weight changes the heat of such functions.
_NO_EFFECT = 1e-24
_HURRIED = "Time was too short to measure all agreement: the likeliest way to couple was taken."
_ENDED_BY_TRIAL = {
    "interrupted": "Interrupted before the coupling by all pairs: a part of them was kept back.",
    "time limit": "Time was too short to couple by all pairs: a part of them was kept back.",
}
_WITHOUT_EFFECT = (
    "Every mode is constant on each piece of the graphs, so that coupling has no effect: ask for more modes (n_modes)."
)


@dataclass(frozen=True, eq=False)
class Solved:
    """A coupling of the scaled graphs: these with borrowed edges before, and after."""

    problem: PairProblem
    outcome: Outcome
    times: Floats
    alpha: float
    before: list[Graph]
    after: list[Graph]
    has_effect: bool


@dataclass(frozen=True, eq=False)
class Coupled:
    """A coupling by all pairs, or a trial that an interrupted call has nothing better than.

    ``helps`` is False where agreement fell, so that nothing was coupled.
    """

    solved: Solved
    measured: KeptBack
    shares: list[float]
    helps: bool
    notes: list[str]


class Coupler:
    """One run over views and their links. ``began`` is a reading of ``time.perf_counter``, at the start of the call."""

    def __init__(
        self,
        views: LinkedViews,
        linked: Sequence[Relation],
        numbers: Numbers,
        meter: Meter,
        began: float,
        checkpoint: Checkpoint | None,
    ) -> None:
        self._views, self._linked, self._numbers, self._meter = views, linked, numbers, meter
        self._began, self._checkpoint = began, checkpoint
        self._links = [one.views for one in linked]
        self._trial: tuple[Setting, KeptBack, Solved] | None = None
        self.n_modes = choice.n_modes(views.pairs, self._links) if numbers.n_modes is None else numbers.n_modes
        most = min(graph.n for graph in views.graphs) - 1
        if self.n_modes > most:
            needed = f"at most {most}, one less than the smallest graph has vertices"
            raise CothermError("n_modes", str(self.n_modes), needed)
        self.modes = [smooth_modes(graph, self.n_modes) for graph in views.graphs]
        trust = {one.views: choice.trusted(one.correlation) for one in linked}
        support = Support(views.graphs, views.pairs, self._links, numbers.seed, views.engine)
        self._borrowing = Borrowing(views.graphs, views.rigidity, trust, support)

    def run(self) -> Coupled:
        if self._checkpoint is None:
            return self._interruptible()
        with self._checkpoint.kept():
            result = self._interruptible()
        self._checkpoint.flush(agreed=True)
        return result

    def _interruptible(self) -> Coupled:
        try:
            return self._run()
        except (KeyboardInterrupt, TimeUp) as end:
            if self._trial is None:  # there is nothing yet to give back
                raise
            status = "time limit" if isinstance(end, TimeUp) else "interrupted"
        setting, measured, solved = self._trial
        solved = replace(solved, outcome=replace(solved.outcome, status=status))
        return self._coupled(setting, measured, solved, bool(self._links), _ENDED_BY_TRIAL[status])

    def _run(self) -> Coupled:
        numbers, pairs = self._numbers, self._views.pairs
        settings = choice.settings(self._views.graphs, self._linked, numbers.borrow)
        settings = [replace(one, times=numbers.times, alpha=numbers.alpha) for one in settings]
        kept = list(choice.parts(pairs, numbers.kept_back, numbers.seed)) if numbers.kept_back and self._links else []
        trials = [(number, rows) for number in range(len(settings)) for rows in kept]
        measured, finished = self._measured(settings, trials)
        # A trial that time cut short goes on when the same is called again, and the coupling now leaves no trace.
        checkpoint = self._checkpoint if finished else None
        # What was not measured to the end does not decide: then the likeliest is taken, as without pairs kept back.
        best = choice.best(settings, [one.gain(self._links)[0] if finished else 0.0 for one in measured])
        helps = self._helps(measured[best])
        known = measured[best].agreement()
        self._meter.advance("coupling by all pairs", **({} if np.isnan(known) else {"agreement": known}))
        solved = self._solved(settings[best], pairs, "last", checkpoint, final=True, couple=helps)
        return self._coupled(settings[best], measured[best], solved, helps, "" if finished else _HURRIED)

    def _coupled(self, setting: Setting, measured: KeptBack, solved: Solved, helps: bool, note: str) -> Coupled:
        borrows = helps and setting.borrows
        shares = self._borrowing.shares(self._numbers.borrow) if borrows else [0.0] * len(self._views.graphs)
        notes = [note, "" if solved.has_effect or not helps else _WITHOUT_EFFECT]
        return Coupled(solved, measured, shares, helps, list(filter(None, notes)))

    def _measured(self, settings: Sequence[Setting], trials: Sequence[tuple[int, Ints]]) -> tuple[list[KeptBack], bool]:
        """Couple by the pairs that are not kept back, and look at those that are; whether the time sufficed for all."""
        views = self._views
        found = [KeptBack(views.graphs, self._links, self._numbers.seed, views.engine) for _ in settings]
        agreement: dict[str, float] = {}
        for done, (number, rows) in enumerate(trials, 1):
            self._meter.advance(f"trial coupling {done} of {len(trials)}", **agreement)
            pairs, name = views.pairs.without(rows), f"trial {done}"
            solved = self._solved(settings[number], pairs, name, self._checkpoint, final=False)
            status = solved.outcome.status
            if self._trial is None or status != "interrupted":
                self._trial = settings[number], found[number], solved
            if status == "interrupted":
                raise KeyboardInterrupt
            if status == "time limit":
                return found, False
            found[number].add(solved.after, views.pairs, rows)
            agreement = {"agreement": found[number].agreement()}
        return found, True

    def _helps(self, measured: KeptBack) -> bool:
        """Unless agreement on the pairs kept back falls."""
        gain, error = measured.gain(self._links)
        return bool(self._links) and not gain < -_WORSE * error

    def _solved(
        self,
        setting: Setting,
        pairs: Pairs,
        name: str,
        kept: Checkpoint | None,
        *,
        final: bool,
        couple: bool = True,
    ) -> Solved:
        views, numbers = self._views, self._numbers
        links = [link for link in self._links if pairs.count(*link)] if couple else []
        graphs = self._borrowing.lent(pairs, numbers.borrow) if setting.borrows and links else views.graphs
        times = np.array([setting.moves / views.degree]) if setting.times is None else setting.times
        problem = PairProblem(graphs, self.terms(pairs, links), times, views.rigidity, views.engine)
        size = problem.stiffness() if links else 0.0
        has_effect = size > _NO_EFFECT * float(times.max()) ** 2
        if not has_effect:
            problem = PairProblem(graphs, [], times, views.rigidity, views.engine)
        unit = 1.0 / size if has_effect else 1.0
        alpha = choice.strength(setting, pairs, links) * unit if setting.alpha is None else setting.alpha
        outcome = descend(
            problem,
            ladder(alpha, unit) if has_effect else [alpha],
            tolerance=numbers.tolerance if final else _ROUGH,
            max_iterations=numbers.max_iterations if final else _TRIAL_STEPS,
            meter=self._meter,
            deadline=self._deadline(1.0 if final else _TRIALS_PART),
            callback=numbers.callback if final else None,
            checkpoint=kept,
            name=name,
            balanced=final,
        )
        weights = problem.weights(outcome.u)
        after = [graph.with_weights(w) for graph, w in zip(graphs, weights, strict=True)]
        return Solved(problem, outcome, times, alpha, list(graphs), after, has_effect)

    def _deadline(self, part: float) -> float | None:
        """When so large a part of the allowed time is over."""
        seconds = self._numbers.max_seconds
        return None if seconds is None else self._began + part * seconds

    def terms(self, pairs: Pairs, links: Sequence[Link]) -> list[Term]:
        """The functions of every two linked views."""
        terms = []
        for (a, b), (F, G) in paired_modes(self.modes, pairs).items():
            if (a, b) in links:
                more = self._views.functions
                columns = (F, G) if more is None else (np.hstack([F, more[a]]), np.hstack([G, more[b]]))
                terms.append(Term(a, b, *columns))
        return terms
