"""A whole run: order, skips, tables, plots, files, and the command."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import benchmarks.suite.runner as runs
from benchmarks import cli, suite
from benchmarks.suite import machine, plots
from benchmarks.suite.families import NAMES
from tests.problems import refused


@pytest.fixture
def only_misbehaving(monkeypatch: pytest.MonkeyPatch) -> None:
    """The family of the judge's tests in place of all others; no real measurement of the machine."""
    monkeypatch.setattr(runs, "NAMES", ("misbehaving",))
    monkeypatch.setattr(runs, "module_of", lambda name: f"tests.benchmarks.suite.{name}")
    monkeypatch.setattr(machine, "bandwidth", lambda: 1e6)
    monkeypatch.delenv("COTHERM_DATA", raising=False)


@pytest.mark.usefixtures("only_misbehaving")
def test_the_command_writes_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, page = tmp_path / "new" / "out", tmp_path / "docs" / "suite.md"
    cli.main(["suite", "--quick", "--out", str(out), "--page", str(page)])
    printed = capsys.readouterr()
    report = json.loads((out / "suite.json").read_text(encoding="utf-8"))
    rows = {(row["problem"], row["contestant"]): row for row in report["rows"]}
    assert [row["size"] for row in report["rows"] if row["contestant"] == "good"] == [10, 100, 1_000, 5, 7]
    assert rows["number 10", "sleeps"]["status"] == "ok"
    assert rows["number 100", "sleeps"]["status"] == "out of time"
    assert rows["number 1000", "sleeps"]["reason"] == "out of time at n = 100"
    assert rows["number 1000", "sleeps"]["status"] == "skipped"
    assert rows["of data", "good"]["status"] == "no data"
    assert rows["of data", "good"]["reason"] == "nowhere/to-be-found.csv"
    good = rows["number 1000", "good"]
    assert good["least_seconds"] == 1.0
    assert good["times_least"] == good["seconds"]
    assert rows["number 10", "sleeps"]["times_least"] is None
    picture = "suite-misbehaving-numbers.png"
    for place in (out / picture, page.parent / "images" / picture):
        assert place.read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in out.iterdir()) == [picture, "suite.json"]
    text = page.read_text(encoding="utf-8")
    assert f"![{picture}](images/{picture})" in text
    assert "| number 10 | good |" in text
    assert "skipped: out of time at n = 100" in printed.out
    assert "misbehaving: number 100: sleeps: out of time" in printed.err
    assert len(printed.err.splitlines()) == len(report["rows"])


@pytest.mark.usefixtures("only_misbehaving")
def test_what_is_done_is_kept_when_a_run_ends_early(tmp_path: Path) -> None:
    lines: list[str] = []

    def stop(line: str) -> None:
        lines.append(line)
        if len(lines) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        suite.run(quick=True, out=tmp_path, log=stop)
    rows = json.loads((tmp_path / "suite.json").read_text(encoding="utf-8"))["rows"]
    assert [row["contestant"] for row in rows] == ["good"]


def _row(contestant: str, size: int, status: str, **more: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "seconds": None,
        "memory": None,
        "limit_seconds": 9.0,
        "reason": "",
        "figures": {},
        "times_least": None,
    }
    place = {"family": "heat", "series": "e^(-tL)F", "problem": f"flow {size}"}
    return {**place, "contestant": contestant, "size": size, "status": status, **given, **more}


def _report() -> dict[str, Any]:
    rows = [
        _row("cotherm", 10, "ok", seconds=0.5, memory=2e6, figures={"error": 1e-9}, times_least=2.5),
        _row("other", 10, "ok", seconds=1.5, memory=0.0, figures={"error": 1e-3}),
        _row("cotherm", 100, "ok", seconds=5.0, memory=2e7, figures={"error": None}),
        _row("other", 100, "out of time"),
        _row("third", 100, "failed", reason="a | b"),
    ]
    return {
        "quick": True,
        "options": {
            "families": ["heat"],
            "data": True,
            "largest": 100,
            "seconds": None,
            "patience": 0.5,
            "memory": 2.0**33,
        },
        "machine": {"processors": 2, "memory": 2**34, "bandwidth": 1e10, "system": "here", "python": "3"},
        "versions": {"numpy": "2", "absent": None},
        "memory_limit": 2**33,
        "families": [{"name": "heat", "description": "flow", "figures": [{"name": "error", "format": ".1e"}]}],
        "rows": rows,
    }


def test_the_table_shows_every_row() -> None:
    lines = suite.table(_report()).splitlines()
    assert "16 GiB" in lines[0]
    assert "10.0 GB/s" in lines[0]
    mine = next(line for line in lines if line.split()[:2] == ["cotherm", "0.5"])
    assert mine.split() == ["cotherm", "0.5", "2", "1.0e-09", "2.5", "ok"]
    assert any(line.split() == ["third", "failed:", "a", "|", "b"] for line in lines)
    assert len({line.index("ok") for line in lines if line.endswith("ok")}) == 1


def _points(line: Any) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in line.get_xydata()]


def test_plots_have_a_line_a_contestant_and_mark_failures() -> None:
    report = _report()
    assert list(plots.plots(report)) == ["suite-heat-e-tl-f.png"]
    figure = plots._figure("heat", report["rows"], report["memory_limit"])
    time, memory = figure.axes
    drawn = {line.get_label(): _points(line) for line in time.lines}
    assert drawn["cotherm"] == [(10.0, 0.5), (100.0, 5.0)]
    assert drawn["other"] == [(10.0, 1.5)]
    crosses = [point for line in time.lines if line.get_marker() == "x" for point in _points(line)]
    assert np.allclose(crosses, [(100.0, 9.0)], rtol=0.1)
    assert all(y > 0.0 for line in memory.lines for _, y in _points(line))
    report["rows"] = report["rows"][:2]
    assert plots.plots(report) == {}


def test_a_page_escapes_what_would_break_its_table() -> None:
    from benchmarks.suite.page import page

    text = page(_report(), {})
    assert "failed: a \\| b" in text
    widths = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")}
    assert len(widths) == 1
    assert "absent" not in text


def test_a_page_names_the_command_that_wrote_it() -> None:
    from benchmarks.suite.page import page

    asked = "--quick --family heat --data DIR --patience 0.5 --largest 100 --memory 8GiB"
    assert f"`python -m benchmarks suite {asked} --page FILE`" in page(_report(), {})


@pytest.mark.usefixtures("only_misbehaving")
def test_patience_multiplies_the_limits_of_the_problems() -> None:
    as_they_are, shorter = (suite.run(patience=patience)["rows"] for patience in (None, 0.5))
    given = [row["limit_seconds"] for row in as_they_are if row["limit_seconds"] is not None]
    assert given
    assert [row["limit_seconds"] for row in shorter if row["limit_seconds"] is not None] == [s / 2 for s in given]


def test_bad_input_is_refused_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_family", lambda *_: pytest.fail("it ran"))
    monkeypatch.setattr(machine, "bandwidth", lambda: pytest.fail("it ran"))
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    nowhere = str(tmp_path / "nowhere")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"families": ["heat", "unknown"]}, "families"),
        ({"families": "heat"}, "families"),
        ({"families": []}, "families"),
        ({"data": nowhere}, "data"),
        ({"data": 3}, "data"),
        ({"out": blocked}, "out"),
        ({"out": blocked / "below"}, "out"),
        ({"page": tmp_path / "page.txt"}, "page"),
        ({"page": blocked / "page.md"}, "page"),
        ({"largest": 0}, "largest"),
        ({"seconds": -1.0}, "seconds"),
        ({"patience": 0.0}, "patience"),
        ({"patience": 0.5, "seconds": 3.0}, "patience"),
        ({"memory": 0.0}, "memory"),
        ({"quick": "yes"}, "quick"),
    ]
    for arguments, name in cases:
        assert refused(partial(suite.run, **arguments)) == name
    monkeypatch.setenv("COTHERM_DATA", nowhere)
    assert "data" in refused(suite.run)
    assert blocked.read_text() == "in the way"


def test_bandwidth_and_versions() -> None:
    assert machine.bandwidth(100_000) > 0.0
    found = machine.versions()
    assert found["numpy"] is not None
    assert machine.memory() > 1e8
    assert machine.processors() >= 1


def test_names_are_files() -> None:
    folder = Path(runs.__file__).parent / "families"
    assert {path.stem for path in folder.glob("*.py")} == {*NAMES, "__init__"}
