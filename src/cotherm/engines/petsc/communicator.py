"""What ranks tell each other: sums, largest values and rows of arrays, the same on every rank to the last bit.

Numbers that decide which branch is taken must be the same everywhere. MPI does not promise that of its Allreduce; a sum
here is made by one rank and told to the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.optional import require


@dataclass
class Traffic:
    """What this rank has received so far."""

    exchanges: int = 0  # of rows with neighbors
    exchanged_bytes: int = 0
    sums: int = 0  # over all ranks
    summed_bytes: int = 0


class Communicator:
    """The ranks of an mpi4py communicator."""

    def __init__(self, comm: Any = None) -> None:
        self.mpi = require("mpi4py.MPI", "mpi")
        self.comm = self.mpi.COMM_WORLD if comm is None else comm
        self.rank, self.size = int(self.comm.Get_rank()), int(self.comm.Get_size())
        self.traffic = Traffic()

    def sum(self, values: Any) -> NDArray[Any]:
        """Of the arrays of all ranks, number by number."""
        return self._reduced(values, self.mpi.SUM)

    def max(self, values: Any) -> NDArray[Any]:
        """The largest of each number."""
        return self._reduced(values, self.mpi.MAX)

    def min(self, values: Any) -> NDArray[Any]:
        """The smallest of each number."""
        return self._reduced(values, self.mpi.MIN)

    def any(self, truth: bool) -> bool:
        """Whether it is true on some rank."""
        return bool(self.max(np.array([truth], dtype=np.int8))[0])

    def _reduced(self, values: Any, operation: Any) -> NDArray[Any]:
        mine = np.ascontiguousarray(values)
        if self.size == 1:
            return mine.copy() if mine is values else mine
        out = np.empty_like(mine)
        self.comm.Reduce(mine, out, op=operation, root=0)
        self.comm.Bcast(out, root=0)
        self.traffic.sums += 1
        self.traffic.summed_bytes += out.nbytes
        return out

    def counts(self, count: int) -> NDArray[np.int64]:
        """The number that each rank has given."""
        out = np.empty(self.size, dtype=np.int64)
        self.comm.Allgather(np.array([count], dtype=np.int64), out)
        return out

    def rows(self, mine: NDArray[Any]) -> NDArray[Any]:
        """The rows of all ranks, one rank after the other."""
        if self.size == 1:
            return mine
        mine = np.ascontiguousarray(mine)
        width = int(np.prod(mine.shape[1:], dtype=np.int64))
        counts = self.counts(len(mine))
        out = np.empty((int(counts.sum()), *mine.shape[1:]), dtype=mine.dtype)
        kind = self.kind(mine.dtype)
        self.comm.Allgatherv([mine, kind], [out, (counts * width).tolist(), kind])
        return out

    def kind(self, dtype: np.dtype[Any]) -> Any:
        """MPI's name of a type of numbers."""
        return require("mpi4py.util.dtlib", "mpi").from_numpy_dtype(dtype)
