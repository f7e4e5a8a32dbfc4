"""Several processes of one program, as MPI starts them: who is who, what they tell each other, how they fail together.

A rank is one of these processes. Work on shards is written for ``Ranks``, which MPI supplies and which one process
alone supplies as well. An error of one rank must end them all, or the others wait for it forever: ``together`` makes
every rank raise the same error, ``end`` stops them where only one of them knows.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import numpy as np

from cotherm.errors import CothermError
from cotherm.optional import require

T = TypeVar("T")

# What the launchers of Open MPI, MPICH and PMIx tell the processes that they start: their number, and how many.
_NUMBERS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
# Seconds that a rank with nothing to say waits before it ends: a launcher ends all ranks when the first one fails.
_GRACE = 1.0


class SharedError(CothermError):
    """An error that all ranks raise at the same place, so that one of them can tell it."""


class Ranks(ABC):
    """The processes that work together, as MPI starts them: ranks 0, …, size − 1.

    Attributes
    ----------
    rank : int
        The number of this process.
    size : int
        How many there are.

    See Also
    --------
    shard_graph : Takes them.

    Notes
    -----
    ``cotherm.ranks.world()`` are all that mpiexec started together, or this process alone.

    Examples
    --------
    >>> from cotherm import ranks
    >>> ranks.ONE.size, ranks.ONE.gather("alone")
    (1, ['alone'])
    """

    rank: int
    size: int

    @abstractmethod
    def gather(self, value: Any) -> list[Any]:
        """Return the values of all ranks, on every rank; for small values.

        Parameters
        ----------
        value : object
            The value of this rank.

        Returns
        -------
        list
            The values in the order of ranks.
        """

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return the value of rank 0, on every rank.

        Parameters
        ----------
        value : object
            The value of this rank; that of rank 0 counts.

        Returns
        -------
        object
            The value of rank 0.
        """

    def sum(self, part: T) -> T:
        """Add up what the ranks give, such as counts or small arrays, in the order of ranks.

        Parameters
        ----------
        part : number or ndarray
            The part of this rank.

        Returns
        -------
        number or ndarray
            The sum, the same on every rank.
        """
        first, *others = self.gather(part)
        return sum(others, first)

    def most(self, number: float) -> float:
        """Return the largest of the numbers that the ranks give.

        Parameters
        ----------
        number : float
            The number of this rank.

        Returns
        -------
        float
            The largest, the same on every rank.
        """
        return max(self.gather(number))


class _One(Ranks):
    """One process alone."""

    rank, size = 0, 1

    def gather(self, value: Any) -> list[Any]:
        return [value]

    def share(self, value: Any) -> Any:
        return value


class _OverMPI(Ranks):
    """The ranks of a communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.rank, self.size = int(comm.Get_rank()), int(comm.Get_size())

    def gather(self, value: Any) -> list[Any]:
        return list(self.comm.allgather(value))

    def share(self, value: Any) -> Any:
        return self.comm.bcast(value, root=0)


ONE: Ranks = _One()


def of(comm: Any) -> Ranks:
    """The ranks of an mpi4py communicator."""
    return _OverMPI(comm)


def world() -> Ranks:
    """All processes that were started together, by mpiexec or srun; ONE where this one was started alone."""
    if not launched():
        return ONE
    return of(require("mpi4py.MPI", "mpi").COMM_WORLD)


def launched() -> bool:
    """Whether a launcher of MPI started this process as one of several."""
    sizes = [os.environ[name] for name in _SIZES if name in os.environ]
    return any(size not in ("", "0", "1") for size in sizes) or (not sizes and "PMIX_RANK" in os.environ)


def is_first() -> bool:
    """Whether this process is the one that speaks: rank 0, or one that was started alone."""
    return not launched() or all(os.environ.get(name, "0") == "0" for name in _NUMBERS)


@contextmanager
def together(ranks: Ranks) -> Iterator[None]:
    """Work of this rank alone, after which all ranks wait for each other; if one failed, all raise the same error.

    Inside, ranks must not wait for each other: one that failed would never come.
    """
    error: Exception | None = None
    try:
        yield
    except Exception as caught:
        error = caught
    if ranks.size == 1:
        if error is not None:
            raise error
        return
    told = ranks.gather(None if error is None else _told(error))
    failed = [rank for rank, one in enumerate(told) if one is not None]
    if failed:
        raise _shared(told[failed[0]], failed, ranks.size) from error


def from_first(ranks: Ranks, make: Callable[[], T]) -> T:
    """What rank 0 makes, on every rank."""
    made: Any = None
    with together(ranks):
        if ranks.rank == 0:
            made = make()
    found: T = ranks.share(made)
    return found


def require_equal(ranks: Ranks, argument: str, value: Any) -> None:
    """Refuse an argument that is not the same on all ranks."""
    values = ranks.gather(value)
    other = next((rank for rank, one in enumerate(values) if one != values[0]), None)
    if other is not None:
        raise SharedError(
            argument,
            f"{_short(values[0])} on rank 0 and {_short(values[other])} on rank {other}",
            "the same on all ranks",
            "Start all ranks with the same command and the same files.",
        )


def require_equal_content(ranks: Ranks, argument: str, *values: Any) -> None:
    """Refuse arrays and the like that are not the same on all ranks."""
    if ranks is ONE:
        return
    digest = hashlib.sha256()
    for value in values:
        array = np.ascontiguousarray(value)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(array.tobytes() if array.dtype.hasobject else array.data.cast("B") if array.size else b"")
    require_equal(ranks, argument, f"content {digest.hexdigest()[:12]}")


def speaks(error: BaseException | None) -> bool:
    """Whether this process tells an error: all tell their own, and the first one those of all."""
    return is_first() or not isinstance(error, SharedError)


def who(error: BaseException | None) -> str:
    """Whose error it is, to begin a message with: nothing where all ranks have it, or there is only one."""
    numbers = [os.environ[name] for name in _NUMBERS if name in os.environ]
    return f"rank {numbers[0]}: " if launched() and numbers and not isinstance(error, SharedError) else ""


def end(error: BaseException | None, code: int) -> None:
    """Before a failed program ends: see to it that all ranks end, and that the one that speaks was heard.

    Returns where this process was started alone, or where all ranks are about to end anyway.
    """
    if not launched():
        return
    module = sys.modules.get("mpi4py.MPI")
    running = module is not None and module.Is_initialized() and not module.Is_finalized()
    if isinstance(error, SharedError):
        if running and module is not None:
            module.COMM_WORLD.Barrier()
        return
    if running and module is not None:
        with suppress(Exception):
            sys.stderr.flush()
        module.COMM_WORLD.Abort(code)
    if not is_first():  # not begun yet: all ranks find the same mistake
        time.sleep(_GRACE)


def _told(error: Exception) -> CothermError:
    """The error in words that can be sent."""
    if isinstance(error, CothermError):
        return error
    if isinstance(error, MemoryError):
        return CothermError("memory", "not enough", "a smaller problem, more ranks or more memory")
    if isinstance(error, OSError):
        given = (error.strerror or str(error) or type(error).__name__).lower()
        return CothermError(str(error.filename or "system"), given, "a file system that works")
    given = " ".join(str(error).split())[:300] or "no message"
    return CothermError(type(error).__name__, given, "a correct program")


def _shared(told: CothermError, failed: list[int], size: int) -> SharedError:
    argument = told.argument
    if len(failed) < size:  # of all of them it does not matter which
        who = f"rank {failed[0]} of {size}" if len(failed) == 1 else f"ranks {', '.join(map(str, failed))} of {size}"
        argument = f"{who}: {argument}"
    return SharedError(argument, told.given, told.needed, told.advice, code=told.code, about=told.about)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
