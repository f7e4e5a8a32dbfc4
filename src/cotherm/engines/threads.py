"""How many threads dense algebra and other libraries may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

# Below this size BLAS threads spend more time waiting for each other than computing.
_SMALL = 600

# The number of BLAS threads belongs to the whole process. Whoever comes first lowers it and whoever leaves last
# restores it: if each restored what it found, calls that overlap in several threads could leave it lowered.
_turn = Lock()
_inside = 0
_limits: Any = None


@contextmanager
def limited_blas(n: int) -> Iterator[None]:
    """One BLAS thread for dense problems of a small size n; no limit above."""
    if n > _SMALL:
        yield
        return
    _enter()
    try:
        yield
    finally:
        _leave()


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for everything foreign, OpenMP included: small problems of other libraries only wait with more."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield


def _enter() -> None:
    global _inside, _limits  # noqa: PLW0603
    with _turn:
        if not _inside:
            from threadpoolctl import threadpool_limits

            _limits = threadpool_limits(limits=1, user_api="blas")
        _inside += 1


def _leave() -> None:
    global _inside  # noqa: PLW0603
    with _turn:
        _inside -= 1
        if not _inside:
            _limits.restore_original_limits()
