"""What the engine made of a graph stays on the GPU between calls, for as long as the graph lives and memory allows.

It is known by the arrays of the graph, which no one can write to: graphs that share their edges share the layout.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from numpy.typing import NDArray

from cotherm.engines.interface import Array

T = TypeVar("T")

# The part of the memory that is free, or taken by what is kept, that this takes at most: others need memory too.
_PART = 0.25


class _Entry(NamedTuple):
    made: Any
    size: int
    arrays: tuple[weakref.ref[NDArray[Any]], ...]
    holds: Hashable


class Resident:
    """What was made of arrays of the host, until one of them is gone; the least recently used gives way first."""

    def __init__(self) -> None:
        # The lock can be taken twice by a thread: arrays may go at any time, also while it is held.
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.RLock()

    @property
    def size(self) -> int:
        """Bytes."""
        with self._lock:
            return sum(entry.size for entry in self._entries.values())

    def made_of(
        self,
        key: Hashable,
        arrays: tuple[NDArray[Any], ...],
        make: Callable[[], T],
        *,
        size: Callable[[T], int],
        free: Callable[[], int],
        holds: Hashable = None,
    ) -> T:
        """What ``make`` makes of the arrays, kept if they cannot change.

        The key says what it is, apart from the arrays; ``size`` how many bytes it takes, but for what it shares with
        the one with the key ``holds``, which is kept for longer; ``free`` how much memory there is.
        """
        if not all(map(is_unchanging, arrays)):
            return make()
        whole = full_key(key, arrays)
        with self._lock:
            entry = self._entries.get(whole)
            if entry is not None and all(ref() is x for ref, x in zip(entry.arrays, arrays, strict=True)):
                self._used(whole)
                return entry.made
        made = make()
        most = _PART * (free() + self.size)
        if size(made) <= most:
            refs = tuple(weakref.ref(x, lambda _: self._forget(whole)) for x in arrays)
            with self._lock:
                self._entries[whole] = _Entry(made, size(made), refs, holds)
                self._used(whole)
            while self.size > most and self.drop_oldest():
                pass
        return made

    def drop_oldest(self) -> bool:
        """Let go of what has not been used for longest; False if there is nothing."""
        with self._lock:
            if not self._entries:
                return False
            self._entries.popitem(last=False)
            return True

    def _used(self, key: Hashable) -> None:
        self._entries.move_to_end(key)
        held = self._entries[key].holds
        if held in self._entries:  # to let it go first would free nothing
            self._entries.move_to_end(held)

    def _forget(self, key: Hashable) -> None:
        with self._lock:
            self._entries.pop(key, None)


def full_key(key: Hashable, arrays: tuple[NDArray[Any], ...]) -> Hashable:
    """The key, and which arrays they are."""
    return key, tuple(map(id, arrays))


def is_unchanging(array: NDArray[Any]) -> bool:
    """Whether no one can write to an array: neither by itself nor by another that shares its memory."""
    return bool(array.flags.owndata and not array.flags.writeable)


def bytes_of(*arrays: Array) -> int:
    """Of some arrays of the GPU."""
    return sum(len(x) * x.dtype.itemsize for x in arrays)
