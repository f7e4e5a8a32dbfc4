"""Labels as people keep them: in any order, with or without titles and names; what cannot be told is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import cotherm as ct
from cotherm import CothermError
from cotherm.cli.labels import read_labels
from cotherm.cli.views import View

NAMES = ("a", "b", "c", "d", "e", "f")
KINDS = ["x", "x", "y", "y", "x", "y"]


def view(names: tuple[str, ...] | None, name: str = "one") -> View:
    graph = ct.Graph(6, [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [1.0] * 5, name=name)
    return View(graph, names)


def read(tmp_path: Path, text: str, *views: View, column: str | None = None) -> list[list[str]]:
    place = tmp_path / "labels.csv"
    place.write_text(text, encoding="utf-8")
    return [labels.tolist() for labels in read_labels(views or (view(NAMES),), [str(place)], column).of]


def lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


NAMED = [f"{name},{kind}" for name, kind in zip(NAMES, KINDS, strict=True)]


@pytest.mark.parametrize(
    "text",
    [
        lines(*KINDS),
        lines("kind", *KINDS),
        lines("x", *KINDS),  # a title like a label: the number of rows tells
        lines(*NAMED),
        lines("id,kind", *NAMED),
        lines("who,kind", *NAMED),
        lines("id,kind", *reversed(NAMED)),
        lines(*NAMED[::-1]),
        lines("id,kind", *NAMED, "stranger,y"),
    ],
)
def test_all_ways_to_say_the_same(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == [KINDS]


def test_a_label_that_occurs_once_is_no_title(tmp_path: Path) -> None:
    assert read(tmp_path, lines("rare", *KINDS[1:]))[0][0] == "rare"
    assert read(tmp_path, lines("a,rare", *NAMED[1:]))[0][0] == "rare"


def test_unknown_labels(tmp_path: Path) -> None:
    text = lines("id,kind", "a,x", "b,NA", "c,", "d,None", "e,x")
    assert read(tmp_path, text) == [["x", "", "", "", "x", ""]]


def test_columns_for_each_view(tmp_path: Path) -> None:
    views = view(None), view(None, "two")
    other = KINDS[::-1]
    pairs = [f"{a},{b}" for a, b in zip(KINDS, other, strict=True)]
    assert read(tmp_path, lines(*pairs), *views) == [KINDS, other]
    assert read(tmp_path, lines("left,right", *pairs), *views) == [KINDS, other]
    assert read(tmp_path, lines("two,one", *pairs), *views) == [other, KINDS]  # titles name the views


@pytest.mark.parametrize(
    "text",
    [
        lines("label,batch", *(f"{kind},{k % 3}" for k, kind in enumerate(KINDS))),
        lines("id,label,batch", *(f"{row},{k % 3}" for k, row in enumerate(NAMED))),
        lines("id,label", *NAMED[:5], "a,y"),
        lines("id,label", *(f"{name}{name},x" for name in NAMES)),
        lines("id,value", *(f"{name},{k}.5" for k, name in enumerate(NAMES))),
    ],
    ids=["another column", "another column beside names", "a name twice", "names of others", "numbers"],
)
def test_what_cannot_be_told_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CothermError):
        read(tmp_path, text, view(NAMES), view(NAMES, "two"))


def test_names_on_one_side_only_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match="names"):
        read(tmp_path, lines("id,kind", *reversed(NAMED)), view(None))
    counted = lines("id,kind", *(f"{k},{kind}" for k, kind in enumerate(KINDS)))
    assert read(tmp_path, counted, view(None)) == [KINDS]  # row numbers in order are no names


def test_a_column_can_be_chosen(tmp_path: Path) -> None:
    text = lines("id,label,batch", *(f"{row},{k % 3}" for k, row in enumerate(NAMED)))
    assert read(tmp_path, text, column="label") == [KINDS]
