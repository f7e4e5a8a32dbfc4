"""The same answer in all threads and processes, and BLAS left as it was; times are for the benchmark."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import threads

# Python 3.12 and later warn of any fork beside threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return threads.run(quick=True)


def test_answers_are_the_same(report: dict[str, Any]) -> None:
    assert {row["way"]: row["difference"] for row in report["ways"] if row["difference"] > 1e-12} == {}
    assert {"worker thread", "joblib, loky", "joblib, multiprocessing", "spawn"} <= {
        row["way"] for row in report["ways"]
    }


def test_the_number_of_blas_threads_is_left_alone(report: dict[str, Any]) -> None:
    pairs = [(row["way"], row[place]) for row in report["ways"] for place in ("blas_here", "blas_there") if row[place]]
    assert [(way, before, after) for way, (before, after) in pairs if before != after] == []


def test_the_table_has_a_line_for_every_way(report: dict[str, Any]) -> None:
    text = threads.table(report)
    assert all(row["way"] in text for row in report["ways"])
    assert "in a full run" in text
    assert "DOES NOT HOLD" not in text
