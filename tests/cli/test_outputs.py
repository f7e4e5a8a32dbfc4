"""Where results go: what cannot be written is refused at once, what cannot be written at the end is kept elsewhere."""

from __future__ import annotations

import errno
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm.cli import outputs
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.text import csv_bytes
from tests.cli.conftest import Run
from tests.cli.test_refusals import refused
from tests.fuzz import seeds

NAMES = (
    *(
        "$\\foo$",
        "$",
        "$$",
        "a$b$\\frac",
        "\\$",
        "\udcff",
        "\x1b[31mred",
        "\x9b31m",
        "a\nb",
        "\0",
        "_hidden",
        "\u202eabc",
    ),
    *("%s", "{}", "é✓", "漢字", " ", "x" * 500),
)


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be read before the outputs were looked at."""

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("the work began")

    for reader in ("commands.couple.read_views", "inputs.read_view", "inputs.read_views"):
        monkeypatch.setattr(f"cotherm.cli.{reader}", fail)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_pipes_and_devices_are_refused_at_once(run: Run, tables: Path, force: list[str]) -> None:
    pipe, device = tables / "pipe.npz", tables / "device.npz"
    os.mkfifo(pipe)
    device.symlink_to("/dev/null")
    for out in (pipe, device):
        views = [tables / "first.csv", tables / "second.csv"]
        said = refused(run, tables, "couple", *views, "--labels", tables / "labels.csv", "--out", out, *force)
        assert "not a plain file" in said
    assert pipe.is_fifo()


def test_links_are_followed_to_where_the_result_goes(tmp_path: Path) -> None:
    (tmp_path / "loop.npz").symlink_to("loop.npz")
    (tmp_path / "far.npz").symlink_to("/proc/self/x.npz")
    (tmp_path / "nowhere.npz").symlink_to(tmp_path / "none" / "x.npz")
    for name in ("loop", "far", "nowhere"):
        with pytest.raises(CothermError, match=rf"{name}\.npz|/proc/"):
            outputs.free_place(str(tmp_path / f"{name}.npz"), (".npz",), force=True)
    with pytest.raises(CothermError, match="a file of its own"):
        outputs.free_places([str(tmp_path / "loop.npz")] * 2, 2, (".npz",), force=True)
    with pytest.raises(CothermError, match="name too long"):
        outputs.free_place(str(tmp_path / ("x" * 300 + ".npz")), (".npz",), force=True)


def test_space_is_looked_for_before_the_work(run: Run, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("", (), {"free": 1_000}))
    monkeypatch.setattr("cotherm.methods.coupling.couple.couple", None)  # not to be called
    views = [tables / "first.csv", tables / "second.csv"]
    said = refused(run, tables, "couple", *views, "--labels", tables / "labels.csv", "--out", tables / "x.npz")
    assert "1 kB of free space; needed: " in said


def full(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory of a place has no more space; others have."""
    original = atomic._put

    def put(target: Path, data: bytes, *, overwrite: bool) -> None:
        if target.parent == place.parent:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(target, data, overwrite=overwrite)

    monkeypatch.setattr(atomic, "_put", put)


def test_a_result_that_cannot_be_written_is_kept(run: Run, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tables / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    full(tables / "x.npz", monkeypatch)
    said = refused(run, tables, "graph", tables / "first.csv", "--out", tables / "x.npz")
    (kept,) = elsewhere.iterdir()
    assert "x.npz: the result could not be written (no space left on device); needed: a place" in said
    assert f"It is kept in {kept}." in said
    assert ct.read_graph(kept).n == 60


@pytest.mark.parametrize("command", ["couple", "match", "average", "functions", "commute", "distances", "show"])
def test_every_command_keeps_its_result(
    run: Run, coupled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    here.mkdir()
    views = [coupled / "first.csv", coupled / "second.csv"]
    labels = ["--labels", coupled / "labels.csv"]
    given: dict[str, list[object]] = {
        "couple": [*views, *labels, "--max-iterations", 1, "--out", here / "x.npz"],
        "match": [coupled / "coupled.npz", "--out", here / "x.csv"],
        "average": [*views, "--out", here / "x.mtx"],
        "functions": [*views, *labels, "--out", here / "x.csv", here / "y.npy"],
        "commute": [*views, "--out", here / "x.npy", here / "y.npy"],
        "distances": [coupled / "coupled.npz", "--view", 1, "--time", 1, "--out", here / "x.npy"],
        "show": [coupled / "coupled.npz", "--out", here / "x.png"],
    }
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    full(here / "x", monkeypatch)
    answer = run(command, *given[command])
    assert answer.code == 2, answer
    kept = sorted(elsewhere.iterdir())
    assert len(kept) == (2 if command in ("functions", "commute") else 1)
    assert all(str(place) in answer.err for place in kept)
    assert list(here.iterdir()) == []


def test_a_file_that_appeared_during_the_work_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = outputs.free_place(str(tmp_path / "x.npz"), (".npz",), force=False)
    place.write_bytes(b"another's")
    with pytest.raises(CothermError, match=r"the file exists.*It is kept in .*cotherm-.*\.npz\. Pass --force"):
        outputs.write(place, b"mine", force=False)
    assert place.read_bytes() == b"another's"
    (kept,) = tmp_path.glob("cotherm-*.npz")
    assert kept.read_bytes() == b"mine"
    assert kept.stat().st_mode & 0o077 == 0


def test_directories_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", fail)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CothermError, match="It is kept in"):
        outputs.write(tmp_path / "none" / "x.npz", b"mine", force=False)
    (kept,) = tmp_path.iterdir()
    assert kept.read_bytes() == b"mine"


def test_nowhere_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(atomic, "_put", fail)
    with pytest.raises(CothermError, match=r"read-only file system.*not be kept elsewhere"):
        outputs.write(tmp_path / "x.npz", b"mine", force=False)


# Names


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_of_any_name(run: Run, tmp_path: Path, suffix: str) -> None:
    for k, name in enumerate(NAMES):
        labels = np.array([name, "_x", "$\\bar$", "z"] * 2 + [""])
        ct.write_graph(seeds.graph(name, labels=labels), tmp_path / f"{k}.npz")
        answer = run("show", tmp_path / f"{k}.npz", "--out", tmp_path / f"{k}{suffix}")
        assert (answer.code, answer.err) == (0, ""), (name, answer)


@pytest.mark.parametrize("kind", ["graphs", "coupling", "convergence", "heat"])
def test_pictures_of_couplings_of_any_name(run: Run, tmp_path: Path, kind: str) -> None:
    from dataclasses import replace

    whole = seeds.coupling()
    tame = ct.Graph(9, whole.originals[0].i, whole.originals[0].j, np.ones(9), name="$\\foo$\x1b\udcff")
    graphs = (tame, whole.originals[1])
    history = tuple({**row, "route": "_$\\foo$\x1b"} for row in whole.history)
    replace(whole, graphs=graphs, originals=graphs, history=history).save(tmp_path / "c.npz")
    answer = run("show", tmp_path / "c.npz", "--kind", kind, "--out", tmp_path / "c.svg")
    assert (answer.code, answer.err) == (0, ""), answer


@pytest.mark.parametrize("name", NAMES)
def test_nothing_a_terminal_obeys_is_printed(run: Run, tmp_path: Path, name: str) -> None:
    graph = seeds.graph(name, labels=[name + "|"] * 9)
    ct.write_graph(graph, tmp_path / "g.npz")
    printed = [run("info", tmp_path / "g.npz"), run("retrieve", tmp_path / "g.npz", "--query", 0, "--times", 1)]
    printed.append(run("cluster", tmp_path / "g.npz", "--clusters", 2, "--out", tmp_path / "c.csv"))
    for answer in printed:
        assert answer.code == 0, answer
        assert all(line.isprintable() for line in answer.out.split("\n")), answer
    assert printed[0].out.count("\n") == 4  # no name makes a line of its own
    (tmp_path / "c.csv").read_text(encoding="utf-8")
    assert json.loads(run("info", tmp_path / "g.npz", "--json").out)["name"] == name


def test_names_of_files_that_are_no_text(run: Run, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[31m$x$\n.npz"))
    ct.write_graph(seeds.graph(None), odd)
    for arguments in (["info", odd], ["show", odd, "--out", odd.with_suffix(".png")], ["graph", odd, "--out", odd]):
        answer = run(*arguments)
        assert answer.code == (2 if arguments[0] == "graph" else 0)
        assert all(line.isprintable() for line in (answer.out + answer.err).split("\n"))
    assert r"\udcff\x1b[31m$x$\n.npz" in answer.err
    found = json.loads(run("info", odd, "--json").out)
    assert found["name"] == "\udcff\x1b[31m$x$\n"


def test_arguments_that_are_no_options(run: Run) -> None:
    answer = run("info", "--\x1b[31m")
    assert answer.code == 2
    assert answer.err.strip().isprintable()


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    outputs.say({"a": float("nan"), "b": [1.0, float("-inf")], "c": {"d": (2, float("inf"))}}, "", as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1.0, None], "c": {"d": [2, None]}}


def test_titles_that_are_no_text_can_be_written() -> None:
    assert csv_bytes(["\udcff", "é"], []).decode() == "\\udcff,é\n"
    assert io.BytesIO(csv_bytes(["a\nb"], [])).read() == b'"a\nb"\n'
