"""Cells of several modalities in one space: labels carried from one to another, and pairs found again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from cotherm.arrays import Floats
from cotherm.datasets import Views
from cotherm.evaluate import foscttm
from cotherm.functions import label_functions
from cotherm.methods.alignment import align
from cotherm.methods.coupling.couple import couple
from cotherm.methods.quasi_harmonic import coupled_bases

Labels = Sequence[NDArray[Any]]
# Modes of the common space, the constant one included.
_MODES = 10


def functions_of(labels: Labels, known: float, seed: int) -> list[Floats]:
    """Unit indicators of the classes, from a random part of the labels of every view."""
    classes = np.unique(np.concatenate(labels))
    random = np.random.default_rng(seed)
    result = []
    for own in labels:
        F = label_functions(own, classes=classes, unit_norm=False) * (random.random(len(own)) < known)[:, np.newaxis]
        result.append(F / np.maximum(np.linalg.norm(F, axis=0), 1e-300))
    return result


def embeddings(views: Views, F: Sequence[Floats]) -> dict[str, tuple[Floats, ...]]:
    """A common space by each method; rows in units of 1/√n, as views have different numbers of cells."""
    coupled = couple(views.graphs, F, views.times, alpha=1e6, options={"continuation": "times"})
    found = {
        "alignment": align(views.graphs, F, _MODES, normalized=True),
        "coupled bases": coupled_bases(views.graphs, F, _MODES),
        "HKC, then coupled bases": coupled_bases(coupled.graphs, F, _MODES),
    }
    spaces = {}
    for name, result in found.items():
        # Alignment has one set of modes for all; coupled bases are orthonormal in each view.
        scale = [1.0 if name == "alignment" else np.sqrt(g.n) for g in views.graphs]
        spaces[name] = tuple(s * x for s, x in zip(scale, result.embedding(_MODES - 1), strict=True))
    return spaces


def transfer(space: Sequence[Floats], labels: Labels, unknown: Sequence[NDArray[np.bool_]]) -> float:
    """The mean accuracy of labels carried from each view to the cells of another whose labels were not used."""
    views = list(zip(space, labels, unknown, strict=True))
    scores = [
        KNeighborsClassifier(5).fit(X[~hidden], own[~hidden]).score(Y[others], theirs[others])
        for (X, own, hidden), (Y, theirs, others) in permutations(views, 2)
    ]
    return float(np.mean(scores))


def pairs(space: Sequence[Floats]) -> float:
    """FOSCTTM of two views of the same cells."""
    return foscttm(space[0], space[1])
