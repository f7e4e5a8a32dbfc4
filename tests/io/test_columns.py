"""Columns to take or to leave out, labels in a table of features, and what is said about columns of text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm import CothermError, limits

TEXT = "id,age,sex,height,city\na,30,m,1.8,Rome\nb,40,f,1.7,Oslo\nc,50,f,1.6,Rome\n"


def test_columns_of_text_are_all_named(place: Path) -> None:
    with pytest.raises(CothermError) as caught:
        ct.io.read_table(place)
    said = str(caught.value)
    assert "text in 2 columns: sex ('m'), city ('Rome')" in said
    assert all(word in said for word in ("columns=", "drop=", "label_column="))
    assert "\n" not in said
    with pytest.raises(CothermError, match=r"text in 1 column: city \('Rome'\)"):
        ct.io.read_table(place, label_column="sex")


def test_columns_are_taken_in_the_order_asked_for(place: Path) -> None:
    table = ct.io.read_table(place, columns=["height", "age"])
    assert (table.titles, table.names) == (("height", "age"), ("a", "b", "c"))
    np.testing.assert_array_equal(table.values, [[1.8, 30], [1.7, 40], [1.6, 50]])
    assert table.values.flags.c_contiguous
    assert "2 columns (height, age), names from the column 'id', 2 columns left out" in table.reading


def test_columns_are_left_out(place: Path) -> None:
    table = ct.io.read_table(place, drop=["sex", "city"])
    assert table.titles == ("age", "height")
    np.testing.assert_array_equal(table.values, [[30, 1.8], [40, 1.7], [50, 1.6]])
    assert ct.io.read_table(place, drop=["sex", "city", "id"]).names is None


def test_labels(place: Path) -> None:
    table = ct.io.read_table(place, label_column="sex", drop=["city"])
    assert table.titles == ("age", "height")
    assert table.labels is not None
    assert table.labels.tolist() == ["m", "f", "f"]
    assert "labels from the column 'sex'" in table.reading
    graph = ct.knn_graph(table.values, 1, scale_neighbor=1, labels=table.labels, vertex_names=table.names)
    assert graph.labels is not None
    assert graph.labels.tolist() == ["m", "f", "f"]


def test_labels_in_the_first_column(place: Path) -> None:
    place.write_text("species,x,y\ncat,1,2\ncat,3,4\ndog,5,6\n")
    with pytest.raises(CothermError, match=r"the name 'cat' more than once.*label_column="):
        ct.io.read_table(place)
    table = ct.io.read_table(place, label_column="species")
    assert table.names is None
    assert table.labels is not None
    assert table.labels.tolist() == ["cat", "cat", "dog"]
    assert table.values.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert ct.io.read_table(place, columns=["y"]).values.tolist() == [[2], [4], [6]]


def test_labels_that_are_quoted_or_unknown(place: Path) -> None:
    place.write_text('x,kind\n7,"red, dark"\n2,NA\n3,"say ""red"""\n4, red \n')
    table = ct.io.read_table(place, label_column="kind")
    assert table.labels is not None
    assert table.labels.tolist() == ["red, dark", "", 'say "red"', "red"]
    place.write_text("x,kind\n" + "".join(f"{k}.25,{k}.5\n" for k in range(6)))
    with pytest.raises(CothermError, match="6 different labels among 6 items"):
        ct.io.read_table(place, label_column="kind")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["age", "weight"]}, "no column 'weight'; needed: some of its columns: age, sex, height, city"),
        ({"drop": ["weight"]}, "no column 'weight'"),
        ({"label_column": "weight", "drop": ["sex", "city"]}, "no column 'weight'"),
        ({"label_column": "sex", "columns": ["age", "sex"]}, "'sex' as a feature and as the label"),
        ({"drop": ["age", "sex", "height", "city"]}, "no column that is left"),
        ({"columns": "age"}, r"columns: 'age' \(str\)"),
        ({"columns": ["age", "age"]}, "each once"),
        ({"drop": [1]}, "a list of titles"),
        ({"label_column": 3}, "label_column: 3"),
    ],
)
def test_what_cannot_be_chosen(options: dict[str, Any], message: str, place: Path) -> None:
    with pytest.raises(CothermError, match=message):
        ct.io.read_table(place, **options)


def test_tables_without_titles_have_no_columns_to_choose(place: Path) -> None:
    place.write_text("1,2\n3,4\n")
    with pytest.raises(CothermError, match="no titles"):
        ct.io.read_table(place, columns=["a"])
    with pytest.raises(CothermError, match="no column 'a'; needed: a table with titles"):
        ct.io.read_table(place, drop=["a"])
    place.write_text("1,red\n3,red\n")
    with pytest.raises(CothermError, match=r"text in 1 column: column 2 \('red'\).*Write titles"):
        ct.io.read_table(place, header=False)
    np.save(place.with_suffix(".npy"), np.eye(2))
    with pytest.raises(CothermError, match="no column 'a'"):
        ct.io.read_table(place.with_suffix(".npy"), label_column="a")


def test_columns_of_the_same_title_are_told_apart_by_nothing(place: Path) -> None:
    place.write_text("a,a,b\n1,2,3\n4,5,6\n")
    assert ct.io.read_table(place).values.shape == (2, 3)
    with pytest.raises(CothermError, match="2 columns 'a'"):
        ct.io.read_table(place, columns=["a"])


def test_names_that_are_not_first_can_be_left_out(place: Path) -> None:
    place.write_text("a,sample_id\n1,7\n2,8\n")
    with pytest.raises(CothermError, match="Put it first, or leave it out with drop="):
        ct.io.read_table(place)
    assert ct.io.read_table(place, drop=["sample_id"]).values.tolist() == [[1], [2]]


def test_what_may_be_names_can_be_asked_for(place: Path) -> None:
    place.write_text("patient,age\n17,30\n19,40\n")
    with pytest.raises(CothermError, match="may be names"):
        ct.io.read_table(place)
    assert ct.io.read_table(place, columns=["patient", "age"]).values.tolist() == [[17, 30], [19, 40]]
    assert ct.io.read_table(place, columns=["age"]).names is None


def test_a_wrong_cell_in_a_column_that_is_left_out_is_nobodys_business(place: Path) -> None:
    place.write_text('id,a,b\nx,1,2.O\ny,3,"4\n5"\n')
    assert ct.io.read_table(place, drop=["b"]).values.tolist() == [[1], [3]]


def test_large_tables(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((20_000, 6))
    kinds = ["red", "blue", "grün"]
    path = tmp_path / "large.csv"
    rows = [f"item-{k},{','.join(map(repr, row))},{kinds[k % 3]}" for k, row in enumerate(values.tolist())]
    rows[777] = rows[777].replace("red", '"red"')
    path.write_text("\n".join(["id,a,b,c,d,e,f,kind", *rows]), encoding="utf-8")
    assert path.stat().st_size > limits.COMPILED_TABLE_BYTES
    table = ct.io.read_table(path, drop=["b", "e"], label_column="kind")
    np.testing.assert_array_equal(table.values, values[:, [0, 2, 3, 5]])
    assert table.labels is not None
    assert table.labels.tolist() == [kinds[k % 3] for k in range(20_000)]
