"""What matching gives back: vertices and functions of one graph on another, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.methods.matching.modes import Modes

CONSISTENT, UNCERTAIN = "consistent", "uncertain"
_ENDINGS = {
    CONSISTENT: "",
    UNCERTAIN: "Many vertices do not come back to where they went out: give more corresponding functions, spread over "
    "the graphs and some on each side of every symmetry, or couple the graphs first.",
}
STATUSES = tuple(_ENDINGS)


@dataclass(frozen=True, eq=False)
class Match:
    """The answer of :func:`cotherm.match`; print it for a summary.

    Attributes
    ----------
    hard : for every vertex of the source a vertex of the target, (n_s,).
    soft : for every vertex of the source shares of a few vertices of the target, (n_s, n_t), sparse; rows sum to 1.
    confidence : for every vertex of the source the chance to come back to it or a neighbor by way of the shares there
        and back, from 0 to 1.
    hard_back, soft_back : the same from the target to the source.
    functional_map : C (k, k), coefficients of functions on the target to coefficients of the same on the source.
    bases : the modes of source and target: ``values``, ``vectors`` Φ (n, k) and ``mass`` M, ΦᵀMΦ = I. For answers that
        came with common bases, those.
    source, target : which of the graphs.
    status : "consistent", or "uncertain" where the mean confidence is below a half.
    """

    hard: Ints
    soft: sp.csr_array
    confidence: Floats
    hard_back: Ints
    soft_back: sp.csr_array
    functional_map: Floats
    bases: tuple[Modes, Modes]
    source: int
    target: int
    status: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @property
    def advice(self) -> str:
        """What to do about the status; empty where there is nothing to do."""
        return _ENDINGS[self.status]

    def transfer(self, values: ArrayLike, *, to: str = "target") -> NDArray[Any]:
        """Values on the vertices of one graph, carried to the other.

        Parameters
        ----------
        values : floats, (n,) or (n, q), are functions: at every vertex the mean by its shares. Whole numbers, strings
            and truth values, (n,), are labels: the one with the greatest share.
        to : "target", values being those on the source, or "source", the other way.
        """
        to = validation.choice("to", to, ("target", "source"))
        T = self.soft_back if to == "target" else self.soft
        array = validation.as_array("values", values)
        if array.dtype.kind == "f":
            columns = validation.functions("values", array, T.shape[1])
            return np.asarray(T @ columns).reshape(T.shape[0], *array.shape[1:])
        labels = validation.labels("values", values)
        if labels.shape != (T.shape[1],):
            raise CothermError(
                "values",
                f"labels of shape {labels.shape}",
                f"one label per vertex, {T.shape[1]}",
                "Functions are floats.",
            )
        classes, number = np.unique(labels, return_inverse=True)
        votes = T @ sp.csr_array((np.ones(len(number)), (np.arange(len(number)), number)))
        return np.asarray(classes[np.asarray(votes.argmax(axis=1)).ravel()])

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write everything to an .npz file, which :meth:`load` reads back, or the matches alone to a .csv file.

        The table has a line for each vertex of the source: source,target,confidence.
        """
        from cotherm.methods.matching import file as match_file

        match_file.save(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Match:
        """Read the .npz file that :meth:`save` wrote."""
        from cotherm.methods.matching import file as match_file

        return match_file.load(path)

    def __str__(self) -> str:
        n_s, n_t = self.soft.shape
        mutual = int(np.sum(self.hard_back[self.hard] == np.arange(n_s)))
        met = len(np.unique(self.hard))
        lines = [
            f"Match of graph {self.source} ({n_s} vertices) with graph {self.target} ({n_t}): {self.status}, "
            f"{self.seconds:.2g} s",
            f"  {len(self.functional_map)} modes; confidence {self.confidence.mean():.2f} on average, below 0.1 at "
            f"{int(np.sum(self.confidence < 0.1))} vertices",
            f"  {mutual} vertices of the source are matched both ways; {met} of the target are met",
        ]
        return "\n".join(lines if not self.advice else [*lines, f"  {self.advice}"])
