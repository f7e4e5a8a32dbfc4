"""The pages are true: commands run as they are copied, figures are those they give, links lead somewhere."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm import cli, engines, limits
from cotherm.viewer.blocks import LONGEST_NAME
from cotherm.viewer.heat import LEVELS

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
    for module in (ct.datasets, ct.draw, ct.evaluate, ct.interop, ct.io, ct.viewer, engines):
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
    cli.main(["common", "judged.npz", "--clusters", "7", "--out", "again.csv", "--json"])
    rows = {row["row"]: row["mAP"] for row in json.loads(capsys.readouterr().out)["scores"]}
    for page in ("README.md", "docs/quick-start.md"):  # both print these figures
        printed = [float(word) for word in re.findall(r"\b\d\d\.\d\b", (ROOT / page).read_text(encoding="utf-8"))]
        assert all(min(abs(score - one) for one in printed) < 0.5 for score in rows.values()), (page, rows)


def write_cohorts(folder: Path) -> None:
    """Tables like those of the page: patients of five groups, each in one, two or three panels."""
    rng = np.random.default_rng(0)
    group = np.arange(100) % 5
    for first, (panel, columns) in enumerate({"blood": 4, "proteins": 9, "survey": 3}.items()):
        rows = rng.permutation(np.flatnonzero(np.arange(100) // 5 % 4 != first))
        X = 3.0 * rng.standard_normal((5, columns))[group[rows]] + rng.standard_normal((len(rows), columns))
        lines = [",".join([f"P{row}", *map(str, x)]) for row, x in zip(rows, X, strict=True)]
        titles = ",".join(["id", *(f"{panel} {c}" for c in range(columns))])
        (folder / f"{panel}.csv").write_text("\n".join([titles, *lines]) + "\n", encoding="utf-8")
    lines = [f"P{row},{'ABCDE'[one]}" for row, one in enumerate(group)]
    (folder / "groups.csv").write_text("\n".join(["id,group", *lines]) + "\n", encoding="utf-8")


def test_cohorts_as_they_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The code and the commands of the page, on smaller tables of the same names."""
    monkeypatch.chdir(tmp_path)
    write_cohorts(tmp_path)
    page = ROOT / "docs" / "cohorts.md"
    text = page.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), names)
    assert names["wrong"].pairs.notes[0].split(" (p = ")[0] in text  # other tables, another probability
    assert names["Y"].shape == (len(names["common"].items), 2)
    assert len(names["near"].indices) == len(names["missing"])
    typed = commands(page)
    assert [arguments[0] for arguments in typed] == ["couple", "common", "show", "retrieve"]
    for arguments in typed:
        cli.main(["0" if word == "219" else word for word in arguments])  # there are fewer patients here
    assert "all items, common graph" in capsys.readouterr().out
    by_commands, by_python = ct.Coupling.load("coupled.npz").graphs, names["result"].graphs
    assert all(np.allclose(a.w, b.w) for a, b in zip(by_commands, by_python, strict=True))


def test_sharded_graphs_as_they_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "sharded-graphs.md"
    names: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)), names)
    assert names["sharded"].shards == 3
    typed = commands(page)
    assert [arguments[0] for arguments in typed] == ["demo", "graph", "shard", "info"]
    for arguments in typed:
        cli.main(arguments)
    assert ct.ShardedGraph.open("images.shards").shards == 4


def test_figures_are_shown_small_and_drawn_by_a_command_each() -> None:
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(figures/([\w-]+\.png)\)", page)
    stored = sorted(path for path in (ROOT / "docs" / "figures").iterdir() if not path.name.startswith("viewer-"))
    assert sorted(shown) == [path.name for path in stored]
    assert all(path.stat().st_size < 150_000 for path in stored)
    tool = (ROOT / "tools" / "draw_figures.py").read_text(encoding="utf-8")
    (table,) = re.findall(r"^FIGURES[^{]*\{\n(.*?)^\}", tool, re.DOTALL | re.MULTILINE)
    names = re.findall(r'^    "(\w+)":', table, re.MULTILINE)
    assert sorted(names) == sorted(re.findall(r"^python -m tools\.draw_figures (\w+)", page, re.MULTILINE))


def test_pictures_of_pages_are_shown_small_and_drawn_by_a_command() -> None:
    page = (ROOT / "docs" / "viewer.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(figures/([\w-]+\.png)\)", page)
    stored = sorted((ROOT / "docs" / "figures").glob("viewer-*.png"))
    assert sorted(shown) == [path.name for path in stored]
    assert all(path.stat().st_size < 300_000 for path in stored)
    tool = (ROOT / "tools" / "draw_pages.py").read_text(encoding="utf-8")
    assert all(f'PAGES / "{path.name}"' in tool for path in stored)


def test_the_viewer_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says of limits and keys, and its Python runs."""
    page = (ROOT / "docs" / "viewer.md").read_text(encoding="utf-8")
    said = ("below 25 MB", "50,000 vertices or 500,000 edges", "more than 120 characters", "above 10 MB", "up to 64 KB")
    assert all(one in page for one in said)
    assert (limits.PAGE_BYTES, limits.INLINE_PAGE_BYTES, limits.THUMBNAIL_BYTES) == (25_000_000, 10_000_000, 2**16)
    assert (limits.VIEWER_VERTICES, limits.VIEWER_EDGES, LONGEST_NAME) == (50_000, 500_000, 120)
    assert f"{LEVELS:,} levels" in page
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(block, {})
    assert (tmp_path / "ring.html").stat().st_size > 10_000
