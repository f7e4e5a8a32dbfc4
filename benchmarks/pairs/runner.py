"""All experiments on all sets: every contestant on every case in a process of its own, with limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.pairs import joint, missing, retrieval
from benchmarks.pairs.cases import Case
from benchmarks.pairs.keep import Kept
from benchmarks.pairs.page import SECTION, page, section
from benchmarks.pairs.sets import NAMES, QUICK, source
from benchmarks.suite import machine
from benchmarks.suite.judge import judged
from benchmarks.suite.parts import NO_DATA, OUT_OF_MEMORY, OUT_OF_TIME, SKIPPED, Contestant, Data, Limits, Row
from cotherm import validation
from cotherm.errors import CothermError
from cotherm.io import atomic
from paper.data.directory import locate

EXPERIMENTS: dict[str, ModuleType] = {kind.NAME: kind for kind in (retrieval, missing, joint)}
_QUICK_PARTS = (100.0, 50.0)
_SHARE = 0.75
_PACKAGES = ("cotherm", "imml", "mofapy2", "muon", "umap-learn", "snfpy", "integrao", "scikit-learn", "numpy", "scipy")


@dataclass(frozen=True)
class Entry:
    """One contestant on one case of an experiment."""

    experiment: str
    case: Case
    contestant: str


def run(
    *,
    quick: bool = False,
    sets: Sequence[str] | None = None,
    seeds: int | None = None,
    parts: Sequence[float] | None = None,
    methods: Sequence[str] | None = None,
    experiments: Sequence[str] | None = None,
    data: Data = None,
    out: str | os.PathLike[str] | None = None,
    into: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
    memory: float | None = None,
    log: Callable[[str], Any] = lambda _: None,
) -> dict[str, Any]:
    """Run all experiments; the report holds a row for every contestant on every case.

    Parameters
    ----------
    quick : two seeds of a small planted set, unless others are asked for.
    sets : some of those of ``sets.NAMES``, which is the default, "mop", or "planted-N"; with "-N" a sample of so many
        items, with "+permuted" the rows of the last view are those of other items.
    seeds : how many, 10 by default.
    parts : percent of the items that are paired; by default 100, 75, 50, 25, 10. Items in all views: those of 100, 50
        and 30 in the second experiment, unless parts are given. The third has all.
    methods : names of contestants; all by default.
    experiments : some of "retrieval", "missing" and "joint"; all by default.
    data : the directory with the real data; else the environment variable COTHERM_DATA; sets that are not there get
        rows that say so.
    out : a Markdown file for the tables.
    into : a Markdown page whose section on coupling by pairs is written anew, such as docs/results.md.
    keep : a file of JSON lines, to which rows are added as they come and from which a run goes on; by default
        pairs.jsonl beside ``out``.
    seconds : the limit of every contestant on every case; by default ten minutes, and an hour on digits.
    memory : the limit of each contestant's process in bytes; by default three quarters of the machine's.
    log : called with a line for every row as it is done.
    """
    entries = list(_entries(quick, sets, seeds, parts, methods, experiments))
    place = None if out is None else _markdown(out)
    other = None if into is None else _markdown(into)
    kept = Kept(_keep_file(keep, place))
    limits = Limits(
        0.0 if seconds is None else validation.real("seconds", seconds, positive=True),
        _SHARE * machine.memory() if memory is None else validation.real("memory", memory, positive=True),
    )
    rows: list[dict[str, Any]] = []
    for done, entry in enumerate(entries, start=1):
        row = kept.get((entry.experiment, entry.case.name, entry.contestant))
        if row is None:
            row = _row(entry, rows, limits, data).as_json()
            kept.add(row)
            log(f"{done}/{len(entries)} {_line(row)}")
        rows.append(row)
    options = {
        "quick": quick,
        "sets": sets,
        "seeds": seeds,
        "parts": parts,
        "methods": methods,
        "experiments": experiments,
        "seconds": seconds,
    }
    report = {"benchmark": "pairs", "options": options, "versions": _versions(), "rows": rows}
    if place is not None:
        atomic.save(place, page(report).encode("utf-8"), overwrite=True)
    if other is not None:
        before = other.read_text(encoding="utf-8").partition(SECTION)[0] if other.exists() else ""
        atomic.save(other, (before + section(report)).encode("utf-8"), overwrite=True)
    return report


def _entries(
    quick: bool,
    sets: Sequence[str] | None,
    seeds: int | None,
    parts: Sequence[float] | None,
    methods: Sequence[str] | None,
    experiments: Sequence[str] | None,
) -> Iterator[Entry]:
    """In the order in which they are run: a seed of everything before the next, so that a stopped run is of use."""
    chosen = [source(name).name for name in (sets or (QUICK if quick else NAMES))]
    count = validation.integer("seeds", (2 if quick else 10) if seeds is None else seeds, least=1)
    wanted = _methods(methods)
    for name in chosen:
        for experiment in experiments or EXPERIMENTS:
            kind = EXPERIMENTS[validation.choice("experiments", experiment, EXPERIMENTS)]
            percents = _percents(parts, quick, kind, source(name).in_all)
            for seed in range(count):
                for percent in percents:
                    case = Case(name, percent, seed)
                    yield from (
                        Entry(experiment, case, method)
                        for method in kind.METHODS
                        if method in wanted and kind.takes_part(method, case)
                    )


def _percents(parts: Sequence[float] | None, quick: bool, kind: ModuleType, in_all: float | None) -> Sequence[float]:
    """Those of an experiment; where items are really missing from views, only the experiment that is about it."""
    for percent in parts or ():
        if not 0.0 < percent <= 100.0:
            raise CothermError("parts", f"{percent:g}", "percent of the items, above 0 and at most 100")
    if in_all is not None:
        return (in_all,) if kind is missing else ()
    if kind is joint:
        return joint.PARTS
    return parts or (_QUICK_PARTS if quick else kind.PARTS)


def _methods(methods: Sequence[str] | None) -> set[str]:
    known = [name for kind in EXPERIMENTS.values() for name in kind.METHODS]
    for name in methods or ():
        if name not in known:
            raise CothermError("methods", repr(name), f"some of {'; '.join(dict.fromkeys(known))}")
    return set(methods or known)


def _row(entry: Entry, before: Sequence[dict[str, Any]], limits: Limits, data: Data) -> Row:
    """A row, also for what cannot be run."""
    kind = EXPERIMENTS[entry.experiment]
    problem = kind.named(entry.case.name)
    contestant: Contestant = next(one for one in kind.FAMILY.contestants if one.name == entry.contestant)
    earlier = _exceeded(entry, before)
    if earlier is not None:
        reason = f"{earlier['status']} with seed {Case.named(earlier['problem']).seed}"
        return Row.of(kind.FAMILY, problem, contestant, SKIPPED, reason=reason)
    if problem.file is not None:
        try:
            locate(problem.file, data)
        except CothermError:
            return Row.of(kind.FAMILY, problem, contestant, NO_DATA, reason=problem.file)
    own = Limits(limits.seconds or problem.seconds, limits.memory)
    return judged(kind.__name__, kind.FAMILY, problem, contestant, own, quick=False, data=data)


def _exceeded(entry: Entry, before: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """An earlier seed of the same with which a limit was exceeded: others would only wait for the same."""
    for row in before:
        same = (row["family"], row["contestant"]) == (entry.experiment, entry.contestant)
        if same and row["status"] in (OUT_OF_TIME, OUT_OF_MEMORY):
            case = Case.named(row["problem"])
            if (case.set, case.percent) == (entry.case.set, entry.case.percent):
                return row
    return None


def _line(row: dict[str, Any]) -> str:
    status = f"{row['status']}: {row['reason']}" if row["reason"] else row["status"]
    taken = "" if row["seconds"] is None else f", {row['seconds']:.3g} s"
    return f"{row['family']}: {row['problem']}: {row['contestant']}: {status}{taken}"


def _markdown(out: str | os.PathLike[str]) -> Path:
    place = atomic.as_path(out)
    if place.suffix.lower() != ".md" or place.is_dir():
        raise CothermError("out", str(place), "the name of a Markdown file, *.md")
    place.parent.mkdir(parents=True, exist_ok=True)
    atomic.require_writable(place.parent)
    return place


def _keep_file(keep: str | os.PathLike[str] | None, place: Path | None) -> Path | None:
    if keep is not None:
        return atomic.as_path(keep)
    return None if place is None else place.parent / "pairs.jsonl"


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found
