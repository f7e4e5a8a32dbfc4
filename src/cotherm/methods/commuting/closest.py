"""Closest commuting operators: Laplacians that commute, as near the given ones as can be."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError, shortened
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import signs
from cotherm.heat.spectrum import Spectrum
from cotherm.lazy import lazy
from cotherm.methods.commuting.commutation import Commutation, commutator
from cotherm.methods.commuting.search import CommutingSearch
from cotherm.methods.joint_diagonalization import (
    CommutingMatrices,
    allowed_steps,
    diagonal_in,
    quotients,
    watched_diagonalize,
)
from cotherm.methods.result import DESCENT, same_vertices
from cotherm.methods.validation import checked_graphs, sized, symmetric_matrices, versions
from cotherm.progress import Meter
from cotherm.solve.diagonalize import diagonalize

_ENDINGS = DESCENT | {
    "interrupted": "The best answer until the interruption.",
    "emptied": "Nothing was found that commutes but one graph as it is and the others without weight.",
}
# Commutators below this are rounding: the graphs commute as they are.
_ROUNDING = 1e-14
# Matrices that differ by no more than this part of their size are the same.
_SAME = 1e-9
_AS_GIVEN = "as given"


@dataclass(frozen=True, eq=False, repr=False)
class Commuting(CommutingMatrices):
    """Result of closest_commuting: matrices that commute, and their joint eigenbasis.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    laplacians : tuple of ndarray of shape (n, n)
        The matrices that commute.
    graphs : tuple of Graph or None
        With ``valid=True``, the graphs whose Laplacians they are.
    distance : float
        The minimum, Σ ‖L̃_k − L_k‖² in the Frobenius norm.
    commutator_before, commutator : float
        Largest ‖[L_k, L_l]‖ / (‖L_k‖ ‖L_l‖) before and after.
    distance_equal : float or None
        With ``valid=True``, the distance of the nearest graphs that are all equal. Equal graphs always commute, so the
        answer is never further away. None if nothing had to be searched for.
    origin : str
        Where the answer comes from: "equal graphs", "proportional graphs", "one graph alone", a start of the search
        such as "given weights", "joint basis" without ``valid``, or "as given" if the graphs commute already.
    originals : tuple
        The graphs or matrices that were given.
    status : str
        "converged", "stalled" or "out of budget"; with ``valid=True`` also "interrupted" and "emptied".
    settings : dict
        The other arguments as they were understood.
    versions : dict of str to str
        Versions of Python and of the libraries that computed the result.
    seconds : float
        Run time.

    See Also
    --------
    closest_commuting : Compute it.
    """

    advice_by_status: ClassVar[Mapping[str, str]] = _ENDINGS

    laplacians: tuple[Floats, ...]
    graphs: tuple[Graph, ...] | None
    distance: float
    commutator_before: float
    commutator: float
    originals: tuple[Any, ...]
    status: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float
    distance_equal: float | None = None
    origin: str = "joint basis"

    @lazy
    def relation(self) -> str:
        """How the matrices of the answer are related: "equal", "proportional" or "different".

        Equal and proportional matrices always commute, whatever else they are. A matrix of zeros counts as
        proportional.
        """
        units = [L / (float(np.abs(L).max()) or 1.0) for L in self.laplacians]
        first = self.laplacians[0]
        size = float(np.abs(first).max())
        if all(float(np.abs(L - first).max()) <= _SAME * size for L in self.laplacians):
            return "equal"
        live = [L / float(np.linalg.norm(L)) for L in units if L.any()]
        return "proportional" if all(float(np.linalg.norm(L - live[0])) <= _SAME for L in live) else "different"

    @lazy
    def moved(self) -> tuple[float, ...]:
        """How far each matrix moved, ‖L̃_k − L_k‖ / ‖L_k‖."""
        given = symmetric_matrices("graphs", self.originals, normalized=False)
        return tuple(
            float(np.linalg.norm(new - old)) / (float(np.linalg.norm(old)) or 1.0)
            for new, old in zip(self.laplacians, given, strict=True)
        )

    @lazy
    def bases(self) -> tuple[Spectrum, ...]:
        """The joint eigenbasis, ordered by the mean of its values, with the values of every view."""
        A = np.array(self.laplacians)
        unit = float(np.abs(A).max()) or 1.0
        with limited_blas(A.shape[1]):
            basis = diagonalize(A / unit, tolerance=1e-9, iterations=30).U[0]
        values = np.array([quotients(L, basis) for L in A])
        order = np.argsort(values.mean(axis=0), kind="stable")
        basis = basis[:, order] * signs(basis[:, order])
        return tuple(Spectrum(row[order], basis) for row in values)

    def matrices(self) -> tuple[Floats, ...]:
        return self.laplacians

    def __str__(self) -> str:
        lines = [
            self._headline(),
            f"  distance {self.distance:.6g}, commutator {self.commutator:.3g} (before {self.commutator_before:.3g})",
        ]
        lines += [f"  {line}" for line in (self.advice, *self._found()) if line]
        if self.graphs is None:
            return "\n".join([*lines, f"  moved by {', '.join(f'{part:.0%}' for part in self.moved)} of their norms"])
        lines.append(f"  {'graph':<20}{'edges':>9}{'cut':>7}{'moved by':>10}")
        for k, (old, new, part) in enumerate(zip(self.originals, self.graphs, self.moved, strict=True)):
            gone = int(np.sum((old.w > 0.0) & (new.w == 0.0)))
            lines.append(f"  {shortened(old.name or f'view {k + 1}', 20):<20}{old.m:>9}{gone:>7}{part:>10.0%}")
        return "\n".join(lines)

    def _headline(self) -> str:
        kind = "valid Laplacians" if self.graphs is not None else "matrices"
        return (
            f"Closest commuting {kind} to {len(self.laplacians)} of {len(self.laplacians[0])} rows: {self.status}, "
            f"{self.seconds:.2g} s"
        )

    def _found(self) -> list[str]:
        """What was found, beside what always commutes."""
        if self.origin == _AS_GIVEN:
            return ["The graphs commute as they are: nothing was changed."]
        if self.distance_equal is None:
            return []
        if self.relation == "different":
            return [
                f"Found from {self.origin}. The nearest equal graphs, which always commute, are at a distance of "
                f"{self.distance_equal:.6g}."
            ]
        lines = [f"The graphs came out {self.relation}. Such graphs always commute: no others were found as near."]
        if self.relation == "proportional":
            lines.append(f"The nearest equal graphs are at a distance of {self.distance_equal:.6g}.")
        return lines


def closest_commuting(
    graphs: Sequence[Any],
    *,
    valid: bool = False,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    restarts: int | None = None,
    seed: int = 0,
) -> Commuting:
    r"""Find the closest matrices, or the closest Laplacians, that commute.

    Minimizes

    .. math::

        \sum_k \|\tilde L_k - L_k\|_F^2
        \quad\text{subject to}\quad \tilde L_k \tilde L_l = \tilde L_l \tilde L_k

    over symmetric matrices or, with `valid`, over the Laplacians of the given graphs: new weights ≥ 0 on the same
    edges [1]_.

    Parameters
    ----------
    graphs : sequence of Graph, array_like or sparse matrix
        Graphs on the same vertices; without `valid` also symmetric matrices. With `valid` at most 2,000 vertices and
        20,000 edges: graphs of 70 vertices take seconds, of 145 vertices and 5,000 edges about a minute.
    valid : bool, default False
        Whether the result must be Laplacians of the given graphs, to the last bit.
    tolerance : float, optional
        With `valid`, the commutator that counts as zero, as a fraction of that of the given graphs, 1e-9 by default;
        it is brought as close to rounding as possible in any case. Without `valid`, the tolerance of the joint
        diagonalization, 1e-6 by default.
    max_iterations : int, optional
        Without `valid`, the maximum number of Newton steps of the joint diagonalization.
    restarts : int, optional
        With `valid`, the number of random starts, in addition to the given weights and the shared edges. By default
        192 for graphs of up to 100 edges in all, 144 up to 200, 48 up to 400, 12 up to 1,000, then none.
    seed : int, default 0
        Seed of the random starts.

    Returns
    -------
    Commuting
        The matrices, their commutator, and how the search ended.

    Raises
    ------
    CothermError
        If the graphs have different numbers of vertices or are too large, or if an option does not apply.

    See Also
    --------
    joint_diagonalize : The joint basis of the unrestricted problem.
    couple : Graphs of any sizes on which heat diffuses alike.

    Notes
    -----
    Without `valid` the minimum is that of :func:`cotherm.joint_diagonalize`: the matrices are Φ Diag(ΦᵀL_kΦ) Φᵀ in
    its basis Φ, and the two costs are equal [1]_. Such matrices have entries between vertices that share no edge.

    Commuting is a severe condition on valid Laplacians: edges are cut, and sometimes whole graphs fall apart. Equal
    graphs always commute, and so do proportional ones. The nearest of these are computed first and are part of the
    search, so that the answer is never further away; ``distance_equal`` is what equal graphs cost, and ``relation``
    says whether the answer is of this kind. The problem has many local minima; none is known to be the nearest of all.

    References
    ----------
    .. [1] M. M. Bronstein, K. Glashoff and T. A. Loring, "Making Laplacians commute", arXiv preprint, 2013.

    Examples
    --------
    >>> import cotherm as ct
    >>> result = ct.closest_commuting(ct.datasets.ring(30).graphs, valid=True, restarts=0)
    >>> result.commutator < 1e-12 * result.commutator_before, all(v.valid for v in result.validity())
    (True, True)
    """
    valid = validation.boolean("valid", valid)
    if tolerance is None:
        tolerance = 1e-9 if valid else 1e-6
    tolerance = validation.real("tolerance", tolerance, positive=True)
    if max_iterations is not None:
        max_iterations = validation.integer("max_iterations", max_iterations, least=1)
    seed = validation.integer("seed", seed, least=0)
    if restarts is not None:
        restarts = validation.integer("restarts", restarts, least=0, most=limits.REPETITIONS)
    for argument, given, wanted in (("restarts", restarts, True), ("max_iterations", max_iterations, False)):
        if given is not None and valid is not wanted:
            raise CothermError(argument, f"{given} with valid={valid}", f"None unless valid={wanted}")
    if valid:
        return _valid(graphs, tolerance, restarts, seed)
    return _unrestricted(graphs, tolerance, max_iterations)


def _unrestricted(graphs: Sequence[Any], tolerance: float, max_iterations: int | None) -> Commuting:
    began = time.perf_counter()
    A = symmetric_matrices("graphs", graphs, normalized=False)
    max_iterations = allowed_steps(max_iterations, A.shape[1])
    with limited_blas(A.shape[1]):
        found, _ = watched_diagonalize(A, tolerance, max_iterations)
    basis = found.U[0]
    near = tuple(diagonal_in(basis, quotients(a, basis)) for a in A)
    return Commuting(
        laplacians=near,
        graphs=None,
        distance=float(sum(np.sum((x - y) ** 2) for x, y in zip(near, A, strict=True))),
        commutator_before=commutator(A),
        commutator=commutator(near),
        originals=tuple(graphs),
        status=found.status.value,
        settings={"valid": False, "tolerance": tolerance, "max_iterations": max_iterations},
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


def _valid(graphs: Sequence[Any], tolerance: float, restarts: int | None, seed: int) -> Commuting:
    began = time.perf_counter()
    checked = checked_graphs(graphs)
    _require_size(checked)
    for k, graph in enumerate(checked):
        sized(f"graphs[{k}]", graph.w)
    # A power of two near the largest weight: in its units squares neither vanish nor overflow, and nothing is lost.
    largest = max(float(g.w.max(initial=0.0)) for g in checked)
    scale = float(2.0 ** np.frexp(largest)[1]) if largest > 0.0 else 1.0
    pairs = Commutation([g.with_weights(g.w / scale) for g in checked])
    if restarts is None:
        restarts = next((count for edges, count in limits.COMMUTING_RESTARTS if len(pairs.w) <= edges), 0)
    with limited_blas(1), Meter(total=restarts + 3) as meter:
        u, status, search = _searched(pairs, tolerance, restarts, seed, meter)
    parts = [scale * u[part] for part in pairs.parts]
    found = tuple(g.with_weights(w) for g, w in zip(checked, parts, strict=True))
    return Commuting(
        laplacians=tuple(g.laplacian().toarray() for g in found),
        graphs=found,
        distance=scale**2 * pairs.distance(u),
        commutator_before=pairs.start,
        commutator=pairs.commutator(u),
        originals=tuple(checked),
        status=status,
        settings={"valid": True, "tolerance": tolerance, "restarts": restarts, "seed": seed},
        versions=versions(),
        seconds=time.perf_counter() - began,
        distance_equal=None if search is None or search.equal_cost is None else scale**2 * search.equal_cost,
        origin=_AS_GIVEN if search is None else search.origin,
    )


def _searched(
    pairs: Commutation, tolerance: float, restarts: int, seed: int, meter: Meter
) -> tuple[Floats, str, CommutingSearch | None]:
    """The weights, how the search ended, and the search itself; None if the graphs commute as they are."""
    if pairs.start <= _ROUNDING:
        return pairs.w, "converged", None
    last = ""

    def watch(label: str, distance: float) -> None:
        nonlocal last
        if label != last:
            meter.advance(label)
        last = label
        meter.show(distance=distance)

    search = CommutingSearch(pairs, watch)
    trivial = search.cost
    u, finished = search.run(restarts, seed)
    if not finished:
        return u, "interrupted", search
    if search.cost >= trivial:
        return u, "emptied", search
    return u, "converged" if pairs.commutator(u) <= tolerance * pairs.start else "stalled", search


def _require_size(graphs: Sequence[Graph]) -> None:
    n, edges = same_vertices(graphs), sum(g.m for g in graphs)
    if n > limits.COMMUTING_VERTICES or edges > limits.COMMUTING_EDGES:
        raise CothermError(
            "graphs",
            f"{n:,} vertices and {edges:,} edges in all",
            f"at most {limits.COMMUTING_VERTICES:,} vertices and {limits.COMMUTING_EDGES:,} edges for valid=True",
            "valid=False takes up to 8,000 vertices; couple takes graphs of any size.",
        )
