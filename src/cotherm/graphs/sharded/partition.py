"""Vertices in parts that few edges join, by a graph partitioner that PETSc calls: ParMETIS, or PT-Scotch.

Every rank gives the neighbors of a range of the vertices and learns their parts. Within a part, vertices follow each
other by reverse Cuthill–McKee, so that neighbors are near in memory too. A rank holds the edges of its range, then
those of one part at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Indices, Ints
from cotherm.graphs.sharded.writing import Buckets, dealt
from cotherm.optional import require
from cotherm.ranks import Ranks, together

PARTITIONERS = ("parmetis", "ptscotch")
# An edge on its way to the rank or part that looks at it.
_ENDS = np.dtype([("i", "<i4"), ("j", "<i4")])
# Prefix of the PETSc options that set the number of parts.
_PREFIX = "cotherm_"

# The edges of this rank, some at a time: records with fields i and j.
Blocks = Callable[[], Iterator[NDArray[Any]]]


def partitioner() -> str | None:
    """The partitioner of this machine's PETSc; None if it has none."""
    PETSc = _petsc()
    for name in PARTITIONERS:
        one = PETSc.MatPartitioning().create(comm=PETSc.COMM_SELF)
        try:
            one.setType(name)
        except PETSc.Error:  # PETSc was built without this partitioner
            continue
        finally:
            one.destroy()
        return name
    return None


def partitioned(ranks: Ranks, n: int, blocks: Blocks, parts: int, name: str, scratch: Path) -> tuple[Ints, Ints]:
    """The vertices, part after part, each about equally many, and where parts begin. All ranks call this together."""
    ranges = np.arange(ranks.size + 1) * n // ranks.size
    part = _parts(ranks, ranges, blocks, parts, name, scratch)
    sequence = np.argsort(part, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=parts))])
    return _near_each_other(ranks, part, sequence, starts, blocks, scratch), starts


def _petsc() -> Any:
    mpi = require("mpi4py.MPI", "mpi")
    require("petsc4py", "petsc").init(["cotherm", "-no_signal_handler"], comm=mpi.COMM_WORLD)
    from petsc4py import PETSc

    return PETSc


def _parts(ranks: Ranks, ranges: Ints, blocks: Blocks, parts: int, name: str, scratch: Path) -> Indices:
    """The part of every vertex, on every rank."""
    PETSc = _petsc()
    comm = getattr(ranks, "comm", PETSc.COMM_SELF)
    n, rows = int(ranges[-1]), int(ranges[ranks.rank + 1] - ranges[ranks.rank])
    offsets, columns = _neighbors(ranks, ranges, blocks, scratch)
    A = PETSc.Mat().createAIJ(((rows, n), (rows, n)), csr=(offsets, columns, np.ones(len(columns))), comm=comm)
    options = PETSc.Options()
    options[f"{_PREFIX}mat_partitioning_nparts"] = parts
    chosen = PETSc.MatPartitioning().create(comm=comm)
    chosen.setOptionsPrefix(_PREFIX)
    chosen.setAdjacency(A)
    chosen.setType(name)
    chosen.setFromOptions()
    found = PETSc.IS().create(comm=comm)
    chosen.apply(found)
    mine = found.getIndices().astype(np.int32)
    for one in (found, chosen, A):
        one.destroy()
    options.delValue(f"{_PREFIX}mat_partitioning_nparts")
    return np.concatenate(ranks.gather(mine))


def _neighbors(ranks: Ranks, ranges: Ints, blocks: Blocks, scratch: Path) -> tuple[Indices, Indices]:
    """The neighbors of the vertices of this rank, one vertex after the other."""
    buckets = Buckets(scratch, "neighbors", ranges, _ENDS, ranks)
    with together(ranks):
        for block in blocks():
            for near, far in (("i", "j"), ("j", "i")):
                buckets.add(block[near], _ends(block[near], block[far]))
        buckets.flush()
    with together(ranks):
        found = buckets.take(ranks.rank)
        start, stop = ranges[ranks.rank : ranks.rank + 2]
        found = found[np.lexsort((found["j"], found["i"]))]
        counts = np.bincount(found["i"] - start, minlength=int(stop - start))
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), np.ascontiguousarray(found["j"])


def _near_each_other(ranks: Ranks, part: Indices, sequence: Ints, starts: Ints, blocks: Blocks, scratch: Path) -> Ints:
    """The same parts, with the vertices of each in reverse Cuthill–McKee order."""
    parts = len(starts) - 1
    place = np.empty(len(part), dtype=np.int32)
    place[sequence] = np.arange(len(part)) - np.repeat(starts[:-1], np.diff(starts))
    buckets = Buckets(scratch, "inside", np.arange(parts + 1), _ENDS, ranks)
    with together(ranks):
        for block in blocks():
            inside = block[part[block["i"]] == part[block["j"]]]
            buckets.add(part[inside["i"]], _ends(place[inside["i"]], place[inside["j"]]))
        buckets.flush()
    del place
    mine = [np.empty(0, dtype=np.int64)]
    with together(ranks):
        for k in dealt(parts, ranks):
            vertices = sequence[int(starts[k]) : int(starts[k + 1])]
            mine.append(vertices[_cuthill_mckee(len(vertices), buckets.take(k))])
    return np.concatenate(ranks.gather(np.concatenate(mine)))


def _cuthill_mckee(n: int, edges: NDArray[Any]) -> Ints:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    if not n:
        return np.empty(0, dtype=np.int64)
    i, j = np.concatenate([edges["i"], edges["j"]]), np.concatenate([edges["j"], edges["i"]])
    near = coo_array((np.ones(len(i), dtype=np.int8), (i, j)), shape=(n, n)).tocsr()
    return np.asarray(reverse_cuthill_mckee(near, symmetric_mode=True), dtype=np.int64)


def _ends(i: NDArray[Any], j: NDArray[Any]) -> NDArray[Any]:
    found = np.empty(len(i), _ENDS)
    found["i"], found["j"] = i, j
    return found
