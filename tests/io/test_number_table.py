"""Tables as people write them, and what is said about those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cotherm import CothermError
from cotherm.io.columns import Layout
from tests.fuzz.tables import numbers_of, open_table


def table(tmp_path: Path, text: str) -> Layout:
    place = tmp_path / "table.csv"
    place.write_text(text, encoding="utf-8")
    return open_table(place)


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
    np.testing.assert_array_equal(numbers_of(table(tmp_path, text)), [[1, 2], [3, 4]])


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
    np.testing.assert_array_equal(numbers_of(found), [[1, 2], [3, 4]])
    assert "names from" in found.reading


def test_what_pandas_writes(tmp_path: Path) -> None:
    for text in (",0,1\n0,5,6\n1,7,8\n2,9,9\n", "0,1,2\n5,6,6\n7,8,8\n9,9,9\n"):
        assert table(tmp_path, text).rows == 3
    assert table(tmp_path, "row,a\n0,5\n1,6\n2,9\n").names == ("0", "1", "2")  # counted rows are an index
    assert table(tmp_path, "0,1\n1,0\n0,0\n").rows == 3  # two columns of 0 and 1 are data


def test_spaces_and_odd_titles(tmp_path: Path) -> None:
    np.testing.assert_array_equal(numbers_of(table(tmp_path, "1.0 2.0\n3.0 4.0\n")), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(numbers_of(table(tmp_path, "a;x,b;y\n1,2\n3,4\n")), [[1, 2], [3, 4]])


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
        numbers_of(table(tmp_path, text))
    assert where in caught.value.argument


def test_other_encodings_are_named(tmp_path: Path) -> None:
    place = tmp_path / "table.csv"
    place.write_bytes("a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(CothermError, match="UTF-16"):
        open_table(place)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("1,NA,3\n4,5,6\n", "line 1, column 2"),
        ("1,2.O,3\n4,5,6\n", "line 1, column 2"),
        ("2.O\n1\n2\n", "line 1, column 1"),
        ("NA\n1\n2\n", "line 1, column 1"),
        ("x,NA,NA\ny,1,2\nz,3,4\n", "line 1, column 2"),
        ("<NA>,#DIV/0!\n1,2\n3,4\n", "line 1, column 1"),
        ("n.a.\n1\n2\n", "line 1, column 1"),
        (",,\n1,2,3\n4,5,6\n", "line 1, column 1"),
        ("a,b,c\n1,2,3\n,,\n4,5,6\n", "line 3, column 1 (a)"),
        ("1,2,3\n,,\n4,5,6\n", "line 2, column 1"),
        ("a\n1\n\n2\n", "line 3, column 1 (a)"),
        ("a,b\n1,2\n\n3,x\n", "line 4, column 2 (b)"),
        ("1,2\n3,1_000\n", "line 2, column 2"),
        ("1,2\n3,\u0664\n", "line 2, column 2"),
        ("1,2\n3,\uff14\n", "line 2, column 2"),
        ("1,2\n3,0x10\n", "line 2, column 2"),
        ("x,y\n1_000,1\n2_000,2\n3_000,3\n", "line 2, column 1 (x)"),
        ("x,y\n\u0661\u0662,1\n\u0662\u0662,2\n", "line 2, column 1 (x)"),
        ("x;y\n1,5;1\n2.5;2\n", "line 3, column 1 (x)"),
        ("1'000.5;1\n2'000.5;2\n", "line 1, column 1"),
        ("id,a\nx,1\n,2\n", "line 3, column 1"),
        ("NA,1\n,2\n3,4\n", "line 1, column 1"),
        ("x,abc,3\ny,1,2\n", "line 1"),
        ('a,b\n1,"2\n3,4\n', "line 2"),
    ],
)
def test_no_row_is_lost(tmp_path: Path, text: str, where: str) -> None:
    """A first row that holds a number is data, a row of empty cells is a row; what is wrong in them is named."""
    with pytest.raises(CothermError) as caught:
        numbers_of(table(tmp_path, text))
    assert where in caught.value.argument


@pytest.mark.parametrize(
    "text",
    [
        "age,height,2001\n1,2,3\n4,5,6\n",
        "gene,0,1,2\nx,4,5,6\ny,7,8,9\n",
        "0,1\n0.5,1.5\n2.5,0.1\n",
        "0\n0.5\n1.5\n",
        "mouse,100.1\ns1,1\ns2,2\n",
        "who,0\nx,0.5\ny,1.5\n",
    ],
)
def test_what_may_be_titles_or_data_is_refused_until_it_is_said(tmp_path: Path, text: str) -> None:
    with pytest.raises(CothermError, match="header=True or header=False"):
        table(tmp_path, text)
    place = tmp_path / "table.csv"
    found = open_table(place, header=True)
    assert (found.rows, len(numbers_of(found))) == (2, 2)


@pytest.mark.parametrize(
    "text",
    [
        "id,0,1\nx,1,2\ny,3,4\n",
        "id,age,2001\nx,1,2\ny,3,4\n",
        ",age,2001\nx,1,2\ny,3,4\n",
        "Na,K\n1,2\n3,4\n",
        "age,10x\n1,2\n3,4\n",
        "PatientID,a,b\n17,1,2\n4,3,4\n",
        "sampleid,a,b\n17,1,2\n4,3,4\n",
        "Identifier,a,b\n17,1,2\n4,3,4\n",
        "1A,1,2\n2B,3,4\n",
        "400nm,500nm\n1,2\n3,4\n",
        "a,b\n1,2\n3,4\n,\n,\n",
        "id,a,b\nx,1,2\ny,3,4\n,,\n",
        '"a" , "b"\n1,2\n3,4\n',
        "a,b\n\n1,2\n\n\n3,4\n\n",
    ],
)
def test_more_ways_to_write_the_same_numbers(tmp_path: Path, text: str) -> None:
    np.testing.assert_array_equal(numbers_of(table(tmp_path, text)), [[1, 2], [3, 4]])


@pytest.mark.parametrize("title", ["body mass index", "refractive_index", "Heat Index"])
def test_an_index_of_something_is_a_number(tmp_path: Path, title: str) -> None:
    found = table(tmp_path, f"{title},age\n21,30\n25,40\n23,50\n")
    assert (found.titles, found.names) == ((title, "age"), None)


def test_a_title_that_may_be_of_names_or_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match="tumor_sample_id"):
        table(tmp_path, "tumor_sample,age\n21,30\n25,40\n")
    assert table(tmp_path, "white cell,age\n4.5,30\n5.1,40\n").names is None


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt"])
def test_lines_of_any_length(tmp_path: Path, suffix: str) -> None:
    mark = {"csv": ",", "tsv": "\t", "txt": " "}[suffix]
    values = np.random.default_rng(0).random((2, 20_000))
    place = tmp_path / f"genes.{suffix}"
    place.write_text("\n".join(mark.join(map(repr, row)) for row in values.tolist()))
    np.testing.assert_array_equal(numbers_of(open_table(place)), values)


def test_a_cell_too_long_to_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match="line 2"):
        table(tmp_path, f"a,b\n1,{'2' * 200_000}\n")
