"""The pages are true: commands run as they are copied, figures are those they give, links lead somewhere."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from pathlib import Path

import pytest

from cotherm import cli

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_api_page_is_current() -> None:
    """Run docs/make_api.py where this fails."""
    module = runpy.run_path(str(ROOT / "docs" / "make_api.py"))
    assert module["render"]() == (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def commands(page: Path) -> list[list[str]]:
    """What the page tells to type, in its order."""
    text = page.read_text(encoding="utf-8")
    typed = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    typed += re.findall(r"\| `(cotherm [^`]+)` \|", text)
    return [shlex.split(line, comments=True)[1:] for line in typed if line.startswith("cotherm ")]


def test_quick_start_as_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = commands(ROOT / "docs" / "quick-start.md")
    assert len(typed) > 9
    for arguments in typed:
        cli.main(arguments)
    capsys.readouterr()
    cli.main(["retrieve", "coupled.npz", "--json"])
    rows = {row["row"]: row["mAP"][1] for row in json.loads(capsys.readouterr().out)["scores"]}
    for page in ("README.md", "docs/quick-start.md"):  # both print these figures
        printed = [float(word) for word in re.findall(r"\b\d\d\.\d\b", (ROOT / page).read_text(encoding="utf-8"))]
        assert all(min(abs(score - one) for one in printed) < 0.5 for score in rows.values()), (page, rows)
