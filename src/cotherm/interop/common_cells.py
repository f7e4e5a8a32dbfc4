"""The common graph of a coupling by pairs, cell by cell: for every modality, and for a MuData as a whole."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.errors import known_as
from cotherm.graphs.graph import Graph
from cotherm.methods.pairs.agreement import Agreement
from cotherm.methods.pairs.common import CommonGraph
from cotherm.methods.pairs.report import PairReport


@dataclass(frozen=True)
class CommonCells:
    """All cells in one space: their common graph, coordinates and, if asked for, clusters."""

    common: CommonGraph
    coordinates: Floats
    clusters: Ints | None

    @classmethod
    def of(cls, common: CommonGraph, k: int, t: float, count: int | None) -> CommonCells:
        """Use as many coordinates as the modalities have."""
        with known_as("k", "clusters"):
            clusters = None if count is None else common.clusters(count)
        return cls(common, common.embedding(k, t=t), clusters)

    def of_modality(self, view: int) -> tuple[Floats, Ints | None, Floats]:
        """Coordinates, clusters and weights of the cells of a modality."""
        coordinates, clusters, weights = self._take(self.common.of_view(view))
        return coordinates, clusters, weights[:, [view]]

    def of_mudata(self, mdata: Any) -> tuple[Floats, Ints | None, Floats, Graph] | None:
        """Coordinates, clusters, weights and graph of the cells of a MuData, if those are the items; else None."""
        cells = _items_of(mdata, self.common)
        if cells is None:
            return None
        W = self.common.graph.adjacency()[cells][:, cells]
        return *self._take(cells), Graph.from_adjacency(W, name=self.common.graph.name)

    def _take(self, items: Ints) -> tuple[Floats, Ints | None, Floats]:
        """NaN, −1 and 0 for cells that are not in the common graph."""
        here = items >= 0
        coordinates = np.where(here[:, np.newaxis], self.coordinates[items], np.nan)
        clusters = None if self.clusters is None else np.where(here, self.clusters[items], -1)
        return coordinates, clusters, np.where(here[:, np.newaxis], self.common.view_weights[items], 0.0)


def pairs_note(report: PairReport) -> dict[str, Any]:
    """The part of the report that a file can hold; the table stays in the result."""
    agreement = {
        field.name: np.array([getattr(one, field.name) for one in report.agreement]) for field in fields(Agreement)
    }
    note: dict[str, Any] = {
        "items": len(report.table),
        "n_modes": report.n_modes,
        "strength": report.strength,
        "shares": np.array(report.shares),
        "rigidity": np.array(report.rigidity),
        "agreement": agreement,
    }
    return note | ({"notes": np.array(report.notes)} if report.notes else {})


def _items_of(mdata: Any, common: CommonGraph) -> Ints | None:
    """The item of each cell of a MuData; None if a cell is two items, or two cells are one.

    A MuData takes cells of the same name for the same, whatever the pairs were.
    """
    found = np.full(mdata.n_obs, -1)
    for k, (name, adata) in enumerate(mdata.mod.items()):
        rows = np.asarray(mdata.obsmap[name]).astype(np.int64) - 1
        if len(rows) != mdata.n_obs or rows.max(initial=-1) >= adata.n_obs:  # cells were removed since it was made
            return None
        here = rows >= 0
        own = common.of_view(k)[rows[here]]
        if np.any((found[here] >= 0) & (found[here] != own)):
            return None
        found[here] = own
    return found if np.array_equal(np.sort(found), np.arange(len(common.items))) else None
