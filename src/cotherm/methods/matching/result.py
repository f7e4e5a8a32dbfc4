"""What matching gives back: vertices and functions of one graph on another, and whether to believe it."""

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
from cotherm.heat.spectrum import Spectrum
from cotherm.indexed import rows_in_order
from cotherm.notebook import Shown, Table

SUPPORTED, APPROXIMATE, UNCERTAIN = "supported", "approximate", "uncertain"
BY_CHANCE, UNJUDGED = "no better than chance", "not judged"
_MORE = "give more corresponding functions, spread over the graphs and some on each side of every symmetry"
_FIRST = "Or couple the graphs first, if some of their edges are wrong."
_ENDINGS = {
    SUPPORTED: "",
    APPROXIMATE: "Matches from halves of the functions lead to the same neighborhoods but seldom to the same vertices: "
    "the place of most vertices is found, not their counterpart.",
    UNCERTAIN: f"Matches from halves of the functions disagree at most vertices: {_MORE}.",
    BY_CHANCE: "Matches from halves of the functions agree hardly more often than chance would have it. Do not use "
    f"this match: {_MORE}.",
    UNJUDGED: "Whether the match is right was not judged: that takes two or more functions, and n_splits above 0.",
}
STATUSES = tuple(_ENDINGS)


@dataclass(frozen=True, eq=False, repr=False)
class Match(Shown):
    """Result of match: a correspondence of vertices and functions, and how far it is supported.

    Print it for a summary.

    Attributes
    ----------
    hard : ndarray of int of shape (n_s,)
        For every vertex of the source a vertex of the target.
    soft : csr_array of shape (n_s, n_t)
        For every vertex of the source the shares of a few vertices of the target. Rows sum to 1.
    round_trip : ndarray of shape (n_s,)
        For every vertex of the source the probability, from 0 to 1, to return to it or to a neighbor when going to
        the target and back by the shares. It is low for vertices without a counterpart. It does not say whether a match
        is right: wrong ones lead back as well.
    agreement : ndarray of shape (n_s,)
        For every vertex of the source how often, from 0 to 1, two matches from disjoint halves of the functions lead to
        the same vertex of the target or to neighbors. The mean estimates the part of the vertices that are matched to
        the right vertex or a neighbor of it; see Notes. NaN if it was not judged.
    exact_agreement : float
        The part of the vertices at which the two matches lead to the very same vertex, which is rather too high an
        estimate of the part that is exactly right. NaN if it was not judged.
    chance : float
        How often two vertices of the target drawn at random are the same or neighbors: the agreement of matches that
        have nothing in common.
    hard_back, soft_back : ndarray and csr_array
        The same from the target to the source.
    functional_map : ndarray of shape (k, k)
        The functional map C: from coefficients of a function on the target to its coefficients on the source.
    bases : tuple of Spectrum
        The modes Φ of source and target, scaled to ΦᵀΦ = nI: the coefficients of a function f are Φᵀf/n. For results
        with common bases, those bases.
    source, target : int
        Which of the graphs.
    status : str
        "supported" if halves of the functions agree at half of the vertices or more, also exactly; "approximate" if
        only up to neighbors; "no better than chance" if the mean agreement is less than 0.09 above
        what chance gives; otherwise "uncertain". "not judged" with fewer than two functions.
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

    Notes
    -----
    Mean agreement and truth, "at the right vertex or a neighbor", differed by 0.07 on average over 29 pairs of graphs
    with four functions or more whose truth is known, and by 0.41 at most (``python -m benchmarks agreement``).
    It is too low with two or three functions, since the halves have one or two, and too high if the graphs were coupled
    by the same functions before.
    """

    hard: Ints
    soft: sp.csr_array
    round_trip: Floats
    agreement: Floats
    exact_agreement: float
    chance: float
    hard_back: Ints
    soft_back: sp.csr_array
    functional_map: Floats
    bases: tuple[Spectrum, Spectrum]
    source: int
    target: int
    status: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @property
    def advice(self) -> str:
        """What to do about the status; empty if there is nothing to do."""
        may_help = self.status in (UNCERTAIN, BY_CHANCE) and self.settings.get("coupling_may_help") is True
        return f"{_ENDINGS[self.status]} {_FIRST}" if may_help else _ENDINGS[self.status]

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
        array = validation.as_array("values", rows_in_order("values", values))
        if array.dtype.kind == "f":
            columns = validation.functions("values", array, T.shape[1])
            return np.asarray(T @ columns).reshape(T.shape[0], *array.shape[1:])
        labels = validation.labels("values", values)
        if labels.shape != (T.shape[1],):
            needed = f"one label per vertex, {T.shape[1]}"
            raise CothermError("values", f"labels of shape {labels.shape}", needed, "Functions are floats.")
        classes, number = np.unique(labels, return_inverse=True)
        votes = T @ sp.csr_array((np.ones(len(number)), (np.arange(len(number)), number)))
        return np.asarray(classes[np.asarray(votes.argmax(axis=1)).ravel()])

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the result to a ``.npz`` file, or the correspondence alone to a ``.csv`` file.

        The table has a line for each vertex of the source: source,target,agreement,round_trip.

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

    def _support(self) -> str:
        agreed = float(self.agreement.mean())
        if np.isnan(agreed):
            return "no halves of the functions to compare"
        return (
            f"halves of the functions agree at {agreed:.0%} of the vertices up to neighbors (chance {self.chance:.0%}) "
            f"and at {self.exact_agreement:.0%} exactly"
        )

    def _mutual(self) -> int:
        return int(np.sum(self.hard_back[self.hard] == np.arange(len(self.hard))))

    def __str__(self) -> str:
        met = len(np.unique(self.hard))
        lines = [
            self._headline(),
            f"  {len(self.functional_map)} modes; {self._support()}",
            f"  {self._mutual()} vertices of the source are matched both ways; {met} of the target are met",
        ]
        return "\n".join(lines if not self.advice else [*lines, f"  {self.advice}"])

    def _headline(self) -> str:
        n_s, n_t = self.soft.shape
        return (
            f"Match of graph {self.source} ({n_s} vertices) with graph {self.target} ({n_t}): {self.status}, "
            f"{self.seconds:.2g} s"
        )

    def _tables(self) -> Sequence[Table]:
        row = [f"graph {self.source} to graph {self.target}", len(self.hard), len(self.functional_map), self._mutual()]
        return [(("match", "vertices", "modes", "matched both ways"), [row])]

    def _remarks(self) -> Sequence[str]:
        support = self._support()
        return tuple(filter(None, [f"{support[0].upper()}{support[1:]}.", self.advice]))
