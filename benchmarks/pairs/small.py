"""Small sets of many kinds, of scikit-learn's data and made ones: rows of every view, and classes that only judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_circles, make_moons

from benchmarks.pairs.planted import planted
from benchmarks.pairs.sets import source, unit_rows
from benchmarks.suite.parts import Data
from cotherm.arrays import Floats, Ints

_ITEMS = 180
_WORDS = 150


class Small(NamedTuple):
    """Items in several views.

    ``related`` where there is something in common that can be gained from, ``measured`` where rows are measurements as
    they are or parts and transforms of them, not made up.
    """

    name: str
    rows: Sequence[Floats]
    labels: Ints
    related: bool = True
    measured: bool = False


def small_sets(data: Data = None) -> list[Small]:
    """Those that are always there, and with ``data`` samples of real ones."""
    made = [*_of_digits(), *_of_tables(), *_of_planted(), *_of_words()]
    return made if data is None else [*made, *_of_files(data)]


def _of_digits() -> list[Small]:
    """Parts, transforms and noisy copies of images."""
    views: dict[str, Callable[[Floats, np.random.Generator], list[Floats]]] = {
        "halves": lambda X, _: [X[:, :4], X[:, 4:]],
        "left and right": lambda X, _: [X[:, :, :4], X[:, :, 4:]],
        "quarters": lambda X, _: [X[:, a : a + 4, b : b + 4] for a in (0, 4) for b in (0, 4)],
        "pixels, Fourier": lambda X, _: [X, np.abs(np.fft.fft2(X))[:, :5, :5]],
        "pixels, gradients": lambda X, _: [X, _gradients(X)],
        "sums of rows, of columns": lambda X, _: [X.sum(axis=1), X.sum(axis=2)],
        "every other pixel": lambda X, _: [X.reshape(len(X), -1)[:, k::2] for k in (0, 1)],
        "three noisy copies": lambda X, rng: [X + 0.5 * rng.standard_normal(X.shape) for _ in range(3)],
        "two, one permuted": lambda X, rng: [X, rng.permutation(X), X[:, :4]],
    }
    found, data = [], load_digits()
    for seed, (name, make) in enumerate(views.items()):
        rng = np.random.default_rng(seed)
        chosen = rng.permutation(len(data.target))[:_ITEMS]
        rows = [view.reshape(len(chosen), -1) for view in make(data.images[chosen] / 16.0, rng)]
        real = not name.startswith(("three noisy", "two, one"))
        found.append(Small(f"digits: {name}", rows, data.target[chosen], measured=real))
    return found


def _gradients(images: Floats) -> Floats:
    """How much of the four directions is in each quarter."""
    across, down = np.diff(images, axis=2, append=0.0), np.diff(images, axis=1, append=0.0)
    length = np.hypot(across, down)
    direction = np.minimum((np.mod(np.arctan2(down, across), np.pi) / np.pi * 4.0).astype(int), 3)
    parts = [(slice(a, a + 4), slice(b, b + 4)) for a in (0, 4) for b in (0, 4)]
    sums = [((direction == k) * length)[:, r, c].sum(axis=(1, 2)) for r, c in parts for k in range(4)]
    return np.array(sums).T


def _of_tables() -> list[Small]:
    """Columns of tables, in units of their standard deviation."""
    wine, cancer, iris = load_wine(), load_breast_cancer(), load_iris()
    W, C = _standard(wine.data), _standard(cancer.data)
    chosen = np.random.default_rng(0).permutation(len(C))[:_ITEMS]
    few = [C[chosen][:, first : first + 18 : 3] for first in (0, 1)]
    moons, sides = make_moons(160, noise=0.12, random_state=1)
    circles, _ = make_circles(160, noise=0.1, factor=0.5, shuffle=False, random_state=2)
    order = np.argsort(sides, kind="stable")
    return [
        Small("wine: two parts", [W[:, :6], W[:, 6:]], wine.target, measured=True),
        Small("wine: three parts", [W[:, k::3] for k in range(3)], wine.target, measured=True),
        Small(
            "cancer: three parts", [C[chosen][:, k : k + 10] for k in (0, 10, 20)], cancer.target[chosen], measured=True
        ),
        Small("cancer: two parts", few, cancer.target[chosen], measured=True),
        Small("iris: two parts", [iris.data[:, :2], iris.data[:, 2:]], iris.target, measured=True),
        Small("moons and circles", [moons[order], circles], sides[order]),
    ]


def _standard(X: Floats) -> Floats:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def _of_planted() -> list[Small]:
    """Groups in noise, groups that some views cannot tell apart, a view with nothing in common, nothing to gain."""
    noises = {6: (0.2, 0.26, 0.32), 4: (0.3, 0.3), 8: (0.22,) * 4, 5: (0.15, 0.4), 3: (0.45,) * 3, 10: (0.2, 0.25)}
    found = []
    for seed, (groups, amounts) in enumerate(noises.items()):
        rows, labels = planted(160, groups, amounts, seed=seed)
        found.append(Small(f"planted: {groups} groups, {len(amounts)} views", rows, labels))
    rng = np.random.default_rng(20)
    rows, labels = planted(160, 5, (0.25,) * 3, seed=21)
    foreign = rng.standard_normal((160, 10))
    easy, known = planted(150, 4, (0.08, 0.08), seed=23)
    return [
        *found,
        _confused("two views", [[(0, 1), (2, 3)], [(1, 2), (4, 5)]], 0.15, rng),
        _confused("three views", [[(0, 1)], [(2, 3)], [(4, 5)]], 0.2, rng),
        Small("planted: one view of noise", [rows[0], foreign], labels, related=False),
        Small("planted: a third view of noise", [*rows[:2], foreign], labels),
        Small("planted: nothing to gain", easy, known, related=False),
    ]


def _confused(name: str, joined: list[list[tuple[int, int]]], noise: float, rng: np.random.Generator) -> Small:
    """Six groups, of which each view takes some for the same."""
    labels, rows = np.arange(160) % 6, []
    for pairs in joined:
        centers = np.linalg.qr(rng.standard_normal((20, 6)))[0].T.copy()
        for kept, lost in pairs:
            centers[lost] = centers[kept]
        rows.append(centers[labels] / np.sqrt(2.0) + noise * rng.standard_normal((len(labels), 20)))
    return Small(f"confused groups: {name}", rows, labels)


def _of_words() -> list[Small]:
    """Counts of words whose frequencies depend on the class a little."""
    rng, labels = np.random.default_rng(25), np.arange(_ITEMS) % 6

    def words(length: int, strength: float) -> Floats:
        common = rng.dirichlet(np.full(_WORDS, 0.3))
        own = [(1.0 - strength) * common + strength * rng.dirichlet(np.full(_WORDS, 0.1)) for _ in range(6)]
        return unit_rows(np.array([rng.multinomial(length, own[k]) for k in labels], dtype=np.float64))

    two = [words(60, 0.3) for _ in range(2)]
    three = [words(length, strength) for length, strength in ((40, 0.35), (80, 0.2), (30, 0.3))]
    return [Small("words: two views", two, labels), Small("words: three views", three, labels)]


def _of_files(data: Data) -> list[Small]:
    found = []
    for name in ("3sources", "nus", "scgem", "tcga", "patchseq-600", "mop-600"):
        items = source(name).make(data)
        found.append(Small(name, items.rows, items.labels, measured=True))
    digits = source("digits").make(data)
    for views in (tuple(range(6)), (1, 2), (0, 5), (4, 3), (4, 2)):
        chosen = np.random.default_rng(sum(views)).permutation(digits.n)[:_ITEMS]
        names = "six views" if len(views) == 6 else " and ".join(digits.views[k] for k in views)
        rows = [digits.rows[k][chosen] for k in views]
        found.append(Small(f"handwritten: {names}", rows, digits.labels[chosen], measured=True))
    return found
