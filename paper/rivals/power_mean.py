"""The power mean of Laplacians as matrices (Mercado, Tudisco & Hein 2018), of which the harmonic mean is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import signs
from cotherm.heat.spectrum import Spectrum
from cotherm.lazy import lazy
from cotherm.methods.result import JointBases
from cotherm.methods.validation import checked_graphs, moderate, share, symmetric_matrices

_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class PowerMean(JointBases):
    """Result of power_mean: one matrix for all views.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        The mean. It is symmetric, but not the Laplacian of a graph.
    originals : tuple of Graph
        The graphs that were given.
    settings : dict
        The other arguments as they were understood.
    """

    matrix: Floats
    originals: tuple[Graph, ...]
    settings: Mapping[str, Any]

    @lazy
    def bases(self) -> tuple[Spectrum, ...]:
        """All eigenpairs of the matrix, the same for every view."""
        with limited_blas(len(self.matrix)):
            values, vectors = scipy.linalg.eigh(self.matrix, check_finite=False)
        return (Spectrum(values, vectors * signs(vectors)),) * len(self.originals)

    def __str__(self) -> str:
        low = ", ".join(f"{value:.4g}" for value in self.bases[0].values[:6])
        return f"{self._headline()}\n  smallest eigenvalues {low}"

    def _headline(self) -> str:
        return (
            f"Power mean of {len(self.originals)} Laplacians, power {self.settings['power']:g}, "
            f"shift {self.settings['shift']:g}: {len(self.matrix)} vertices"
        )


def power_mean(
    graphs: Sequence[Graph],
    graph_weights: ArrayLike | None = None,
    *,
    power: float = -1.0,
    shift: float = 0.1,
    normalized: bool = True,
) -> PowerMean:
    r"""Compute the matrix power mean of the Laplacians of graphs on the same vertices.

    .. math:: \Big(\sum_k \pi_k (L_k + \varepsilon I)^p\Big)^{1/p}

    :func:`cotherm.average` takes means weight by weight and gives a graph. This takes means mode by mode and gives a
    matrix with modes for embedding and clustering [1]_. For :math:`p = 1` it is the mean of the Laplacians. For
    :math:`p < 0`, for example the harmonic mean :math:`p = -1`, a mode is smooth in the mean if it is smooth in some
    view.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs on the same vertices, at most 8,000.
    graph_weights : array_like of float, optional
        Weight π > 0 of each graph, 1 by default. The weights are scaled to sum to 1.
    power : float, default -1.0
        Power p of either sign, between 0.001 and 100 in absolute value.
    shift : float, default 0.1
        Shift ε ≥ 0, added because Laplacians are singular. For p < 0 it must be positive. For unnormalized Laplacians
        it is in units of their mean degree.
    normalized : bool, default True
        Use I − D^{−½}WD^{−½}, as is usual in clustering, instead of D − W.

    Returns
    -------
    PowerMean
        The matrix and its modes.

    Raises
    ------
    CothermError
        If the graphs have different numbers of vertices, or if the power leaves eigenvalues below rounding.

    References
    ----------
    .. [1] P. Mercado, A. Gautier, F. Tudisco and M. Hein, "The power mean Laplacian for multilayer graph clustering",
       International Conference on Artificial Intelligence and Statistics, 2018.
    """
    checked = checked_graphs(graphs)
    pi = share("graph_weights", graph_weights, len(checked), "graphs")
    p = _power(power)
    epsilon = moderate("shift", validation.real("shift", shift, positive=p < 0.0))
    normalized = validation.boolean("normalized", normalized)
    L = symmetric_matrices("graphs", checked, normalized=normalized)
    n = L.shape[1]
    unit = 1.0 if normalized else float(np.einsum("kii->", L)) / (len(L) * n) or 1.0
    with limited_blas(n):
        total = sum(share * _powered(one + epsilon * unit * np.eye(n), p) for share, one in zip(pi, L, strict=True))
        mean = _powered(np.asarray(total), 1.0 / p)
    return PowerMean(
        matrix=mean,
        originals=tuple(checked),
        settings={"graph_weights": pi.tolist(), "power": p, "shift": epsilon, "normalized": normalized},
    )


def _power(value: float) -> float:
    p = validation.number("power", value)
    if not 1e-3 <= abs(p) <= 100.0:
        raise CothermError("power", f"{p:g}", "a number between 0.001 and 100 in size", "average takes any power.")
    return p


def _powered(A: Floats, p: float) -> Floats:
    """A^p of a symmetric positive semi-definite matrix."""
    if p == 1.0:
        return A
    values, vectors = scipy.linalg.eigh(A, check_finite=False)
    # Below this eigenvalues are rounding. A power p < 0 makes them the largest of all; of modes that p < 0 made small,
    # the rough ones, rounding may have left no more.
    values = np.maximum(values, _EPSILON * values[-1]) if p < 0.0 else np.maximum(values, 0.0)
    second = values[min(1, len(values) - 1)]
    with np.errstate(over="ignore"):
        powers = values**p
        faint = p > 1.0 and values[-1] > 0.0 and (second / values[-1]) ** p < _EPSILON
    if faint or not np.all(np.isfinite(powers)):
        raise CothermError(
            "power",
            f"{p:g}, with eigenvalues from {second:.2g} to {values[-1]:.2g}",
            "a power that leaves them above rounding and finite",
            "Take a power nearer to zero, or a larger shift.",
        )
    result = (vectors * powers) @ vectors.T
    return 0.5 * (result + result.T)
