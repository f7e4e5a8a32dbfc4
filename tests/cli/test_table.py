"""Tables as people write them, and what is said about those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cotherm import CothermError
from cotherm.cli.table import read_table


def table(tmp_path: Path, text: str, **options: bool):  # type: ignore[no-untyped-def]
    place = tmp_path / "table.csv"
    place.write_text(text, encoding="utf-8")
    return read_table(place, **options)


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


def test_titles_and_names_of_labels(tmp_path: Path) -> None:
    found = table(tmp_path, "kind\nred\ngreen\nred\n", labels=True)
    assert (found.titles, [row[0] for row in found.cells]) == (("kind",), ["red", "green", "red"])
    assert table(tmp_path, "red\ngreen\nred\n", labels=True).titles is None
    assert table(tmp_path, "1\n2\n1\n", labels=True).titles is None
    found = table(tmp_path, "item,kind\n7,red\n8,green\n9,red\n", labels=True)
    assert found.names == ("7", "8", "9")
    assert found.column("kind") == ("red", "green", "red")


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
        ("\n\n", "table.csv"),
    ],
)
def test_the_place_of_what_is_wrong_is_named(tmp_path: Path, text: str, where: str) -> None:
    with pytest.raises(CothermError) as caught:
        table(tmp_path, text).numbers()
    assert where in caught.value.argument
