"""Numbers that overflow during a coupling become a clear error; a callback's own errors are left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph


class _CallbackError(Exception):
    """Carries an error of the caller's own function past ``refused_overflow``."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def outside_overflow(callback: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    """The caller's function, under the caller's own settings for overflow, its errors left alone."""
    if callback is None:
        return None
    settings: Any = np.geterr()

    def call(step: Any) -> Any:
        try:
            with np.errstate(**settings):
                return callback(step)
        except (FloatingPointError, np.linalg.LinAlgError) as error:
            raise _CallbackError(error) from error

    return call


@contextmanager
def refused_overflow(graphs: Sequence[Graph], times: Floats) -> Iterator[None]:
    """Refuse weights and times with which numbers overflow."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except _CallbackError as carried:
        raise carried.error from carried.error.__cause__
    except (FloatingPointError, np.linalg.LinAlgError):
        live = np.concatenate([g.w[g.w > 0.0] for g in graphs])
        raise CothermError(
            "graphs",
            f"weights from {live.min(initial=np.inf):.1e} to {live.max(initial=0.0):.1e} with times up to "
            f"{times.max():.1e}, at which numbers overflow",
            "weights and times of more ordinary sizes",
            "Set weights to zero that no heat crosses in any time of interest, or shorten times.",
        ) from None
