"""The checked arguments of coupling by pairs, and the views to couple, scaled to one median degree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, visible
from cotherm.graphs.graph import Graph
from cotherm.heat.times import median_degree
from cotherm.heat.validation import checked_views
from cotherm.methods.checkpoint import fingerprint_of_graphs, hashed
from cotherm.methods.coupling.options import Arguments, require_squares
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Given(Arguments):
    """All of them."""

    told: ClassVar = ("times", "alpha", "borrow", "random_state", *RARE)

    graphs: list[Graph]
    pairs: Pairs
    functions: list[Floats] | None
    borrow: float | None
    random_state: int
    n_modes: int | None
    rigidity: Floats | None
    include_unrelated: bool
    kept_back: float

    @classmethod
    def checked(
        cls,
        graphs: Sequence[Graph],
        pairs: Any,
        functions: Sequence[ArrayLike] | None,
        borrow: float | str,
        random_state: int,
        rare: Mapping[str, Any],
        common: Mapping[str, Any],
    ) -> Given:
        """``common`` are those of every coupling."""
        views = checked_graphs(graphs)
        require_squares(views)
        found = checked_pairs(pairs, [graph.n for graph in views], [graph.vertex_names for graph in views])
        times, n_modes, rho = common["times"], rare["n_modes"], rare["rigidity"]
        if times is not None and not np.any(times > 0.0):
            raise CothermError("times", "no time above 0", "a time t > 0: at t = 0 nothing depends on the weights")
        share = validation.real("kept_back", rare["kept_back"])
        if share > 0.5:
            raise CothermError("kept_back", f"{share:g}", "a fraction of the pairs, at most 0.5")
        if common["alpha"] is not None:
            moderate("alpha", common["alpha"])
        return cls(
            **{**common, "times": None if times is None else times[times > 0.0]},
            graphs=views,
            pairs=found,
            functions=None if functions is None else checked_views(views, functions)[1],
            borrow=None if is_auto("borrow", borrow) else _share(borrow),
            random_state=validation.integer("random_state", random_state, least=0, most=2**32 - 1),
            n_modes=None if is_auto("n_modes", n_modes) else validation.integer("n_modes", n_modes, least=1),
            rigidity=None if rho is None else positive("rigidity", rho, len(views), "graphs"),
            include_unrelated=validation.boolean("include_unrelated", rare["include_unrelated"]),
            kept_back=share,
        )

    def given(self) -> dict[str, str]:
        return {
            "method": "couple_pairs",
            **fingerprint_of_graphs(self.graphs),
            "pairs": f"{len(self.pairs.table)} items, {hashed(self.pairs.table)}",
            "functions": "none" if self.functions is None else hashed(*self.functions),
            **self.in_words(),
            "engine": self.engine.name,
        }

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
        )


@dataclass(frozen=True, eq=False)
class LinkedViews:
    """Views that are coupled: ``graphs`` are scaled to the median degree ``degree`` by dividing by ``units``.

    ``numbers`` are those of the views among all that were given.
    """

    numbers: list[int]
    graphs: list[Graph]
    units: Floats
    degree: float
    pairs: Pairs
    functions: list[Floats] | None
    rigidity: Floats | None

    def here(self, link: Link) -> Link:
        """Two of these views, by their numbers."""
        a, b = (self.numbers.index(k) for k in link)
        return a, b


def _share(value: object) -> float:
    share = validation.real("borrow", value)
    if share > 1.0:
        raise CothermError("borrow", f"{share:g}", "a share from 0 to 1")
    return share


def _unit(functions: list[Floats]) -> list[Floats]:
    """Columns divided by the root mean square of their norms over all graphs."""
    size = np.sqrt(np.mean([np.sum(F**2, axis=0) for F in functions], axis=0))
    return [F / np.where(size > 0.0, size, 1.0) for F in functions]
