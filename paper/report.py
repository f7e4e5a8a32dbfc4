"""What every experiment hands in: tables beside the paper's figures, claims that hold or do not, pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # cotherm.draw imports matplotlib, first
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Claim:
    """Something that must hold for the experiment to count as reproduced."""

    text: str
    measured: float
    sign: str
    limit: float

    @property
    def holds(self) -> bool:
        return self.measured <= self.limit if self.sign == "<=" else self.measured >= self.limit

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return f"{self.text}: {self.measured:.4g}, needed {self.sign} {self.limit:g}: {verdict}"


@dataclass(frozen=True)
class Table:
    """Rows of cells; numbers are printed as they come."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    shareable: bool = True  # whether it shows no row of data that is not ours to give away

    def text(self) -> str:
        """For a terminal: columns side by side."""
        cells = [list(map(str, row)) for row in (self.header, *self.rows)]
        widths = [max(len(row[c]) for row in cells) for c in range(len(self.header))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        return "\n".join([self.title, *(f"  {line}" for line in lines)])

    def markdown(self) -> str:
        """For a page."""
        rows = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join([f"**{self.title}**", "", *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


@dataclass(frozen=True)
class Picture:
    """A figure made when it is wanted. ``shareable`` is one that shows no row of data that is not ours to give away."""

    name: str
    caption: str
    make: Callable[[], Figure]
    shareable: bool = True


@dataclass(frozen=True)
class Experiment:
    """One experiment, run and judged."""

    name: str
    title: str
    about: str
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    pictures: Sequence[Picture] = ()
    notes: Sequence[str] = ()
    seconds: float = field(default=0.0)

    @property
    def holds(self) -> bool:
        """Whether every claim does."""
        return all(claim.holds for claim in self.claims)

    def text(self) -> str:
        """For a terminal."""
        parts = [f"{self.title} ({self.seconds:.0f} s)", self.about, *(table.text() for table in self.tables)]
        return "\n\n".join([*parts, "\n".join(map(str, self.claims)), *self.notes])

    def figures(self) -> dict[str, Any]:
        """Everything but the pictures, for machines; times aside, the same twice."""
        return {
            "experiment": self.name,
            "tables": [
                {"title": t.title, "header": list(t.header), "rows": [list(r) for r in t.rows]} for t in self.tables
            ],
            "claims": [
                {"claim": c.text, "measured": c.measured, "needed": f"{c.sign} {c.limit:g}", "holds": c.holds}
                for c in self.claims
            ],
            "notes": list(self.notes),
            "holds": self.holds,
        }
