"""One case: a set, a part of its items of which something is known, and a seed; and its name, for other processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.pairs.sets import Items, grown, source
from benchmarks.suite.parts import Problem


class Case(NamedTuple):
    """Which problem."""

    set: str
    percent: float
    seed: int

    @property
    def name(self) -> str:
        return f"{self.set} {self.percent:g} {self.seed}"

    @classmethod
    def named(cls, name: str) -> Case:
        words = name.split()
        return cls(words[0], float(words[1]), int(words[2]))


# Before the clock starts, a problem that only serves to load what is compiled.
_WARMUP, _WARMUP_ITEMS, _WARMUP_NOISES = Case("planted", 100.0, 0), 40, (0.2, 0.26)
Draw = Callable[[Items, Case], Any]


def problem(case: Case, draw: Draw) -> Problem:
    """The problem of a case, for the processes of the suite."""
    found = source(case.set)
    return Problem(
        name=case.name,
        series=case.set,
        size=0,
        make=lambda data: draw(found.make(data), case),
        warmup=lambda: draw(grown(_WARMUP_ITEMS, _WARMUP_NOISES), _WARMUP),
        seconds=found.seconds,
        file=found.file,
    )
