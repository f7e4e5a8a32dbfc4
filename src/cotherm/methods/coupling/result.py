"""The result of coupling: the graphs, how far they moved, how alike heat now diffuses, and which edges changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, visible
from cotherm.graphs.graph import Graph
from cotherm.methods.result import JointGraphs
from cotherm.methods.status import HasStatus

_ENDINGS = {
    "converged": "",
    "stalled": "No step lowers the cost by more than rounding, though the optimality is not reached: functions that "
    "differ at t = 0, a smaller α or weights of one size may help.",
    "out of budget": "More iterations may lower the cost: raise max_iterations, or start from this answer (start=).",
    "interrupted": "The best weights found until the interruption.",
}


STATUSES = tuple(_ENDINGS)

# Functions that differ by more than this at t = 0 are worth a word.
_MISMATCH = 0.01


@dataclass(frozen=True, eq=False)
class Changes:
    """The edges of one graph before and after; ``kind`` is cut, weakened, kept, strengthened or switched on."""

    i: NDArray[Any]
    j: NDArray[Any]
    before: Floats
    after: Floats
    kind: NDArray[np.str_]

    def edges(self, kind: str) -> NDArray[Any]:
        """The edges of one kind as rows (i, j), those that changed most first."""
        kind = validation.choice("kind", kind, _KINDS)
        chosen = np.flatnonzero(self.kind == kind)
        chosen = chosen[np.argsort(-np.abs(self.after - self.before)[chosen], kind="stable")]
        return np.column_stack([self.i[chosen], self.j[chosen]])

    def counts(self) -> dict[str, int]:
        """How many edges of each kind."""
        return {kind: int(np.sum(self.kind == kind)) for kind in _KINDS}


_KINDS = ("cut", "weakened", "kept", "strengthened", "switched on")


@dataclass(frozen=True, eq=False)
class Coupling(JointGraphs, HasStatus):
    """The answer of :func:`cotherm.couple`; print it for a summary.

    Attributes
    ----------
    graphs : the coupled graphs, same vertices and edges as the originals, weights ≥ 0.
    originals, functions : the graphs and the corresponding functions that were given.
    times, alpha : of the cost.
    cost : distance + α · Σ coupling², pairs of graphs and functions weighted as asked.
    distance : Σ_k ρ_k ‖L̃_k − L_k‖_F², the first term of the cost.
    coupling_before, coupling : the weak coupling error at each time, before and after, unweighted.
    mismatch : how far the functions differ at t = 0, ‖F₁ᵀF₁ − F₂ᵀF₂‖ relative to their size: no weights can mend it.
    status : "converged", "stalled", "out of budget" or "interrupted".
    optimality : the projected gradient, relative to the gradients of the two terms that balance in it.
    history : one row per step: route, stage, iteration, cost of the stage, its coupling term Σ coupling², optimality.
    settings, versions : the other arguments as understood, and of what ran.
    seconds : how long it took.
    """

    advice_by_status: ClassVar[Mapping[str, str]] = _ENDINGS

    graphs: tuple[Graph, ...]
    originals: tuple[Graph, ...]
    functions: tuple[Floats, ...]
    times: tuple[float, ...]
    alpha: float
    cost: float
    distance: float
    coupling_before: Floats
    coupling: Floats
    mismatch: float
    status: str
    optimality: float
    history: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    def changes(self, *, cut: float = 0.02, weak: float = 0.5, strong: float = 2.0) -> tuple[Changes, ...]:
        """Which edges were cut, weakened or strengthened, for each graph.

        An edge is cut below ``cut`` of its weight, weakened below ``weak``, strengthened above ``strong``; "switched
        on" is an edge of weight zero that got one.
        """
        limits = [validation.real("cut", cut), validation.real("weak", weak), validation.real("strong", strong)]
        if sorted(limits) != limits or limits[1] > 1.0 or limits[2] < 1.0:
            raise CothermError("cut, weak, strong", str(tuple(limits)), "0 <= cut <= weak <= 1 <= strong")
        return tuple(_changes(old, new, *limits) for old, new in zip(self.originals, self.graphs, strict=True))

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write everything to one .npz file, which :meth:`load` reads back; no pickles."""
        from cotherm.methods.coupling import file as coupling_file

        coupling_file.save(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Coupling:
        """Read what :meth:`save` wrote."""
        from cotherm.methods.coupling import file as coupling_file

        return coupling_file.load(path)

    def __str__(self) -> str:
        return "\n".join([*self._headline(), "", *self._coupling_table(), "", *self._graph_table()])

    def _headline(self) -> list[str]:
        lines = [
            f"Heat kernel coupling of {len(self.graphs)} graphs: {self.status}, {self.seconds:.2g} s",
            f"  cost {self.cost:.6g} = distance {self.distance:.6g} + α · coupling {self.cost - self.distance:.3g}"
            f"   (α = {self.alpha:g}, optimality {self.optimality:.1e})",
        ]
        if self.mismatch > _MISMATCH:
            lines.append(
                f"  The functions themselves differ by {self.mismatch:.0%} at t = 0, which no weights can mend: "
                "make them alike or lower α."
            )
        return lines if not self.advice else [*lines, f"  {self.advice}"]

    def _coupling_table(self) -> list[str]:
        lines = [f"  {'time':>8}{'error before':>16}{'after':>12}"]
        for t, before, after in zip(self.times, self.coupling_before, self.coupling, strict=True):
            lines.append(f"  {t:8g}{before:16.4g}{after:12.4g}")
        return lines

    def _graph_table(self) -> list[str]:
        lines = [f"  {'graph':<20}{'vertices':>9}{'edges':>9}{'cut':>7}{'weakened':>10}{'strengthened':>14}"]
        for k, (graph, changes) in enumerate(zip(self.originals, self.changes(), strict=True)):
            count = changes.counts()
            name = visible(graph.name or str(k))[:20]
            lines.append(
                f"  {name:<20}{graph.n:>9}{graph.m:>9}{count['cut']:>7}{count['weakened']:>10}"
                f"{count['strengthened'] + count['switched on']:>14}"
            )
        return lines


def _changes(old: Graph, new: Graph, cut: float, weak: float, strong: float) -> Changes:
    before, after = old.w, new.w
    kind = np.full(old.m, "kept", dtype="<U12")
    kind[after < weak * before] = "weakened"
    kind[after < cut * before] = "cut"
    kind[after > strong * before] = "strengthened"
    kind[(before == 0.0) & (after > 0.0)] = "switched on"
    return Changes(old.i, old.j, before, after, kind)
