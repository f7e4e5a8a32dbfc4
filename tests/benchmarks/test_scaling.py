"""The model of larger machines agrees with the points it is made from, and memory is fitted as it falls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import scaling


def rows() -> list[dict[str, Any]]:
    """Ranks that share the work evenly, and memory beyond a constant."""
    common = {"vertices": 200_000, "edges": 2_000_000, "steps": 20, "sums": 2_000, "exchanges": 3_000, "halo": 500}
    return [
        {**common, "ranks": p, "seconds": 40.0 / p, "peak": 3e8 + 8e8 / p, "exchanged_bytes": 9e8 / np.sqrt(p)}
        for p in (1, 2, 4)
    ]


def test_memory_is_a_constant_and_a_share() -> None:
    fitted = scaling._memory(rows())
    assert fitted["constant"] == pytest.approx(3e8)
    assert fitted["part"] == pytest.approx(8e8)
    assert fitted["off"] < 1e-9


def test_the_model_scales_arithmetic_and_adds_what_is_sent() -> None:
    found = scaling.model(rows(), scaling._memory(rows()))
    first = found[0]
    ideal = 40.0 / 20 / 2_000_000 * first["edges"] / first["ranks"]
    assert first["seconds_a_step"] * first["arithmetic"] == pytest.approx(ideal)
    assert first["seconds_a_step"] > ideal
    parts = [row["arithmetic"] for row in found if row["edges"] == 1e9]
    assert parts == sorted(parts, reverse=True)


def test_the_model_is_checked_against_rows() -> None:
    """With messages that take no time, ranks that share the work evenly are as modeled; more than processors wait."""
    given = [{**row, "exchange_us": 0.0, "sum_us": 0.0} for row in rows()]
    for row in scaling.checked(given, processors=4):
        assert row["modeled"] == pytest.approx(row["measured"])
    last = scaling.checked(given, processors=2)[-1]
    assert last["modeled"] == pytest.approx(2 * last["measured"])
    slow = [{**row, "exchange_us": 1e3, "sum_us": 0.0} for row in given]
    assert scaling.checked(slow, 4)[1]["modeled"] == pytest.approx(40.0 / 2 / 20 + 3_000 * 1e-3 / 20)


def test_halos_of_straight_cuts() -> None:
    """Both graphs of a rank, on one side with two ranks, on both with more."""
    assert scaling.expected_halo(200_000, 1) == 0.0
    assert scaling.expected_halo(200_000, 4) == 2 * scaling.expected_halo(200_000, 2)
