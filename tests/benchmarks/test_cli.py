"""``python -m benchmarks``: names, options, help."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import cli

ROOT = Path(__file__).parent.parent.parent


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["--help"], cli.NAMES),
        *(([name, "--help"], ["--quick", "--json"]) for name in cli.NAMES),
        (["suite", "--help"], ["--family", "--out", "--page", "--largest", "--seconds", "--patience", "--memory"]),
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 0
        printed = capsys.readouterr().out
        assert [word for word in expected if word not in printed] == []


def test_errors_are_one_line_and_exit_two(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "suite", "--data", str(tmp_path / "nowhere")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("python -m benchmarks: error: data:")
    assert done.stderr.count("\n") == 1


def test_options_of_the_suite_are_refused_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["heat", "--family", "heat"], "--family"),
        (["scale", "--memory", "3"], "--memory"),
        (["suite", "--family", "unknown"], "--family"),
        (["unknown"], "invalid choice"),
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 2
        assert expected in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [True, False])
def test_all_runs_every_benchmark(
    as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_measured", lambda name, _: ({"benchmark": name}, f"table of {name}"))
    cli.main(["all", "--quick", *(["--json"] if as_json else [])])
    printed = capsys.readouterr().out
    if as_json:
        assert list(json.loads(printed)) == cli.names_here()
    else:
        assert [line for line in printed.splitlines() if line] == [f"table of {name}" for name in cli.names_here()]


def test_names_are_modules() -> None:
    modules = {path.stem for path in Path(cli.__file__).parent.iterdir()} - {"__init__", "__main__", "__pycache__"}
    assert modules == {*cli.NAMES, "cli", "child", "earlier"}
