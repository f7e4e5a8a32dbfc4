"""Coupling views that are linked: trials on a part of the pairs choose the strength, then all pairs couple."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.deadline import TimeUp
from cotherm.errors import CothermError
from cotherm.functions import paired_modes, smooth_modes
from cotherm.graphs.graph import Graph
from cotherm.methods.checkpoint import Checkpoint
from cotherm.methods.coupling.continuation import rough_stiffness
from cotherm.methods.coupling.problem import Comparison, Problem, of_two
from cotherm.methods.pairs import choice, rules
from cotherm.methods.pairs.agreement import Agreed, KeptBack
from cotherm.methods.pairs.arguments import Given, LinkedViews
from cotherm.methods.pairs.borrow import Borrowing, Support
from cotherm.methods.pairs.descent import ROUGH, Outcome, descend
from cotherm.methods.pairs.relation import Link, Relation
from cotherm.pairs import Pairs
from cotherm.progress import Meter

# Steps at the last strength of a trial coupling, which only serves to choose.
_TRIAL_STEPS = 500
# Part of the allowed time in which agreement is measured.
_TRIALS_PART = 0.5
# A stiffness below this fraction of t² is rounding: no weight changes the heat of such functions.
_NO_EFFECT = 1e-24
# The stages of a trial: the views as given, after borrowing, and after coupling at each strength.
BORROWED, _LAST = 1, -1
_HURRIED = "Time was too short to measure all agreement: the usual strength was taken."
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

    outcome: Outcome
    alpha: float
    before: list[Graph]
    after: list[Graph]
    has_effect: bool


@dataclass(frozen=True, eq=False)
class Coupled:
    """A coupling by all pairs, or a trial if an interrupted call has nothing better.

    ``strength`` is α in units of the α at which coupling and distance weigh the same. ``agreed`` is what the trials
    measured, and ``stage`` the one of the strength that was taken. ``helps`` is False where agreement fell, so that
    nothing was coupled.
    """

    solved: Solved
    agreed: Agreed
    stage: int
    strength: float
    shares: list[float]
    helps: bool
    notes: list[str]


class Coupler:
    """One run over views that are linked, with all their relations.

    ``began`` is a reading of ``time.perf_counter``, at the start of the call.
    """

    def __init__(
        self,
        views: LinkedViews,
        relations: Sequence[Relation],
        given: Given,
        meter: Meter,
        began: float,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.views, self._given, self._meter = views, given, meter
        self._began, self._checkpoint = began, checkpoint
        linked = [one for one in relations if one.related or given.include_unrelated]
        self.links = [one.views for one in linked]
        self._trial: tuple[Agreed, Solved] | None = None
        self.n_modes = choice.n_modes(views.pairs, self.links) if given.n_modes is None else given.n_modes
        most = min(graph.n for graph in views.graphs) - 1
        if self.n_modes > most:
            needed = f"at most {most}, one less than the smallest graph has vertices"
            raise CothermError("n_modes", str(self.n_modes), needed)
        self.modes = [smooth_modes(graph, self.n_modes) for graph in views.graphs]
        trust = {one.views: choice.trust(one) for one in linked}
        count = len(views.graphs)
        self.rigidity = choice.rigidity(relations, count) if views.rigidity is None else views.rigidity
        self._weights = choice.weights(linked)
        self._strongest = max(self._weights.values(), default=1.0)
        moves = choice.moves(views.pairs, self.links)
        self.times = np.array([moves / views.degree]) if given.times is None else given.times
        support = Support(views.graphs, views.pairs, self.links, given.random_state, given.engine)
        held = np.ones(count) if views.rigidity is None else views.rigidity
        self._borrowing = Borrowing(views.graphs, held, trust, support)

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
            if self._trial is None:  # nothing to return yet
                raise
            status = "time limit" if isinstance(end, TimeUp) else "interrupted"
        agreed, solved = self._trial
        solved = replace(solved, outcome=replace(solved.outcome, status=status))
        return self._coupled(solved, agreed, _LAST, np.nan, bool(self.links), _ENDED_BY_TRIAL[status])

    def _run(self) -> Coupled:
        given, pairs = self._given, self.views.pairs
        kept = list(choice.parts(pairs, given.kept_back, given.random_state)) if given.kept_back and self.links else []
        agreed, finished = self._agreed(kept)
        # A trial that ran out of time goes on when the same call is repeated; this coupling is not checkpointed.
        checkpoint = self._checkpoint if finished else None
        strengths, stage = self._chosen(agreed)
        helps = self._helps(agreed, stage)
        known = {"agreement": agreed.mean(stage)} if agreed else {}
        self._meter.advance("coupling by all pairs", **known)
        solved = self._solved(pairs, strengths, "last", checkpoint, final=True, couple=helps)
        return self._coupled(solved, agreed, stage, strengths[-1], helps, "" if finished else _HURRIED)

    def _chosen(self, agreed: Agreed) -> tuple[list[float], int]:
        """The strengths up to the one that agreement chooses, and the stage of that one."""
        if self._given.alpha is not None:
            return list(rules.STRENGTHS), _LAST
        if not agreed:
            return [one for one in rules.STRENGTHS if one <= rules.USUAL_STRENGTH], _LAST
        gains = [agreed.gains(BORROWED + 1 + k)[0] for k in range(len(rules.STRENGTHS))]
        chosen = choice.strength(gains, agreed.gains(BORROWED)[0])
        return list(rules.STRENGTHS[: chosen + 1]), BORROWED + 1 + chosen

    def _coupled(self, solved: Solved, agreed: Agreed, stage: int, strength: float, helps: bool, note: str) -> Coupled:
        shares = self._borrowing.shares(self._given.borrow) if helps else [0.0] * len(self.views.graphs)
        notes = [note, "" if solved.has_effect or not helps else _WITHOUT_EFFECT]
        strength = strength if self._given.alpha is None else np.nan
        return Coupled(solved, agreed, stage, strength, shares, helps, list(filter(None, notes)))

    def _agreed(self, kept: Sequence[Ints]) -> tuple[Agreed, bool]:
        """Couple by the pairs that are not kept back and measure on those that are; return whether time sufficed.

        If time runs out, nothing that was measured counts.
        """
        views, given = self.views, self._given
        agreed = Agreed(self.links)
        known: dict[str, float] = {}
        for done, rows in enumerate(kept, 1):
            self._meter.advance(f"trial coupling {done} of {len(kept)}", **known)
            part = KeptBack(views.graphs, self.links, views.pairs, rows, given.random_state, given.engine)
            pairs = views.pairs.without(rows)
            solved = self._solved(
                pairs, rules.STRENGTHS, f"trial {done}", self._checkpoint, final=False, measure=part.agreement
            )
            status = solved.outcome.status
            if self._trial is None or status != "interrupted":
                self._trial = agreed, solved
            if status == "interrupted":
                raise KeyboardInterrupt
            if status == "time limit":
                return Agreed(self.links), False
            agreed.add(part, [part.agreement(views.graphs), *solved.outcome.measured])
            known = {"agreement": agreed.mean(-1)}
        return agreed, True

    def _helps(self, agreed: Agreed, stage: int) -> bool:
        """Whether to couple at all: not if agreement on the pairs kept back falls."""
        gain, error = agreed.gains(stage)
        return bool(self.links) and not gain < -rules.WORSE * error

    def _solved(
        self,
        pairs: Pairs,
        strengths: Sequence[float],
        name: str,
        kept: Checkpoint | None,
        *,
        final: bool,
        couple: bool = True,
        measure: Callable[[Sequence[Graph]], Any] | None = None,
    ) -> Solved:
        views, given = self.views, self._given
        links = [link for link in self.links if pairs.count(*link)] if couple else []
        graphs = self._borrowing.lent(pairs, given.borrow) if given.borrow != 0.0 and links else views.graphs
        problem = self.problem(graphs, pairs, links)
        size = rough_stiffness(problem) if links else 0.0
        has_effect = size > _NO_EFFECT * float(self.times.max()) ** 2
        if not has_effect:
            problem = self.problem(graphs, pairs, [])
        alphas = self._alphas(strengths, self._strongest / size if has_effect else None)

        def with_weights(weights: Sequence[Floats]) -> list[Graph]:
            return [graph.with_weights(w) for graph, w in zip(graphs, weights, strict=True)]

        outcome = descend(
            problem,
            alphas,
            tolerance=given.tolerance if final else ROUGH,
            max_iterations=given.max_iterations if final else _TRIAL_STEPS,
            meter=self._meter,
            deadline=self._deadline(1.0 if final else _TRIALS_PART),
            callback=given.callback if final else None,
            checkpoint=kept,
            name=name,
            balanced=final,
            measure=None if measure is None else lambda weights: measure(with_weights(weights)),
        )
        after = with_weights(outcome.weights)
        return Solved(outcome, alphas[-1], list(graphs), after, has_effect)

    def _alphas(self, strengths: Sequence[float], unit: float | None) -> list[float]:
        """The values of α on the way; ``unit`` is the α of strength 1, None where coupling has no effect."""
        alpha = self._given.alpha
        if unit is None:
            return [1.0 if alpha is None else alpha] * (len(strengths) if alpha is None else 1)
        if alpha is None:
            return [strength * unit for strength in strengths]
        way = [strength * unit for strength in strengths]
        while way[-1] < alpha:
            way.append(way[-1] * way[1] / way[0])
        return [*(one for one in way if one < 0.7 * alpha), alpha]

    def _deadline(self, part: float) -> float | None:
        """The time at which the fraction ``part`` of the allowed time is over."""
        seconds = self._given.max_seconds
        return None if seconds is None else self._began + part * seconds

    def problem(self, graphs: Sequence[Graph], pairs: Pairs, links: Sequence[Link]) -> Problem:
        terms = self.terms(pairs, links)
        return Problem(graphs, terms, self.times, 1.0, rigidity=self.rigidity, engine=self._given.engine)

    def terms(self, pairs: Pairs, links: Sequence[Link]) -> list[Comparison]:
        """The functions of every two linked views."""
        terms = []
        for (a, b), (F, G) in paired_modes(self.modes, pairs).items():
            if (a, b) in links:
                more = self.views.functions
                columns = (F, G) if more is None else (np.hstack([F, more[a]]), np.hstack([G, more[b]]))
                terms.append(of_two(a, b, *columns, self._weights[a, b] / self._strongest))
        return terms
