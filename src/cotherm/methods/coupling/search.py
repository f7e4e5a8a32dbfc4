"""The search for the best coupling: every route roughly, then the best of their solutions to convergence."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.engines.interface import Array
from cotherm.io.state_file import State
from cotherm.methods.checkpoint import UNFINISHED, Checkpoint
from cotherm.methods.coupling.continuation import HELD, default_route, robust_scale
from cotherm.methods.coupling.problem import Problem
from cotherm.notebook import ArraysInShort
from cotherm.progress import Meter
from cotherm.solve.gauss_newton import descend
from cotherm.solve.least_squares import Iterate

# A stage on the way is left once a step brings less than this part of its cost, or after so many steps.
_ROUGH_GAIN = 1e-3
_STAGE_STEPS = 20
_ROUGH_STEPS = 40
_DIRECT_STEPS = 7
_ROUGH_TOLERANCE = 1e-3
# Rough solutions within this factor of the best may still overtake it.
_NEAR = 1.05
# But one as near to a minimum, in units of the distance that this has from the given weights, leads there again. (From
# rough solutions that led to the same minimum it was below 0.1 nine times in ten, to others above 0.5.)
_BESIDE = 0.2
# With one graph alone to change, the others are so many times as rigid, for so many steps. That is tried where the
# others have more than this part of the distance. It is given up if it costs so many times what it costs where all may
# change: then more than one graph is wrong.
_HELD = 100.0
_HELD_STEPS = 12
_SHARED = 0.05
_HOPELESS = 100.0


@dataclass(frozen=True, repr=False)
class Step(ArraysInShort):
    """State of the search after one step, as passed to the callback of couple.

    Attributes
    ----------
    route : str
        Name of the continuation, such as "times".
    stage : int
        Number of the stage within it.
    iteration : int
        Number of the step within the stage.
    cost : float
        Cost of the stage.
    coupling : float
        Its coupling term Σ_t Σ_{k<l} π_k π_l ‖Q_k(t) − Q_l(t)‖², without α.
    optimality : float
        Relative projected gradient.
    weights : tuple of ndarray
        All edge weights, one array for each graph.

    See Also
    --------
    couple : Takes a callback.
    """

    route: str
    stage: int
    iteration: int
    cost: float
    coupling: float
    optimality: float
    weights: tuple[Floats, ...]


@dataclass(frozen=True)
class Found:
    """A candidate: weights, their cost, and how the search for them ended."""

    u: Array
    cost: float
    optimality: float
    status: str
    damping: float = np.inf
    route: str = "direct"
    stage: int = 0


class Stop(Exception):  # noqa: N818 (an end, not an error)
    """Raised from within a descent to end the search; its argument is the status."""


class Watch:
    """What is told of every step: the history, the meter and the callback; ``deadline`` is when to stop."""

    def __init__(
        self, engine: Engine, callback: Callable[[Step], Any] | None, deadline: float | None, meter: Meter
    ) -> None:
        self._engine, self._callback, self._deadline, self._meter = engine, callback, deadline, meter
        self.history: list[dict[str, Any]] = []

    def tell(self, row: dict[str, Any], weights: Callable[[], Sequence[Floats]]) -> None:
        """Raises :class:`Stop` if the callback, on any rank, or time says so."""
        self.history.append(row)
        self._meter.show(step=len(self.history), cost=row["cost"], coupling=row["coupling"])
        if self._callback is not None:
            step = Step(**row, weights=tuple(weights()))
            if self._engine.ranks.most(bool(self._callback(step))):
                raise Stop("interrupted")
        if self._deadline is not None and self._engine.ranks.most(time.perf_counter() > self._deadline):
            raise Stop("time limit")


class Search:
    """One run. ``history`` grows with every step; ``deadline`` is a reading of ``time.perf_counter``."""

    def __init__(
        self,
        problem: Problem,
        routes: Sequence[str],
        tolerance: float,
        max_iterations: int,
        callback: Callable[[Step], Any] | None,
        deadline: float | None,
        meter: Meter,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self._problem, self._routes, self._tolerance = problem, routes, tolerance
        self._left, self._meter = max_iterations, meter
        self.watch = Watch(problem.engine, callback, deadline, meter)
        self._robust = robust_scale(problem)
        self._current: Array | None = None
        self._holds = HELD in routes
        self._by_times: tuple[Problem, Found] | None = None  # the last stage of that route, where it is needed
        self._found: list[Found] = []
        self._checkpoint = checkpoint
        if checkpoint is not None:
            self._take_up(checkpoint)

    def run(self, start: Array) -> Found:
        """The best solution found, from the weights ``start``; what a checkpoint knows of it is not computed again."""
        kept = self._checkpoint
        if kept is None:
            return self._run(start)
        if kept.result is not None:
            return self._restored(kept.result)
        with kept.kept():
            found = self._run(start)
        if found.status in UNFINISHED:
            kept.flush(agreed=True)  # the same call goes on from there
        else:
            kept.finished(self._stored(found), self._common(self._left))
        return found

    def _run(self, start: Array) -> Found:
        if not self._problem.engine.ranks.sum(len(start)) or not np.any(self._problem.times > 0.0):
            u = self._problem.center  # nothing may change, or changes have no effect
            return Found(u, self._cost(u), 0.0, "converged")
        try:
            best = self._best(start)
            if best.cost > self._cost(start):  # every route led away; from the start it only goes down
                best = self._descend(self._problem, start, "direct", 0, self._left, rough=False)
            return best
        except Stop as stop:
            status = str(stop)
        except KeyboardInterrupt:
            if self._problem.engine.is_distributed:  # ranks are interrupted at different places: all must end
                raise
            status = "interrupted"
        # Only here is the memory of the search, its Jacobian above all, free again.
        return self._best_so_far(start, status)

    def _best(self, start: Array) -> Found:
        """The best end of all routes.

        That of a single one need not be compared, and where many functions taught its last stage much, it goes on to
        the end. Where little was learned, to begin the last descent anew amplifies rounding less.
        """
        if len(self._routes) > 1 or self._problem.is_formed:
            return self._polished(self._rough(start))
        u, stages = self._through_stages(self._routes[0], start)
        return self._descend(self._problem, u, self._routes[0], stages, self._left, rough=False)

    def _rough(self, start: Array) -> list[Found]:
        rough: list[Found] = []
        for name in self._routes:
            # Where one graph alone has changed anyway, holding the others would change nothing.
            graph = self._most_changed() if name == HELD else None
            if graph is None:
                rough.append(self._follow("direct" if name == HELD else name, start))
            else:
                rough += self._change_first(graph, start)
        return rough

    def _follow(self, name: str, start: Array) -> Found:
        u, stages = self._through_stages(name, start)
        steps = _ROUGH_STEPS if stages else _DIRECT_STEPS
        return self._descend(self._problem, u, name, stages, steps, rough=True)

    def _through_stages(self, name: str, u: Array) -> tuple[Array, int]:
        """The end of the stages before the last, and their number."""
        stages = default_route(name, self._problem)
        for number, stage in enumerate(stages):
            problem = self._problem.restated(np.array(stage.times), stage.alpha, self._robust if stage.robust else None)
            end = self._descend(problem, u, name, number, _STAGE_STEPS, rough=True)
            if self._holds and name == "times":
                self._by_times = problem, end
            u = end.u
        return u, len(stages)

    def _most_changed(self) -> int | None:
        """The graph that changed most on the route by times; None if the others, or all weights, changed little."""
        assert self._by_times is not None  # that route comes before, and has a stage
        problem, end = self._by_times
        distances = problem.distances(end.u)
        graph = int(np.argmax(distances))
        others = float(np.sum(np.delete(distances, graph)))
        most = float(abs(end.u - problem.center).max())
        return graph if others > _SHARED * float(np.sum(distances)) and most > self._robust else None

    def _change_first(self, graph: int, start: Array) -> list[Found]:
        """The route on which one graph changes before the others; none if it cannot do it alone."""
        assert self._by_times is not None
        problem, all_free = self._by_times
        rigidity = _HELD * problem.rigidity
        rigidity[graph] /= _HELD
        held = self._descend(problem.with_rigidity(rigidity), start, HELD, 0, _HELD_STEPS, rough=True)
        if held.cost > _HOPELESS * all_free.cost:
            return []
        return [self._descend(self._problem, held.u, HELD, 1, _ROUGH_STEPS, rough=True)]

    def _polished(self, rough: list[Found]) -> Found:
        """The rough solutions that may be the best, each brought to its minimum; the first where they tie.

        Those of routes with few stages come first: the fewer the steps, the less has rounding been amplified.
        """
        limit = _NEAR * min(candidate.cost for candidate in rough)
        minima: list[Found] = []
        for candidate in sorted(rough, key=lambda candidate: candidate.stage):
            if candidate.cost <= limit and not any(self._is_beside(candidate.u, minimum.u) for minimum in minima):
                begin = self._problem, candidate.u, candidate.route, candidate.stage, self._left
                minima.append(self._descend(*begin, rough=False, damping=candidate.damping))
        best = minima[0]
        for minimum in minima[1:]:
            if minimum.cost < best.cost * (1.0 - 1e-7):
                best = minimum
        return best

    def _is_beside(self, u: Array, minimum: Array) -> bool:
        center, distances = self._problem.center, self._problem.distances
        return float(np.sum(distances(center + u - minimum))) <= _BESIDE**2 * float(np.sum(distances(minimum)))

    def _descend(
        self,
        problem: Problem,
        u: Array,
        route: str,
        stage: int,
        steps: int,
        *,
        rough: bool,
        damping: float = np.inf,
    ) -> Found:
        """Down from u."""
        kept, begun, name = self._checkpoint, None, f"{route}, stage {stage}, {'rough' if rough else 'last'}"
        if kept is not None:
            answer = kept.answer(name)
            if answer is not None:
                if kept.is_caught_up:
                    self._warm_up(kept)
                return self._noted(problem, self._restored(answer))
            begun = kept.begun(name)
        at_start = self._left
        if kept is not None and begun is not None:
            self._left = begun["left"]
            self._warm_up(kept)  # once more: what comes before a route has used these starts too
        self._meter.advance(f"coupling: {route}, stage {stage + 1}")
        # The Jacobian of another stage has another size, and does not fit where the last one was.
        problem.engine.return_free_memory()

        def watch(iterate: Iterate) -> None:
            if kept is not None:
                kept.step(name, lambda: self._begun(iterate), lambda: self._common(at_start), self._copied(iterate))
            self._record(problem, iterate, route, stage)

        end = descend(
            problem,
            u,
            tolerance=max(_ROUGH_TOLERANCE, self._tolerance) if rough else self._tolerance,
            iterations=steps,
            least_gain=_ROUGH_GAIN if rough else 0.0,
            damping=damping,
            watch=watch,
            begun=None if begun is None else begun["descent"],
        )
        found = Found(end.u, end.cost, end.optimality, end.status.value, end.damping, route, stage)
        if kept is not None:
            kept.ended(name, self._stored(found), self._common(self._left))
        return self._noted(problem, found)

    def _noted(self, problem: Problem, found: Found) -> Found:
        if problem is self._problem:
            self._found.append(found)
        return found

    def _stored(self, found: Found) -> State:
        return {**vars(found), "u": self._problem.engine.to_numpy(found.u)}

    def _restored(self, state: State) -> Found:
        return Found(**{**state, "u": self._problem.engine.asarray(state["u"])})

    def _begun(self, iterate: Iterate) -> State | None:
        descent = iterate.state()
        return None if descent is None else {"left": self._left, "descent": descent}

    def _common(self, left: int) -> State:
        """What a checkpoint keeps beside the descents; ``left`` are the steps that were left when the last began."""
        warm = [None if one is None else self._problem.engine.to_numpy(one) for one in self._problem.warm_starts()]
        return {"history": list(self.watch.history), "left": left, "warm": warm}

    def _copied(self, iterate: Iterate) -> float:
        """Bytes that it takes to take the state."""
        if not isinstance(iterate.u, np.ndarray):
            return np.inf
        return iterate.copied + sum(one.nbytes for one in self._problem.warm_starts() if one is not None)

    def _take_up(self, checkpoint: Checkpoint) -> None:
        common = checkpoint.common
        if common:
            self.watch.history, self._left = common["history"], common["left"]
            if checkpoint.is_caught_up:
                self._warm_up(checkpoint)

    def _warm_up(self, checkpoint: Checkpoint) -> None:
        to_engine = self._problem.engine.asarray
        warm = checkpoint.common["warm"]
        self._problem.restore_warm_starts([None if one is None else to_engine(one) for one in warm])

    def _record(self, problem: Problem, iterate: Iterate, route: str, stage: int) -> None:
        self._current = iterate.u
        row: dict[str, Any] = {
            "route": route,
            "stage": stage,
            "iteration": iterate.iteration,
            "cost": iterate.cost,
            "coupling": iterate.residual / problem.alpha,
            "optimality": iterate.optimality,
        }
        self._left -= bool(iterate.iteration)
        self.watch.tell(row, lambda: problem.weights_on_host(iterate.u))
        if iterate.iteration and self._left <= 0:
            raise Stop("out of budget")

    def _best_so_far(self, start: Array, status: str) -> Found:
        candidates = [Found(u, self._cost(u), np.nan, status) for u in (start, self._current) if u is not None]
        best = min([*candidates, *self._found], key=lambda candidate: candidate.cost)
        return replace(best, status=status, optimality=self._optimality(best.u))

    def _cost(self, u: Array) -> float:
        return self._problem.distance(u) + float(np.sum(self._problem.at(u).residuals ** 2))

    def _optimality(self, u: Array) -> float:
        return descend(self._problem, u, tolerance=np.inf, iterations=1).optimality
