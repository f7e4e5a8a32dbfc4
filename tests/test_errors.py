"""Messages show what a terminal would obey."""

from __future__ import annotations

import pickle

import pytest

from cotherm.errors import CothermError, known_as, visible, visible_lines, within


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é ✓ 漢字 👩‍🔬 \\n", "plain é ✓ 漢字 👩‍🔬 \\n"),
        ("\x1b[2J\x07\x00\x7f", r"\x1b[2J\x07\x00\x7f"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\u202eabc\u2066\u200f\u2028", r"\u202eabc\u2066\u200f\u2028"),
        ("\udcff\ud800", r"\udcff\ud800"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown  # nothing is written out twice


def test_lines_stay_lines() -> None:
    assert visible_lines("a\x1b\nb\r\n") == "a\\x1b\nb\\r\n"


def test_errors_are_one_visible_line() -> None:
    error = CothermError("a\x1b", "b\nc", "d\u202e", "e\udcff")
    assert str(error) == r"a\x1b: b\nc; needed: d\u202e. e\udcff"
    assert (error.argument, error.given) == ("a\x1b", "b\nc")  # the parts stay as they are
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_code_stays_with_an_error_that_is_renamed() -> None:
    with pytest.raises(CothermError) as caught, within("table.csv"), known_as("w", "--weights", "Ask."):
        raise CothermError("w", "-1", "a weight", "Mend it.", code="negative", about="w")
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.code, error.about, error.argument) == ("negative", "w", "table.csv: --weights")
    assert error.advice == "Mend it. Ask."
