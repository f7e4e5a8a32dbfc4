"""How many threads dense algebra may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

# Below this size BLAS threads spend more time waiting for each other than computing.
_SMALL = 600


def limited_blas(n: int) -> AbstractContextManager[Any]:
    """One BLAS thread for dense problems of a small size n; no limit above."""
    if n > _SMALL:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits
