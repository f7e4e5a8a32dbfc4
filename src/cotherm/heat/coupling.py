"""The coupling conditions: does heat flow alike on several graphs?

*Strong*, where the correspondence T of the vertices is known: T e^{−tL₁}F = e^{−tL₂}G.
*Weak*, where only corresponding functions F, G are: Fᵀe^{−tL₁}F = Gᵀe^{−tL₂}G.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats
from cotherm.engines import Engine, engine_for_views
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.correlation import correlations
from cotherm.heat.flow import flow
from cotherm.heat.validation import checked_views


def coupling_error(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    times: ArrayLike,
    *,
    correspondence: Any = None,
    tolerance: float = 1e-10,
    engine: str | Engine = "auto",
) -> Floats:
    r"""Measure how far heat is from diffusing alike on several graphs.

    Without a correspondence, the weak error of all pairs of graphs,

    .. math::

        \Big(\sum_{k<l} \|Q_k(t) - Q_l(t)\|_F^2\Big)^{1/2}, \qquad Q_k(t) = F_k^\top e^{-tL_k} F_k,

    and with a correspondence :math:`T` between two graphs, the strong error
    :math:`\|T e^{-tL_1} F_1 - e^{-tL_2} F_2\|_F`; see [1]_.

    Parameters
    ----------
    graphs : sequence of Graph
        Two or more graphs of any sizes.
    functions : sequence of array_like of shape (n_k, q)
        Corresponding functions of each graph: column c is the same function on every graph.
    times : array_like of float
        One or more times t ≥ 0.
    correspondence : array_like or sparse matrix, optional
        Correspondence T that carries functions from the first graph to the second: a matrix of shape (n₂, n₁), or an
        index array c of length n₂ with (Tf)[v] = f[c[v]].
    tolerance : float, default 1e-10
        Error of the heat flow relative to the functions. Rounding may add what :func:`cotherm.heat_flow` says.
    engine : {"auto", "cpu", "gpu"} or Engine, default "auto"
        What runs the array kernels: the name of an engine, or an object with the methods of
        ``cotherm.engines.Engine``. "auto" is the GPU if functions live on one and CuPy is installed, and the
        processor otherwise.

    Returns
    -------
    ndarray of shape (len(times),)
        The error at each time; 0 means that heat diffuses alike.

    Raises
    ------
    CothermError
        If an argument cannot be used, or if there is a correspondence and not exactly two graphs.

    See Also
    --------
    couple : Change the weights so that the weak error is small.

    References
    ----------
    .. [1] M. M. Bronstein and K. Glashoff, "Heat kernel coupling for multiple graph analysis", arXiv preprint,
       December 2013.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> error = ct.coupling_error(views.graphs, views.functions, times=[1.0, 10.0])
    >>> bool(0 < error[0] < error[1])
    True
    """
    graphs, columns = checked_views(graphs, functions)
    checked = validation.times("times", times)
    tolerance = validation.real("tolerance", tolerance, positive=True)
    run_by = engine_for_views(engine, functions)
    # Scaled so that squares neither vanish nor overflow, by a power of two, so that no digit changes.
    unit = 2.0 ** int(np.clip(np.frexp(max(float(np.abs(F).max(initial=0.0)) for F in columns))[1], -1_000, 1_000))
    columns = [F / unit for F in columns]
    if correspondence is None:
        with run_by.guarded():
            Q = all_correlations(graphs, columns, checked, tolerance, run_by)
        return _in_units(np.sqrt(coupling_terms(Q, np.ones(len(graphs)))), unit, unit)
    if len(graphs) != 2:
        raise CothermError("correspondence", f"one, for {len(graphs)} graphs", "two graphs", "Compare them in pairs.")
    T = _as_matrix(correspondence, graphs)
    with run_by.guarded():
        first, second = (flow(g, F, checked, "auto", tolerance, run_by) for g, F in zip(graphs, columns, strict=True))
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.array([np.linalg.norm(T @ x - y) for x, y in zip(first, second, strict=True)])
    return _in_units(errors, unit)


def _in_units(errors: Floats, *units: float) -> Floats:
    """The errors times all units; refuses overflow."""
    with np.errstate(over="ignore", under="ignore"):
        for unit in units:
            errors = errors * unit
    if not np.all(np.isfinite(errors)):
        raise CothermError(
            "functions", "numbers whose error is past the largest float", "smaller ones", "Rescale them."
        )
    return errors


def all_correlations(
    graphs: Sequence[Graph],
    columns: Sequence[Floats],
    times: Floats,
    tolerance: float,
    engine: Engine | None = None,
) -> Floats:
    """Q_k(t) of every graph and time, (graphs, times, q, q)."""
    pairs = zip(graphs, columns, strict=True)
    return np.array([correlations(g, F, times, tolerance=tolerance, engine=engine) for g, F in pairs])


def coupling_terms(Q: Floats, importance: Floats) -> Floats:
    """Σ_{k<l} π_k π_l ‖Q_k(t) − Q_l(t)‖² for every time: Σ_k π_k times the sum of π_k ‖Q_k − Q̄‖², Q̄ the mean."""
    shares = (importance / importance.sum())[:, np.newaxis, np.newaxis, np.newaxis]
    # Deviations from the first graph, not from zero: if all graphs agree to many digits, the other digits count.
    apart = Q - Q[:1]
    deviations = apart - np.sum(shares * apart, axis=0)
    return np.asarray(importance.sum() ** 2 * np.sum(shares * deviations**2, axis=(0, 2, 3)))


def functions_mismatch(functions: Sequence[Floats]) -> float:
    """How much functions differ at t = 0: :func:`relative_mismatch` of FᵀF, for numbers of any size."""
    largest = max(float(np.abs(F).max(initial=0.0)) for F in functions)
    units = [np.ldexp(F, -np.frexp(largest)[1]) for F in functions]
    return relative_mismatch(np.array([F.T @ F for F in units]))


def relative_mismatch(Q: Floats) -> float:
    """The root mean square of ‖Q_k − Q_l‖ over all pairs of graphs, relative to that of ‖Q_k‖; Q[k] is Q_k.

    Scaled by a power of two, so that squares neither vanish nor overflow.
    """
    Q = np.ldexp(Q, -np.frexp(np.abs(Q).max(initial=0.0))[1])
    size = np.sum(Q**2) / len(Q)
    pairs = len(Q) * (len(Q) - 1) / 2
    return float(np.sqrt(len(Q) * np.sum((Q - Q.mean(axis=0)) ** 2) / pairs / size)) if size > 0.0 else 0.0


def _as_matrix(correspondence: Any, graphs: list[Graph]) -> Any:
    shape = (graphs[1].n, graphs[0].n)
    if hasattr(correspondence, "tocsr"):
        matrix: Any = correspondence.tocsr()
        validation.finite("correspondence", validation.as_float64("correspondence", matrix.data))
    elif validation.as_array("correspondence", correspondence).ndim == 1:
        image = validation.indices("correspondence", correspondence, below=graphs[0].n)
        matrix = sp.csr_array((np.ones(len(image)), (np.arange(len(image)), image)), shape=(len(image), graphs[0].n))
    else:
        matrix = validation.numeric("correspondence", correspondence, ndim=(2,))
    if matrix.shape != shape:
        raise CothermError(
            "correspondence", f"shape {matrix.shape}", f"an index map of length {shape[0]} or a matrix {shape}"
        )
    return matrix
