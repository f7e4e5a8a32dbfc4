"""What matching gives back: vertices and functions of one graph on another, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from cotherm.notebook import Shown, Table

CONSISTENT, UNCERTAIN = "consistent", "uncertain"
_ENDINGS = {
    CONSISTENT: "",
    UNCERTAIN: "Many vertices do not come back to where they went out: give more corresponding functions, spread over "
    "the graphs and some on each side of every symmetry, or couple the graphs first.",
}
STATUSES = tuple(_ENDINGS)


@dataclass(frozen=True, eq=False, repr=False)
class Match(Shown):
    """Result of match: a correspondence of vertices and functions, and how certain it is.

    Print it for a summary.

    Attributes
    ----------
    hard : ndarray of int of shape (n_s,)
        For every vertex of the source a vertex of the target.
    soft : csr_array of shape (n_s, n_t)
        For every vertex of the source the shares of a few vertices of the target. Rows sum to 1.
    confidence : ndarray of shape (n_s,)
        For every vertex of the source the probability, from 0 to 1, to return to it or to a neighbor when going to
        the target and back by the shares.
    hard_back, soft_back : ndarray and csr_array
        The same from the target to the source.
    functional_map : ndarray of shape (k, k)
        The functional map C: from coefficients of a function on the target to its coefficients on the source.
    bases : tuple of Modes
        The modes of source and target. For results with common bases, those bases.
    source, target : int
        Which of the graphs.
    status : str
        "consistent", or "uncertain" if the mean confidence is below a half.
    settings : dict
        The other arguments as they were understood.
    versions : dict of str to str
        Versions of Python and of the libraries that computed the result.
    seconds : float
        Run time.

    See Also
    --------
    match : Compute it.
    evaluate.geodesic_error : Compare it with the truth.
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
        """What to do about the status; empty if there is nothing to do."""
        return _ENDINGS[self.status]

    def transfer(self, values: ArrayLike, *, to: str = "target") -> NDArray[Any]:
        """Carry values from the vertices of one graph to the other.

        Parameters
        ----------
        values : array_like of shape (n,) or (n, q)
            Floats are functions: every vertex gets the mean by its shares. Integers, strings and booleans of shape
            (n,) are labels: every vertex gets the label with the largest share.
        to : {"target", "source"}, default "target"
            Where to carry the values. With "target" they are given on the source, and the other way round.

        Returns
        -------
        ndarray
            The values on the other graph.

        Raises
        ------
        CothermError
            If there is not one value for every vertex.
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
        """Write the result to a ``.npz`` file, or the correspondence alone to a ``.csv`` file.

        The table has a line for each vertex of the source: source,target,confidence.

        Parameters
        ----------
        path : str or path-like
            Where to write. The suffix chooses the format.
        overwrite : bool, default False
            Whether to replace an existing file.

        See Also
        --------
        load : Read the ``.npz`` file again.
        """
        from cotherm.methods.matching import file as match_file

        match_file.save(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Match:
        """Read a result that was written to a ``.npz`` file by save.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        Match
            The same result.

        See Also
        --------
        save : Write the file.
        """
        from cotherm.methods.matching import file as match_file

        return match_file.load(path)

    def __str__(self) -> str:
        mutual = int(np.sum(self.hard_back[self.hard] == np.arange(len(self.hard))))
        met = len(np.unique(self.hard))
        lines = [
            self._headline(),
            f"  {len(self.functional_map)} modes; confidence {self.confidence.mean():.2f} on average, below 0.1 at "
            f"{int(np.sum(self.confidence < 0.1))} vertices",
            f"  {mutual} vertices of the source are matched both ways; {met} of the target are met",
        ]
        return "\n".join(lines if not self.advice else [*lines, f"  {self.advice}"])

    def _headline(self) -> str:
        n_s, n_t = self.soft.shape
        return (
            f"Match of graph {self.source} ({n_s} vertices) with graph {self.target} ({n_t}): {self.status}, "
            f"{self.seconds:.2g} s"
        )

    def _tables(self) -> Sequence[Table]:
        confidence = f"{self.confidence.mean():.2f}"
        mutual = int(np.sum(self.hard_back[self.hard] == np.arange(len(self.hard))))
        row = [f"graph {self.source} to graph {self.target}", len(self.hard), len(self.functional_map), confidence]
        return [(("match", "vertices", "modes", "mean confidence", "matched both ways"), [[*row, mutual]])]

    def _remarks(self) -> Sequence[str]:
        return tuple(filter(None, [self.advice]))
