"""From rows of a run to cells of a table: mean ± standard deviation over seeds, gains, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.pairs.cases import Case
from benchmarks.suite.parts import OK, OUT_OF_TIME

Row = dict[str, Any]
BySeed = dict[int, float]
NONE = "–"


def chosen(rows: Iterable[Row], family: str, name: str, percent: float | None = None) -> list[Row]:
    """The rows of an experiment on a set, and with a part of the items."""
    found = []
    for row in rows:
        case = Case.named(row["problem"])
        if row["family"] == family and case.set == name and percent in (None, case.percent):
            found.append(row)
    return found


def percents(rows: Iterable[Row]) -> list[float]:
    return list(dict.fromkeys(Case.named(row["problem"]).percent for row in rows))


def by_seed(rows: Iterable[Row], contestant: str, figure: Callable[[Mapping[str, Any]], float | None]) -> BySeed:
    """A figure of a contestant for every seed with which it was measured."""
    found: BySeed = {}
    for row in rows:
        if row["contestant"] == contestant and row["status"] == OK:
            value = figure(row["figures"])
            if value is not None:
                found[Case.named(row["problem"]).seed] = value
    return found


def cell(values: BySeed, digits: int, base: BySeed | None = None) -> str:
    """Mean ± standard deviation, and in brackets the mean gain over a base, seed by seed.

    A base that has no seeds but one is that of all.
    """
    if not values:
        return NONE
    numbers = np.array(list(values.values()))
    text = f"{numbers.mean():.{digits}f}"
    if len(numbers) > 1:
        text += f" ± {numbers.std(ddof=1):.{digits}f}"
    gains = [] if not base else [value - base.get(seed, np.nan) for seed, value in values.items()]
    if base and len(base) == 1:
        gains = list(numbers - next(iter(base.values())))
    known = [gain for gain in gains if np.isfinite(gain)]
    return f"{text} ({np.mean(known):+.{digits}f})" if known else text


def difference(values: BySeed, base: BySeed, digits: int) -> str:
    """The mean of what a figure is above another, seed by seed, ± standard deviation; a dash without seeds of both."""
    found = np.array([value - base[seed] for seed, value in values.items() if seed in base])
    if not len(found):
        return NONE
    return f"{found.mean():+.{digits}f}" + (f" ± {found.std(ddof=1):.{digits}f}" if len(found) > 1 else "")


def failure(rows: Sequence[Row], contestant: str) -> str:
    """The status of a contestant that has no figure; a dash where it does not take part."""
    statuses = [row["status"] for row in rows if row["contestant"] == contestant]
    return statuses[0] if statuses else NONE


def failures(rows: Iterable[Row]) -> list[str]:
    """A line for each kind of row without a result, with the reason and how often."""
    counted: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        if row["status"] != OK:
            limit = f" ({row['limit_seconds']:g} s)" if row["status"] == OUT_OF_TIME and row["limit_seconds"] else ""
            why = row["status"] + limit + (f": {row['reason']}" if row["reason"] else "")
            counted.setdefault((row["contestant"], row["family"], why), []).append(Case.named(row["problem"]).percent)
    lines = []
    for (contestant, _, why), where in counted.items():
        parts = ", ".join(f"{percent:g} %" for percent in dict.fromkeys(where))
        lines.append(f"- {contestant}, {parts}, {len(where)} {'run' if len(where) == 1 else 'runs'}: {why}")
    return lines


def seconds(rows: Iterable[Row], contestant: str) -> str:
    found = [row["seconds"] for row in rows if row["contestant"] == contestant and row["seconds"] is not None]
    if not found:
        return NONE
    mean = float(np.mean(found))
    return "< 0.01" if mean < 0.01 else f"{mean:.2f}" if mean < 10.0 else f"{mean:.0f}"


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table, without the columns in which nobody has anything."""
    body = [list(line) for line in lines]
    kept = [c for c in range(len(header)) if any(line[c] != NONE for line in body)]
    rows = [[row[c] for c in kept] for row in (list(header), ["---"] * len(header), *body)]
    return "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows)
