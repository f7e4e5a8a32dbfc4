"""The data: rows of every view, how graphs are made of them, and the classes, which only the judge sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from benchmarks.pairs import omics
from benchmarks.pairs.planted import NOISES, planted
from benchmarks.suite.parts import Data
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.graphs.build import knn_graph
from cotherm.graphs.graph import Graph
from cotherm.heat.times import median_degree
from paper.data.directory import locate
from paper.data.matlab import read_mat
from paper.data.nus import RECIPES
from paper.data.tables import read_labels, read_table

# Without pairs of cells, scNMT cannot take part. Sets that take long are left out, unless they are asked for.
NAMES = ("nus", "3sources", "digits", "scgem", "patchseq", "tcga", "tcga-missing", "mop-2000", "planted")
QUICK = ("planted-40",)
PERMUTED = "+permuted"
_PLANTED = 300
_SAMPLED, _PERMUTED = 0, 1  # seeds
_STATISTICS = (slice(10), slice(10, 20), slice(20, 30))
_DIGITS = ("profiles", "Fourier", "Karhunen-Loeve", "morphology", "pixels", "Zernike")


class Moment(NamedTuple):
    """When distances are measured: at the time t, or after so many moves along edges of the graph as given."""

    name: str
    t: float | None = None
    moves: float | None = None

    def time(self, graph: Graph) -> float:
        """The time on a graph as given."""
        if self.t is not None:
            return self.t
        assert self.moves is not None
        return self.moves / median_degree(graph)


_MOVES = (Moment("1 move", moves=1.0), Moment("4 moves", moves=4.0), Moment("8 moves", moves=8.0))
# The first time of the paper's table on NUS. It is 11 to 13 moves, longer than suits a dense graph such as a fused one.
_PAPER = (Moment("t = 0.75", t=0.75), *_MOVES)


@dataclass(frozen=True, eq=False)
class Items:
    """Items in several views.

    ``rows`` are what graphs are made of, (n, d_k) for each view, and ``options`` how, for ``knn_graph``. ``of_paper``
    are the options of a paper, where its figures are to be compared with. ``published`` are the rows of the data set
    where they are not the same, ``features`` the columns that rows are made of where these are components. Rows are NaN
    where an item is really missing from a view.
    """

    views: tuple[str, ...]
    rows: tuple[Floats, ...]
    labels: Ints
    options: tuple[dict[str, Any], ...]
    moments: tuple[Moment, ...] = _MOVES
    published: tuple[Floats, ...] | None = None
    of_paper: dict[str, Any] | None = None
    features: tuple[Floats, ...] | None = None

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def classes(self) -> int:
        return len(np.unique(self.labels))

    @property
    def there(self) -> NDArray[np.bool_]:
        """In which views items really are, (n, views)."""
        return np.array([~np.isnan(X).any(axis=1) for X in self.rows]).T

    def of(self, chosen: Ints) -> Items:
        """Some of the items."""
        return replace(self._changed(lambda tables: tuple(X[chosen] for X in tables)), labels=self.labels[chosen])

    def permuted(self) -> Items:
        """The same, but the rows of the last view are those of other items: nothing in it is of use."""
        order = np.random.default_rng(_PERMUTED).permutation(self.n)
        views = (*self.views[:-1], f"{self.views[-1]}, permuted")
        return replace(self._changed(lambda tables: (*tables[:-1], tables[-1][order])), views=views)

    def _changed(self, change: Callable[[tuple[Floats, ...]], tuple[Floats, ...]]) -> Items:
        """All tables changed."""
        published = None if self.published is None else change(self.published)
        features = None if self.features is None else change(self.features)
        return replace(self, rows=change(self.rows), published=published, features=features)

    def default_graphs(self) -> tuple[Graph, ...]:
        """The graph of each view, of all its rows, with neighbors as usual also where a paper has its own."""
        return self.graphs_of([np.arange(self.n)] * len(self.views))

    def graphs(self) -> tuple[Graph, ...]:
        """The graph of each view, of all its rows, as a paper makes them where there is one."""
        options = self.options if self.of_paper is None else (self.of_paper,) * len(self.views)
        return self._graphs([np.arange(self.n)] * len(self.views), options)

    def graphs_of(self, chosen: Sequence[Ints]) -> tuple[Graph, ...]:
        """The graph of each view, of some of its rows. A paper's number of neighbors would be too large for them."""
        return self._graphs(chosen, self.options)

    def _graphs(self, chosen: Sequence[Ints], options: Sequence[dict[str, Any]]) -> tuple[Graph, ...]:
        parts = zip(self.views, self.rows, chosen, options, strict=True)
        return tuple(knn_graph(X[rows], name=name, **own) for name, X, rows, own in parts)


@dataclass(frozen=True)
class Source:
    """Where items come from: a file of the data directory, or none; and the seconds a contestant may take."""

    name: str
    file: str | None
    make: Callable[[Data], Items]
    seconds: float = 600.0
    unit: str = "none"  # of "none", "some" or "all" views, graphs are made of rows scaled to unit length
    in_all: float | None = None  # percent of the items that are really in all views, where some are not


def source(name: str) -> Source:
    """The set of this name.

    planted-500 is one of 500 items, digits-600 a sample of 600 items, and with +permuted rows of the last view are
    those of other items.
    """
    if name.endswith(PERMUTED):
        base = source(name.removesuffix(PERMUTED))
        return replace(base, name=name, make=lambda data: base.make(data).permuted())
    if name in _SOURCES:
        return _SOURCES[name]
    kind, _, number = name.rpartition("-")
    n = int(number) if re.fullmatch(r"\d{2,6}", number) else 0
    if name == "planted" or (kind == "planted" and n):
        return Source(name, None, lambda _: grown(n or _PLANTED))
    if kind in _SOURCES and n:
        return replace(_SOURCES[kind], name=name, seconds=Source.seconds, make=lambda data: _sample(kind, n, data))
    known = ", ".join(dict.fromkeys((*NAMES, *_SOURCES)))
    raise CothermError(
        "sets", repr(name), f"some of {known}, planted-N, or one of these with -N for N of its items or {PERMUTED}"
    )


def _sample(kind: str, n: int, data: Data) -> Items:
    """So many items of a set, made as all of it is."""
    items = _SOURCES[kind].make(data)
    if n > items.n:
        raise CothermError("sets", f"'{kind}-{n}'", f"at most the {items.n} items of {kind}")
    return items.of(np.sort(np.random.default_rng(_SAMPLED).permutation(items.n)[:n]))


def grown(n: int, noises: Sequence[float] = NOISES) -> Items:
    """Planted views of n items."""
    rows, labels = planted(n, noises=noises)
    return Items(tuple(f"noise {noise:g}" for noise in noises), rows, labels, ({"k": 10},) * len(rows))


def _nus(data: Data) -> Items:
    coords, classes = read_mat(locate("nus/NUS_results.mat", data), ["coords", "classes"], "the NUS data set")
    tags, colors = np.asarray(coords.ravel()[0].toarray(), dtype=np.float64), np.asarray(coords.ravel()[1], dtype=float)
    recipe, _ = RECIPES["paper"]
    names, rows, own = ("tags", "colors"), (unit_rows(tags), colors), ({"k": 10},) * 2
    return Items(names, rows, _numbers(classes), own, _PAPER, published=(tags, colors), of_paper=recipe)


def _sources(data: Data) -> Items:
    X, y = read_mat(locate("3sources/3Sources.mat", data), ["X", "y"], "the 3sources data set")
    counts = tuple(np.asarray(words, dtype=np.float64) for words in X.ravel())
    names = ("first source", "second source", "third source")
    options = ({"k": 10, "metric": "cosine"},) * len(counts)
    return Items(names, tuple(map(unit_rows, counts)), _numbers(y), options, published=counts)


def _digits(data: Data) -> Items:
    X, y = read_mat(locate("handwritten/Handwritten.mat", data), ["X", "y"], "the handwritten digits")
    rows = tuple(np.asarray(one, dtype=np.float64) for one in X.ravel())
    return Items(_DIGITS, rows, _numbers(y), ({"k": 10},) * len(rows))


def _scgem(data: Data) -> Items:
    what, cells = "the scGEM data set", 177
    sizes = {"expression": 34, "methylation": 27}
    rows = tuple(read_table(locate(f"scgem/{name}.txt", data), (cells, d), what) for name, d in sizes.items())
    labels = read_labels(locate("scgem/expression_type.txt", data), cells, what)
    return Items(tuple(sizes), rows, np.unique(labels, return_inverse=True)[1], ({"k": 10},) * 2)


def _patchseq(data: Data) -> Items:
    return _measured(("genes", "electrical"), omics.neurons(locate("patchseq/patchseq.npz", data)))


def _tcga(data: Data, *, missing: bool = False) -> Items:
    folder = locate("tcga/train_protein.csv", data).parent
    return _measured(("microRNA", "mRNA", "protein"), omics.patients(folder, missing=missing))


def _mop(data: Data) -> Items:
    return _measured(("RNA", "chromatin"), omics.cortex(locate("mop/GxC1.npz", data).parent))


def _measured(views: tuple[str, ...], found: omics.Measured) -> Items:
    return Items(views, found.rows, found.labels, ({"k": 10},) * len(views), features=found.features)


def _images(_: Data) -> Items:
    """Handwritten digits of 8 × 8 pixels, their left and their right halves."""
    data = load_digits()
    halves = tuple(data.images[:, :, part].reshape(data.images.shape[0], -1) for part in (slice(4), slice(4, 8)))
    return Items(("left half", "right half"), halves, _numbers(data.target), ({"k": 10},) * 2)


def _columns(load: Callable[[], Any], groups: Sequence[slice], views: tuple[str, ...], _: Data) -> Items:
    """Groups of the columns of a table, standardized."""
    data = load()
    X = omics.standard(np.asarray(data.data, dtype=np.float64))
    return Items(views, tuple(X[:, group] for group in groups), _numbers(data.target), ({"k": 10},) * len(views))


def _numbers(labels: Any) -> Ints:
    return np.asarray(labels).ravel().astype(np.int64)


def unit_rows(X: Floats) -> Floats:
    """Rows of unit length: what matters of tags and words is which, not how many. Rows of NaN remain so."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(X / np.where(length > 0.0, length, 1.0))


_SOURCES = {
    one.name: one
    for one in (
        Source("nus", "nus/NUS_results.mat", _nus, unit="some"),
        Source("3sources", "3sources/3Sources.mat", _sources, unit="all"),
        Source("digits", "handwritten/Handwritten.mat", _digits, 3_600.0),
        Source("scgem", "scgem/expression.txt", _scgem),
        Source("patchseq", "patchseq/patchseq.npz", _patchseq, 3_600.0),
        Source("tcga", "tcga/train_protein.csv", _tcga),
        Source("tcga-missing", "tcga/test_mirna.csv", partial(_tcga, missing=True), in_all=68.2),
        Source("mop", "mop/GxC1.npz", _mop, 3_600.0),
        # Those of scikit-learn need no file.
        Source("images", None, _images, 3_600.0),
        Source("wine", None, partial(_columns, load_wine, (slice(6), slice(6, 13)), ("acids", "colors"))),
        Source("cancer", None, partial(_columns, load_breast_cancer, _STATISTICS, ("mean", "error", "worst"))),
    )
}
