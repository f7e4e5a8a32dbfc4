"""The examples of every help text run, as they stand there, on the tables of the demo."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import cotherm as ct
from cotherm.cli.main import EXAMPLES, GROUPS, command_of
from tests.cli.conftest import Run

COMMANDS = [command for group in GROUPS.values() for command in group]


def examples(command: str) -> list[str]:
    text = EXAMPLES if command == "cotherm" else command_of(command).examples
    return [line.strip() for line in text.splitlines() if line.startswith("  cotherm ")]


@pytest.mark.parametrize("command", ["cotherm", *COMMANDS])
def test_examples_run_as_copied(command: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if command == "reproduce" and not (Path(ct.__file__).parents[2] / "paper").is_dir():
        pytest.skip("the paper's experiments are not installed")
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--tables", ".").code == 0
    lines = examples(command)
    assert command == "cotherm" or any(line.split()[1] == command for line in lines)
    for line in lines:
        answer = run(*shlex.split(line)[1:])
        assert (answer.code, answer.err) == (0, ""), line
        for option in ("--out", "--graph", "--neighbors"):
            words = shlex.split(line)
            if option in words and words[words.index(option) + 1].count("."):
                assert (tmp_path / words[words.index(option) + 1]).stat().st_size > 0
