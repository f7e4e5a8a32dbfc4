"""The checked arguments of coupling by pairs, and the views to couple, scaled to one median degree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.engines import Engine
from cotherm.errors import CothermError, visible
from cotherm.graphs.graph import Graph
from cotherm.heat.times import median_degree
from cotherm.heat.validation import checked_views
from cotherm.methods.checkpoint import Checkpoint, fingerprint_of_graphs, hashed
from cotherm.methods.coupling.options import checked_callback, checked_seconds, checked_times, require_squares
from cotherm.methods.coupling.search import Step
from cotherm.methods.pairs.relation import Link
from cotherm.methods.validation import checked_graphs, is_auto, moderate, positive
from cotherm.pairs import Pairs, checked_pairs

# What few need, with the defaults.
RARE: Mapping[str, Any] = {
    "n_modes": "auto",
    "rigidity": None,
    "include_unrelated": False,
    "kept_back": 0.25,
    "tolerance": 1e-5,
    "max_iterations": 1_000,
}


@dataclass(frozen=True, eq=False)
class Given:
    """Checked arguments; numbers are None for "auto"."""

    graphs: list[Graph]
    pairs: Pairs
    functions: list[Floats] | None
    engine: Engine
    times: Floats | None
    alpha: float | None
    borrow: float | None
    seed: int
    max_seconds: float | None
    callback: Callable[[Step], Any] | None
    n_modes: int | None
    rigidity: Floats | None
    include_unrelated: bool
    kept_back: float
    tolerance: float
    max_iterations: int

    @classmethod
    def checked(
        cls,
        graphs: Sequence[Graph],
        pairs: Any,
        functions: Sequence[ArrayLike] | None,
        times: ArrayLike | str,
        alpha: float | str,
        borrow: float | str,
        random_state: int,
        max_seconds: float | None,
        callback: Callable[[Step], Any] | None,
        engine: Engine,
        rare: Mapping[str, Any],
    ) -> Given:
        views = checked_graphs(graphs)
        require_squares(views)
        found = checked_pairs(pairs, [graph.n for graph in views], [graph.vertex_names for graph in views])
        columns = None if functions is None else checked_views(views, functions)[1]
        compared, n_modes, rho = checked_times(times), rare["n_modes"], rare["rigidity"]
        if compared is not None and not np.any(compared > 0.0):
            raise CothermError("times", "no time above 0", "a time t > 0: at t = 0 nothing depends on the weights")
        share = validation.real("kept_back", rare["kept_back"])
        if share > 0.5:
            raise CothermError("kept_back", f"{share:g}", "a fraction of the pairs, at most 0.5")
        return cls(
            graphs=views,
            pairs=found,
            functions=columns,
            engine=engine,
            times=None if compared is None else compared[compared > 0.0],
            alpha=None if is_auto("alpha", alpha) else _strength(alpha),
            borrow=None if is_auto("borrow", borrow) else _share(borrow),
            seed=validation.integer("random_state", random_state, least=0, most=2**32 - 1),
            max_seconds=checked_seconds(max_seconds),
            callback=checked_callback(callback),
            n_modes=None if is_auto("n_modes", n_modes) else validation.integer("n_modes", n_modes, least=1),
            rigidity=None if rho is None else positive("rigidity", rho, len(views), "graphs"),
            include_unrelated=validation.boolean("include_unrelated", rare["include_unrelated"]),
            kept_back=share,
            tolerance=validation.real("tolerance", rare["tolerance"], positive=True),
            max_iterations=validation.integer("max_iterations", rare["max_iterations"], least=1),
        )

    def settings(self) -> dict[str, Any]:
        """The arguments as understood."""
        chosen = {"times": self.times, "alpha": self.alpha, "n_modes": self.n_modes, "borrow": self.borrow}
        return {
            **{name: _in_short(value) for name, value in {**chosen, "rigidity": self.rigidity}.items()},
            "include_unrelated": self.include_unrelated,
            "kept_back": self.kept_back,
            "random_state": self.seed,
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
        }

    def opened(self, place: Path) -> Checkpoint:
        """The checkpoint of this run, with what the file holds already."""
        arguments = {
            "method": "couple_pairs",
            **fingerprint_of_graphs(self.graphs),
            "pairs": f"{len(self.pairs.table)} items, {hashed(self.pairs.table)}",
            "functions": "none" if self.functions is None else hashed(*self.functions),
            **{name: value if isinstance(value, str) else repr(value) for name, value in self.settings().items()},
            "engine": self.engine.name,
        }
        return Checkpoint(place, arguments, self.engine, self.engine.ranks)

    def names(self) -> list[str]:
        return [visible(graph.name or f"view {k + 1}") for k, graph in enumerate(self.graphs)]

    def part(self, views: Sequence[int]) -> LinkedViews:
        """Some of the views, as if the others had not been given."""
        graphs = [self.graphs[k] for k in views]
        degrees = np.array([median_degree(graph) or 1.0 for graph in graphs])
        degree = float(np.exp(np.mean(np.log(degrees))))
        units = degrees / degree
        return LinkedViews(
            numbers=list(views),
            graphs=[graph.with_weights(graph.w / unit) for graph, unit in zip(graphs, units, strict=True)],
            units=units,
            degree=degree,
            pairs=self.pairs.among(views),
            functions=None if self.functions is None else _unit([self.functions[k] for k in views]),
            rigidity=None if self.rigidity is None else self.rigidity[list(views)],
            engine=self.engine,
        )


@dataclass(frozen=True, eq=False)
class LinkedViews:
    """LinkedViews that are coupled: ``graphs`` are scaled to the median degree ``degree`` by dividing by ``units``.

    ``numbers`` are those of the views among all that were given.
    """

    numbers: list[int]
    graphs: list[Graph]
    units: Floats
    degree: float
    pairs: Pairs
    functions: list[Floats] | None
    rigidity: Floats | None
    engine: Engine

    def here(self, link: Link) -> Link:
        """Two of these views, by their numbers."""
        a, b = (self.numbers.index(k) for k in link)
        return a, b


def _in_short(value: Any) -> Any:
    if value is None:
        return "auto"
    return value.tolist() if isinstance(value, np.ndarray) else value


def _strength(value: object) -> float:
    return moderate("alpha", validation.real("alpha", value, positive=True))


def _share(value: object) -> float:
    share = validation.real("borrow", value)
    if share > 1.0:
        raise CothermError("borrow", f"{share:g}", "a share from 0 to 1")
    return share


def _unit(functions: list[Floats]) -> list[Floats]:
    """Columns divided by the root mean square of their norms over all graphs."""
    size = np.sqrt(np.mean([np.sum(F**2, axis=0) for F in functions], axis=0))
    return [F / np.where(size > 0.0, size, 1.0) for F in functions]
