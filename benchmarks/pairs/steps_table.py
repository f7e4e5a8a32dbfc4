"""What each part of coupling by pairs adds: the steps of the retrieval beside each other, set by set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.pairs import retrieval
from benchmarks.pairs.cases import Case
from benchmarks.pairs.cells import NONE, BySeed, Row, cell, difference, markdown

ADDS = "what coupling adds"
Mean = Callable[[Sequence[Row], str, str], BySeed]  # rows, name of the row, moment: the mean over views


def steps(rows: Sequence[Row], moments: Sequence[str], mean: Mean) -> str:
    """A line for each set and moment; of the items that are paired, in the largest part of them."""
    lines = []
    for name in dict.fromkeys(Case.named(row["problem"]).set for row in rows):
        here = [row for row in rows if Case.named(row["problem"]).set == name]
        part = max(Case.named(row["problem"]).percent for row in here)
        here = [row for row in here if Case.named(row["problem"]).percent == part]
        for moment in moments:
            found = {step: mean(here, step, moment) for step in retrieval.STEPS}
            cells = [cell(values, 1) for values in found.values()]
            if any(text != NONE for text in cells):
                adds = difference(found[retrieval.COUPLED], found[retrieval.BORROWED], 1)
                after = retrieval.STEPS.index(retrieval.COUPLED) + 1
                lines.append([name, f"{part:g} %", moment, *cells[:after], adds, *cells[after:]])
    after = retrieval.STEPS.index(retrieval.COUPLED) + 1
    titles = [*retrieval.STEPS[:after], ADDS, *retrieval.STEPS[after:]]
    return markdown(["set", "paired", "", *titles], lines) if lines else ""
