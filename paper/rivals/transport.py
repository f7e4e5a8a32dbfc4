"""Optimal transport between two graphs: fused Gromov–Wasserstein (Vayer et al. 2019) on diffusion distances."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.heat.distance import diffusion_distance, signs, without_constant
from cotherm.heat.spectrum import Spectrum, full_spectrum, lowest_normalized
from cotherm.heat.times import diffusion_time
from cotherm.lazy import lazy
from cotherm.methods.result import HasStatus, JointBases
from cotherm.methods.validation import checked_views, is_auto, versions
from cotherm.optional import import_matplotlib

INSTALL = "pip install POT"

_ENDINGS = {
    "converged": "",
    "out of budget": "Other plans may be cheaper: raise max_iterations.",
}

# Every matrix is dense.
_MOST_VERTICES = 5_000
# By default heat makes about this many moves along edges: ten times those that make a landmark's bump.
_MOVES = 20.0
# Of distances, which are at most √2: below this they are rounding, not geometry.
_EVEN = 1e-12
# Squares of larger values and their sums may overflow.
_LARGEST_VALUE = 1e140
# Steps of each linear program: enough for all sizes here, where POT's own limit is not.
_SIMPLEX_STEPS = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Transport(JointBases, HasStatus):
    """Result of transport: the plan that moves one graph onto another.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`: in the first graph by its own modes, in the second by the same modes carried over.

    Attributes
    ----------
    plan : ndarray of shape (n₁, n₂)
        Mass that goes from vertex to vertex. Rows sum to 1/n₁, columns to 1/n₂.
    cost : float
        Cost of the plan, (1 − α) · feature_cost + α · structure_cost.
    feature_cost, structure_cost : float
        Its two terms.
    scale : float
        Number s by which both matrices of diffusion distances were divided.
    originals : tuple of Graph
        The two graphs.
    times : tuple of float
        Time of the diffusion distances in each graph.
    status : str
        "converged" or "out of budget".
    iterations : int
        Number of linear programs solved.
    settings : dict
        The other arguments as they were understood.
    versions : dict of str to str
        Versions of Python and of the libraries that computed the result.
    seconds : float
        Run time.
    """

    advice_by_status: ClassVar[Mapping[str, str]] = _ENDINGS

    plan: Floats
    cost: float
    feature_cost: float
    structure_cost: float
    scale: float
    originals: tuple[Graph, Graph]
    times: tuple[float, float]
    status: str
    iterations: int
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    @lazy
    def bases(self) -> tuple[Spectrum, ...]:
        """All modes of the first graph, and the same carried to the second, where they need not be orthonormal."""
        spectrum = full_spectrum(self.originals[0])
        constant = np.full((self.originals[0].n, 1), self.originals[0].n ** -0.5)
        others = without_constant(spectrum.values, spectrum.vectors)
        vectors = np.hstack([constant, others * signs(others)])
        return self._both(Spectrum(spectrum.values, vectors))

    def match(self) -> tuple[Ints, Ints]:
        """Match every vertex to the one that it exchanges most mass with.

        Returns
        -------
        there : ndarray of int of shape (n₁,)
            For every vertex of the first graph a vertex of the second.
        back : ndarray of int of shape (n₂,)
            For every vertex of the second graph a vertex of the first.
        """
        return self.plan.argmax(axis=1), self.plan.argmax(axis=0)

    def _cluster_modes(self, k: int) -> tuple[Spectrum, ...]:
        """Of the normalized Laplacian, as for all graphs."""
        return self._both(lowest_normalized(self.originals[0], k))

    def _both(self, modes: Spectrum) -> tuple[Spectrum, Spectrum]:
        return modes, Spectrum(modes.values, _carried(self.plan, modes.vectors))

    def __str__(self) -> str:
        n1 = len(self.plan)
        there, back = self.match()
        mutual = int(np.sum(back[there] == np.arange(n1)))
        lines = [
            self._headline(),
            f"  cost {self.cost:.4g}: features {self.feature_cost:.4g}, structure {self.structure_cost:.4g}, "
            f"alpha {self.settings['alpha']:g} ({self.iterations} steps)",
            f"  {mutual} of {n1} vertices are matched both ways",
        ]
        return "\n".join([*lines, f"  {self.advice}"] if self.advice else lines)

    def _headline(self) -> str:
        n1, n2 = self.plan.shape
        return f"Transport between graphs of {n1} and {n2} vertices: {self.status}, {self.seconds:.2g} s"


def transport(
    graphs: Sequence[Graph],
    functions: Sequence[ArrayLike],
    *,
    times: ArrayLike | str = "auto",
    alpha: float = 0.5,
    tolerance: float = 1e-9,
    max_iterations: int = 1_000,
) -> Transport:
    r"""Find the plan that moves one graph onto another at the least cost in functions and distances.

    Fused Gromov-Wasserstein transport [1]_ with diffusion distances: minimizes

    .. math::

        (1 - \alpha) \sum_{ij} T_{ij} \|F_i - G_j\|^2 + \alpha \sum_{ijkl} T_{ij} T_{kl} (C_{ik} - D_{jl})^2

    over :math:`T \ge 0` with rows that sum to :math:`1/n_1` and columns that sum to :math:`1/n_2`. Here :math:`F_i`
    and :math:`G_j` are rows of the corresponding functions, and :math:`C` and :math:`D` are the diffusion distances
    in the two graphs, divided by one number :math:`s`.

    Parameters
    ----------
    graphs : sequence of Graph
        Two graphs of any sizes up to 5,000 vertices; all matrices are dense. Two of 500 vertices take some tenths of
        a second, two of 2,000 some ten seconds or more. Put the graph that you trust first.
    functions : sequence of array_like of shape (n_k, q)
        Corresponding functions of each graph: column c is the same function on both. They are not rescaled.
    times : "auto" or array_like of float, default "auto"
        Time t ≥ 0 of the diffusion distances, one for both graphs or one for each. "auto": 20 divided by the
        median degree of the vertices with neighbors, for each graph, about twenty moves along edges.
    alpha : float, default 0.5
        Weight α of distances, from 0 (functions only) to 1 (distances only).
    tolerance : float, default 1e-9
        Stop when a step lowers the cost by less than this fraction of it, or of the mean of ‖F_i − G_j‖².
    max_iterations : int, default 1000
        Maximum number of steps. Each step is a linear program.

    Returns
    -------
    Transport
        The plan, its cost, and how the search ended.

    Raises
    ------
    CothermError
        If there are not two graphs, if they are too large, or if POT is missing: ``pip install POT``.

    Notes
    -----
    The number s makes both terms the same size: s² is the mean squared distance in both graphs, divided by the mean
    of ‖F_i − G_j‖², or by 1 where that is 0.

    The minimum is found by conditional gradients from the plan that spreads everything evenly. It may be a local one.

    ``embedding``, ``distances`` and ``clusters`` of the second graph use the modes of the first, carried over by the
    barycentric projection n₂Tᵀ: each vertex gets the mean of the vertices it comes from.

    References
    ----------
    .. [1] T. Vayer, L. Chapel, R. Flamary, R. Tavenard and N. Courty, "Optimal transport for structured data with
       application on graphs", International Conference on Machine Learning, 2019.
    """
    began = clock.perf_counter()
    checked, columns = checked_views(graphs, functions)
    first, second = _two(checked)
    both_times = _times(times, (first, second))
    alpha = _part("alpha", alpha)
    tolerance = validation.real("tolerance", tolerance, positive=True)
    max_iterations = validation.integer("max_iterations", max_iterations, least=1)
    solver = _solver()
    M = _squared_differences(*columns)
    C = [_diffusion_distances(graph, t) for graph, t in zip((first, second), both_times, strict=True)]
    unit = float(M.mean()) or 1.0
    with limited_blas(max(first.n, second.n)):
        size = _size(C)
        # In units in which both terms are about 1, tolerances mean the same for functions and distances of any size.
        scaled = [one / size for one in C]
        found = _solve(solver, M / unit, scaled, alpha, tolerance, max_iterations)
        feature_cost = float(np.sum(M * found.mass))
        structure_cost = unit * _structure_cost(found.mass, *scaled)
    return Transport(
        plan=found.mass,
        cost=(1.0 - alpha) * feature_cost + alpha * structure_cost,
        feature_cost=feature_cost,
        structure_cost=structure_cost,
        scale=size / unit**0.5,
        originals=(first, second),
        times=both_times,
        status=found.status,
        iterations=found.iterations,
        settings={"times": both_times, "alpha": alpha, "tolerance": tolerance, "max_iterations": max_iterations},
        versions=versions() | {"POT": _version()},
        seconds=clock.perf_counter() - began,
    )


def _two(graphs: list[Graph]) -> tuple[Graph, Graph]:
    if len(graphs) != 2:
        raise CothermError("graphs", f"{len(graphs)} graphs", "two graphs", "Transport them in pairs.")
    largest = max(graph.n for graph in graphs)
    if largest > _MOST_VERTICES:
        raise CothermError(
            "graphs",
            f"{largest:,} vertices: every matrix is dense, {8e-9 * largest**2:.1f} GB",
            f"at most {_MOST_VERTICES:,} vertices",
            "Transport a sample of the vertices; couple, coupled_bases and align work with graphs of any size.",
        )
    return graphs[0], graphs[1]


def _times(value: ArrayLike | str, graphs: tuple[Graph, Graph]) -> tuple[float, float]:
    if is_auto("times", value):
        return diffusion_time(_MOVES, graphs[0]), diffusion_time(_MOVES, graphs[1])
    given = validation.times("times", value)
    if len(given) > 2:
        raise CothermError("times", f"{len(given)} times", "one time, or one for each of the two graphs")
    return float(given[0]), float(given[-1])


def _part(argument: str, value: float) -> float:
    part = validation.real(argument, value)
    if part > 1.0:
        raise CothermError(argument, f"{part:g}", "a number from 0 to 1")
    return part


def _squared_differences(F: Floats, G: Floats) -> Floats:
    """‖F_i − G_j‖² for all pairs of rows."""
    from scipy.spatial.distance import cdist

    largest = max(float(np.abs(F).max()), float(np.abs(G).max()))
    if largest > _LARGEST_VALUE:
        raise CothermError("functions", f"values up to {largest:.1e}", f"at most {_LARGEST_VALUE:.0e}", "Rescale them.")
    return np.asarray(cdist(F, G, "sqeuclidean"))


def _diffusion_distances(graph: Graph, t: float) -> Floats:
    with known_as("t", "times"):
        return diffusion_distance(graph, t, method="exact") if graph.n > 1 else np.zeros((1, 1))


def _size(C: list[Floats]) -> float:
    """The root of the mean squared distance, each graph counting for half."""
    size = float(np.mean([np.mean(one**2) for one in C])) ** 0.5
    if size > _EVEN:
        return size
    if all(len(one) == 1 for one in C):
        return 1.0
    raise CothermError("times", "times at which heat is even everywhere", "a shorter time", "Give one as times=.")


class _Plan(NamedTuple):
    mass: Floats
    status: str
    iterations: int


def _solve(
    solver: Callable[..., Any], M: Floats, C: list[Floats], alpha: float, tolerance: float, budget: int
) -> _Plan:
    """By POT; what it warns of, linear programs left unfinished, is in the status."""
    with warnings.catch_warnings(record=True, action="always") as complaints:
        plan, log = solver(
            M,
            *C,
            alpha=alpha,
            symmetric=True,
            max_iter=budget,
            tol_rel=tolerance,
            tol_abs=tolerance,
            numItermaxEmd=_SIMPLEX_STEPS,
            log=True,
        )
    iterations = len(log["loss"]) - 1
    finished = iterations < budget and not any(issubclass(one.category, UserWarning) for one in complaints)
    return _Plan(np.maximum(plan, 0.0), "converged" if finished else "out of budget", iterations)


def _structure_cost(T: Floats, C: Floats, D: Floats) -> float:
    """Σ T_ij T_kl (C_ik − D_jl)², the square written out; rounding must not make it negative."""
    p, q = T.sum(axis=1), T.sum(axis=0)
    return max(0.0, float(p @ C**2 @ p + q @ D**2 @ q - 2.0 * np.sum((C @ T @ D) * T)))


def _carried(plan: Floats, functions: Floats) -> Floats:
    """Functions on the first graph, at each vertex of the second their mean over where it comes from."""
    return (plan.T @ functions) / plan.sum(axis=0)[:, np.newaxis]


def _solver() -> Callable[..., Any]:
    import_matplotlib()  # POT imports it
    try:
        # It warns about optional parts of its own that are not there.
        with warnings.catch_warnings(action="ignore"):
            from ot.gromov import fused_gromov_wasserstein
    except ImportError:
        raise CothermError("transport", "POT is not installed", "POT", f"Run: {INSTALL}") from None
    return fused_gromov_wasserstein


def _version() -> str:
    import ot

    return str(ot.__version__)
