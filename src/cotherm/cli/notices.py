"""Messages during a run: how files were read, before the work begins, and which results are unfinished."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cotherm.errors import visible
from cotherm.methods.coupling.result import Coupling

# The statuses of couplings that were stopped from outside.
_STOPPED = ("interrupted", "time limit")


def announce(lines: Iterable[str], *, as_json: bool) -> None:
    """Print how a file was read as soon as it is known, since work may be long; with --json the report has it."""
    if as_json:
        return
    for line in lines:
        print(visible(line))
    with suppress(OSError):  # printed at the end, when the result is safe
        sys.stdout.flush()


def tell_unfinished(place: Path, result: Coupling) -> None:
    """Print one line on standard error if a coupling was stopped."""
    if result.status in _STOPPED:
        tell(f"note: {place}: status {result.status}. {result.advice}")


def tell(message: str) -> None:
    """Print one line on standard error; failures to write it are ignored."""
    with suppress(OSError, ValueError):
        print(f"cotherm: {visible(message)}", file=sys.stderr, flush=True)
