"""Sums over functions at every edge, on the GPU."""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats
from cotherm.engines.gpu.device import Device
from cotherm.engines.gpu.layout import GpuPattern, blocks
from cotherm.engines.interface import Array
from cotherm.errors import CothermError

# Threads of a block, those that share an edge, and numbers in the shared memory of a block.
_THREADS, _LANES, _SHARED = 256, 32, 5_000


def edge_products(
    device: Device, x: Array, i: Array, j: Array, weights: Floats, first: int, scale: Floats, out: Array, column: int
) -> None:
    """See :class:`cotherm.engines.interface.Engine`."""
    (_, stored, q), m = x.shape, len(i)
    if q > _SHARED:
        raise CothermError("functions", f"{q:,}", f"at most {_SHARED:,} for engine='gpu'", "Use engine='cpu'.")
    if not m or not q:
        return
    a, b = np.triu_indices(q)
    terms, edges = len(weights), max(1, min(_THREADS // _LANES, _SHARED // q))
    at_once = max(1, min(terms, _SHARED // (q * edges)))
    small = (device.asarray(v) for v in (weights, scale, a.astype(np.int32), b.astype(np.int32)))
    arguments = (
        *(m, q, stored, first, terms, at_once, len(a), x, _int32(i), _int32(j), *small),
        *(out, np.int64(out.shape[1]), column),
    )
    device.launch(
        "edges.cu",
        "edge_products",
        blocks(m, edges),
        (_LANES, edges),
        arguments,
        shared=8 * edges * at_once * q,
    )


def edge_inner_products(device: Device, x: Array, z: Array, i: Array, j: Array, weights: Floats) -> Array:
    """See :class:`cotherm.engines.interface.Engine`."""
    _, terms, q = x.shape
    m, out = len(i), device.xp.empty(len(i))
    if m:
        factors = device.asarray(np.repeat(weights, q))
        lanes = _lanes(terms * q)
        edges = _THREADS // lanes
        arguments = (m, terms * q, x, z, _int32(i), _int32(j), factors, out)
        device.launch(
            "edges.cu",
            "edge_inner_products",
            blocks(m, edges),
            (lanes, edges),
            arguments,
            shared=8 * _THREADS,
        )
    return out


def _int32(ends: Array) -> Array:
    return ends.astype(np.int32, copy=False)


def _lanes(width: int) -> int:
    """Threads for an edge: a power of two, and not many more than there are numbers."""
    lanes = 4
    while lanes < _LANES and lanes < width:
        lanes *= 2
    return lanes


def laplacian_forms(pattern: GpuPattern, v: Array, x: Array, weights: Floats) -> Array:
    """See :class:`cotherm.engines.interface.Engine`."""
    device, (n, terms, q) = pattern.device, x.shape
    width = terms * q
    moved = device.xp.empty((n, terms, q))
    factors = device.asarray(np.repeat(weights, q))
    lanes = _lanes(width)
    arguments = (n, width, pattern.offsets, pattern.columns, pattern.edges, v, x, factors, moved)
    rows = _THREADS // lanes
    device.launch("rows.cu", "laplacian_rows", blocks(n, rows), (lanes, rows), arguments)
    return x.reshape(n * terms, q).T @ moved.reshape(n * terms, q)
