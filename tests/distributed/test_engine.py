"""The distributed engine gives the processor's answers on 1, 2 and 4 ranks, and all ranks end where one fails."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import time

import pytest

from tests.distributed.launch import mpiexec, run_ranks

pytestmark = pytest.mark.skipif(
    mpiexec() is None or any(importlib.util.find_spec(name) is None for name in ("mpi4py", "petsc4py")),
    reason="the distributed engine: needs mpiexec, mpi4py and petsc4py (make test-mpi installs them)",
)

SIZES = [int(size) for size in os.environ.get("COTHERM_RANKS", "1 2 4").split()]
CHECKS = [
    "arrays",
    "kernels",
    "quasi_newton",
    "heat",
    "ring",
    "frozen_ring",
    "few_vertices",
    "isolated_vertices",
    "shortcuts",
    "many_functions",
    "by_pairs",
    "shards",
    "modes_of_shards",
    "shards_by_pairs",
    "pairs_in_other_ways",
    "bad_pairs",
    "checkpoints_of_pairs",
    "checkpoints",
    "checkpoints_of_quasi_newton_steps",
    "more_options_of_shards",
]
WITH_DATA = ["man", "nus_by_pairs", "nus_shards_by_pairs"]
# Checks that take minutes, where COTHERM_LARGE is set.
LARGE = ["large_shortcuts"]
# All ranks have ended so many seconds after one has failed; most of them go into starting Python.
SOON = 40.0


@pytest.fixture(scope="module", params=SIZES)
def passed(request: pytest.FixtureRequest) -> tuple[set[str], str]:
    """The checks that passed on so many ranks, all in one program, and what it said."""
    more = (WITH_DATA if "COTHERM_DATA" in os.environ else []) + (LARGE if "COTHERM_LARGE" in os.environ else [])
    done = run_ranks(request.param, "-m", "tests.distributed.engine_programs", *CHECKS, *more, seconds=1_800)
    return {line.split()[1] for line in done.stdout.splitlines() if line.startswith("passed")}, done.stderr[-3000:]


@pytest.mark.parametrize("name", CHECKS)
def test_engine(passed: tuple[set[str], str], name: str) -> None:
    assert name in passed[0], passed[1]


@pytest.mark.parametrize("name", WITH_DATA)
def test_engine_on_real_data(passed: tuple[set[str], str], name: str) -> None:
    if "COTHERM_DATA" not in os.environ:
        pytest.skip("real data: set COTHERM_DATA to the directory that holds it")
    assert name in passed[0], passed[1]


@pytest.mark.parametrize("name", LARGE)
def test_engine_on_large_graphs(passed: tuple[set[str], str], name: str) -> None:
    if "COTHERM_LARGE" not in os.environ:
        pytest.skip("minutes: set COTHERM_LARGE=1")
    assert name in passed[0], passed[1]


def failed(name: str) -> subprocess.CompletedProcess[str]:
    began = time.perf_counter()
    done = run_ranks(2, "-m", "tests.distributed.engine_programs", name)
    assert done.returncode != 0
    assert "passed" not in done.stdout
    assert time.perf_counter() - began < SOON
    return done


@pytest.mark.parametrize(
    ("name", "argument"), [("unequal_weights", "weights of graphs[0]"), ("unequal_alpha", "alpha")]
)
def test_unequal_inputs_end_all_ranks(name: str, argument: str) -> None:
    told = failed(name).stderr
    assert told.count("CothermError: ") == 1 or told.count("SharedError: ") == 1, told
    assert f"{argument}: 'content" in told
    assert "the same on all ranks" in told


def test_a_bad_argument_is_told_once() -> None:
    told = failed("bad_argument").stderr
    assert told.count("SharedError: alpha: -1") == 1, told


def test_an_error_on_one_rank_ends_all() -> None:
    assert failed("rank_raises").stderr.count("ValueError: this rank has a problem") == 1


def test_a_rank_that_dies_ends_all() -> None:
    assert "signal 9" in failed("rank_dies").stderr
