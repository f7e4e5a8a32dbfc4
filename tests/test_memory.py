"""Amounts of memory, in words and as measured."""

from __future__ import annotations

import numpy as np
import pytest

from cotherm import memory
from cotherm.errors import CothermError


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("8GiB", 8 * 2**30),
        ("500 MB", 500 * 10**6),
        ("1.5g", 1.5e9),
        ("2ti", 2**41),
        (1_000, 1_000),
        ("12", 12),
        (1e9, 1e9),
    ],
)
def test_amounts(given: object, expected: float) -> None:
    assert memory.amount("memory", given) == expected


@pytest.mark.parametrize("given", ["", "much", "8 gigs", "-1GB", 0, -5, float("nan"), float("inf"), None, True, [8]])
def test_what_is_no_amount(given: object) -> None:
    with pytest.raises(CothermError, match="memory") as caught:
        memory.amount("memory", given)
    assert caught.value.argument == "memory"


def test_words() -> None:
    assert memory.words(7.54e9) == "7.54 GB"
    assert memory.words(8.5e8) == "850 MB"
    assert memory.words(2_000) == "2 kB"


def test_what_is_held_grows_with_what_is_made() -> None:
    before, peak = memory.held(), memory.peak()
    if before is None or peak is None:
        pytest.skip("not known on this system")
    block = np.ones(32_000_000)  # too large to be taken from what was freed
    held = memory.held()
    assert held is not None
    assert 200e6 < held - before < 300e6
    most = memory.peak()
    assert most is not None
    assert most >= held - 1e6
    free = memory.available()
    assert free is None or free > 0
    del block
