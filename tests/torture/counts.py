"""What is counted, and what counts as a fault."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Of one part. A loss is a result or a file that is gone, half written or other than it should be."""

    cases: int = 0
    faults: int = 0  # injected
    losses: int = 0
    hangs: int = 0
    tracebacks: int = 0  # foreign ones
    misreadings: int = 0  # silent ones
    notes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)  # what the four in the middle were
    seconds: float = 0.0

    @property
    def failures(self) -> int:
        return self.losses + self.hangs + self.tracebacks + self.misreadings

    def lose(self, what: str) -> None:
        self.losses += 1
        self.wrong.append(f"loss: {what}")

    def hang(self, what: str) -> None:
        self.hangs += 1
        self.wrong.append(f"hang: {what}")

    def misread(self, what: str) -> None:
        self.misreadings += 1
        self.wrong.append(f"misread: {what}")

    def judge_words(self, err: str, what: str) -> None:
        """A program that ends early says why in a line of its own, never in a traceback."""
        if "Traceback" in err:
            self.tracebacks += 1
            self.wrong.append(f"traceback: {what}: {err.strip().splitlines()[-1]}")


Part = Callable[[Counts, bool, int], None]


def counted(part: Part, short: bool, seed: int) -> Counts:
    """Run a part; an error of its own is a loss, so that no part can pass by failing."""
    counts, began = Counts(), time.perf_counter()
    try:
        part(counts, short, seed)
    except Exception as error:
        counts.lose(f"the part itself failed: {type(error).__name__}: {error}")
    counts.seconds = time.perf_counter() - began
    return counts
