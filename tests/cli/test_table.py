"""Tables as people write them, and what is said about those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cotherm import CothermError
from cotherm.cli.table import Table, read_table


def table(tmp_path: Path, text: str) -> Table:
    place = tmp_path / "table.csv"
    place.write_text(text, encoding="utf-8")
    return read_table(place)


@pytest.mark.parametrize(
    "text",
    [
        "1,2\n3,4\n",
        "a,b\n1,2\n3,4\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\r\n1\t2\r\n3\t4\r\n",
        "id,a,b\nx,1,2\ny,3,4\n",
        ",a,b\n0,1,2\n1,3,4\n",
        "x,1,2\ny,3,4\n",
        '"a","b"\n"1","2"\n\n3, 4\n',
        "\ufeffa,b\n1,2\n3,4",
    ],
)
def test_all_ways_to_write_the_same_numbers(tmp_path: Path, text: str) -> None:
    np.testing.assert_array_equal(table(tmp_path, text).numbers(), [[1, 2], [3, 4]])


def test_titles_and_names_are_told_from_numbers(tmp_path: Path) -> None:
    found = table(tmp_path, "id,a\nx,1\ny,2\n")
    assert (found.titles, found.names) == (("a",), ("x", "y"))
    found = table(tmp_path, "a\n1\n2\n")
    assert (found.titles, found.names, found.rows) == (("a",), None, 2)
    assert table(tmp_path, "1\n2\n").titles is None


@pytest.mark.parametrize("title", ["sample_id", "Cell ID", "barcode", "index", "name", "", "Unnamed: 0"])
def test_numbers_under_such_titles_are_names(tmp_path: Path, title: str) -> None:
    found = table(tmp_path, f"{title},a,b\n1000,1,2\n1007,3,4\n")
    assert found.names == ("1000", "1007")
    np.testing.assert_array_equal(found.numbers(), [[1, 2], [3, 4]])
    assert "names from" in found.reading


def test_what_pandas_writes(tmp_path: Path) -> None:
    for text in (",0,1\n0,5,6\n1,7,8\n2,9,9\n", "0,1,2\n5,6,6\n7,8,8\n9,9,9\n"):
        assert table(tmp_path, text).rows == 3
    assert table(tmp_path, "row,a\n0,5\n1,6\n2,9\n").names == ("0", "1", "2")  # counted rows are an index
    assert table(tmp_path, "0,1\n1,0\n0,0\n").rows == 3  # two columns of 0 and 1 are data


def test_spaces_and_odd_titles(tmp_path: Path) -> None:
    np.testing.assert_array_equal(table(tmp_path, "1.0 2.0\n3.0 4.0\n").numbers(), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(table(tmp_path, "a;x,b;y\n1,2\n3,4\n").numbers(), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a,b\n1,2\n3,x\n", "line 3, column 2 (b)"),
        ("id,a,b\nx,1,2\ny,,4\n", "line 3, column 2 (a)"),
        ("1,2\n3,nan\n", "line 2, column 2"),
        ("1,2\n3,inf\n", "line 2, column 2"),
        ("1,2\n3\n", "line 2"),
        ("1,2\noops,4\n5,6\n", "line 2, column 1"),
        ("a,b\n", "table.csv"),
        ("id,a\nx,1\nx,2\n", "table.csv"),
        ("a,sample_id\n1,7\n2,8\n", "table.csv"),
        ("\n\n", "table.csv"),
    ],
)
def test_the_place_of_what_is_wrong_is_named(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(CothermError) as caught:
        table(tmp_path, text).numbers()
    assert where in caught.value.argument


def test_other_encodings_are_named(tmp_path: Path) -> None:
    place = tmp_path / "table.csv"
    place.write_bytes("a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(CothermError, match="UTF-16"):
        read_table(place)
