"""The route to a coupling that the search took, among several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def best_route(history: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The steps of the route that ends with the least cost; if several tie, of the first."""
    routes: dict[str, list[Mapping[str, Any]]] = {}
    for row in history:
        routes.setdefault(str(row["route"]), []).append(row)
    ends = {name: float(rows[-1]["cost"]) for name, rows in routes.items()}
    finite = [name for name, cost in ends.items() if np.isfinite(cost)] or list(routes)
    return routes[min(finite, key=lambda name: ends[name])] if finite else []
