"""Tables in .parquet files: columns have types, and an index may hold names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm import CothermError, limits

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")


def write(tmp_path: Path, **columns: Any) -> Path:
    place = tmp_path / "table.parquet"
    parquet.write_table(pa.table(columns), place)
    return place


def test_numbers_of_all_types(tmp_path: Path) -> None:
    place = write(
        tmp_path,
        a=pa.array([1.5, 2.5, 1 / 3]),
        b=pa.array([1, 2, -3], pa.int8()),
        c=pa.array([True, False, True]),
        d=pa.array([1, 2, 3]).cast(pa.decimal128(30, 2)),
        e=pa.array([1.0, 2.0, 3.0], pa.float32()),
    )
    table = ct.io.read_table(place)
    np.testing.assert_array_equal(table.values, [[1.5, 1, 1, 1, 1], [2.5, 2, 0, 2, 2], [1 / 3, -3, 1, 3, 3]])
    assert (table.titles, table.names) == (("a", "b", "c", "d", "e"), None)


def test_names_are_in_the_index_or_the_first_column(tmp_path: Path) -> None:
    place = tmp_path / "table.parquet"
    frame = pd.DataFrame({"x.y": [1.0, 2.0], "z": [3, 4]}, index=["p", "q"])
    frame.to_parquet(place)
    table = ct.io.read_table(place)
    assert (table.names, table.titles) == (("p", "q"), ("x.y", "z"))
    assert table.reading.endswith("names from the index")
    frame.rename_axis("patient").to_parquet(place)
    assert "names from the column 'patient'" in ct.io.read_table(place).reading
    frame.reset_index(drop=True).to_parquet(place)
    assert ct.io.read_table(place).names is None
    named = write(tmp_path, sample_id=[7, 9], x=[1.0, 2.0])
    assert ct.io.read_table(named).names == ("7", "9")
    twice = write(tmp_path, kind=["a", "a"], x=[1.0, 2.0])
    with pytest.raises(CothermError, match=r"the name 'a' more than once.*label_column="):
        ct.io.read_table(twice)


def test_columns_labels_and_missing_values(tmp_path: Path) -> None:
    kinds = pa.array(["red", None, "red"]).dictionary_encode()
    place = write(tmp_path, x=[1, None, 4], y=[1.0, 2.0, float("nan")], kind=kinds, note=["p", "q", "r"])
    with pytest.raises(CothermError, match=r"text in 2 columns: kind \('red'\), note \('p'\)"):
        ct.io.read_table(place)
    with pytest.raises(CothermError, match=r"row 1 \(from 0\), column 'x': a missing value, the first of 2"):
        ct.io.read_table(place, columns=["x", "y"])
    table = ct.io.read_table(place, label_column="kind", drop=["note"], missing="median")
    assert table.values.tolist() == [[1, 1], [2.5, 2], [4, 1.5]]
    assert table.labels is not None
    assert table.labels.tolist() == ["red", "", "red"]
    assert "labels from the column 'kind', 1 column left out" in table.reading
    assert ct.io.read_table(place, columns=["y", "x"], missing="drop").values.tolist() == [[1, 1]]
    with pytest.raises(CothermError, match="no column 'z'; needed: some of its columns: x, y, kind, note"):
        ct.io.read_table(place, columns=["z"])


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CothermError, match=r"row 1 .from 0., column 'x': inf"):
        ct.io.read_table(write(tmp_path, x=[1.0, float("inf")]))
    with pytest.raises(CothermError, match=r"integers up to 2\*\*53"):
        ct.io.read_table(write(tmp_path, x=[1, 2**60]))
    with pytest.raises(CothermError, match="no rows"):
        ct.io.read_table(write(tmp_path, x=pa.array([], pa.float64())))
    place = write(tmp_path, x=np.zeros(50_000), y=np.zeros(50_000))
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 1_000)
    with pytest.raises(CothermError, match="at most 100 times the size"):
        ct.io.read_table(place)


def test_damaged_files(tmp_path: Path) -> None:
    place = write(tmp_path, x=np.arange(100.0))
    data = place.read_bytes()
    for junk in (b"x,y\n1,2\n", data[:-10], data[: len(data) // 2] + bytes(40) + data[len(data) // 2 + 40 :]):
        place.write_bytes(junk)
        with pytest.raises(CothermError, match=r"table.parquet"):
            ct.io.read_table(place)
