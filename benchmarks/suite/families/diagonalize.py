"""Joint diagonalization: contestants return a basis for several Laplacians."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg

from benchmarks import diagonalize as benchmark
from benchmarks.suite.parts import Contestant, Data, Family, Figure, Library, Limits, Problem
from cotherm.arrays import Floats
from cotherm.datasets import Views, circles, shortcuts
from cotherm.engines.threads import limited_blas
from paper.data import nus

_FILE = "nus/NUS_results.mat"


def _problems(quick: bool) -> Sequence[Problem]:
    if quick:
        return [_of("circles", 40, lambda _: circles(40), 20.0)]
    return [
        *(_strips(n) for n in (100, 200, 400, 800)),
        _of("NUS", 145, lambda data: nus(data=data), 180.0, file=_FILE),
        _of("NUS, normalized", 145, lambda data: nus(stored=True, data=data), 180.0, file=_FILE, normalized=True),
    ]


def _of(
    name: str,
    n: int,
    make: Callable[[Data], Views],
    seconds: float,
    *,
    file: str | None = None,
    normalized: bool = False,
    series: str | None = None,
) -> Problem:
    return Problem(
        name, series or name, n, lambda data: benchmark.matrices(make(data), normalized), _warmup, seconds, file
    )


def _strips(n: int) -> Problem:
    return _of(f"strips, {n:,}", n, lambda _: shortcuts(n), 180.0, series="strips")


def _warmup() -> Floats:
    return benchmark.matrices(circles(16), normalized=False)


def _by(contestant: benchmark.Contestant) -> Callable[[Any, Limits], Floats]:
    def solve(A: Floats, _: Limits) -> Floats:
        with limited_blas(A.shape[1]):
            return contestant(A)

    return solve


def judge(A: Floats, basis: Floats) -> Mapping[str, float | None]:
    """off() of the nearest orthogonal basis, and as a part of that in the eigenbasis of the mean."""
    found = benchmark.judged(A, basis)
    mean = benchmark.judged(A, scipy.linalg.eigh(np.sum(A, axis=0))[1])["off"]
    return {"off": found["off"], "off / mean's": found["off"] / mean, "from orthogonal": found["from_orthogonal"]}


FAMILY = Family(
    name="diagonalize",
    description="One basis in which two Laplacians are as diagonal as they can be: Σ off(UᵀL_kU), and the same as a "
    "part of what the eigenbasis of their mean leaves. A basis that is not orthogonal is judged by the nearest "
    "that is.",
    problems=_problems,
    contestants=(
        Contestant(benchmark.OURS, _by(benchmark.ours)),
        Contestant(benchmark.RJD, _by(benchmark.rjd), needs=Library("pyriemann", "pip install pyriemann")),
        Contestant(benchmark.QNDIAG, _by(benchmark.qndiag), needs=Library("qndiag", "pip install qndiag")),
    ),
    figures=(
        Figure("off", "lower", ".7g"),
        Figure("off / mean's", "lower", ".4f"),
        Figure("from orthogonal", "lower", ".1e"),
    ),
    judge=judge,
)
