"""Slow, obvious versions of what the library does fast."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

import cotherm as ct

Floats = NDArray[np.float64]


def laplacian(graph: ct.Graph) -> Floats:
    """L = D − W, one edge at a time."""
    L = np.zeros((graph.n, graph.n))
    for i, j, w in zip(graph.i, graph.j, graph.w, strict=True):
        L[i, i] += w
        L[j, j] += w
        L[i, j] -= w
        L[j, i] -= w
    return L


def heat_kernel(graph: ct.Graph, t: float) -> Floats:
    """e^{−tL} by scaling and squaring."""
    return np.asarray(scipy.linalg.expm(-t * laplacian(graph)))


def diffusion_distance(graph: ct.Graph, t: float) -> Floats:
    """The paper's double sum, row against row of the kernel."""
    H = heat_kernel(graph, t)
    return np.array([[np.sqrt(np.sum((H[p] - H[q]) ** 2)) for q in range(graph.n)] for p in range(graph.n)])


def correlation_derivative(graph: ct.Graph, F: Floats, t: float, e: int) -> Floats:
    """∂(Fᵀe^{−tL}F)/∂u_e by the paper's recipe: the upper right block of an exponential of twice the size."""
    L, n = laplacian(graph), graph.n
    b = np.zeros(n)
    b[graph.i[e]], b[graph.j[e]] = 1.0, -1.0
    double = np.block([[-t * L, -t * np.outer(b, b)], [np.zeros((n, n)), -t * L]])
    return F.T @ scipy.linalg.expm(double)[:n, n:] @ F
