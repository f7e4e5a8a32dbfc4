"""Rows that belong to other ranks: fetched from their owners, or added up there, by PETSc's star forests (PetscSF)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.engines.petsc.communicator import Communicator
from cotherm.optional import require


def loaded(communicator: Communicator) -> Any:
    """PETSc, which takes memory of its own from now on."""
    petsc4py = require("petsc4py", "petsc")
    # PETSc would report signals in its own way, at length and on every rank.
    petsc4py.init(["cotherm", "-no_signal_handler"], comm=communicator.mpi.COMM_WORLD)
    from petsc4py import PETSc

    return PETSc


class Halo:
    """Some rows of other ranks beside this rank's own: ``count`` of them, after ``own`` of its own."""

    def __init__(self, communicator: Communicator, own: int, owners: NDArray[Any], places: NDArray[Any]) -> None:
        """Row k is row ``places[k]`` of the rank ``owners[k]``. Collective."""
        PETSc = loaded(communicator)
        self._communicator, self.own, self.count = communicator, own, len(owners)
        self._units: dict[tuple[str, int], Any] = {}
        self._forest: Any = None
        if communicator.any(self.count > 0):
            self._forest = PETSc.SF().create(communicator.comm)
            remote = np.ascontiguousarray(np.column_stack([owners, places]), dtype=np.int32)
            self._forest.setGraph(own, np.arange(self.count, dtype=np.int32), remote)
            self._forest.setUp()

    @contextmanager
    def fetching(self, full: NDArray[Any]) -> Iterator[None]:
        """Fill the rows past the own ones; they are there when the context ends, and may be on their way within it."""
        if self._forest is None:
            yield
            return
        replace, unit = self._communicator.mpi.REPLACE, self._unit(full)
        mine, others = full[: self.own], full[self.own :]
        self._forest.bcastBegin(unit, mine, others, replace)
        yield
        self._forest.bcastEnd(unit, mine, others, replace)
        self._count(others)

    def fetch(self, full: NDArray[Any]) -> None:
        """Fill the rows past the own ones."""
        with self.fetching(full):
            pass

    def add(self, others: NDArray[Any], mine: NDArray[Any]) -> None:
        """Add rows that were made for other ranks to those of their owners; both contiguous."""
        self._reduce(others, mine, self._communicator.mpi.SUM)

    def put(self, others: NDArray[Any], mine: NDArray[Any]) -> None:
        """Write rows over those of their owners, each over a different one; both contiguous."""
        self._reduce(others, mine, self._communicator.mpi.REPLACE)

    def _reduce(self, others: NDArray[Any], mine: NDArray[Any], operation: Any) -> None:
        if self._forest is None:
            return
        unit = self._unit(others)
        self._forest.reduceBegin(unit, others, mine, operation)
        self._forest.reduceEnd(unit, others, mine, operation)
        self._count(others)

    def extended(self, mine: NDArray[Any]) -> NDArray[Any]:
        """A copy of this rank's rows, with those of the others after them."""
        full = np.empty((self.own + self.count, *mine.shape[1:]), dtype=mine.dtype)
        full[: self.own] = mine
        self.fetch(full)
        return full

    def _unit(self, rows: NDArray[Any]) -> Any:
        """The type of a row, for MPI."""
        width = int(np.prod(rows.shape[1:], dtype=np.int64))
        key = rows.dtype.char, width
        if key not in self._units:
            self._units[key] = self._communicator.kind(rows.dtype).Create_contiguous(width).Commit()
        return self._units[key]

    def _count(self, others: NDArray[Any]) -> None:
        self._communicator.traffic.exchanges += 1
        self._communicator.traffic.exchanged_bytes += others.nbytes
