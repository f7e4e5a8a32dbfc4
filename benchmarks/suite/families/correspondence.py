"""Correspondence between two poses: contestants return a vertex for every vertex, the judge knows the right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks import match as benchmark
from benchmarks.suite.parts import Contestant, Data, Family, Figure, Library, Limits, Problem
from cotherm.arrays import Ints

_WARMUP = 200
_FILE = "tosca5k/michael7.vts"
_COUPLING = (benchmark.COUPLED, benchmark.COUPLED_MODES)
# The four that come of the remeshed bodies, as they are numbered there, and who takes part.
_REMESHED = (
    ("500 samples, hands", 500, (benchmark.OURS, benchmark.SAME_MODES, *_COUPLING, benchmark.POT)),
    ("500 samples, landmarks", 500, (benchmark.OURS, benchmark.SAME_MODES, *_COUPLING, benchmark.POT)),
    ("meshes, landmarks", 5_001, (benchmark.OURS, benchmark.SAME_MODES, benchmark.MESHES, benchmark.POT)),
    ("points, landmarks", 5_001, (benchmark.OURS, benchmark.SAME_MODES, *_COUPLING, benchmark.CLOUDS, benchmark.POT)),
)


def _problems(quick: bool) -> Sequence[Problem]:
    modeled = [_modeled(n, 20.0 if quick else 180.0) for n in ((200,) if quick else (500, 1_000, 2_000, 4_000))]
    if quick:
        return modeled
    return [*modeled, *(_remeshed(k) for k in range(len(_REMESHED)))]


def _modeled(n: int, seconds: float) -> Problem:
    names = (benchmark.OURS, benchmark.SAME_MODES, *_COUPLING, benchmark.POT)
    series = "modeled body, hands"
    return Problem(
        f"{series}, {n:,}", series, n, lambda _: benchmark.modeled(n)[0], _warmup, seconds, contestants=names
    )


def _remeshed(k: int) -> Problem:
    name, size, names = _REMESHED[k]

    def make(data: Data) -> benchmark.Problem:
        return benchmark.remeshed(data)[k]

    title = f"TOSCA remeshed, {name}"
    return Problem(title, title, size, make, _warmup, 300.0, file=_FILE, contestants=names)


def _warmup() -> benchmark.Problem:
    return benchmark.modeled(_WARMUP)[0]


def _by(contestant: Callable[[benchmark.Problem], Ints]) -> Callable[[Any, Limits], Ints]:
    return lambda problem, _: contestant(problem)


def _meshes(problem: benchmark.Problem, _: Limits) -> Ints:
    """pyFM from the meshes on; the warm-up problem has no surface, and is not solved."""
    return benchmark.meshes(problem) if problem.meshes is not None else problem.places


def judge(problem: benchmark.Problem, found: Ints) -> Mapping[str, float | None]:
    """The mean geodesic error as a part of the diameter, and how many vertices are off by a tenth of it."""
    judged = benchmark.judged(problem, found)
    return {"error / diameter": judged["by_diameter"], "off by a tenth": judged["far_off"]}


_PYFM = Library("pyFM", "pip install pyfmaps")

FAMILY = Family(
    name="correspondence",
    description="One body in two poses; for every vertex of the pose with joined hands its place on the pose with "
    "hands apart. All are given the same graphs or meshes and the same landmarks.",
    problems=_problems,
    contestants=(
        Contestant(benchmark.OURS, _by(benchmark.ours)),
        Contestant(benchmark.COUPLED, _by(benchmark.coupled)),
        Contestant(benchmark.SAME_MODES, _by(benchmark.same_modes), needs=_PYFM),
        Contestant(
            benchmark.COUPLED_MODES, _by(lambda problem: benchmark.same_modes(problem, couples=True)), needs=_PYFM
        ),
        Contestant(benchmark.MESHES, _meshes, needs=_PYFM),
        Contestant(benchmark.CLOUDS, _meshes, needs=_PYFM),
        Contestant(benchmark.POT, _by(benchmark.planned), needs=Library("ot", "pip install POT")),
    ),
    figures=(Figure("error / diameter", "lower", ".4f"), Figure("off by a tenth", "lower", ".1%")),
    judge=judge,
)
