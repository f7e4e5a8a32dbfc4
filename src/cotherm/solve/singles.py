"""Symmetric matrices of float32, for preconditioners: half the memory, and twice the speed, of float64.

Everything here leaves the interpreter lock free, so that the matrices of several graphs are made side by side. SciPy's
own wrappers hold it; LAPACK is called at the addresses that SciPy exports for compiled code.
"""

from __future__ import annotations

import ctypes
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
    """Add EᵀE, or subtract it, for some rows of E."""
    block = np.ascontiguousarray(rows, dtype=np.float32)
    square = block.T @ block  # of which NumPy computes one half
    square *= np.float32(sign)
    G += square


def inverse_definite(G: Singles) -> Singles:
    """G⁻¹ in place of G, symmetric positive definite; raises LinAlgError where rounding has made it something else."""
    n = len(G)
    _lapack("spotrf", b"L", n, G, n)
    _lapack("spotri", b"L", n, G, n)
    # LAPACK's lower triangle is the upper one here.
    _mirror_upper(G)
    return G


def half_solution(S: Singles, Y: Singles) -> Singles:
    """L⁻¹Y, whose square is YᵀS⁻¹Y, with S = LLᵀ symmetric positive definite; S is overwritten."""
    n = len(S)
    _lapack("spotrf", b"L", n, S, n)
    columns = np.asfortranarray(Y)
    _lapack("strtrs", b"L", b"N", b"N", n, Y.shape[1], S, n, columns, n)
    return columns


def _lapack(name: str, *arguments: bytes | int | Singles) -> None:
    """Call a routine; all its arguments are passed by reference, and the last one tells whether it has failed."""
    given = [_reference(argument) for argument in arguments]
    info = ctypes.c_int(0)
    _routine(name)(*given, ctypes.byref(info))
    if info.value:
        raise np.linalg.LinAlgError(f"{name} failed at row {info.value}")


def _reference(argument: bytes | int | Singles) -> Any:
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data_as(ctypes.c_void_p)
    return ctypes.c_char_p(argument) if isinstance(argument, bytes) else ctypes.byref(ctypes.c_int(argument))


@cache
def _routine(name: str) -> Any:
    return ctypes.CFUNCTYPE(None)(get_cython_function_address("scipy.linalg.cython_lapack", name))


def _mirror_upper(G: Singles) -> None:
    """Copy the upper triangle of G to the lower one."""
    for first in range(0, len(G), _ROWS):
        last = min(first + _ROWS, len(G))
        square = np.triu(G[first:last, first:last])
        G[first:last, first:last] = square + np.triu(square, 1).T
        G[last:, first:last] = G[first:last, last:].T
