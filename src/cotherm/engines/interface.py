"""The interface of an engine: the array kernels in which heat, its derivatives and the solver are written.

Everything above ``engines/`` calls these kernels and no others. An engine decides where arrays live. Long arrays (a
number for every vertex or edge) stay with the engine between calls; sizes, times, coefficients of series and small
results are NumPy arrays or plain numbers. Engine arrays follow NumPy's protocols (``__array_ufunc__`` and
``__array_function__``, as CuPy's do), so that ``np.where`` or ``x + y`` work on them; new arrays come from
:attr:`Engine.xp`, and nothing moves to or from the host but by :meth:`Engine.asarray` and :meth:`Engine.to_numpy`.

Engines may spread rows over ranks, each of which runs the same program (:mod:`cotherm.engines.petsc`). Then the length
of a long array, numbers of edges and slices of them are those of this rank, and what runs over all rows (sums, norms,
products along the rows) is a result of all ranks, small and the same on all of them. Branches that lead to such a
result must be taken by all: they are decided by such results, or by sums over :attr:`Engine.ranks`.

Notation: n vertices, m edges (i, j) with i < j, L = D − W the Laplacian, C the unsigned incidence matrix (n, m), with
a 1 at both ends of every edge, and b_e = δ_i − δ_j the column of the signed one for the edge e.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats, Ints
from cotherm.ranks import Ranks

# An array of the engine's own kind.
Array = Any
# Right-hand sides that :meth:`Engine.signless_solver` works on at a time, at most.
PANEL = 16
T = TypeVar("T")


class Pattern(Protocol):
    """The edges of a graph, laid out once for Laplacians and incidence products at many weights."""

    @property
    def n(self) -> int:
        """The number of rows that vectors over the vertices have on this rank."""

    @property
    def i(self) -> Array: ...

    @property
    def j(self) -> Array: ...


class Laplacian(Protocol):
    """L = D − W at some weights, in whatever layout the engine prefers."""

    @property
    def engine(self) -> Engine: ...

    @property
    def n(self) -> int:
        """The number of vertices on all ranks."""

    @property
    def bound(self) -> float:
        """An upper bound on the largest eigenvalue."""

    def work(self, columns: int) -> float:
        """Multiply-adds of one product with a block of ``columns`` columns."""


class ColumnSums(NamedTuple):
    """For every column: the largest magnitude, the sum, and the sum of squares."""

    largest: Floats
    sums: Floats
    squares: Floats


class SystemSolver(Protocol):
    """Y ↦ S⁻¹Y; iterative solvers stop at a relative residual of ``tolerance`` and begin at ``start``."""

    def __call__(self, Y: Array, tolerance: float, start: Array | None, /) -> Array: ...


@runtime_checkable
class Engine(Protocol):
    """The kernels. :mod:`cotherm.engines.cpu` is the engine for the processor."""

    @property
    def name(self) -> str: ...

    @property
    def xp(self) -> Any:
        """NumPy, or a module with NumPy's functions, for arrays that live with the engine."""

    @property
    def block_size(self) -> int:
        """How many numbers of a tall matrix are worked on at a time."""

    @property
    def overhead(self) -> float:
        """The factor on the memory of all arrays that covers temporary copies and fragmentation."""

    # Arrays in and out, and the resources of a run

    def holds(self, x: object) -> bool:
        """Whether a caller's array lives in the engine's own memory rather than NumPy's."""

    def asarray(self, x: Any) -> Array:
        """Move a NumPy array to the engine; arrays already there are returned as they are."""

    def to_numpy(self, x: Array) -> NDArray[Any]:
        """Move an array to the host; NumPy arrays are returned as they are."""

    def memory(self) -> tuple[int, int]:
        """Bytes where the engine's arrays live: those free, and those that this process uses already."""

    def session(self, n: int, memory: float, budget: int | None = None) -> AbstractContextManager[None]:
        """Set up threads and memory for a long computation, with dense algebra of up to n rows and ``memory`` bytes.

        An engine with memory of its own takes at most the budget, including what is in use already.
        """

    def guarded(self) -> AbstractContextManager[None]:
        """For short computations: turn a lack of memory where the engine's arrays live into an error that says so."""

    def return_free_memory(self) -> None:
        """Within a session, return unused memory to the system, because array sizes are about to change."""

    def for_each(self, task: Callable[..., T], n: int, *arguments: Sequence[Any]) -> list[T]:
        """Call the task for each graph, side by side where that pays for graphs of up to n vertices."""

    def at_once(self, n: int, count: int) -> int:
        """How many of ``count`` graphs :meth:`for_each` works on at the same time, for estimates of memory."""

    # Rows that are spread over ranks; where they are not, see :mod:`cotherm.engines.one_place`.

    @property
    def is_distributed(self) -> bool:
        """Whether they are."""

    @property
    def ranks(self) -> Ranks:
        """Those over which they are spread: sums and the like over all of them."""

    def small_array(self, x: NDArray[Any], /) -> Array:
        """Move an array that every rank has whole to the engine."""

    def edge_rows(self, pattern: Any, x: NDArray[Any], /) -> Array:
        """Move an array with a row for each edge, as given to :meth:`pattern`, to the engine."""

    def edge_numbers(self, pattern: Any, edges: NDArray[np.intp], /) -> Array:
        """Which of some edges are on this rank; edges are numbered as given to :meth:`pattern`, ascending."""

    def edges_to_numpy(self, pattern: Any, x: Array, /) -> NDArray[Any]:
        """Move an array with a row for each edge back to the host."""

    def vertex_rows(self, pattern: Any, X: NDArray[Any], /) -> Array:
        """Move an array with a row for each vertex to the engine; also for Laplacians of edges given on the host."""

    def vertices_to_numpy(self, pattern: Any, X: Array, /) -> NDArray[Any]:
        """Move an array with a row for each vertex back to the host, on whichever axis they are."""

    def restricted_pattern(self, pattern: Any, edges: Array, /) -> Pattern:
        """Lay out some of the edges, by their ascending numbers here."""

    # Long vectors

    def elementwise(self, formula: Callable[..., Any], /, *vectors: Array) -> Array:
        """Apply a formula of NumPy's elementwise functions to vectors of one length."""

    def column_sums(self, F: Array, units: Floats | None = None, /) -> ColumnSums:
        """Sums over the columns of F, each in its own unit if units are given."""

    # Laplacians and heat

    def pattern(self, n: int, i: NDArray[Any], j: NDArray[Any], /) -> Pattern:
        """Lay out the edges (i, j), given on the host."""

    def laplacian(self, pattern: Any, w: Array, /) -> Laplacian:
        """L with the edge weights w."""

    def reordered_laplacian(self, n: int, i: NDArray[Any], j: NDArray[Any], w: NDArray[Any], /) -> Laplacian:
        """L of edges given on the host, laid out in an order that keeps neighbors near each other in memory."""

    def chebyshev_sums(self, L: Any, F: Array, coefficients: Floats, bound: float, /) -> Array:
        """Σ_k coefficients[k, t] T_k(X) F with X = (2/bound) L − I, for every t, as (n, times, q)."""

    def edge_products(
        self, x: Array, i: Array, j: Array, weights: Floats, first: int, scale: Floats, out: Array, column: int, /
    ) -> None:
        """Write scale[a, b] Σ_r weights[r] (b_eᵀx[:, first + r, a]) (b_eᵀx[:, first + r, b]) for every edge and a ≤ b.

        x is (n, terms, q). The q(q + 1)/2 pairs go to ``out[:, column : column + pairs]``, row by row of the upper
        triangle.
        """

    def edge_inner_products(self, x: Array, z: Array, i: Array, j: Array, weights: Floats, /) -> Array:
        """Return Σ_r weights[r] ⟨b_eᵀx[:, r], b_eᵀz[:, r]⟩ for every edge; x and z are (n, terms, q)."""

    def laplacian_forms(self, pattern: Any, v: Array, x: Array, weights: Floats, /) -> Array:
        """Return Σ_r weights[r] x[:, r]ᵀ L(v) x[:, r], (q, q), for any v."""

    # The unsigned incidence matrix

    def sums_at_vertices(self, pattern: Any, d: Array, /) -> Array:
        """C d."""

    def sums_at_edges(self, pattern: Any, y: Array, /) -> Array:
        """Cᵀy."""

    def add_at_vertices(self, rows: Array, i: Array, j: Array, out: Array, /) -> None:
        """Add C E to ``out``, for the rows of E that belong to the edges (i, j)."""

    def signless_solver(self, pattern: Any, free: Array, /) -> SystemSolver:
        """Solve with 2I + C_F C_Fᵀ for the edges F where the mask ``free`` is true."""

    # Dense algebra

    def cholesky_solver(self, A: Array, /) -> Callable[[Array], Array]:
        """Y ↦ A⁻¹Y for A symmetric positive definite, by its upper triangle; else ``numpy.linalg.LinAlgError``."""

    # Distances

    def add_squared_differences(self, Y: Array, rows: Any, others: Any, squares: Floats, /) -> None:
        """Add ‖Y[rows[a]] − Y[others[a, k]]‖² to squares[a, k]."""

    def compares(self, n: int, count: int, /) -> bool:
        """Whether :meth:`candidate_search` pays for n points and ``count`` candidates; else the processor searches."""

    def candidate_search(self, rows: Floats, centered: Floats, count: int, /) -> Callable[[slice], tuple[Ints, Floats]]:
        """Prepare to find, for a slice of the rows, ``count`` rows near to each: their numbers, and squared distances.

        Those are found whose ``|y|² − 2xy`` is least, x and y being rows of ``centered``, computed in float64: no row
        that is not found has a smaller one. Numbers ascend, and a row may be found for itself. The squared distances
        are computed from the differences of ``rows``.
        """
