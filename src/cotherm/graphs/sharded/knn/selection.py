"""The median of numbers that are spread over ranks and files, exact: digit by digit, none of them moved or sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from cotherm.arrays import Floats
from cotherm.ranks import Ranks

_BITS = 16


def median(ranks: Ranks, blocks: Callable[[], Iterable[Floats]], count: int) -> float:
    """The median of ``count`` numbers ≥ 0 on all ranks, of which ``blocks`` goes through those of this rank."""
    if count == 0:
        return 0.0
    low, high = (_selected(ranks, blocks, rank) for rank in ((count - 1) // 2, count // 2))
    return float(np.mean([low, high]))


def _selected(ranks: Ranks, blocks: Callable[[], Iterable[Floats]], rank: int) -> float:
    """The number with ``rank`` smaller ones: floats ≥ 0 are ordered as their bits are."""
    prefix, left = 0, rank
    for digit in range(64 // _BITS):
        shift = 64 - _BITS * (digit + 1)
        counts = np.zeros(2**_BITS, dtype=np.int64)
        for block in blocks():
            bits = np.ascontiguousarray(block).view(np.uint64).ravel()
            if digit:
                bits = bits[(bits >> np.uint64(shift + _BITS)) == np.uint64(prefix)]
            digits = (bits >> np.uint64(shift)) & np.uint64(2**_BITS - 1)
            counts += np.bincount(digits.astype(np.int64), minlength=2**_BITS)
        below = np.cumsum(np.sum(ranks.gather(counts), axis=0))
        chosen = int(np.searchsorted(below, left, side="right"))
        left -= int(below[chosen - 1]) if chosen else 0
        prefix = prefix << _BITS | chosen
    return float(np.array(prefix, dtype=np.uint64).view(np.float64))
