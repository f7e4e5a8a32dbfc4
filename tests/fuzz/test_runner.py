"""The runner finds what it looks for; and a part of the fuzz run of `make fuzz`."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz.runner import run

_FAULTS = {3: "Traceback", 5: "no end", 6: "the process died", 8: "MB of memory", 9: "are allowed", 11: "as judged"}


def naughty(seed: int, number: int, directory: Path) -> str | None:
    """A judge under which some cases fail in every way there is."""
    if number == 3:
        raise KeyError(seed)
    if number == 5:
        time.sleep(60.0)
    if number == 6:
        os._exit(1)
    if number == 8:
        (directory / "small").write_bytes(b"1")
        np.zeros(int(2e7))
    if number == 9:
        time.sleep(1.5)
    return "as judged" if number == 11 else None


def test_every_fault_is_found_and_nothing_else() -> None:
    report = run(range(13), 0, 1, judge=naughty, longest=1.0)
    assert [number for number, _ in report.faults] == list(_FAULTS)
    for (_, fault), expected in zip(report.faults, _FAULTS.values(), strict=True):
        assert expected in fault
    assert sum(report.cases.values()) == 13


@pytest.mark.parametrize("seed", [1, 2])
def test_no_case_is_at_fault(seed: int) -> None:
    report = run(range(1_000), seed, 1)
    assert not report.faults, "\n".join(f"case {number}: {fault}" for number, fault in report.faults[:5])
