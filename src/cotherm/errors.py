"""The project's exception family: every message says what was given, what is needed and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

# Characters that a terminal obeys instead of showing: control characters, marks of writing direction and other line
# ends; also lone surrogates, which stand for undecodable bytes of a file name and cannot be printed.
_OBEYED = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")


def visible(text: str) -> str:
    """Escape everything in a text that a terminal would obey, as repr does: names come from files and from others."""
    return _OBEYED.sub(lambda found: repr(found.group())[1:-1], text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines, keeping the line ends."""
    return "\n".join(map(visible, text.split("\n")))


def shortened(name: str, width: int) -> str:
    """Shorten a name to ``width`` characters: its beginning and its end, which tell names apart."""
    text = visible(name)
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[-end:]}"


class CothermError(ValueError):
    """Input that cannot be used.

    The message says what was given, what is needed and, where that is not obvious, what to do.

    Parameters
    ----------
    argument : str
        Name of the offending argument, file or field.
    given : str
        What was found there.
    needed : str
        What would have been accepted.
    advice : str, default ""
        What to do about it.

    Attributes
    ----------
    argument, given, needed, advice : str
        The same.

    See Also
    --------
    CothermWarning : Input that can be used, with a consequence.

    Examples
    --------
    >>> import cotherm as ct
    >>> try:
    ...     ct.Graph(2, [0], [1], [-1.0])
    ... except ct.CothermError as error:
    ...     print(error)
    w: -1.0 on edge 0 (0, 1); 1 negative weight(s); needed: weights >= 0.
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
        return visible(f"{message} {self.advice}" if self.advice else message)


@contextmanager
def known_as(inner: str, outer: str, advice: str = "") -> Iterator[None]:
    """Re-raise errors about the argument ``inner`` under the caller's name for it, with the caller's advice."""
    try:
        yield
    except CothermError as error:
        if error.argument != inner:
            raise
        more = f"{error.advice} {advice}".strip()
        raise CothermError(outer, error.given, error.needed, more) from None


class CothermWarning(UserWarning):
    """Input that can be used, but with a consequence that the caller should know.

    See Also
    --------
    CothermError : Input that cannot be used.

    Examples
    --------
    >>> import warnings
    >>> import cotherm as ct
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ct.CothermWarning)  # inside, warnings are errors
    """
