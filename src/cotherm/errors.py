"""The project's exception family: every message says what was given, what is needed and what to do."""

from __future__ import annotations


class CothermError(ValueError):
    """Input that cannot be used.

    Parameters
    ----------
    argument : the name of the offending argument, file or field, as the caller knows it.
    given : what was found there.
    needed : what would have been accepted.
    advice : what to do about it, where that is not obvious.
    """

    def __init__(self, argument: str, given: str, needed: str, advice: str = "") -> None:
        # All four go into args, so that the error survives pickling between processes.
        super().__init__(argument, given, needed, advice)
        self.argument = argument
        self.given = given
        self.needed = needed
        self.advice = advice

    def __str__(self) -> str:
        message = f"{self.argument}: {self.given}; needed: {self.needed}."
        return f"{message} {self.advice}" if self.advice else message


class CothermWarning(UserWarning):
    """Input that can be used, but with a consequence the caller should know of."""
