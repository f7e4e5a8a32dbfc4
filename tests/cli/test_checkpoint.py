"""Commands with a checkpoint: a signal ends them in one line, and the same command goes on to the same result."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm import cli
from cotherm.graphs.files import write_graph

# A command whose checkpoint is due after every step, and which sends itself a signal at one of them.
PROGRAM = """
import os, signal, sys
from cotherm.cli import main
from cotherm.methods import checkpoint
from cotherm.methods.coupling.search import Search
checkpoint.EVERY = checkpoint._RATIO = 0.0
record, steps = Search._record, 0
def recorded(*given):
    global steps
    steps += 1
    if steps == 12:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    record(*given)
Search._record = recorded
main(sys.argv[2:])
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    views = ct.datasets.ring()
    for k, (graph, F) in enumerate(zip(views.graphs, views.functions, strict=True)):
        write_graph(graph, tmp_path / f"{k}.npz")
        np.save(tmp_path / f"f{k}.npy", F)
    return ["couple", "0.npz", "1.npz", "--functions", "f0.npy", "f1.npy", "--out"]


def weights(place: str) -> list[bytes]:
    return [graph.w.tobytes() for graph in ct.Coupling.load(place).graphs]


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_and_the_same_command_again(name: str, code: int, command: list[str]) -> None:
    cli.main([*command, "expected.npz"])
    again = [*command, "found.npz", "--checkpoint", "run.ckpt"]
    # As in a terminal: nohup and background jobs of shells ignore these.
    defaults = "signal.signal(signal.SIGHUP, signal.SIG_DFL); signal.signal(signal.SIGINT, signal.default_int_handler)"
    sent = [sys.executable, "-c", f"import signal; {defaults}\n{PROGRAM}", name]
    ended = subprocess.run([*sent, *again], capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == code == 128 + getattr(signal, name)
    assert "the same command goes on from run.ckpt" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not Path("found.npz").exists()
    assert Path("run.ckpt").exists()
    cli.main(again)
    assert weights("found.npz") == weights("expected.npz")
    assert not Path("run.ckpt").exists()


def test_a_limit_of_time_keeps_the_checkpoint(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    cli.main([*command, "expected.npz"])
    again = [*command, "found.npz", "--checkpoint", "run.ckpt"]
    cli.main([*again, "--max-seconds", "1e-6"])
    assert ct.Coupling.load("found.npz").status == "time limit"
    assert "goes on from run.ckpt" in capsys.readouterr().err
    cli.main([*again, "--force"])
    assert weights("found.npz") == weights("expected.npz")
    assert not Path("run.ckpt").exists()


def test_the_checkpoint_of_another_command_is_refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    again = [*command, "found.npz", "--checkpoint", "run.ckpt", "--max-seconds", "1e-6"]
    cli.main(again)
    before = Path("run.ckpt").read_bytes()
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        cli.main([*again, "--force", "--alpha", "7"])
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert "--checkpoint: run.ckpt is of another run: alpha: auto there, 7.0 here" in err
    assert err.count("\n") == 1
    assert Path("run.ckpt").read_bytes() == before
