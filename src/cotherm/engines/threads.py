"""How many threads dense algebra and other libraries may use.

The number of OpenBLAS's threads (and MKL's) belongs to the whole process: the first of our calls lowers it and the last
restores it. Where OpenMP runs the threads, every thread has a number of its own. What others have set in the meantime
is left as they set it.

threadpoolctl finds the libraries. Its own limits do not hold across threads: each restores what it found, and since
version 3.8 those of OpenBLAS do nothing in all threads but the first that sets one. One case cannot be mended here:
another library that enters a limit of threadpoolctl's in one thread while a call of ours runs in another, and leaves
it after our call, restores the lowered number that it found.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from threading import RLock, get_ident
from typing import Any, NamedTuple

from cotherm import limits


def hold_at_fork(lock: Any) -> None:
    """Prevent forks while another thread holds the lock, which must be reentrant: in the child it would never open."""
    if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


@contextmanager
def limited_blas(n: int) -> Iterator[None]:
    """One BLAS thread for dense problems of a small size n; no limit above."""
    if n > limits.ONE_BLAS_THREAD:
        yield
        return
    with _blas.one():
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for all foreign libraries, OpenMP included: with more, small problems only wait."""
    with _blas.one(), _openmp.one():
        yield


class _Library(NamedTuple):
    """A library with threads; ``shared``: one number of threads holds for the whole process."""

    place: str
    shared: bool
    get: Callable[[], int | None]
    set: Callable[[int], object]


class _Stay:
    """One call within a limit: its thread, and the limits it has lowered there, with their former values."""

    def __init__(self) -> None:
        self.thread = get_ident()
        self.lowered: list[tuple[_Library, int]] = []


class _Limit:
    """One thread for the libraries of one interface ("blas" or "openmp") while any call is inside."""

    def __init__(self, interface: str) -> None:
        self._interface = interface
        self._libraries: list[_Library] = []
        self._inside: set[_Stay] = set()
        # Thread numbers of the process before the first call; the last call restores them.
        self._owed: dict[str, tuple[_Library, int]] = {}
        # A signal handler may reenter in the thread that holds it.
        self._lock = RLock()
        hold_at_fork(self._lock)

    @contextmanager
    def one(self) -> Iterator[None]:
        stay = _Stay()
        try:
            self._enter(stay)
            yield
        finally:  # an interrupt while entering included
            self._leave(stay)

    def _enter(self, stay: _Stay) -> None:
        with self._lock:
            if not self._inside:  # more libraries may have been loaded since
                self._libraries = _loaded(self._interface)
            self._inside.add(stay)
            for library in self._libraries:
                before = library.get()
                if before is not None and before > 1:
                    self._lower(library, before, stay)

    def _lower(self, library: _Library, before: int, stay: _Stay) -> None:
        if library.shared:
            self._owed.setdefault(library.place, (library, before))
        else:
            stay.lowered.append((library, before))
        library.set(1)

    def _leave(self, stay: _Stay) -> None:
        with self._lock:
            self._inside.discard(stay)
            if stay.thread == get_ident():
                _restore(stay.lowered)
            if not self._inside:
                _restore(self._owed.values())
                self._owed.clear()


def _restore(lowered: Iterable[tuple[_Library, int]]) -> None:
    for library, before in lowered:
        if library.get() == 1:  # otherwise somebody else has set it since
            library.set(before)


def _loaded(interface: str) -> list[_Library]:
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().lib_controllers
    return [_library(controller) for controller in found if controller.user_api == interface]


def _library(controller: Any) -> _Library:
    """If it is unknown whether a number is shared, assume not: if wrong, that costs time but lowers nothing."""
    if controller.internal_api == "openblas" and controller.threading_layer != "openmp":
        return _Library(controller.filepath, True, *_openblas(controller))
    shared = controller.internal_api == "mkl"
    return _Library(controller.filepath, shared, controller.get_num_threads, controller.set_num_threads)


def _openblas(controller: Any) -> tuple[Callable[[], int | None], Callable[[int], object]]:
    """The library's own functions: threadpoolctl 3.8 lets a single thread at a time set this number."""
    functions = ctypes.PyDLL(controller.filepath, handle=controller.dynlib._handle)
    for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64")):
        name = f"{prefix}openblas_%s_num_threads{suffix}"
        if hasattr(functions, name % "set"):
            return getattr(functions, name % "get"), getattr(functions, name % "set")
    return controller.get_num_threads, controller.set_num_threads


_blas, _openmp = _Limit("blas"), _Limit("openmp")
