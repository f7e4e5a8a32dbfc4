"""Archives and .npy files that lie about what they hold."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cotherm as ct
from cotherm.cli.inputs import is_coupling, read_points
from cotherm.errors import CothermError
from cotherm.io import archive, array_file
from tests.fuzz import seeds


def anything(_: list[str]) -> None:
    """Every name will do."""


def nested(depth: int, payload: bytes) -> bytes:
    """An archive of arrays within each other: every one but the last holds all that follow."""
    data = payload
    names = []
    for k in range(depth):
        name = f"{k}.functions.npy"
        info = zipfile.ZipInfo(name)
        info.file_size = info.compress_size = len(data)
        info.CRC = zlib.crc32(data)
        data = info.FileHeader(zip64=False) + data
        names.append(info)
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as outer:
        at = 0
        for info in reversed(names):
            info.header_offset = at
            outer.filelist.append(info)
            at += len(info.FileHeader(zip64=False))
        outer._didModify = True  # type: ignore[attr-defined]
        outer.start_dir = len(data)
    return buffer.getvalue()


def test_arrays_within_arrays_are_refused_before_they_are_read(tmp_path: Path) -> None:
    data = nested(400, bytes(1_000_000))
    with zipfile.ZipFile(io.BytesIO(data)) as found:
        assert sum(entry.file_size for entry in found.infolist()) > 300 * len(data)  # the attack works
        assert found.testzip() is None
    tracemalloc.start()
    with pytest.raises(CothermError, match="does not fit among the others"):
        archive.unpack(data, anything)
    assert tracemalloc.get_traced_memory()[1] < 3 * len(data)
    tracemalloc.stop()
    (tmp_path / "x.npz").write_bytes(data)
    for load in (ct.Coupling.load, ct.Match.load, ct.read_graph):
        with pytest.raises(CothermError, match=r"x\.npz"):
            load(tmp_path / "x.npz")


def patched(data: bytes, offset: int, patch: bytes) -> bytes:
    """The first entry of the directory of an archive, changed from its byte ``offset`` on."""
    at = data.index(b"PK\x01\x02") + offset
    return data[:at] + patch + data[at + len(patch) :]


@pytest.mark.parametrize(
    ("offset", "patch", "message"),
    [
        (6, b"\xff", "zip file version"),
        (8, b"\x01", "encrypted"),
        (8, b"\x20", "unreadable"),
        (10, b"\x63", "compressed"),
        (24, b"\xff\xff\xff\x7f", "does not fit"),
        (20, b"\xff\xff\xff\x7f", "does not fit"),
        (42, b"\x01", "zip archive"),
    ],
    ids=["version", "encrypted", "patched data", "method", "size", "compressed size", "offset"],
)
def test_directories_that_lie(offset: int, patch: bytes, message: str, tmp_path: Path) -> None:
    place = tmp_path / "x.npz"
    place.write_bytes(patched(seeds.couplings()["coupling.npz"], offset, patch))
    with pytest.raises(CothermError, match=message):
        ct.Coupling.load(place)
    assert is_coupling(place) in (True, False)  # no traceback from the command line's look at it either


def described(description: str, data: bytes = bytes(48), version: bytes = b"\x01\x00") -> bytes:
    text = description.encode("latin-1") + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version == b"\x01\x00" else 4, "little") + text + data


PLAIN = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}"


@pytest.mark.parametrize(
    "description",
    [
        "",
        "{",
        "(",
        PLAIN.replace("}", "{"),
        PLAIN.replace("(2, 3)", "((("),
        PLAIN.replace("'<f8'", "'''<f8"),
        PLAIN.replace("2, 3", "2, 3" + ", 1" * 70),
        PLAIN.replace("2, 3", "-2, -3"),
        PLAIN.replace("2, 3", "2L, 3L, 4L"),
        PLAIN.replace("(2, 3)", "(True, 6)"),
        PLAIN.replace("2, 3", "99999999999999999999"),
        PLAIN.replace("2, 3", "0, 99999999999999999999"),
        PLAIN.replace("<f8", "|O"),
        PLAIN.replace("<f8", "<U0"),
        PLAIN.replace("<f8", "<f99"),
        PLAIN.replace("'<f8'", "[('a', '|O')]"),
        PLAIN.replace("False", "0"),
        PLAIN.replace("False", "__import__('os')"),
        "[" * 5_000,
        "-" * 9_000 + "1",
        "\n  " + PLAIN + "\n x",
        "\0" + PLAIN,
        PLAIN + "\xff",
        " " * 60_000,
    ],
)
def test_forged_descriptions(description: str, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(described(description))
    with pytest.raises(CothermError, match=r"x\.npy"):
        read_points(tmp_path / "x.npy")


@pytest.mark.parametrize("version", [b"\x01\x00", b"\x02\x00"])
def test_npy_of_both_versions(version: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(described(PLAIN, version=version))
    assert read_points(tmp_path / "x.npy").values.tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04" + b"x" * 99, b"PK\x05\x06", b"\x93NUMPY", b"\x93NUMPY\x09\x00", b"\x80\x04"]
)
def test_what_is_no_npy(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(data)
    with pytest.raises(CothermError, match="not an array"):
        read_points(tmp_path / "x.npy")


def test_an_archive_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(seeds.graphs()["own.npz"])
    with pytest.raises(CothermError, match="not an array"):
        read_points(tmp_path / "x.npy")


@pytest.mark.parametrize(
    "array", [np.full((2, 2), 2**53 + 1), np.ones((2, 2), np.longdouble), np.ones((2, 2), complex)]
)
def test_numbers_that_would_change_are_refused(array: NDArray[Any], tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(CothermError, match=r"x\.npy"):
        read_points(tmp_path / "x.npy")


def test_strings_are_checked_without_making_them() -> None:
    codes = np.array([[0x10FFFF, 65]], "<u4")
    good = described("{'descr': '<U2', 'fortran_order': False, 'shape': (1,)}", codes.tobytes())
    assert array_file.parse("labels", good).tolist() == ["\U0010ffffA"]
    swapped = described("{'descr': '>U2', 'fortran_order': False, 'shape': (1,)}", codes.astype(">u4").tobytes())
    assert array_file.parse("labels", swapped).tolist() == ["\U0010ffffA"]
    bad = described("{'descr': '<U2', 'fortran_order': False, 'shape': (1,)}", (codes + np.uint32(1)).tobytes())
    with pytest.raises(CothermError, match=r"labels: not an array .a character of number 1114112"):
        array_file.parse("labels", bad)


@pytest.mark.parametrize("kind", ["graphs", "couplings", "matches"])
def test_numbers_narrower_than_those_stored_are_refused(kind: str, tmp_path: Path) -> None:
    """Eight times their size once they are float64 or int64, and several such arrays at a time."""
    name = {"graphs": "full.npz", "couplings": "coupling.npz", "matches": "match.npz"}[kind]
    load = {"graphs": ct.read_graph, "couplings": ct.Coupling.load, "matches": ct.Match.load}[kind]
    arrays = archive.unpack(seeds.ALL[kind]()[name], anything)
    place = tmp_path / name
    for field, array in arrays.items():
        if array.dtype.kind in "if":
            narrow = np.zeros(array.shape, array.dtype.kind + str(array.itemsize // 2))
            place.write_bytes(archive.pack({**arrays, field: narrow}))
            with pytest.raises(CothermError, match=f"{field}: dtype"):
                load(place)
