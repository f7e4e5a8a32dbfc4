"""Compressed text: the same table, and no more of a bomb than is in proportion."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

import cotherm as ct
from cotherm import CothermError, limits
from cotherm.io.kinds import stem_of, suffix_of

TEXT = b"id,x,y\na,1,2\nb,3,4.5\nc,5,6\n"


@pytest.mark.parametrize("name", ["table.csv.gz", "table.tsv.gz", "table.txt.gz", "TABLE.CSV.GZ"])
def test_compressed_text(name: str, tmp_path: Path) -> None:
    place = tmp_path / name
    half = len(TEXT) // 2
    place.write_bytes(gzip.compress(TEXT[:half]) + gzip.compress(TEXT[half:]))  # in pieces, as bgzip writes
    table = ct.io.read_table(place)
    assert (table.names, table.values.tolist()) == (("a", "b", "c"), [[1, 2], [3, 4.5], [5, 6]])
    place.write_bytes(gzip.compress(b"id,kind\nb,cat\na,dog\nc,cat\n"))
    assert ct.io.read_labels(place, names=["a", "b", "c"]).tolist() == ["dog", "cat", "cat"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TEXT, "no complete gzip file"),
        (gzip.compress(TEXT)[:-9], "no complete gzip file.*cut short"),
        (gzip.compress(TEXT)[:20] + b"\xff" * 9, "no complete gzip file"),
        (gzip.compress(b""), "an empty file, compressed"),
        (gzip.compress(TEXT + b"d,x,2\n"), r"line 5, column 2 \(x\)"),
    ],
    ids=["plain", "cut short", "broken", "empty", "a bad cell"],
)
def test_damaged_files(data: bytes, message: str, tmp_path: Path) -> None:
    place = tmp_path / "table.csv.gz"
    place.write_bytes(data)
    with pytest.raises(CothermError, match=message):
        ct.io.read_table(place)


def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    place = tmp_path / "bomb.csv.gz"
    packed = gzip.compress(b"0,0\n" * (25 * limits.UNPACKED_BYTES // 4))
    place.write_bytes(packed)
    tracemalloc.start()
    try:
        with pytest.raises(CothermError, match=r"of data in .*at most 100 times the size of the file"):
            ct.io.read_table(place)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * max(limits.UNPACKED_BYTES, limits.UNPACKED_RATIO * len(packed))


def test_what_is_in_proportion_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 10)
    place = tmp_path / "table.csv.gz"
    place.write_bytes(gzip.compress(TEXT))
    assert len(ct.io.read_table(place).values) == 3
    place.write_bytes(gzip.compress(b"1,2\n" * 100_000))
    with pytest.raises(CothermError, match="at most 100 times"):
        ct.io.read_table(place)


def test_suffixes() -> None:
    assert [suffix_of(Path(name)) for name in ("a.csv", "a.b.CSV.gz", "a.gz", "a")] == [".csv", ".csv.gz", ".gz", ""]
    assert [stem_of(Path(name)) for name in ("a.csv", "x/a.b.csv.gz", "a.off")] == ["a", "a.b", "a"]
    for name in ("a.gz", "a.npy.gz", "a.xls"):
        with pytest.raises(CothermError, match="the suffix"):
            ct.io.read_table(name)
