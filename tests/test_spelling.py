"""Names of the same items in two spellings: told of, never repaired, and counts that begin at 0 and at 1."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import cotherm as ct
from cotherm.spelling import near_miss, shift_by_one


def barcodes(random: np.random.Generator, n: int) -> list[str]:
    return ["".join(random.choice(list("ACGT"), 16)) for _ in range(n)]


CHANGES: dict[str, tuple[Callable[[int, str], str], Callable[[str], str]]] = {
    "case": (lambda _, code: f"Cell{code}", str.lower),
    "their Unicode form (NFC, NFD)": (lambda _, code: f"é{code}", lambda name: unicodedata.normalize("NFD", name)),
    "leading zeros": (lambda k, _: f"{k + 1:04d}", lambda name: name.lstrip("0")),
    "punctuation": (lambda _, code: f"TCGA-{code[:4]}-{code[4:]}", lambda name: name.replace("-", ".")),
    "a number at their end": (lambda _, code: f"{code}-1", lambda name: name[:-2]),
    "their length": (lambda _, code: code, lambda name: name[:12]),
}


@pytest.mark.parametrize("cause", CHANGES)
def test_half_of_the_names_in_another_spelling(cause: str) -> None:
    made, changed = CHANGES[cause]
    for seed in range(10):
        random = np.random.default_rng(seed)
        n = int(random.integers(6, 60))
        names = [made(k, code) for k, code in enumerate(barcodes(random, n))]
        which = set(random.permutation(n)[: n // 2].tolist())
        others = [changed(name) if k in which else name for k, name in enumerate(names)]
        order = random.permutation(n)
        with pytest.warns(ct.CothermWarning, match=rf"{n // 2} more would pair but for") as told:
            table = ct.pair_names([names, [others[k] for k in order]])
        assert f"but for {cause}: " in str(told[0].message)
        assert len(table) == n - n // 2  # nothing is repaired
        assert all(names[a] == others[order[b]] for a, b in table)
        with pytest.raises(ct.CothermError, match=rf"{n} more would pair but for"):
            ct.pair_names([names, [changed(name) for name in names]])


def test_names_of_other_items_are_not_near() -> None:
    cases = [
        ([f"item-{k}" for k in range(40, 60)], [f"item-{k}" for k in range(60, 90)]),
        (["item-3"], ["item-7"]),
        (["s1", "s2"], ["s10", "s21"]),
        (["10001", "10002"], ["100013", "100029"]),
        ([], ["a"]),
    ]
    for first, second in cases:
        assert near_miss(first, second) is None
    random = np.random.default_rng(0)
    assert near_miss(barcodes(random, 200), barcodes(random, 200)) is None


def test_types_that_differ_are_named() -> None:
    with pytest.warns(ct.CothermWarning, match="1 more would pair but for their type: 3 in names\\[0\\], '3' in names"):
        ct.pair_names([[1, 2, 3], [2, "3", 1]])


@pytest.mark.parametrize("stem", ["", "sample_", "s", "Visit 2, plot "])
def test_counts_from_0_and_from_1_are_refused_in_any_order(stem: str) -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        n = int(random.integers(3, 60))
        some = random.permutation(n)[: int(random.integers(n // 2 + 1, n + 1))]
        items = np.union1d(some, [0])  # the same items in both, 0 among them
        if len(items) < 3 or len(np.intersect1d(items, items + 1)) < 1:
            continue
        first = [f"{stem}{k}" for k in random.permutation(items)]
        second = [f"{stem}{k + 1}" for k in random.permutation(items)]
        for names in ([first, second], [second, first]):
            with pytest.raises(ct.CothermError, match=r"rows counted from 1, where those of .* are counted from 0"):
                ct.pair_names(names)


def test_counts_of_subsets_are_told_of() -> None:
    names = [[f"s{k:03d}" for k in range(60)], [f"s{k:03d}" for k in range(1, 51)]]
    with pytest.warns(ct.CothermWarning, match="seem to be counted from 1, those of .* from 0"):
        assert len(ct.pair_names(names)) == 50


def test_items_with_gaps_whose_numbers_are_one_higher_are_refused() -> None:
    items = np.array([5, 6, 9, 12, 13, 20, 21, 30, 31, 40, 41, 50])
    with pytest.raises(ct.CothermError, match="numbers one higher than those of names\\[0\\] \\('6' for '5'\\)"):
        ct.pair_names([list(map(str, items)), list(map(str, items + 1))])


def test_numbers_that_are_right_are_paired_without_a_word() -> None:
    random = np.random.default_rng(0)
    years = [[str(year) for year in range(first, first + 30)] for first in (1990, 1991)]
    patients = random.permutation(10**6)[:200]
    half = [random.permutation(patients)[:100] for _ in range(2)]
    from_zero = [random.permutation(60)[:50] for _ in range(2)]
    for one in from_zero:
        one[0] = 0
    cells = [[f"{code}-1" for code in barcodes(random, 40)]] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(ct.pair_names(years)) == 29
        assert len(ct.pair_names([one.tolist() for one in half])) == len(np.intersect1d(half[0], half[1]))
        assert len(ct.pair_names([sorted(set(one.tolist())) for one in from_zero])) > 30
        assert len(ct.pair_names(cells)) == 40
    assert shift_by_one(["a", "b"], ["c"]) is None


@pytest.mark.parametrize("mark", ["NA", "nan", "", "None", "<NA>", "?"])
def test_missing_names_never_pair(mark: str) -> None:
    with pytest.raises(ct.CothermError, match="marks a missing name"):
        ct.pair_names([["a", "b", mark], ["b", mark, "a"]])
    assert len(ct.pair_names([["a", "b", mark], ["b", "c", "a"]])) == 2  # of one graph it pairs with nothing
    graphs = [ct.Graph(3, [0, 1], [1, 2], [1.0, 1.0], vertex_names=["a", "b", mark or "NA"]) for _ in range(2)]
    with pytest.raises(ct.CothermError, match="marks a missing name"):
        ct.couple_pairs(graphs, "names")


def test_missing_values_of_any_type_are_no_names() -> None:
    holes = [np.float32("nan"), np.datetime64("NaT"), ("a", float("nan")), ("a", None)]
    for hole in holes:
        with pytest.raises(ct.CothermError, match="no name at 1"):
            ct.pair_names([["a", hole], ["a", hole]])
