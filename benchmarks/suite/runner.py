"""All families, one contestant after the other, from small problems to large."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.suite import machine
from benchmarks.suite.families import NAMES, module_of
from benchmarks.suite.judge import judged
from benchmarks.suite.parts import (
    NO_DATA,
    OUT_OF_MEMORY,
    OUT_OF_TIME,
    SKIPPED,
    Contestant,
    Data,
    Family,
    Limits,
    Problem,
    Row,
)
from cotherm import validation
from cotherm.errors import CothermError, known_as
from cotherm.io import atomic
from paper.data.directory import VARIABLE, locate

# Of the machine's memory, what one contestant may hold.
_SHARE = 0.75
_IMAGES = "images"


@dataclass
class _Runner:
    """What all rows of a run share, and which contestants ran out of time or memory."""

    quick: bool
    data: Data
    seconds: float | None
    patience: float
    memory: float
    bandwidth: float
    log: Callable[[str], Any]
    save: Callable[[], Any] = lambda: None
    families: list[Family] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    failed: dict[tuple[str, str, str], Row] = field(default_factory=dict)

    def run_one(self, module: str, family: Family, problem: Problem, contestant: Contestant) -> None:
        row = self._judged(module, family, problem, contestant)
        if row.bytes_moved is not None:
            row = replace(row, least_seconds=row.bytes_moved / self.bandwidth)
        if row.status in (OUT_OF_TIME, OUT_OF_MEMORY):
            self.failed.setdefault((row.family, row.series, row.contestant), row)
        self.rows.append(row)
        taken = "" if row.seconds is None else f", {row.seconds:.3g} s"
        self.log(f"{family.name}: {problem.name}: {contestant.name}: {row.verdict}{taken}")
        self.save()

    def _judged(self, module: str, family: Family, problem: Problem, contestant: Contestant) -> Row:
        smaller = self.failed.get((family.name, problem.series, contestant.name))
        if smaller is not None and smaller.size < problem.size:
            reason = f"{smaller.status} at n = {smaller.size:,}"
            return Row.of(family, problem, contestant, SKIPPED, reason=reason)
        if problem.file is not None:
            try:
                locate(problem.file, self.data)
            except CothermError:
                return Row.of(family, problem, contestant, NO_DATA, reason=problem.file)
        seconds = self.patience * problem.seconds if self.seconds is None else self.seconds
        limits = Limits(seconds, self.memory)
        return judged(module, family, problem, contestant, limits, quick=self.quick, data=self.data)


def run(
    *,
    quick: bool = False,
    families: Sequence[str] | None = None,
    data: Data = None,
    out: str | os.PathLike[str] | None = None,
    page: str | os.PathLike[str] | None = None,
    largest: int | None = None,
    seconds: float | None = None,
    patience: float | None = None,
    memory: float | None = None,
    log: Callable[[str], Any] = lambda _: None,
) -> dict[str, Any]:
    """Run the suite; the report holds the machine, the families and a row for every contestant on every problem.

    Parameters
    ----------
    quick : small problems only, a minute or two.
    families : some of "surgery", "correspondence", "heat", "diagonalize", "clusters", "neighbors"; all by default.
    data : the directory with the real data; else the environment variable COTHERM_DATA; without, the problems that are
        made of it are recorded as "no data".
    out : a folder for suite.json and the plots.
    page : a Markdown file for the tables and plots, which go to a folder ``images`` beside it.
    largest : leave out problems with more vertices or points.
    seconds : the limit for every contestant on every problem; by default each problem has its own.
    patience : what the problems' own limits are multiplied by; not beside ``seconds``.
    memory : the limit of each contestant's process in bytes; by default three quarters of the machine's.
    log : called with a line for every row as it is done.
    """
    chosen = _chosen(NAMES if families is None else families)
    _check_data(data)
    most = None if largest is None else validation.integer("largest", largest, least=1)
    if seconds is not None and patience is not None:
        raise CothermError("patience", "given beside seconds", "one of both")
    folders = _places(out, page)
    runner = _Runner(
        quick=validation.boolean("quick", quick),
        data=data,
        seconds=None if seconds is None else validation.real("seconds", seconds, positive=True),
        patience=1.0 if patience is None else validation.real("patience", patience, positive=True),
        memory=_SHARE * machine.memory() if memory is None else validation.real("memory", memory, positive=True),
        bandwidth=0.0,
        log=log,
    )
    described = machine.described()
    runner.bandwidth = described["bandwidth"]
    options = {
        "families": None if families is None else chosen,
        "data": bool(data or os.environ.get(VARIABLE)),
        "largest": most,
        "seconds": runner.seconds,
        "patience": None if patience is None else runner.patience,
        "memory": None if memory is None else runner.memory,
    }
    header = {
        "benchmark": "suite",
        "quick": quick,
        "options": options,
        "machine": described,
        "versions": machine.versions(),
    }
    # A run may take hours: what is done is kept, should it end early.
    runner.save = lambda: _write_numbers(header | _report(runner), folders[0])
    for name in chosen:
        _family(module_of(name), runner, most)
    report = header | _report(runner)
    _write(report, *folders)
    return report


def _report(runner: _Runner) -> dict[str, Any]:
    return {
        "memory_limit": runner.memory,
        "families": [_described(family) for family in runner.families],
        "rows": [row.as_json() for row in runner.rows],
    }


def _family(module: str, runner: _Runner, largest: int | None) -> None:
    """Every contestant on every problem of a family: series by series, small ones first."""
    family: Family = import_module(module).FAMILY
    runner.families.append(family)
    problems = family.problems(runner.quick)
    series = list(dict.fromkeys(one.series for one in problems))
    for problem in sorted(problems, key=lambda one: (series.index(one.series), one.size)):
        if largest is None or problem.size <= largest:
            for contestant in family.entered(problem):
                runner.run_one(module, family, problem, contestant)


def _described(family: Family) -> dict[str, Any]:
    figures = [{"name": one.name, "better": one.better, "format": one.format} for one in family.figures]
    return {"name": family.name, "description": family.description, "figures": figures}


def _chosen(families: Sequence[str]) -> list[str]:
    if isinstance(families, str) or not isinstance(families, Sequence) or not len(families):
        raise CothermError("families", validation.describe(families), f"a list of some of {', '.join(NAMES)}")
    names = [validation.choice("families", name, NAMES) for name in families]
    return [name for name in NAMES if name in names]


def _check_data(data: Data) -> None:
    given = os.environ.get(VARIABLE) if data is None else data
    if not given:
        return
    with known_as("path", "data"):
        folder = atomic.as_path(given)
    if not folder.is_dir():
        raise CothermError("data", str(folder), "an existing directory", "Without any, problems of data are left out.")


def _places(out: str | os.PathLike[str] | None, page: str | os.PathLike[str] | None) -> tuple[Path | None, Path | None]:
    """Where everything goes, known to be writable before hours are spent."""
    folder = None if out is None else _folder("out", out)
    if page is None:
        return folder, None
    with known_as("path", "page"):
        place = atomic.as_path(page)
    if place.suffix.lower() != ".md" or place.is_dir():
        raise CothermError("page", str(place), "the name of a Markdown file, *.md")
    _folder("page", place.parent / _IMAGES)
    return folder, place


def _folder(argument: str, given: str | os.PathLike[str]) -> Path:
    with known_as("path", argument):
        folder = atomic.as_path(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CothermError(argument, f"{folder} ({error.strerror})", "a folder that can be written to") from None
    atomic.require_writable(folder)
    return folder


def _write(report: dict[str, Any], out: Path | None, place: Path | None) -> None:
    """The JSON and the plots, and the page with its own; every file whole or not at all."""
    if out is None and place is None:
        return
    # Only now: the worker, which imports this folder for every row, draws nothing.
    from benchmarks.suite.page import page
    from benchmarks.suite.plots import plots

    pictures = plots(report)
    if out is not None:
        for name, data in pictures.items():
            atomic.save(out / name, data, overwrite=True)
        _write_numbers(report, out)
    if place is not None:
        for name, data in pictures.items():
            atomic.save(place.parent / _IMAGES / name, data, overwrite=True)
        text = page(report, {name: f"{_IMAGES}/{name}" for name in pictures})
        atomic.save(place, text.encode("utf-8"), overwrite=True)


def _write_numbers(report: dict[str, Any], out: Path | None) -> None:
    if out is not None:
        text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        atomic.save(out / "suite.json", text.encode("utf-8"), overwrite=True)
