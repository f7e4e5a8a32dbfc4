"""The pages are true: commands run as they are copied, figures are those they give, links lead somewhere."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import cotherm as ct
from cotherm import cli, engines

ROOT = Path(__file__).parent.parent
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *REFERENCE])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            linked = page.parent / target if target else page
            assert anchor in anchors(linked), (target, anchor)


def anchors(page: Path) -> list[str]:
    """Anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_every_public_name_has_a_page_in_the_reference() -> None:
    """Add a new name to a table in docs/reference/ where this fails."""
    public = {f"cotherm.{name}" for name in ct.__all__ if not isinstance(getattr(ct, name), ModuleType)}
    for module in (ct.datasets, ct.draw, ct.evaluate, ct.interop, ct.io, engines):
        public |= {f"{module.__name__}.{name}" for name in module.__all__}
    listed = [name for page in REFERENCE for name in listed_names(page)]
    assert sorted(listed) == sorted(public)


def listed_names(page: Path) -> list[str]:
    """Full names in the tables of a page of the reference."""
    table = re.compile(r"\.\. currentmodule:: (\S+)\n\n\.\. autosummary::\n(?:   :.*\n)+\n((?:   \w+\n)+)")
    found = table.findall(page.read_text(encoding="utf-8"))
    return [f"{module}.{name}" for module, names in found for name in names.split()]


def commands(page: Path) -> list[list[str]]:
    """What the page tells to type, in its order."""
    text = page.read_text(encoding="utf-8")
    typed = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    typed += re.findall(r"\| `(cotherm [^`]+)` \|", text)
    return [shlex.split(line, comments=True)[1:] for line in typed if line.startswith("cotherm ")]


def cost_printed(text: str) -> float:
    return float(re.findall(r"^  cost ([0-9.]+) =", text, re.MULTILINE)[0])


def assert_python_prints_the_same_cost(cost: float, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the commands, of "The same in Python" and of the page itself."""
    text = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"## The same in Python\n\n```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    assert cost_printed(capsys.readouterr().out) == cost
    assert names["result"].cost == pytest.approx(ct.Coupling.load("coupled.npz").cost, rel=1e-9)
    assert cost_printed(text) == pytest.approx(cost, rel=1e-3)


def test_quick_start_as_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = commands(ROOT / "docs" / "quick-start.md")
    assert len(typed) > 9
    for arguments in typed:
        cli.main(arguments)
    by_commands = cost_printed(capsys.readouterr().out)
    assert_python_prints_the_same_cost(by_commands, capsys)
    cli.main(["retrieve", "coupled.npz", "--json"])
    rows = {row["row"]: row["mAP"][1] for row in json.loads(capsys.readouterr().out)["scores"]}
    for page in ("README.md", "docs/quick-start.md"):  # both print these figures
        printed = [float(word) for word in re.findall(r"\b\d\d\.\d\b", (ROOT / page).read_text(encoding="utf-8"))]
        assert all(min(abs(score - one) for one in printed) < 0.5 for score in rows.values()), (page, rows)
