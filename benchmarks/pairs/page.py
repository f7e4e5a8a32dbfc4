"""The report as a Markdown page: all experiments, set by set, and what sets are compared by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.pairs import joint, joint_tables, missing, retrieval
from benchmarks.pairs.cases import Case
from benchmarks.pairs.cells import (
    NONE,
    BySeed,
    Row,
    by_seed,
    cell,
    chosen,
    failure,
    failures,
    markdown,
    percents,
    seconds,
)
from benchmarks.pairs.steps_table import steps

# The part of docs/results.md that holds these tables; `python -m paper` leaves it as it is.
SECTION = "## Coupling by pairs"
_BEST = "best single view"
_WHO = {"paired": "paired items", "unpaired": "items without a partner"}
_HEAD = """# Coupling by pairs

Written by `{command}`. No method sees a label; labels only judge.

{versions}.

Cells are mean ± standard deviation over seeds. Cells without ± do not depend on the seed or are of one seed."""
_RETRIEVAL = """**Retrieval.** Views of the same items, of which a part is paired, at random. Of the others it is not
known which vertex of another view is the same. Mean average precision of diffusion distances in percent, leave-one-out,
in each view; in brackets the gain over the views as given. m moves: t = m / median degree of the graph as given.
Methods that normalize graphs get the time in which heat makes as many moves. The *best single view* is chosen by the
labels, which nobody could do. With all items paired the *paired average* is the average. The first rows are steps of
the same method: *second neighbors, equal degrees* are what every view gets without the others, *borrowed* has weight
from the others, too, *coupled without borrowing* has neither, and *coupled* is all of it. *Merged, not coupled* is the
common graph of the views as given, *merged, second neighbors* the same with those that the *common graph* of coupled
views has; before it stands that of views that have borrowed and are not coupled, then the common graph with *equal view
weights*, which is the same where there are two views, and with *plain distances*, which do not go view by view where
items are missing from some."""
_STEPS = "What each part adds, mean of the views and paired items; *what coupling adds* is coupled minus borrowed:"
_MISSING = """**Missing views.** Every item is in all views or in just one. Clusters of all items, as many as there are
classes; items in random order. Other libraries get the rows that our graphs are made of, or these *standardized*, with
columns of mean 0 and deviation 1, or *unit rows*, scaled to unit length in all views, or the rows *as published*; the
last two where they are not the same as ours. A dash: the method needs all items in all views. Graphs have ten
neighbors, those of NUS, too: the paper's 24, which retrieval uses, are too many for a view that has lost half of its
rows. Sets whose items are really missing from views have one column."""
_JOINT = """**One graph for all items.** All items are in all views, in random order, and every method makes one graph.
Mean average precision of diffusion distances after some moves along the edges of this graph, and adjusted mutual
information (AMI) of clusters by its modes, as many as there are classes; both in percent. *By weight* ranks items by
the weights themselves, which suits dense affinities. *By heat* are clusters by where heat goes. *Own clusters* are
those that a method has itself. In brackets: above or below the best single view, which is chosen by the labels. In sets
with *+permuted* the rows of the last view are those of other items. The *best of the others* is of single views and of
all methods but the last three; it is chosen by the labels, figure by figure. For AMI its lead is that of the *own
clusters*, which `common.clusters(k)` gives."""


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    return page(report)


def page(report: dict[str, Any]) -> str:
    return _written(report, _HEAD, "##", _retrieval)


def section(report: dict[str, Any]) -> str:
    """The same for a page of several results: of retrieval the mean of the views alone, and no times."""
    options = report["options"] | {"place": "--into docs/results.md"}
    report = report | {"rows": [row | {"seconds": None} for row in report["rows"]], "options": options}
    return _written(report, _HEAD.replace("# Coupling by pairs", SECTION), "###", lambda rows: _retrieval(rows)[1:2])


def _written(report: dict[str, Any], head: str, level: str, of_retrieval: Callable[[Sequence[Row]], list[str]]) -> str:
    parts = [head.format(command=_command(report["options"]), versions=_versions(report["versions"]))]
    for family, text, compared, tables in (
        (retrieval.NAME, _RETRIEVAL, _steps, of_retrieval),
        (missing.NAME, _MISSING, lambda _: [], _missing),
        (joint.NAME, _JOINT, joint_tables.summary, joint_tables.of_set),
    ):
        here = [row for row in report["rows"] if row["family"] == family]
        if here:
            parts += [text, *compared(here)]
        for name in dict.fromkeys(Case.named(row["problem"]).set for row in here):
            parts += _of_set(chosen(here, family, name), f"{level} {name}: {family}", tables)
    return "\n\n".join(parts) + "\n"


def _of_set(rows: Sequence[Row], title: str, tables: Callable[[Sequence[Row]], list[str]]) -> list[str]:
    seeds = len({Case.named(row["problem"]).seed for row in rows})
    lines = failures(rows)
    without = ["\n".join(["Without a result:", "", *lines])] if lines else []
    return [f"{title}, {seeds} seed{'s' * (seeds != 1)}", *tables(rows), *without]


def _command(options: dict[str, Any]) -> str:
    words = ["python -m benchmarks pairs"]
    words += ["--quick"] if options["quick"] else []
    for name in ("sets", "parts", "methods", "experiments"):
        if options[name] is not None:
            given = [one if isinstance(one, str) else f"{one:g}" for one in options[name]]
            text = (";" if name == "methods" else ",").join(given)
            words.append(f'--{name} "{text}"' if " " in text or ";" in text else f"--{name} {text}")
    words += [f"--{name} {options[name]:g}" for name in ("seeds", "seconds") if options[name] is not None]
    return " ".join([*words, "--data DIR", options.get("place", "--out FILE.md")])


def _versions(versions: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {version or 'not installed'}" for name, version in versions.items())


def _missing(rows: Sequence[Row]) -> list[str]:
    parts = percents(rows)
    header = ["method", *(f"{name}, {part:g} %" for name in ("AMI", "accuracy") for part in parts), "seconds"]
    lines = []
    for method in dict.fromkeys(row["contestant"] for row in rows):
        line = [method]
        for name in ("AMI", "accuracy"):
            for part in parts:
                here = _of_part(rows, part)
                text = cell(by_seed(here, method, partial(_figure, name)), 3)
                line.append(failure(here, method) if text == NONE else text)
        lines.append([*line, seconds(rows, method)])
    return [markdown(header, lines)]


def _figure(name: str, figures: Mapping[str, Any]) -> float | None:
    return figures.get(name)


def _of_part(rows: Sequence[Row], percent: float) -> list[Row]:
    return [row for row in rows if Case.named(row["problem"]).percent == percent]


def _steps(rows: Sequence[Row]) -> list[str]:
    """The steps of the method beside each other, after more than one move."""

    def mean(here: Sequence[Row], name: str, moment: str) -> BySeed:
        return by_seed(here, retrieval.CONTESTANTS[name], _mean(name, (_named(here, 1), moment, "paired")))

    moments = [moment for moment in _named(rows, 2) if moment != "1 move"]
    found = steps(rows, moments, mean)
    return [_STEPS, found] if found else []


def _retrieval(rows: Sequence[Row]) -> list[str]:
    """The mean of the views at all moments, then view by view."""
    views, moments = _named(rows, 1), _named(rows, 2)
    if not views:
        return []
    columns = {f"{moment}, {_WHO[who]}": (views, moment, who) for moment in moments for who in _WHO}
    found = ["Mean of the views:", _table(rows, columns)]
    for moment in moments:
        for who, words in _WHO.items():
            single: dict[str, _Column] = {view: ([view], moment, who) for view in views}
            if _measured(rows, who):
                found += [f"{words[0].upper()}{words[1:]}, {moment}:", _table(rows, single)]
    return found


_Column = tuple[list[str], str, str]  # views, moment, who


def _table(rows: Sequence[Row], columns: dict[str, _Column]) -> str:
    shown = {title: column for title, column in columns.items() if _measured(rows, column[2])}
    lines = []
    for part in percents(rows):
        here = _of_part(rows, part)
        for name, contestant in retrieval.CONTESTANTS.items():
            cells = [_cell(here, contestant, name, column) for column in shown.values()]
            if any(text != NONE for text in cells):
                lines.append([f"{part:g} %", name, *cells, seconds(here, contestant)])
            if name == retrieval.GIVEN and part == 100.0:
                cells = [_best(rows, here, column) for column in shown.values()]
                if any(text != NONE for text in cells):
                    lines.append([f"{part:g} %", _BEST, *cells, NONE])
    return markdown(["paired", "method", *shown, "seconds"], lines)


def _cell(rows: Sequence[Row], contestant: str, name: str, column: _Column) -> str:
    values = by_seed(rows, contestant, _mean(name, column))
    if not values:
        done = by_seed(rows, contestant, lambda _: 1.0)
        return NONE if done else failure(rows, contestant)
    base = None if name == retrieval.GIVEN else by_seed(rows, retrieval.GIVEN, _mean(retrieval.GIVEN, column))
    return cell(values, 1, base)


def _best(rows: Sequence[Row], here: Sequence[Row], column: _Column) -> str:
    """The highest of all views as given."""
    _, moment, who = column
    base = by_seed(here, retrieval.GIVEN, _mean(retrieval.GIVEN, column))
    each = [by_seed(here, retrieval.GIVEN, _mean(retrieval.GIVEN, ([view], moment, who))) for view in _named(rows, 1)]
    best: BySeed = {seed: max(one[seed] for one in each) for seed in base}
    return cell(best, 1, base)


def _mean(name: str, column: _Column) -> Callable[[Mapping[str, Any]], float | None]:
    """Of some views, in percent."""
    views, moment, who = column

    def of(figures: Mapping[str, Any]) -> float | None:
        found = [figures.get(retrieval.figure_name(name, view, moment, who)) for view in views]
        known = [value for value in found if value is not None]
        return 100.0 * float(np.mean(known)) if known else None

    return of


def _named(rows: Sequence[Row], place: int) -> list[str]:
    """The views (1) or moments (2) that figures are named by."""
    return list(dict.fromkeys(name.split("|")[place] for row in rows for name in row["figures"]))


def _measured(rows: Sequence[Row], who: str) -> bool:
    return any(value is not None for row in rows for name, value in row["figures"].items() if name.endswith(f"|{who}"))
