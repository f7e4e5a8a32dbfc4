"""Which vertices are the same item: every way to say it, and every way to say it wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import cotherm as ct
from cotherm.pairs import checked_pairs

SIZES = (5, 4)


@pytest.mark.parametrize(
    "pairs",
    [
        ([0, 2, 4], [3, 1, 0]),
        [np.array([0, 2, 4]), np.array([3, 1, 0])],
        [[0, 2, 4], [3, 1, 0]],
        np.array([[0, 3], [2, 1], [4, 0]]),
        np.array([[0, 3], [2, 1], [4, 0], [1, -1]]),
        np.array([[0.0, 3.0], [2.0, 1.0], [4.0, 0.0], [np.nan, 2.0]]),
        np.array([[0, 3], [2, 1], [4, 0], [None, 2]], dtype=object),
        np.ma.masked_array(
            [[0, 3], [2, 1], [4, 0], [0, 2]], [[False, False], [False, False], [False, False], [True, False]]
        ),
    ],
)
def test_all_ways_to_give_pairs_are_one_table(pairs: Any) -> None:
    assert_array_equal(checked_pairs(pairs, SIZES).table, [[0, 3], [2, 1], [4, 0]])


def test_tables_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [0, 2, 4], "b": pandas.array([3, 1, None], dtype="Int64")})
    assert_array_equal(checked_pairs(table, SIZES).table, [[0, 3], [2, 1]])


def test_the_same_vertices() -> None:
    pairs = checked_pairs("same", (3, 3, 3))
    assert_array_equal(pairs.table, [[0, 0, 0], [1, 1, 1], [2, 2, 2]])
    assert len(pairs.all_items()) == 3


def test_overlaps_that_differ_from_pair_to_pair() -> None:
    pairs = checked_pairs(np.array([[0, 0, -1], [1, -1, 2], [-1, 3, 1], [2, 1, 0], [-1, -1, 3]]), (4, 4, 4))
    assert [pairs.count(*views) for views in ((0, 1), (0, 2), (1, 2))] == [2, 2, 2]
    assert_array_equal(pairs.shared(1, 2), [[3, 1], [1, 0]])
    items = pairs.all_items()
    assert len(items) == 4 + 1 + 1 + 1
    for column in items.T:
        assert_array_equal(np.sort(column[column >= 0]), np.arange(4))
    assert pairs.without(np.array([3])).count(0, 1) == 1


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("others", "pairs: 'others'; needed: the word"),
        ("same", "graphs of 5, 4 vertices"),
        (([0, 1], [0, 1, 2]), "index arrays of 2, 3 entries"),
        (([0, 9], [0, 1]), "pairs[0]: vertex 9 in row 1; needed: vertices from 0 to 4"),
        (([0, 1], [0, -2]), "pairs[1]: vertex -2 in row 1"),
        (([0, 1, 0], [0, 1, 0]), "pairs[0]: vertex 0 in rows 0 and 2, the same pair twice"),
        (([0, 1, 0], [0, 1, 2]), "pairs[0]: vertex 0 in rows 0 and 2, with different partners"),
        (([0, 1], [2, 2]), "pairs[1]: vertex 2 in rows 0 and 1, with different partners"),
        (([0.5, 1], [0, 1]), "pairs[0]: 0.5 in row 0; needed: whole numbers"),
        ((["a", "b"], ["a", "b"]), "pairs[0]: entries of type"),
        (([-1, 1], [0, -1]), "no item that is in two graphs"),
        (([0], [0]), "one item that is in two graphs"),
        (np.zeros((3, 3)), "an array of shape (3, 3)"),
        ([], "an array of shape (0,)"),
    ],
)
def test_pairs_that_cannot_be_used(pairs: Any, message: str) -> None:
    with pytest.raises(ct.CothermError) as caught:
        checked_pairs(pairs, SIZES)
    assert message in str(caught.value)


def test_names() -> None:
    table = ct.pair_names([["a", "b", "c"], ["c", "x", "a"], ["x", "y", "b"]])
    assert_array_equal(table, [[0, 2, -1], [1, -1, 2], [2, 0, -1], [-1, 1, 0]])
    assert_array_equal(ct.pair_names([[3, 7], [7, 3]]), [[0, 1], [1, 0]])


def test_rows_counted_from_0_and_from_1_are_not_paired() -> None:
    for kind in (int, str):
        counts = [[kind(v) for v in range(start, start + 6)] for start in (0, 1)]
        with pytest.raises(ct.CothermError, match=r"names\[1\]: rows counted from 1"):
            ct.pair_names(counts)
    with pytest.warns(ct.CothermWarning, match=r"rows of names\[1\] seem to be counted from 1"):
        assert len(ct.pair_names([range(6), range(1, 5)])) == 4


def test_names_of_any_index_of_pandas() -> None:
    pd = pytest.importorskip("pandas")
    expected = [[0, 2], [2, 0]]
    days = pd.date_range("2020-01-01", periods=4)
    cases = [
        (pd.Index(["a", "b", "c"]), pd.Index(["c", "x", "a"])),
        (pd.Index([1, 2, 3]), pd.Index([3.0, 9.0, 1.0])),
        (pd.RangeIndex(3), pd.Index([2, 7, 0])),
        (pd.CategoricalIndex(["a", "b", "c"]), pd.Index(["c", "x", "a"])),
        (days[:3], days[[2, 3, 0]]),
        (pd.Index(["a", "b", "c"], dtype="string"), np.array(["c", "x", "a"])),
        (pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]), [("b", 1), ("b", 2), ("a", 1)]),
    ]
    for names in cases:
        assert_array_equal(ct.pair_names(names), expected)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([["a", "b", "a"], ["a", "b"]], "names[0]: 'a' twice, at 0 and 2"),
        ([["a"], ["b"]], "names[0], names[1]: no name that is in two of them (first names: 'a', 'b')"),
        ([[1, 2, 3], ["1", "2"]], "names[0]: 1 (int), but '1' (str) in names[1]; needed: names of one type"),
        ([np.array([5, 6]), [5, 6], ["6", "7"]], "names[2]: '6' (str), but 6 (int) in names[0]"),
        ([["a", None], ["a", "b"]], "names[0]: no name at 1"),
        ([["a", "b"], ["a", float("nan")]], "names[1]: no name at 1"),
        ([["a", ["b"]], ["a", "b"]], "names[0]: a list at 1; needed: names such as strings or numbers"),
        (7, "names of two or more graphs"),
        ([["a"]], "names of two or more graphs"),
        ("ab", "names of two or more graphs"),
    ],
)
def test_names_that_cannot_be_used(names: Any, message: str) -> None:
    with pytest.raises(ct.CothermError) as caught:
        ct.pair_names(names)
    assert message in str(caught.value)
