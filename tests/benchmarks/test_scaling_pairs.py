"""The table of coupling by pairs through shards, and memory that is counted from where it is settled."""

from __future__ import annotations

import numpy as np

from benchmarks import scaling_pairs
from cotherm.memory import in_use, peak


def test_table() -> None:
    row = {
        "vertices": 20_000,
        "edges": 228_355,
        "ranks": 2,
        "steps": 25,
        "peak": 400_000_000,
        "forecast": 500_000_000,
        "cost_off": 3e-13,
        "weights_off": 2e-10,
    }
    text = scaling_pairs.table({"rows": [row]})
    assert "1.25" in text
    assert "3.0e-13" in text


def test_memory_from_where_it_is_settled() -> None:
    before = scaling_pairs.settled()
    assert before == 0 or abs(before - (in_use() or 0)) < 50_000_000
    block = np.ones(10_000_000)
    assert (peak() or 0) - before >= 0.9 * block.nbytes or before == 0
