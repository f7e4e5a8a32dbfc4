"""Labels as people keep them: in any order, with or without titles and names; what cannot be told is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import cotherm as ct
from cotherm import CothermError
from cotherm.cli.correspondence import read_labels
from cotherm.cli.inputs import View

NAMES = ("a", "b", "c", "d", "e", "f")
KINDS = ["x", "x", "y", "y", "x", "y"]


def view(names: tuple[str, ...] | None, name: str = "one") -> View:
    return View(ct.Graph(6, [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [1.0] * 5, vertex_names=names, name=name))


def read(
    tmp_path: Path, text: str, *views: View, column: str | None = None, titled: bool | None = None
) -> list[list[str]]:
    place = tmp_path / "labels.csv"
    place.write_text(text, encoding="utf-8")
    header = {} if titled is None else {str(place.resolve()): titled}
    return [labels.tolist() for labels in read_labels(views or (view(NAMES),), [str(place)], column, header).of]


def lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


NAMED = [f"{name},{kind}" for name, kind in zip(NAMES, KINDS, strict=True)]


@pytest.mark.parametrize(
    "text",
    [
        lines(*KINDS),
        lines("kind", *KINDS),
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
    assert read(tmp_path, lines("a,rare", *NAMED[1:]))[0][0] == "rare"
    assert read(tmp_path, lines("rare", *KINDS[1:]), titled=False)[0][0] == "rare"


@pytest.mark.parametrize("names", [NAMES, None])
@pytest.mark.parametrize(
    ("text", "titled", "found"),
    [
        # A title like a label, or a label too many: the same text.
        (lines("x", *KINDS), True, KINDS),
        (lines("x,x", *(f"{kind},{kind}" for kind in KINDS)), True, KINDS),
        # A label that occurs once, or a title over a file that was cut short: the same text.
        (lines("rare", *KINDS[1:]), False, ["rare", *KINDS[1:]]),
        (lines("kind", *KINDS[1:]), False, ["kind", *KINDS[1:]]),
        (lines("kind", *KINDS[:5]), False, ["kind", *KINDS[:5]]),
    ],
)
def test_the_number_of_rows_never_decides_on_a_title(
    tmp_path: Path, names: tuple[str, ...] | None, text: str, titled: bool, found: list[str]
) -> None:
    views = view(names), view(names, "two")
    with pytest.raises(CothermError, match=r"--header .*labels\.csv or --no-header") as caught:
        read(tmp_path, text, *views)
    assert "line 1" in caught.value.argument
    assert read(tmp_path, text, *views, titled=titled) == [found, found]
    with pytest.raises(CothermError, match="labels for one"):
        read(tmp_path, text, *views, titled=not titled)


@pytest.mark.parametrize("unknown", range(6))
@pytest.mark.parametrize("empty", ["", "NA", "?", '""'])
@pytest.mark.parametrize("title", ["kind", None])
def test_an_unknown_label_moves_no_other(tmp_path: Path, unknown: int, empty: str, title: str | None) -> None:
    kinds = [*KINDS[:unknown], empty, *KINDS[unknown + 1 :]]
    found = [*KINDS[:unknown], "", *KINDS[unknown + 1 :]]
    for width in (1, 2):
        rows = [",".join([kind] * width) for kind in kinds]
        text = lines(*rows) if title is None else lines(",".join([title] * width), *rows)
        views = [view(None), view(None, "two")][:width]
        if title is not None and unknown == 5 and empty in ("", '""')[:width]:
            # A title and five labels, or six labels and an empty row at the end: the same text.
            with pytest.raises(CothermError, match="--no-header"):
                read(tmp_path, text, *views)
        else:
            assert read(tmp_path, text, *views) == [found] * width
        assert read(tmp_path, text, *views, titled=title is not None) == [found] * width


def test_rows_after_the_last_label_are_none(tmp_path: Path) -> None:
    assert read(tmp_path, lines("kind", *KINDS, "", "", "")) == [KINDS]
    assert read(tmp_path, lines(*KINDS, "")) == [KINDS]
    assert read(tmp_path, lines("id,kind", *NAMED, ",", ",")) == [KINDS]


@pytest.mark.parametrize("rows", [["kind", *KINDS[:4]], [*KINDS, "x", "y"], [*KINDS[:5]]])
def test_too_few_or_too_many_labels_are_refused(tmp_path: Path, rows: list[str]) -> None:
    with pytest.raises(CothermError, match=r"labels"):
        read(tmp_path, lines(*rows))


def test_a_title_over_numbers_is_one(tmp_path: Path) -> None:
    assert read(tmp_path, lines("cluster", *"010011")) == [[*"010011"]]
    assert read(tmp_path, lines(*"010011")) == [[*"010011"]]


def test_an_item_of_nobody_is_no_title(tmp_path: Path) -> None:
    place = tmp_path / "labels.csv"
    place.write_text(lines("stranger,y", *NAMED))
    found = read_labels([view(NAMES)], [str(place)], None)
    assert found.of[0].tolist() == KINDS
    assert "column" not in found.reading[0]


def test_a_quotation_mark_left_open_swallows_nothing(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match="quotation mark"):
        read(tmp_path, lines("id,kind", NAMED[0], 'b,"x', *NAMED[2:]))


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


def counted(first: int) -> list[str]:
    return [f"{k},{kind}" for k, kind in enumerate(KINDS, first)]


def test_rows_counted_from_0_and_from_1_are_not_matched(tmp_path: Path) -> None:
    for mine, theirs in ((0, 1), (1, 0)):
        names = tuple(str(k) for k in range(mine, mine + 6))
        with pytest.raises(CothermError, match=f"counted from {theirs}"):
            read(tmp_path, lines("id,kind", *counted(theirs)), view(names))
        assert read(tmp_path, lines("id,kind", *counted(mine)), view(names)) == [KINDS]


def test_names_that_are_not_in_the_first_column_are_refused(tmp_path: Path) -> None:
    text = lines("kind,id", *(f"{kind},{name}" for name, kind in zip(NAMES[::-1], KINDS[::-1], strict=True)))
    with pytest.raises(CothermError, match="Put it first"):
        read(tmp_path, text, column="kind")


def test_a_word_over_numbers_may_be_a_label(tmp_path: Path) -> None:
    for end in ([], [""]):
        with pytest.raises(CothermError, match="--no-header"):
            read(tmp_path, lines("control", *"01010", *end), view(None))
    assert read(tmp_path, lines("control", *"01010"), view(None), titled=False) == [["control", *"01010"]]


def test_what_pandas_writes_for_a_series(tmp_path: Path) -> None:
    names = tuple(map(str, range(6)))
    assert read(tmp_path, lines(",0", *(f"{k},{k % 2}" for k in range(6))), view(names)) == [[*"010101"]]


def test_a_shorter_column_may_be_filled_up(tmp_path: Path) -> None:
    short = View(ct.Graph(4, [0, 1, 2], [1, 2, 3], [1.0] * 3, name="short"))
    for empty in ("", "NA"):
        other = [*KINDS[:4], empty, empty]
        pairs = [f"{a},{b}" for a, b in zip(KINDS, other, strict=True)]
        assert read(tmp_path, lines(*pairs), view(None), short) == [KINDS, KINDS[:4]]
