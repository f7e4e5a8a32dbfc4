"""Ids under titles that nobody knows: never a feature in silence, and numbers that are features are not refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm import CothermError

TITLES = ("eid", "SUBJID", "PTID", "MRN", "uid", "code", "gene", "Kennung", "编号")
UNKNOWN = TITLES[5:]
TEXT = ""


def write(place: Path, titles: list[str], columns: list[np.ndarray]) -> Path:
    rows = zip(*(column.tolist() for column in columns), strict=True)
    place.write_text("\n".join(",".join(map(str, row)) for row in (titles, *rows)) + "\n", encoding="utf-8")
    return place


def ids_of(random: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Ids as registers give them: far apart, one after the other from anywhere, in order or not."""
    first = int(random.integers(0, 10**6))
    if kind == "far apart":
        return random.choice(9 * 10**6, n, replace=False) + 10**6
    if kind == "in order":
        return np.sort(random.choice(10**5, n, replace=False))
    return first + random.permutation(n)


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("kind", ["far apart", "in order", "consecutive"])
def test_ids_under_any_title_are_no_feature(place: Path, title: str, kind: str) -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        n = int(random.integers(8, 80))
        ids, others = ids_of(random, n, kind), [random.standard_normal(n) for _ in range(3)]
        write(place, [title, "x", "y", "z"], [ids, *others])
        if title in UNKNOWN:
            with pytest.raises(CothermError) as caught:
                ct.io.read_table(place)
            assert f"column 1 ({title})" in str(caught.value)
            assert f'id_column="{title}"' in caught.value.advice
        table = ct.io.read_table(place, id_column=title if title in UNKNOWN else None)
        assert table.names == tuple(map(str, ids))
        assert table.titles == ("x", "y", "z")
        assert f"names from the column {title!r}" in table.reading


def test_ids_beside_whole_numbers_that_repeat(place: Path) -> None:
    random = np.random.default_rng(1)
    answers = [random.integers(1, 6, 50) for _ in range(8)]
    write(place, ["code", *(f"q{k}" for k in range(8))], [random.permutation(50_000)[:50], *answers])
    with pytest.raises(CothermError, match=r"column 1 \(code\): 50 different whole numbers"):
        ct.io.read_table(place)


def test_the_user_says_what_they_are(place: Path) -> None:
    random = np.random.default_rng(2)
    numbers, x = random.permutation(50_000)[:30], random.standard_normal(30).round(3)
    write(place, ["code", "x"], [numbers, x])
    for said in ({"id_column": False}, {"columns": ["code", "x"]}):
        table = ct.io.read_table(place, **said)
        assert (table.names, table.titles) == (None, ("code", "x"))
    left = ct.io.read_table(place, drop=["code"])
    assert (left.names, left.titles) == (None, ("x",))
    np.testing.assert_array_equal(left.values[:, 0], x)


def test_ids_in_any_column(place: Path) -> None:
    place.write_text("x,y,code,kind\n1.5,2,k7,a\n2.5,3,k8,a\n3.5,4,k9,b\n")
    table = ct.io.read_table(place, id_column="code", label_column="kind")
    assert (table.names, table.titles) == (("k7", "k8", "k9"), ("x", "y"))
    assert table.values.tolist() == [[1.5, 2.0], [2.5, 3.0], [3.5, 4.0]]
    assert "names from the column 'code'" in table.reading
    assert "left out" not in table.reading


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"id_column": "nowhere"}, "no column 'nowhere'"),
        ({"id_column": "x", "label_column": "x"}, "'x' as ids and as something else"),
        ({"id_column": 3}, "id_column: 3"),
        ({"id_column": True}, "id_column: True"),
    ],
)
def test_ids_that_cannot_be(place: Path, said: dict[str, object], message: str) -> None:
    place.write_text("a,x,y\nk1,1,2.5\nk2,3,4.5\n")
    with pytest.raises(CothermError) as caught:
        ct.io.read_table(place, **said)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_features_that_happen_to_differ_are_taken(place: Path) -> None:
    """Counts, of which one or another differs from row to row, and numbers in other columns than the first."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        n, m = int(random.integers(8, 60)), int(random.integers(5, 40))
        counts = [random.negative_binomial(2, 1e-4, n) for _ in range(m)]
        write(place, [f"g{k}" for k in range(m)], counts)
        table = ct.io.read_table(place)
        assert table.values.shape == (n, m)
        one, whole = random.standard_normal(n), random.permutation(10**6)[:n]
        write(place, ["x", "population", "y"], [one, whole, one])
        table = ct.io.read_table(place)
        assert table.values.shape == (n, 3)
        assert "the whole numbers in 'population' all different and taken as a feature" in table.reading


def test_digits_that_are_no_numbers_are_names(place: Path) -> None:
    """Leading zeros, and more digits than a double holds: 16-digit ids would be equal as numbers."""
    for cells in (["007", "011", "102"], [f"90071992547409{k}" for k in range(920, 940)]):
        place.write_text("code,x,y\n" + "".join(f"{cell},{k}.5,2\n" for k, cell in enumerate(cells)))
        table = ct.io.read_table(place)
        assert (table.names, table.titles) == (tuple(cells), ("x", "y"))
    write(place, ["brightness", "x"], [np.random.default_rng(0).random(20) * 1e30, np.ones(20)])
    assert ct.io.read_table(place).titles == ("brightness", "x")  # whole, as any number of that size


def test_few_rows_and_points_say_nothing(place: Path) -> None:
    place.write_text("a,b\n3,0.5\n1,0.25\n2,0.5\n")
    assert "all different" not in ct.io.read_table(place).reading
    write(place, ["a", "b"], [np.arange(40) * 7.5, np.ones(40)])
    assert "all different" not in ct.io.read_table(place).reading


def test_ids_that_are_missing_are_refused_or_left_out(place: Path) -> None:
    for mark in ("NA", "nan", "", "?", "#N/A", "null"):
        place.write_text(f"id,x,y\na,1,2\n{mark},3,4\nc,5,6\n")
        with pytest.raises(CothermError, match=r'line 3, column 1: .*needed: the name of the row.*missing="drop"'):
            ct.io.read_table(place)
        with pytest.raises(CothermError, match="the name of the row"):
            ct.io.read_table(place, missing="median")
        table = ct.io.read_table(place, missing="drop")
        assert table.names == ("a", "c")
        assert "less 1 row with missing values (row 1 from 0, which has no name)" in table.reading
    place.write_text("id,x,y\nNA,1,2\nNA,3,4\nc,5,6\n")
    with pytest.raises(CothermError, match="the first of 2 rows without a name"):
        ct.io.read_table(place)
    assert ct.io.read_table(place, missing="drop").names == ("c",)


def test_ids_of_parquet(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"code": random.permutation(10**6)[:20], "x": random.standard_normal(20)})
    place = tmp_path / "table.parquet"
    frame.to_parquet(place, index=False)
    with pytest.raises(CothermError, match=r"column 1 \(code\)"):
        ct.io.read_table(place)
    assert ct.io.read_table(place, id_column="code").names == tuple(map(str, frame["code"]))
    assert ct.io.read_table(place, id_column=False).titles == ("code", "x")
    frame[["x", "code"]].set_index(pd.Index([f"r{k}" for k in range(20)])).to_parquet(place)
    table = ct.io.read_table(place, id_column="code")
    assert (table.names, table.titles) == (tuple(map(str, frame["code"])), ("x",))


def test_labels_by_name_say_why_some_are_not_matched(place: Path) -> None:
    place.write_text("id,kind\nANN,u\nbob,v\nCLEO,u\n")
    found = ct.io.read_labels(place, names=["ANN", "bob", "CLEO"])
    assert found.tolist() == ["u", "v", "u"]
    with pytest.raises(CothermError, match=r"2 more would pair but for case: 'ann' in the items, 'ANN' in table\.csv"):
        ct.io.read_labels(place, names=["ann", "cleo"])
    shuffled = [str(k) for k in np.random.default_rng(0).permutation(20)]
    place.write_text("id,kind\n" + "".join(f"{k},{'uv'[k % 2]}\n" for k in range(1, 21)))
    with pytest.raises(CothermError, match="rows counted from 1, where those of the items are counted from 0"):
        ct.io.read_labels(place, names=shuffled)
