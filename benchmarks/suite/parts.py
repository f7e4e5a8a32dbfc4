"""What the suite is made of: problems, contestants, the families that hold both, and the rows that come out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Data = str | os.PathLike[str] | None

OK, OUT_OF_TIME, OUT_OF_MEMORY = "ok", "out of time", "out of memory"
NOT_INSTALLED, FAILED, SKIPPED, NO_DATA = "not installed", "failed", "skipped", "no data"


@dataclass(frozen=True)
class Problem:
    """One problem: how it is made, and what contestants may take for it.

    Problems of one series differ in size alone: they are one line in a plot, and who runs out of time or memory on one
    of them is not tried on larger ones.
    """

    name: str
    series: str
    size: int
    make: Callable[[Data], Any]
    warmup: Callable[[], Any]  # a small one, solved before the clock starts: compiling is not measured
    seconds: float
    file: str | None = None  # of the data directory, where the problem is made of data
    contestants: tuple[str, ...] | None = None  # names, where not all of the family take part


def as_given(instance: Any) -> Any:
    """The problem itself."""
    return instance


@dataclass(frozen=True)
class Library:
    """What must be importable, and how to get it."""

    module: str
    install: str


@dataclass(frozen=True)
class Limits:
    """Of one contestant on one problem."""

    seconds: float
    memory: float  # bytes of the whole process


@dataclass(frozen=True)
class Contestant:
    """One solver: ``solve(prepared, limits)`` returns an answer, which the judge alone evaluates.

    Solvers that keep improving their answer return the best they have before the seconds are over.
    """

    name: str
    solve: Callable[[Any, Limits], Any]
    needs: Library | None = None
    prepare: Callable[[Any], Any] = as_given  # what it gets of the problem, made before the clock starts
    bytes_moved: Callable[[Any], float | None] | None = None  # from and to memory at least, where that is known


@dataclass(frozen=True)
class Figure:
    """What the judge measures on an answer."""

    name: str
    better: str  # "higher" or "lower"
    format: str = ".4g"


@dataclass(frozen=True)
class Family:
    """Problems, contestants and their one judge."""

    name: str
    description: str
    problems: Callable[[bool], Sequence[Problem]]  # of the quick run, or of the full one
    contestants: tuple[Contestant, ...]
    figures: tuple[Figure, ...]
    judge: Callable[[Any, Any], Mapping[str, float | None]]  # from the problem as made and an answer
    named: Callable[[str], Problem] | None = None  # a problem by its name, where there are too many to list

    def entered(self, problem: Problem) -> list[Contestant]:
        """Those the problem is meant for."""
        return [one for one in self.contestants if problem.contestants is None or one.name in problem.contestants]

    def problem(self, name: str, quick: bool) -> Problem:
        """The problem of this name."""
        if self.named is not None:
            return self.named(name)
        return next(one for one in self.problems(quick) if one.name == name)


@dataclass(frozen=True)
class Row:
    """What came of one contestant on one problem."""

    family: str
    series: str
    problem: str
    size: int
    contestant: str
    status: str
    reason: str = ""
    limit_seconds: float | None = None
    seconds: float | None = None
    memory: float | None = None  # bytes, of solving alone
    figures: Mapping[str, float | None] = field(default_factory=dict)
    bytes_moved: float | None = None  # at least, where that is known
    least_seconds: float | None = None  # and how long the machine's memory takes for that

    @classmethod
    def of(cls, family: Family, problem: Problem, contestant: Contestant, status: str, **found: Any) -> Row:
        """A row of this contestant on this problem."""
        return cls(family.name, problem.series, problem.name, problem.size, contestant.name, status, **found)

    @property
    def times_least(self) -> float | None:
        """How many times longer than the machine's limit it took."""
        return self.seconds / self.least_seconds if self.seconds and self.least_seconds else None

    @property
    def verdict(self) -> str:
        """The status in words."""
        return f"{self.status}: {self.reason}" if self.reason else self.status

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "figures": dict(self.figures), "times_least": self.times_least}
