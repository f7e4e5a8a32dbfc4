"""Tables of the experiment with one graph for all items: set by set, and all sets beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.pairs import joint
from benchmarks.pairs.cases import Case
from benchmarks.pairs.cells import NONE, BySeed, Row, by_seed, cell, difference, failure, markdown, seconds
from benchmarks.suite.parts import OK

BEST, OTHERS, LEAD = "best single view", "best of the others", "lead of the common graph"
# What a user of the common graph gets: clusters that it chooses the reading of, beside clusters by the modes of others.
CHOSEN = "own clusters of the common graph"
_VIEW = joint.view_name("")
_OURS = (joint.MERGED, joint.SPREAD, joint.COMMON)
_FIGURES = (joint.WEIGHTS, *joint.MOVES, joint.AMI, joint.HEAT, joint.OWN)
_COMPARED = ("4 moves", "8 moves", joint.AMI, joint.HEAT)


def of_set(rows: Sequence[Row]) -> list[str]:
    """Every contestant on a set; in brackets how far it is from the best single view."""
    lines, figures = [], _measured(rows, _FIGURES)
    for name in [*_views(rows), BEST, *_joined(rows)]:
        cells = [_cell(rows, name, figure) for figure in figures]
        lines.append([name, *cells, NONE if name == BEST else seconds(rows, _contestant(name))])
    return [markdown(["method", *figures, "seconds"], lines)]


def summary(rows: Sequence[Row]) -> list[str]:
    """For each figure a table of all contestants and sets, with the lead of the common graph."""
    sets = list(dict.fromkeys(Case.named(row["problem"]).set for row in rows))
    found = []
    for figure in _measured(rows, _COMPARED):
        lines = [
            [name, *(_cell(_of_set(rows, one), name, figure) for one in sets)]
            for name in [BEST, *_joined(rows), *([CHOSEN] if figure == joint.AMI else []), OTHERS, LEAD]
        ]
        found += [f"{_title(figure)}, all sets:", markdown(["method", *sets], lines)]
    return found


def _measured(rows: Sequence[Row], figures: Sequence[str]) -> list[str]:
    """Those that anybody has."""
    names = {name.split("|")[1] for row in rows for name, value in row["figures"].items() if value is not None}
    return [figure for figure in figures if figure in names]


def _title(figure: str) -> str:
    return figure if figure in (joint.AMI, joint.HEAT) else f"mAP, {figure}"


def _of_set(rows: Sequence[Row], name: str) -> list[Row]:
    return [row for row in rows if Case.named(row["problem"]).set == name]


def _cell(rows: Sequence[Row], name: str, figure: str) -> str:
    if name == LEAD:
        ours = CHOSEN if figure == joint.AMI else joint.COMMON
        return difference(values(rows, ours, figure), values(rows, OTHERS, figure), 1)
    found = values(rows, name, figure)
    if not found:
        done = any(row["contestant"] == _contestant(name) and row["status"] == OK for row in rows)
        return NONE if done or name in (BEST, OTHERS) else failure(rows, _contestant(name))
    base = None if name in (BEST, OTHERS) or name.startswith(_VIEW) else values(rows, BEST, figure)
    return cell(found, 1, base)


def values(rows: Sequence[Row], name: str, figure: str) -> BySeed:
    """A figure of a row for every seed, in percent; of the best views and of the best others those of each seed."""
    if name == BEST:
        return _highest([values(rows, one, figure) for one in _views(rows)])
    if name == CHOSEN:
        return values(rows, joint.COMMON, joint.OWN)
    if name == OTHERS:
        names = [*_views(rows), *(one for one in _joined(rows) if one not in _OURS)]
        return _highest([values(rows, one, figure) for one in names])
    return by_seed(rows, _contestant(name), partial(_percent, joint.figure_name(name, figure)))


def _highest(found: Sequence[BySeed]) -> BySeed:
    seeds = dict.fromkeys(seed for one in found for seed in one)
    return {seed: max(one[seed] for one in found if seed in one) for seed in seeds}


def _percent(name: str, figures: Mapping[str, Any]) -> float | None:
    value = figures.get(name)
    return None if value is None else 100.0 * value


def _contestant(name: str) -> str:
    """Who returns a row."""
    if name.startswith(_VIEW):
        return joint.SINGLE
    return {joint.SPREAD: joint.MERGED, CHOSEN: joint.COMMON}.get(name, name)


def _views(rows: Sequence[Row]) -> list[str]:
    names = (name.split("|")[0] for row in rows for name in row["figures"])
    return [name for name in dict.fromkeys(names) if name.startswith(_VIEW)]


def _joined(rows: Sequence[Row]) -> list[str]:
    """The rows of those who took part, but for single views, in the order of the methods."""
    here = {row["contestant"] for row in rows}
    names = [name for name in joint.METHODS if name in here and name != joint.SINGLE]
    return [row for name in names for row in ((name, joint.SPREAD) if name == joint.MERGED else (name,))]
