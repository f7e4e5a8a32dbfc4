"""The command line with standard output or error closed, full, or without a reader."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import cotherm as ct

pytestmark = pytest.mark.skipif(not Path("/bin/sh").exists(), reason="no shell")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("streams") / "ring.npz"
    ct.write_graph(ct.datasets.ring().graphs[0], place)
    return place


def shell(arguments: str, streams: str) -> subprocess.CompletedProcess[str]:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = f"{shlex.quote(sys.executable)} -m cotherm {arguments} {streams}"
    return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, env=buffered, check=False)


@pytest.mark.parametrize("command", ["info {}", "--version", "--help"])
def test_a_closed_output_is_told(graph: Path, command: str) -> None:
    done = shell(command.format(graph), ">&-")
    assert done.returncode == 2
    assert done.stderr == "cotherm: error: standard output: Bad file descriptor\n"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full")
@pytest.mark.parametrize("command", ["info {}", "--help"])
def test_a_full_disk_is_told(graph: Path, command: str) -> None:
    done = shell(command.format(graph), ">/dev/full")
    assert done.returncode == 2
    assert done.stderr == "cotherm: error: system: No space left on device\n"


def test_nothing_to_print_needs_no_output(graph: Path, tmp_path: Path) -> None:
    done = shell(f"info {tmp_path / 'missing.npz'}", ">&-")
    assert done.returncode == 2
    assert "no such file" in done.stderr


def test_messages_do_not_stray_into_the_output(graph: Path, tmp_path: Path) -> None:
    good, bad = shell(f"info {graph}", "2>&-"), shell(f"info {tmp_path / 'missing.npz'}", "2>&-")
    assert (good.returncode, bad.returncode) == (0, 2)
    assert good.stdout.startswith("Graph ring")
    assert bad.stdout == ""
    assert shell("couple x.csv", "2>&-").stdout == ""


def test_all_closed(graph: Path, tmp_path: Path) -> None:
    assert shell(f"info {graph}", "<&- >&- 2>&-").returncode == 2
    assert shell(f"info {tmp_path / 'missing.npz'}", "<&- >&- 2>&-").returncode == 2


def test_a_reader_that_has_gone(graph: Path) -> None:
    """The pipe has no reader from the start; the other stream stays silent."""
    read, write = os.pipe()
    os.close(read)
    for streams in ({"stdout": write}, {"stdout": write, "stderr": write}):
        chosen = {"stderr": subprocess.PIPE, **streams}
        command = [sys.executable, "-m", "cotherm", "info", str(graph)]
        done = subprocess.run(command, text=True, check=False, **chosen)  # type: ignore[call-overload]
        assert done.returncode == 141
        assert not done.stderr
    os.close(write)
