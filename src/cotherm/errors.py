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
    code : str, default ""
        The kind of mistake, in words that stay the same when a message is reworded, such as "missing-value"; several
        are joined by "+". Programs decide by it, and the command line words its own advice by it.
    about : str, default ""
        The file or the title of a column that the advice is about.

    Attributes
    ----------
    argument, given, needed, advice, code, about : str
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
    w: -1.0 on edge 0 (0, 1) (1 such); needed: weights >= 0.
    """

    def __init__(
        self, argument: str, given: str, needed: str, advice: str = "", *, code: str = "", about: str = ""
    ) -> None:
        super().__init__(argument, given, needed, advice)  # these and the attributes survive pickling
        self.argument = argument
        self.given = given
        self.needed = needed
        self.advice = advice
        self.code = code
        self.about = about

    def __str__(self) -> str:
        message = f"{self.argument}: {self.given}; needed: {self.needed}."
        return visible(f"{message} {self.advice}" if self.advice else message)


def renamed(error: CothermError, argument: str, advice: str | None = None) -> CothermError:
    """The same error about ``argument``, perhaps with other advice."""
    advice = error.advice if advice is None else advice
    return CothermError(argument, error.given, error.needed, advice, code=error.code, about=error.about)


@contextmanager
def known_as(inner: str, outer: str, advice: str = "") -> Iterator[None]:
    """Re-raise errors about the argument ``inner`` under the caller's name for it, with the caller's advice."""
    try:
        yield
    except CothermError as error:
        if error.argument != inner:
            raise
        raise renamed(error, outer, f"{error.advice} {advice}".strip()) from None


@contextmanager
def within(place: object) -> Iterator[None]:
    """Re-raise errors with ``place``, such as the path of a file, before the argument, unless it is there already."""
    try:
        yield
    except CothermError as error:
        if error.argument.startswith(str(place)):
            raise
        raise renamed(error, f"{place}: {error.argument}") from None


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
