"""Correspondence between two poses: contestants hand in a vertex for every vertex, the judge knows the right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks import match as duels
from benchmarks.suite.parts import Contestant, Data, Family, Figure, Library, Limits, Problem
from cotherm.arrays import Ints

_TINY = 200
_FILE = "tosca5k/michael7.vts"
_COUPLING = (duels.COUPLED, duels.COUPLED_MODES)
# The four that come of the remeshed bodies, as they are numbered there, and who takes part.
_REMESHED = (
    ("500 samples, hands", 500, (duels.OURS, duels.SAME_MODES, *_COUPLING, duels.POT)),
    ("500 samples, landmarks", 500, (duels.OURS, duels.SAME_MODES, *_COUPLING, duels.POT)),
    ("meshes, landmarks", 5_001, (duels.OURS, duels.SAME_MODES, duels.MESHES, duels.POT)),
    ("points, landmarks", 5_001, (duels.OURS, duels.SAME_MODES, *_COUPLING, duels.CLOUDS, duels.POT)),
)


def _problems(quick: bool) -> Sequence[Problem]:
    modeled = [_modeled(n, 20.0 if quick else 180.0) for n in ((200,) if quick else (500, 1_000, 2_000, 4_000))]
    if quick:
        return modeled
    return [*modeled, *(_remeshed(k) for k in range(len(_REMESHED)))]


def _modeled(n: int, seconds: float) -> Problem:
    among = (duels.OURS, duels.SAME_MODES, *_COUPLING, duels.POT)
    series = "modeled body, hands"
    return Problem(f"{series}, {n:,}", series, n, lambda _: duels.modeled(n)[0], _tiny, seconds, among=among)


def _remeshed(k: int) -> Problem:
    name, size, among = _REMESHED[k]

    def make(data: Data) -> duels.Problem:
        return duels.remeshed(data)[k]

    title = f"TOSCA remeshed, {name}"
    return Problem(title, title, size, make, _tiny, 300.0, file=_FILE, among=among)


def _tiny() -> duels.Problem:
    return duels.modeled(_TINY)[0]


def _by(contestant: Callable[[duels.Problem], Ints]) -> Callable[[Any, Limits], Ints]:
    return lambda problem, _: contestant(problem)


def _meshes(problem: duels.Problem, _: Limits) -> Ints:
    """pyFM from the meshes on; the tiny problem, a sample without a surface, is not for it."""
    return duels.meshes(problem) if problem.meshes is not None else problem.places


def judge(problem: duels.Problem, found: Ints) -> Mapping[str, float | None]:
    """The mean geodesic error as a part of the diameter, and how many vertices are off by a tenth of it."""
    judged = duels.judged(problem, found)
    return {"error / diameter": judged["by_diameter"], "off by a tenth": judged["far_off"]}


_PYFM = Library("pyFM", "pip install pyfmaps")

FAMILY = Family(
    name="correspondence",
    about="One body in two poses; for every vertex of the pose with joined hands its place on the pose with hands "
    "apart. All are given the same graphs or meshes and the same landmarks.",
    problems=_problems,
    contestants=(
        Contestant(duels.OURS, _by(duels.ours)),
        Contestant(duels.COUPLED, _by(duels.coupled)),
        Contestant(duels.SAME_MODES, _by(duels.same_modes), needs=_PYFM),
        Contestant(duels.COUPLED_MODES, _by(lambda problem: duels.same_modes(problem, couples=True)), needs=_PYFM),
        Contestant(duels.MESHES, _meshes, needs=_PYFM),
        Contestant(duels.CLOUDS, _meshes, needs=_PYFM),
        Contestant(duels.POT, _by(duels.planned), needs=Library("ot", "pip install 'cotherm[transport]'")),
    ),
    figures=(Figure("error / diameter", "lower", ".4f"), Figure("off by a tenth", "lower", ".1%")),
    judge=judge,
)
