"""Symmetric matrices of float32, for preconditioners: half the memory, and twice the speed, of float64.

While they are made only their upper triangles count. Everything here leaves the interpreter lock free, so that the
matrices of several graphs are made side by side. SciPy's own wrappers hold it; BLAS and LAPACK are called at the
addresses that SciPy exports for compiled code. What is upper here is lower in their order of entries.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray

Singles: TypeAlias = NDArray[np.float32]
Reals: TypeAlias = NDArray[np.floating[Any]]

# Rows that are mirrored at a time.
_ROWS = 256


def add_square(G: Singles, rows: Reals, sign: float = 1.0) -> None:
    """Add EᵀE, or subtract it, for some rows of E, in the upper triangle."""
    block = np.ascontiguousarray(rows, dtype=np.float32)
    count, n = block.shape
    if count:
        _call("blas", "ssyrk", b"L", b"N", n, count, sign, block, n, 1.0, G, n)


def add_multiple(G: Singles, W: Singles, factor: float) -> None:
    """Add ``factor`` times W to G in place, both contiguous, without a copy: these matrices may be large."""
    _call("blas", "saxpy", G.size, factor, W, 1, G, 1)


def row_gram(E: Singles) -> Singles:
    """E Eᵀ, in the upper triangle."""
    count, n = E.shape
    G = np.zeros((count, count), dtype=np.float32)
    if count:
        _call("blas", "ssyrk", b"L", b"T", count, n, 1.0, E, n, 0.0, G, count)
    return G


def add_columns_square(G: Singles, E: Singles, first: int, last: int, factor: float) -> None:
    """Add ``factor`` times EᵀE to rows ``first`` to ``last``, in the upper triangle and beside its diagonal."""
    count, n = E.shape
    if count:
        wide, high = n - first, last - first
        # In the order of BLAS: rows of the one are columns of the other.
        columns, rows = E[:, first:], E[:, first:last]
        _call("blas", "sgemm", b"N", b"T", wide, high, count, factor, columns, n, rows, n, 1.0, G[first:, first:], n)


def factor_definite(G: Singles) -> Singles:
    """L with LLᵀ = G, in place of the upper triangle of G; raises LinAlgError as :func:`inverse_definite` does."""
    if len(G):
        _lapack("spotrf", b"L", len(G), G, len(G))
    return G


def solve_lower(L: Singles, Y: Singles) -> Singles:
    """L⁻¹Y in place of Y, L being from :func:`factor_definite`."""
    count, n = Y.shape
    if count:
        _call("blas", "strsm", b"R", b"L", b"T", b"N", n, count, 1.0, L, count, Y, n)
    return Y


def definite_solver(G: Singles) -> Callable[[Singles], Singles]:
    """y ↦ G⁻¹y, for one vector at a time; raises LinAlgError as :func:`inverse_definite` does."""
    L, n = factor_definite(G), len(G)

    def solve(y: Singles) -> Singles:
        x = y.copy()
        _call("blas", "strsv", b"L", b"N", b"N", n, L, n, x, 1)
        _call("blas", "strsv", b"L", b"T", b"N", n, L, n, x, 1)
        return x

    return solve


def inverse_definite(G: Singles) -> Singles:
    """G⁻¹, whole, in place of G; raises LinAlgError where rounding has made G something else than positive definite."""
    n = len(G)
    factor_definite(G)
    _lapack("spotri", b"L", n, G, n)
    _mirror_upper(G)
    return G


def _lapack(name: str, *arguments: bytes | int | Singles) -> None:
    """Call a routine whose last argument tells whether it has failed."""
    info = np.zeros(1, dtype=np.intc)
    _call("lapack", name, *arguments, info)
    if info[0]:
        raise np.linalg.LinAlgError(f"{name} failed at row {info[0]}")


def _call(library: str, name: str, *arguments: bytes | float | NDArray[Any]) -> None:
    """All arguments are passed by reference."""
    _routine(library, name)(*(_reference(argument) for argument in arguments))


def _reference(argument: bytes | float | NDArray[Any]) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data_as(ctypes.c_void_p)
    if isinstance(argument, bytes):
        return ctypes.c_char_p(argument)
    return ctypes.byref(ctypes.c_int(argument) if isinstance(argument, int) else ctypes.c_float(argument))


@cache
def _routine(library: str, name: str) -> Any:
    return ctypes.CFUNCTYPE(None)(get_cython_function_address(f"scipy.linalg.cython_{library}", name))


def _mirror_upper(G: Singles) -> None:
    """Copy the upper triangle of G to the lower one."""
    for first in range(0, len(G), _ROWS):
        last = min(first + _ROWS, len(G))
        square = np.triu(G[first:last, first:last])
        G[first:last, first:last] = square + np.triu(square, 1).T
        G[last:, first:last] = G[first:last, last:].T
