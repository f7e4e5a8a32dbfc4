"""Advice of the command line: every code that it words is that of some error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cotherm as ct
from cotherm import CothermError
from cotherm.cli import advice
from cotherm.cli.advice import as_options, in_options


def test_every_code_is_raised_somewhere() -> None:
    text = "".join(path.read_text() for path in (Path(ct.__file__).parent / "io").glob("*.py"))
    raised = {code for found in re.findall(r'"([a-z][a-z+-]*)"', text) for code in found.split("+")}
    raised |= {code for found in re.findall(r"\+(perhaps-titles)", text) for code in [found]}
    assert advice._ANY.keys() | advice._OTHERS.keys() | advice._POINTS.keys() <= raised
    assert advice._OTHERS.keys() <= advice._POINTS.keys()


def test_advice_is_worded_by_code() -> None:
    with pytest.raises(CothermError) as caught, in_options(points=True):
        raise CothermError("t.csv", "x", "y", "header=True", code="missing-value+perhaps-titles", about="t.csv")
    assert caught.value.advice.startswith("--missing drop leaves out such rows")
    assert caught.value.advice.endswith("If the first row holds titles: --header t.csv.")
    with pytest.raises(CothermError, match="--other: x"), as_options("max_seconds", k="--other"):
        raise CothermError("k", "x", "y", "As it is.")
    with pytest.raises(CothermError, match="--max-seconds"), as_options("max_seconds", k="--other"):
        raise CothermError("max_seconds", "x", "y")
