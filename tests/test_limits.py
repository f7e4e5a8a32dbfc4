"""The sizes at which behavior changes, and the page that lists them."""

from __future__ import annotations

import re
from pathlib import Path

from cotherm import limits

PAGE = Path(__file__).parent.parent / "docs" / "limits.md"
SIZES = {name: value for name, value in vars(limits).items() if name.isupper()}


def numbers(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"\d+(?:,\d{3})*", text)]


def test_the_page_lists_every_size_with_its_value() -> None:
    rows = [line.split("|")[1:-1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    listed = {name.strip().strip("`"): (value, below) for name, value, _, below, _ in rows}
    assert len(rows) == len(listed)
    assert list(listed) == list(SIZES)
    for name, (value, below) in listed.items():
        size = SIZES[name]
        if isinstance(size, int):
            assert numbers(value) == [size], name
        else:  # pairs of a size and what is done up to it
            assert numbers(value) == [up_to for up_to, _ in size], name
            assert numbers(below) == [done for _, done in size], name


def test_every_size_is_used() -> None:
    package = Path(limits.__file__).parent
    source = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    for name in SIZES:
        assert f"limits.{name}" in source, name
