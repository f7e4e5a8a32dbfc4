"""Retrieval by diffusion distance at several times, as rows of a table beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.evaluate import Retrieval, retrieval

# Distances at a time t.
Measure = Callable[[float], Floats]


def scores(measure: Measure, labels: NDArray[Any], times: Sequence[float], seed: int) -> Floats:
    """mAP and precision at 5, in percent: (2, times)."""
    found = [retrieval(measure(t), labels, seed=seed) for t in times]
    return 100.0 * np.array([[r.mean_average_precision for r in found], [r.precision_at(5) for r in found]])


def curve(measure: Measure, labels: NDArray[Any], t: float, seed: int) -> tuple[Floats, Floats]:
    """Recall and precision."""
    found: Retrieval = retrieval(measure(t), labels, seed=seed)
    return found.curve()


def header(times: Sequence[float]) -> list[str]:
    return ["", *(f"mAP, t = {t:g}" for t in times), *(f"P@5, t = {t:g}" for t in times)]


def row(name: str, found: Floats, spread: Floats | None = None, paper: Mapping[str, Any] | None = None) -> list[str]:
    """Our figures, with ± where they are means over seeds, and the paper's in brackets."""
    printed = (paper or {}).get(name)
    cells = [name]
    for k in range(2):
        for c in range(found.shape[1]):
            text = f"{found[k, c]:.1f}"
            if spread is not None:
                text += f" ± {spread[k, c]:.1f}"
            cells.append(text if printed is None else f"{text} ({printed[k][c]:.1f})")
    return cells
