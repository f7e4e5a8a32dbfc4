"""scNMT: RNA, methylation and accessibility of cells of mouse gastrulation, none measured together."""

from __future__ import annotations

import os
import time

import numpy as np

from cotherm.errors import CothermError
from paper.data import scnmt
from paper.experiments.cells_table import embeddings, functions_of, transfer
from paper.report import Claim, Experiment, Table

_KNOWN, _SEEDS = 0.5, 3

_ABOUT = f"""Three modalities of different cells (597, 725 and 647), four stages. Half of the stages are known and
define the functions. The others are predicted: the stage of a cell from its five nearest neighbors of known stage in
another modality, the mean over all pairs of modalities; {_SEEDS} seeds."""


def run(data: str | os.PathLike[str] | None = None) -> Experiment:
    """Bring the three into one space and judge; needs the data."""
    began = time.perf_counter()
    try:
        views = scnmt(data=data)
    except CothermError as error:
        return Experiment("scnmt", "scNMT", _ABOUT, notes=[f"Left out: {error}"])
    labels = views.classes
    assert labels is not None
    found: dict[str, list[float]] = {}
    for seed in range(_SEEDS):
        F = functions_of(labels, _KNOWN, seed)
        unknown = [~np.any(f != 0.0, axis=1) for f in F]
        for name, space in embeddings(views, F).items():
            found.setdefault(name, []).append(transfer(space, labels, unknown))
    chance = max(np.bincount(np.unique(np.concatenate(labels), return_inverse=True)[1])) / sum(map(len, labels))
    rows = [[name, f"{np.mean(scores):.3f} ± {np.std(scores):.3f}"] for name, scores in found.items()]
    rows.append(["always the most frequent stage", f"{chance:.3f}"])
    best = max(float(np.mean(scores)) for scores in found.values())
    return Experiment(
        name="scnmt",
        title="scNMT",
        about=_ABOUT,
        tables=[Table("Stages carried from one modality to another", ["", "accuracy"], rows)],
        claims=[Claim("best accuracy over that of the most frequent stage", best / float(chance), ">=", 1.5)],
        seconds=time.perf_counter() - began,
    )
