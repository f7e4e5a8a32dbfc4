"""How a search ended, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class HasStatus:
    """Result of a search, with a status.

    Attributes
    ----------
    status : str
        How the search ended, one of the keys of ``advice_by_status``.
    advice_by_status : dict of str to str
        What to do about each status.
    """

    status: str
    advice_by_status: ClassVar[Mapping[str, str]]

    @property
    def converged(self) -> bool:
        """Whether the search converged."""
        return self.status == "converged"

    @property
    def advice(self) -> str:
        """What to do about the status; empty if there is nothing to do."""
        return self.advice_by_status[self.status]


DESCENT = {
    "converged": "",
    "stalled": "No step lowers the cost by more than rounding, though the optimality is not reached.",
    "out of budget": "More steps may lower the cost a little: raise max_iterations.",
}
