"""Amounts of memory, in words and as measured."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import cotherm as ct
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
        (np.int64(8 * 2**30), 8 * 2**30),
        (np.uint32(4_000_000_000), 4_000_000_000),
        (np.float64(1.5e9), 1_500_000_000),
        (np.float32(2.0**31), 2**31),
        (Fraction(10**10, 2), 5 * 10**9),
        (2**62 + 1, 2**62 + 1),
        (0.5e16, 5 * 10**15),
    ],
)
def test_amounts(given: object, expected: float) -> None:
    assert memory.amount("memory", given) == expected


NONE = ["", "much", "8 gigs", "-1GB", 0, -5, float("nan"), float("inf"), None, True, [8]]
NONE += [np.True_, np.int64(-5), np.float64("nan"), np.array([8.0]), 2**63, 10**400, Fraction(10**400), 1j]


@pytest.mark.parametrize("given", NONE)
def test_what_is_no_amount(given: object) -> None:
    with pytest.raises(CothermError, match="memory") as caught:
        memory.amount("memory", given)
    assert caught.value.argument == "memory"


def test_numbers_of_any_kind_and_size() -> None:
    assert memory.amount("memory", np.float16(60_000)) == 60_000 - 60_000 % 32
    with pytest.raises(CothermError, match="a int"):
        memory.amount("memory", 10**5_000)


def test_words() -> None:
    assert memory.words(7.54e9) == "7.54 GB"
    assert memory.words(8.5e8) == "850 MB"
    assert memory.words(2_000) == "2 kB"


def test_what_is_held_grows_with_what_is_made() -> None:
    before, peak = memory.in_use(), memory.peak()
    if before is None or peak is None:
        pytest.skip("not known on this system")
    block = np.ones(32_000_000)  # too large to be taken from what was freed
    held = memory.in_use()
    assert held is not None
    assert 200e6 < held - before < 300e6
    most = memory.peak()
    assert most is not None
    assert most >= held - 1e6
    free = memory.available()
    assert free is None or free > 0
    del block


def test_numbers_of_numpy_are_taken_by_couple() -> None:
    views = ct.datasets.ring()
    result = ct.couple(
        views.graphs, views.functions, [1.0], options={"max_iterations": 2, "memory": np.int64(8 * 2**30)}
    )
    assert result.settings["memory"]["derivatives"] == "stored"


@pytest.mark.skipif(memory.in_use() is None, reason="needs /proc")
def test_the_peak_is_that_of_the_process_and_not_of_its_parent() -> None:
    held = np.ones(60_000_000)  # 480 MB
    code = "from cotherm import memory; print(memory.peak())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 0.5 * held.nbytes
