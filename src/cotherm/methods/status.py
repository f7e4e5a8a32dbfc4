"""How a search ended, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class HasStatus:
    """An answer with a ``status``, one of the keys of ``advice_by_status``."""

    status: str
    advice_by_status: ClassVar[Mapping[str, str]]

    @property
    def converged(self) -> bool:
        """Whether the search came to its end."""
        return self.status == "converged"

    @property
    def advice(self) -> str:
        """What to do about the status; empty where there is nothing to do."""
        return self.advice_by_status[self.status]


DESCENT = {
    "converged": "",
    "stalled": "No step lowers the cost by more than rounding, though the optimality is not reached.",
    "out of budget": "More steps may lower the cost a little: raise max_iterations.",
}
