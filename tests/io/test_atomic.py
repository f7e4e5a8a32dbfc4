"""Files appear whole or not at all, one of several writers wins, and what can be no file is refused."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from cotherm.errors import CothermError
from cotherm.io import atomic

WRITER = """
import sys, time
from pathlib import Path
from cotherm.errors import CothermError
from cotherm.io import atomic
place, word, start = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
time.sleep(max(0.0, start - time.time()))
try:
    atomic.save(place, word.encode() * 100_000, overwrite=False)
    print("won")
except CothermError as error:
    print(error.given)
"""


def test_of_several_writers_one_wins(tmp_path: Path) -> None:
    place = tmp_path / "x.csv"
    start = str(time.time() + 3.0)
    command = [sys.executable, "-c", WRITER, str(place)]
    writers = [subprocess.Popen([*command, word, start], stdout=subprocess.PIPE, text=True) for word in "abcd"]
    said = [writer.communicate(timeout=60)[0].strip() for writer in writers]
    assert sorted(said) == ["the file exists"] * 3 + ["won"]
    assert place.read_text() == "abcd"[said.index("won")] * 100_000
    assert list(tmp_path.iterdir()) == [place]


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "x.csv"

    def late(path: Path, **_: Any) -> Path:
        path.write_text("another's")
        return path

    monkeypatch.setattr(atomic, "require_free", late)
    with pytest.raises(CothermError, match="the file exists"):
        atomic.save(place, b"mine", overwrite=False)
    assert place.read_text() == "another's"
    assert list(tmp_path.iterdir()) == [place]


def test_file_systems_without_second_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    atomic.save(tmp_path / "x.csv", b"mine", overwrite=False)
    assert (tmp_path / "x.csv").read_bytes() == b"mine"
    with pytest.raises(CothermError, match="the file exists"):
        atomic.save(tmp_path / "x.csv", b"more", overwrite=False)
    monkeypatch.setattr(atomic, "require_free", lambda path, **_: path)
    with pytest.raises(CothermError, match="the file exists"):
        atomic.save(tmp_path / "x.csv", b"more", overwrite=False)
    assert (tmp_path / "x.csv").read_bytes() == b"mine"
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(CothermError, match="not permitted"):
        atomic.save(tmp_path / "y.csv", b"mine", overwrite=False)
    assert [place.name for place in tmp_path.iterdir()] == ["x.csv"]


def test_content_and_name_are_on_the_disk_in_that_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synchronized = []
    original = os.fsync

    def watch(descriptor: int) -> None:
        kind = "directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        synchronized.append((kind, (tmp_path / "x.csv").exists()))
        original(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    for overwrite in (False, True):
        atomic.save(tmp_path / "x.csv", b"x", overwrite=overwrite)
    assert synchronized == [("file", False), ("directory", True), ("file", True), ("directory", True)]


@pytest.mark.parametrize(("number", "written"), [(errno.EINVAL, True), (errno.ENOTSUP, True), (errno.EIO, False)])
def test_disks_that_cannot_be_waited_for(
    number: int, written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with nullcontext() if written else pytest.raises(CothermError, match="input/output error"):
        atomic.save(tmp_path / "x.csv", b"x", overwrite=False)
    assert [place.name for place in tmp_path.iterdir()] == ["x.csv"] * written


@pytest.mark.parametrize("overwrite", [False, True])
def test_links_that_lead_nowhere(overwrite: bool, tmp_path: Path) -> None:
    loop, there = tmp_path / "loop.csv", tmp_path / "there.csv"
    loop.symlink_to("back.csv")
    (tmp_path / "back.csv").symlink_to("loop.csv")
    with pytest.raises(CothermError, match="leads back to itself"):
        atomic.save(loop, b"x", overwrite=overwrite)
    assert loop.is_symlink()
    with pytest.raises(CothermError, match="symbolic links"):
        atomic.load(loop)
    there.symlink_to("target.csv")  # a link to what is not there yet is where to make it
    atomic.save(there, b"x", overwrite=overwrite)
    assert there.is_symlink()
    assert (tmp_path / "target.csv").read_bytes() == b"x"


def test_names_that_are_too_long(tmp_path: Path) -> None:
    for place in (tmp_path / ("x" * 300), tmp_path / "/".join(["y" * 200] * 30)):
        for work in (atomic.load, atomic.require_writable, lambda path: atomic.save(path, b"x", overwrite=True)):
            with pytest.raises(CothermError, match="name too long"):
                work(place)


def test_room_is_looked_for_beforehand(tmp_path: Path) -> None:
    atomic.require_room(tmp_path, 1)
    with pytest.raises(CothermError, match=r"of free space; needed: 1e\+06 TB"):
        atomic.require_room(tmp_path, 10**18)


def test_files_larger_than_memory_are_not_begun(tmp_path: Path) -> None:
    with (tmp_path / "x.csv").open("wb") as file:
        file.truncate(10**13)  # nothing is stored: the file is one hole
    with pytest.raises(CothermError, match="10 TB, more data than memory holds"):
        atomic.load(tmp_path / "x.csv")
