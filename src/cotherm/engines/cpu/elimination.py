"""W -> L = X Diag(d) Xᵀ, every entry to full relative precision, however far apart the weights are."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.cpu.jit import compiled


def eliminate(W: Floats) -> tuple[Floats, Floats]:
    """X (n, r) and d (r,), all d > 0, r = n less the number of components. W is used up.

    Vertices are eliminated by largest degree first. What is left after each is a Laplacian again, with weights
    w_ij + w_ip w_jp / d_p, and its degrees are sums of these: nothing is ever subtracted, so nothing cancels
    (Grassmann, Taksar and Heyman). X has ones and entries −w_ip / d_p, and is well conditioned.
    """
    n = len(W)
    X, d, order = np.zeros((n, n)), np.zeros(n), np.arange(n)
    rank = _eliminate(W, X, d, order)
    X[order] = X.copy()
    return X[:, :rank], d[:rank]


@compiled
def _eliminate(W: Any, X: Any, d: Any, order: Any) -> int:
    """Row r of X belongs to vertex order[r]; W is kept in that order, so that what is left is its lower corner."""
    n = len(W)
    degrees = np.zeros(n)
    for r in range(n):
        for c in range(n):
            degrees[r] += W[r, c]
    for k in range(n):
        _swap(k, k + int(np.argmax(degrees[k:])), W, X, degrees, order)
        if degrees[k] == 0.0:
            return k
        d[k], X[k, k] = degrees[k], 1.0
        for r in range(k + 1, n):
            share = W[r, k] / d[k]
            if share == 0.0:
                continue
            X[r, k] = -share
            for c in range(k + 1, n):
                W[r, c] += share * W[k, c]
            W[r, r] = 0.0
            total = 0.0
            for c in range(k + 1, n):
                total += W[r, c]
            degrees[r] = total
    return n


@compiled
def _swap(a: int, b: int, W: Any, X: Any, degrees: Any, order: Any) -> None:
    if a == b:
        return
    order[a], order[b] = order[b], order[a]
    degrees[a], degrees[b] = degrees[b], degrees[a]
    for c in range(len(W)):
        W[a, c], W[b, c] = W[b, c], W[a, c]
        X[a, c], X[b, c] = X[b, c], X[a, c]
    for r in range(len(W)):
        W[r, a], W[r, b] = W[r, b], W[r, a]
