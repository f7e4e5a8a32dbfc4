"""Estimators that pair rows: items missing from views, every way to say which rows are the same, new items."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import cotherm as ct
from cotherm.estimators.views import in_order
from tests.problems import refused

N = 120
QUICK: dict[str, Any] = {"kept_back": 0, "n_modes": 6, "borrow": 0.0, "max_iterations": 4}


def model(options: dict[str, Any] | None = None, **parameters: Any) -> ct.HeatKernelCoupling:
    return ct.HeatKernelCoupling(options=QUICK | (options or {}), **({"n_neighbors": 6} | parameters))


def in_common(fitted: ct.HeatKernelCoupling, X: Any) -> np.ndarray:
    """Where the items are in the common space."""
    found: np.ndarray = copy(fitted).set_params(output="common").transform(X)
    return found


def quick(views: Any, **options: Any) -> ct.HeatKernelCoupling:
    fit = {name: options.pop(name) for name in ("y", "functions", "pairs") if name in options}
    return model(**options).fit(views, **fit)


@pytest.fixture(scope="module", autouse=True)
def few_starts() -> Iterator[None]:
    """How often k-means begins anew is no matter of interfaces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cotherm.methods.result._MANY_STARTS", 3)
        yield


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Upper and lower halves of the digits 0 to 2, more than are fitted."""
    X, y = load_digits(n_class=3, return_X_y=True)
    return X[:200, :32], X[:200, 32:], y[:200]


@pytest.fixture(scope="module")
def holes(digits: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
    """No upper half of the first ten, no lower half of the last twenty."""
    upper, lower = digits[0][:N].copy(), digits[1][:N].copy()
    upper[:10], lower[100:] = np.nan, np.nan
    return upper, lower


@pytest.fixture(scope="module")
def fitted(holes: tuple[np.ndarray, np.ndarray]) -> ct.HeatKernelCoupling:
    return quick(list(holes), n_clusters=3, n_components=3)


def same_fit(a: ct.HeatKernelCoupling, b: ct.HeatKernelCoupling) -> None:
    for one, other in zip(a.result_.graphs, b.result_.graphs, strict=True):
        np.testing.assert_array_equal(one.w, other.w)
    np.testing.assert_array_equal(a.common_embedding_, b.common_embedding_)


def test_rows_are_paired_without_labels(digits: tuple[np.ndarray, ...]) -> None:
    upper, lower, y = (part[:N] for part in digits)
    found = quick([upper, lower], n_clusters=3, t=0.1)
    expected = ct.couple_pairs(found.graphs_, borrow=0.0, options={"kept_back": 0, "n_modes": 6, "max_iterations": 4})
    for one, other in zip(found.result_.graphs, expected.graphs, strict=True):
        np.testing.assert_array_equal(one.w, other.w)
    common = expected.common_graph()
    np.testing.assert_array_equal(found.common_embedding_, common.embedding(2, t=0.1))
    np.testing.assert_array_equal(found.labels_, common.clusters(3))
    np.testing.assert_array_equal(found.items_, np.tile(np.arange(N)[:, np.newaxis], 2))
    assert ct.evaluate.clustering_accuracy(y, found.labels_) > 0.8
    assert not hasattr(found, "functions_")
    assert not hasattr(found, "index_")
    stacked = quick(np.hstack([upper, lower]), view_columns=[32, 32], n_clusters=3, t=0.1)
    same_fit(stacked, found)
    np.testing.assert_array_equal(stacked.labels_, found.labels_)
    assert stacked.n_features_in_ == 64


def test_defaults_are_those_of_each_function(digits: tuple[np.ndarray, ...]) -> None:
    """No tolerance and no number of steps of one function reaches the other."""
    upper, lower, y = (part[:40] for part in digits)
    paired = ct.HeatKernelCoupling(options={"kept_back": 0}, n_neighbors=6).fit([upper, lower])
    assert (paired.result_.settings["tolerance"], paired.result_.settings["max_iterations"]) == (1e-5, 1_000)
    by_labels: dict[str, Any] = {"correspondence": "labels", "options": {"continuation": "direct"}}
    labeled = ct.HeatKernelCoupling(**by_labels, n_neighbors=6).fit([upper, lower], y)
    assert (labeled.result_.settings["tolerance"], labeled.result_.settings["max_iterations"]) == (1e-6, 10_000)
    assert labeled.result_.pairs is None
    assert paired.result_.pairs is not None
    # What one fit leaves behind is not there after another.
    refitted = clone(paired).set_params(n_clusters=2).fit([upper, lower])
    refitted.set_params(n_clusters=None, **by_labels)
    refitted.fit([upper, lower], y)
    for gone in ("items_", "common_graph_", "common_embedding_", "labels_"):
        assert not hasattr(refitted, gone)


def test_items_that_are_missing_from_a_view(fitted: Any, holes: tuple[np.ndarray, np.ndarray], digits: Any) -> None:
    assert [graph.n for graph in fitted.graphs_] == [N - 10, 100]
    expected = np.tile(np.arange(N)[:, np.newaxis], 2)
    expected[:10, 0], expected[100:, 1] = -1, -1
    np.testing.assert_array_equal(fitted.items_, expected)
    for E, X in zip(fitted.embedding_, holes, strict=True):
        assert E.shape == (N, 3)
        np.testing.assert_array_equal(np.isnan(E).all(axis=1), np.isnan(X).all(axis=1))
    assert fitted.common_embedding_.shape == (N, 3)
    assert np.isfinite(fitted.common_embedding_).all()
    assert fitted.labels_.shape == (N,)
    assert ct.evaluate.clustering_accuracy(digits[2][:N], fitted.labels_) > 0.8
    again = clone(fitted).fit_predict(list(holes))
    np.testing.assert_array_equal(again, fitted.labels_)


def test_the_common_graph_has_the_order_of_the_samples(fitted: Any) -> None:
    """Edge by edge the graph of the result, whose items come in another order."""
    common, ours = fitted.result_.common_graph(), fitted.common_graph_
    key = {tuple(row): v for v, row in enumerate(ours.items.tolist())}
    place = np.array([key[tuple(row)] for row in common.items.tolist()])
    assert not np.array_equal(place, np.arange(N))
    A, B = common.graph.adjacency().toarray(), ours.graph.adjacency().toarray()
    np.testing.assert_array_equal(B[np.ix_(place, place)], A)
    rows = [np.flatnonzero(fitted.items_[:, k] >= 0) for k in range(2)]
    for k in range(2):
        np.testing.assert_array_equal(ours.of_view(k), rows[k])
    labeled = replace(common, graph=common.graph.replace(labels=np.arange(N)))
    labels = in_order(labeled, ours.items)[0].graph.labels
    assert labels is not None
    np.testing.assert_array_equal(labels[place], np.arange(N))


def test_one_array_with_holes(fitted: Any, holes: tuple[np.ndarray, np.ndarray]) -> None:
    stacked = quick(np.hstack(holes), view_columns=[32, 32], n_components=3)
    same_fit(stacked, fitted)
    together = stacked.fit_transform(np.hstack(holes))
    np.testing.assert_array_equal(together, np.hstack(fitted.embedding_))


def test_graphs_and_sparse_views_take_pairs_where_items_are_missing(fitted: Any, holes: Any) -> None:
    """The rows that were seen, and a table of which are the same."""
    seen = [np.flatnonzero(~np.isnan(X).any(axis=1)) for X in holes]
    parts = [X[rows] for X, rows in zip(holes, seen, strict=True)]
    shared = np.intersect1d(seen[0], seen[1])
    table = np.column_stack([np.searchsorted(rows, shared) for rows in seen])
    graphs = quick([ct.knn_graph(X, 6) for X in parts], pairs=table)
    for one, other in zip(graphs.result_.graphs, fitted.result_.graphs, strict=True):
        np.testing.assert_array_equal(one.w, other.w)
    sparse = quick([sp.csr_array(X) for X in parts], pairs=table)
    np.testing.assert_allclose(sparse.common_embedding_, graphs.common_embedding_, atol=1e-8)
    W = graphs.graphs_[0].adjacency()
    for rows in (W[20:23], W[20:23].toarray()):
        placed = graphs.transform([rows, None])
        assert placed[1] is None
        assert placed[0].shape == (3, 2)
    assert refused(lambda: graphs.transform([W[20:23, 10:], None])) == "X[0]"
    assert in_common(graphs, [W[20:23], None]).shape == (3, 2)


def test_data_frames_are_paired_by_index(digits: tuple[np.ndarray, ...]) -> None:
    names = np.array([f"digit {k}" for k in range(N)])
    upper, lower = (pd.DataFrame(part[:N], index=names) for part in digits[:2])
    shuffled = lower.sample(frac=1.0, random_state=0).iloc[:100]
    found = quick([upper.iloc[10:], shuffled], n_clusters=3)
    assert list(found.index_[:110]) == names[10:].tolist()
    assert set(found.index_) == set(names[10:]) | set(shuffled.index)
    for item, row in zip(found.index_, found.items_, strict=True):
        assert row[0] < 0 or upper.index[10 + row[0]] == item
        assert row[1] < 0 or shuffled.index[row[1]] == item
        assert row[0] >= 0 or item not in upper.index[10:]
        assert row[1] >= 0 or item not in shuffled.index
    assert found.common_embedding_.shape == (len(found.index_), 2)
    new = [upper.iloc[10:], shuffled]
    np.testing.assert_allclose(in_common(found, new), found.common_embedding_, atol=1e-12)
    np.testing.assert_array_equal(found.predict(new), found.labels_)
    # New items may be in one view each: there need not be a name in common.
    assert found.predict([upper.iloc[:2], shuffled.iloc[-1:]]).shape == (3,)


def test_equal_indexes_and_none_are_paired_row_by_row(digits: tuple[np.ndarray, ...]) -> None:
    upper, lower = (part[:60] for part in digits[:2])
    plain = quick([upper, lower])
    frames = [pd.DataFrame(upper), pd.DataFrame(lower)]
    numbered = quick(frames)
    same_fit(numbered, plain)
    assert list(numbered.index_) == list(range(60))
    twice = [frame.set_axis(["same"] * 60, axis=0) for frame in frames]
    same_fit(quick(twice), plain)
    same_fit(quick([frames[0], lower]), plain)
    by_days = [frame.set_axis(pd.date_range("2020-01-01", periods=60), axis=0) for frame in frames]
    backwards = quick([by_days[0], by_days[1].iloc[::-1]])
    for one, other in zip(backwards.graphs_, plain.graphs_, strict=True):
        assert one.m == other.m
    assert backwards.index_.equals(by_days[0].index)
    np.testing.assert_array_equal(backwards.items_, np.column_stack([np.arange(60), np.arange(60)[::-1]]))
    # Values that pandas calls missing are NaN, also in columns of whole numbers.
    whole = frames[1].astype("Int64")
    whole.iloc[50:] = pd.NA
    assert (quick([frames[0], whole]).items_[:, 1] >= 0).sum() == 50


def test_a_table_of_pairs_for_views_of_any_length(digits: tuple[np.ndarray, ...]) -> None:
    upper, lower = digits[0][:90], digits[1][10:N]
    pairs = [range(10, 60), range(50)]
    found = quick([upper, lower], pairs=pairs, n_clusters=3)
    np.testing.assert_array_equal(found.items_, found.result_.common_graph().items)
    np.testing.assert_array_equal(found.items_[:50], np.column_stack([np.arange(10, 60), np.arange(50)]))
    assert found.labels_.shape == (90 + 110 - 50,)
    same_fit(quick([upper, lower], pairs=np.column_stack(pairs)), found)
    assert model(n_clusters=3).fit_predict([upper, lower], pairs=pairs).shape == (150,)
    lower = lower.copy()
    lower[5] = np.nan
    unseen = quick([upper, lower], pairs=pairs)
    assert unseen.items_[5].tolist() == [15, -1]
    assert len(unseen.items_) == 150


def test_functions_beside_pairs(digits: tuple[np.ndarray, ...], holes: tuple[np.ndarray, np.ndarray]) -> None:
    y = digits[2][:N]
    functions = [np.eye(3)[y]] * 2
    plain = quick(list(holes), correspondence="pairs", y=y)  # labels are not looked at
    both = quick(list(holes), correspondence="pairs", functions=functions)
    assert both.result_.functions[0].shape[1] == plain.result_.functions[0].shape[1] + 3
    assert not np.array_equal(both.result_.graphs[0].w, plain.result_.graphs[0].w)
    frames = quick(list(holes), correspondence="pairs", functions=[pd.DataFrame(F) for F in functions])
    same_fit(frames, both)
    assert quick(list(holes), correspondence="pairs", y="no labels at all").items_.shape == (N, 2)
    short = [functions[0], functions[1][:100]]
    assert refused(lambda: quick(list(holes), correspondence="pairs", functions=short)) == "functions[1]"


def test_new_items_seen_in_any_view(fitted: Any, holes: tuple[np.ndarray, np.ndarray], digits: Any) -> None:
    upper, lower, y = (part[N:] for part in digits)
    np.testing.assert_allclose(in_common(fitted, list(holes)), fitted.common_embedding_, atol=1e-12)
    np.testing.assert_array_equal(fitted.predict(list(holes)), fitted.labels_)
    for found, E in zip(fitted.transform(list(holes)), fitted.embedding_, strict=True):
        np.testing.assert_allclose(found, E, atol=1e-12)
    one, other = (in_common(fitted, views) for views in ([upper, None], [None, lower]))
    both = in_common(fitted, [upper, lower])
    np.testing.assert_allclose(both, (one + other) / 2.0)
    some = upper.copy()
    some[:30] = np.nan
    np.testing.assert_allclose(
        in_common(fitted, [some, lower]), np.where(np.arange(len(y))[:, np.newaxis] < 30, other, both)
    )
    placed = fitted.transform([some, None])
    assert placed[1] is None
    assert np.isnan(placed[0][:30]).all()
    np.testing.assert_array_equal(placed[0][30:], fitted.transform([upper, lower])[0][30:])
    assert np.isnan(fitted.transform([some[:30], lower])[0]).all()
    truth = {k: np.bincount(digits[2][:N][fitted.labels_ == k]).argmax() for k in range(3)}
    predicted = np.array([truth[k] for k in fitted.predict([some, lower])])
    assert np.mean(predicted == y) > 0.85
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(in_common(again, [some, lower]), in_common(fitted, [some, lower]))


def test_new_items_in_one_array(holes: tuple[np.ndarray, np.ndarray], digits: Any) -> None:
    found = quick(np.hstack(holes), view_columns=[32, 32], n_clusters=3)
    new = np.hstack([part[N:] for part in digits[:2]])
    new[:5, :32] = np.nan
    side = found.transform(new)
    assert side.shape == (len(new), 4)
    np.testing.assert_array_equal(np.isnan(side), np.isnan(new[:, [0, 0, 32, 32]]))
    assert in_common(found, new).shape == (len(new), 2)
    assert found.predict(new).shape == (len(new),)
    assert found.set_output(transform="pandas").transform(new[5:]).shape == (len(new) - 5, 4)
    assert found.__sklearn_tags__().input_tags.allow_nan is True
    assert model(view_columns=[32, 32], correspondence="labels").__sklearn_tags__().input_tags.allow_nan is False


def test_three_views_and_a_pipeline(digits: tuple[np.ndarray, ...]) -> None:
    upper, lower, y = (part[:80] for part in digits)
    third = upper[:, :16].copy()
    third[40:] = np.nan
    found = quick([upper, lower, third], n_clusters=3)
    assert found.items_.shape == (80, 3)
    report = found.result_.pairs
    assert report is not None
    assert len(report.agreement) == 3
    X = np.hstack([upper, lower])
    search = GridSearchCV(
        make_pipeline(model(view_columns=[32, 32], correspondence="pairs"), KMeans(3, n_init=2, random_state=0)),
        {"heatkernelcoupling__n_components": [2, 3]},
        cv=2,
        scoring="adjusted_rand_score",
        error_score="raise",
    )
    assert search.fit(X, y).best_score_ > 0.3


@pytest.mark.filterwarnings("ignore:X is one table:cotherm.CothermWarning")
def test_a_single_view_is_embedded_as_it_is(digits: tuple[np.ndarray, ...]) -> None:
    X = digits[0][:60]
    expected = ct.HeatKernelCoupling(n_neighbors=6).fit(X).embedding_[0]
    np.testing.assert_array_equal(model(correspondence="pairs").fit(X).embedding_[0], expected)
    np.testing.assert_array_equal(model(correspondence="pairs", view_columns=[32]).fit(X).embedding_[0], expected)
    assert refused(lambda: model(view_columns=[32]).fit(np.full((20, 32), np.nan))) == "X"
    assert refused(lambda: model().fit(X, pairs="same")) == "pairs"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_landmarks", 5),
        ("graph_weights", [1.0, 2.0]),
        ("function_weights", [1.0]),
        ("continuation", "direct"),
        ("memory", "1GiB"),
        ("unlabeled", 3),
    ],
)
def test_options_of_functions_do_not_apply_to_pairs(name: str, value: Any, digits: tuple[np.ndarray, ...]) -> None:
    told = message(lambda: ct.HeatKernelCoupling(options={name: value}).fit([digits[0], digits[1]]))
    assert told.startswith(f"{name}: ")
    assert "options among borrow, include_unrelated, kept_back," in told


@pytest.mark.parametrize(("name", "value"), [("n_modes", 4), ("borrow", 0.2), ("kept_back", 0), ("kept_back", None)])
def test_options_of_pairs_do_not_apply_to_functions(name: str, value: Any, digits: tuple[np.ndarray, ...]) -> None:
    labeled = ct.HeatKernelCoupling(correspondence="labels", options={name: value})
    assert refused(lambda: labeled.fit([digits[0], digits[1]], digits[2])) == name
    functions = [np.eye(3)[digits[2]]] * 2
    by_functions = ct.HeatKernelCoupling(options={name: value})
    assert refused(lambda: by_functions.fit([digits[0], digits[1]], functions=functions)) == name


def test_options_that_nobody_has(digits: tuple[np.ndarray, ...]) -> None:
    upper, lower = (part[:40] for part in digits[:2])
    told = message(lambda: model({"kept_bak": 0}).fit([upper, lower]))
    assert told.startswith("options: the key 'kept_bak'; needed: a dict whose keys are among borrow,")
    assert told.endswith("Did you mean 'kept_back'?")
    for options in ("kept_back", ["kept_back"], 0, {1: 2}, {"seed": 1}):
        assert refused(partial(ct.HeatKernelCoupling(options=options).fit, [upper, lower])) == "options"
    graphs = [ct.knn_graph(part, 6) for part in (upper, lower)]
    assert refused(lambda: quick(graphs, options={"symmetrize": "mean"})) == "symmetrize"
    assert refused(lambda: quick([upper, lower], options={"symmetrize": "best"})) == "symmetrize"
    assert quick([graphs[0], lower], options={"symmetrize": "min"}).graphs_[1] == ct.knn_graph(
        lower, 6, symmetrize="min"
    )


def message(call: Any) -> str:
    with pytest.raises(ct.CothermError) as caught:
        call()
    return str(caught.value)


def test_bad_rows(digits: tuple[np.ndarray, ...]) -> None:
    upper, lower = (part[:60].copy() for part in digits[:2])
    part = lower.copy()
    part[7, 3:5] = np.nan
    assert "X[1]: row 7 of view 1, NaN in 2 of its 32 columns" in message(lambda: quick([upper, part]))
    assert "X: row 7 of view 1, NaN in 2 of" in message(
        lambda: quick(np.hstack([upper, part]), view_columns=[32, 32], correspondence="pairs")
    )
    endless = upper.copy()
    endless[4, 0] = np.inf
    assert "X[0]: row 4 of view 0, infinite in 1 of" in message(lambda: quick([endless, lower]))
    never = [upper.copy(), lower.copy()]
    never[0][12], never[1][12] = np.nan, np.nan
    assert "X: row 12, which was seen in no view (1 such item(s))" in message(lambda: quick(never))
    frames = [pd.DataFrame(X, index=np.arange(60) + 100) for X in never]
    assert "X: item 112, which was seen in no view" in message(lambda: quick([frames[0], frames[1].iloc[::-1]]))
    alone = never[0][10:]
    assert "row 2 of view 0, which was seen in no view" in message(
        lambda: quick([alone, lower], pairs=[range(10, 50), range(20, 60)])
    )
    assert refused(lambda: quick([upper, np.full((60, 3), np.nan)])) == "X[1]"
    assert refused(lambda: quick([upper, np.zeros((60, 0))])) == "X[1]"
    sparse = sp.csr_array(part)
    assert refused(lambda: quick([upper, sparse])) == "X[1]"
    assert refused(lambda: quick([upper, lower[:, 0]])) == "X[1]"
    assert refused(lambda: quick([upper, [[1.0], [2.0, 3.0]]])) == "X[1]"
    assert refused(lambda: quick([upper, lower], n_neighbors=60)) == "n_neighbors"


def test_rows_that_cannot_be_paired(digits: tuple[np.ndarray, ...]) -> None:
    upper, lower, y = (part[:60] for part in digits)
    assert "X: views of 60, 50 rows, and no word on which are the same" in message(lambda: quick([upper, lower[:50]]))
    frames = [pd.DataFrame(upper), pd.DataFrame(lower)]
    assert "views of 60, 50 rows" in message(lambda: quick([frames[0], frames[1].iloc[:50]]))
    twice = frames[1].set_axis([0, *range(59)], axis=0)
    assert "X[1].index: 0 twice, at 0 and 1" in message(lambda: quick([frames[0], twice]))
    words = frames[1].set_axis([str(k) for k in range(60)], axis=0)
    assert "X[0].index: 0 (int), but '0' (str) in X[1].index" in message(lambda: quick([frames[0], words]))
    others = frames[1].set_axis(np.arange(60) + 1000, axis=0)
    assert "no name that is in two of them (first names: 0, 1000)" in message(lambda: quick([frames[0], others]))
    assert refused(lambda: quick([upper, lower[:50]], pairs="same")) == "pairs"
    assert refused(lambda: quick([upper, lower[:50]], pairs=[[0, 1], [0, 99]])) == "pairs[1]"
    first = np.arange(60)[:, np.newaxis] < 30
    apart = [np.where(first, upper, np.nan), np.where(first, np.nan, lower)]
    assert "X: no item that is in two graphs" in message(lambda: quick(apart))
    told = message(lambda: ct.HeatKernelCoupling(correspondence="labels").fit([upper, lower], y, pairs="same"))
    assert told.startswith("pairs: ")
    assert 'correspondence="pairs"' in told
    assert refused(lambda: quick([upper, lower], correspondence="twins")) == "correspondence"
    assert refused(lambda: quick([upper, lower], options={"n_modes": 60})) == "n_modes"
    assert refused(lambda: quick([upper, lower], n_clusters=61)) == "n_clusters"
    assert refused(lambda: quick([upper, lower], n_components=60)) == "n_components"
    assert refused(lambda: quick([upper, lower], options={"tolerance": 0.0})) == "tolerance"


def test_new_items_that_cannot_be_placed(fitted: Any, digits: tuple[np.ndarray, ...]) -> None:
    upper, lower = (part[N : N + 5].copy() for part in digits[:2])
    upper[2], lower[2] = np.nan, np.nan
    for method in (partial(in_common, fitted), fitted.predict):
        assert "X: row 2, which was seen in no view" in message(partial(method, [upper, lower]))
        assert "X: row 2, which was seen in no view" in message(partial(method, [upper, None]))
        assert "views of 5, 4 rows" in message(partial(method, [upper, lower[:4]]))
        assert refused(partial(method, [None, None])) == "X"
    part = lower.copy()
    part[1, 0] = np.nan
    assert "row 1 of view 1, NaN in 1 of its 32" in message(lambda: fitted.transform([None, part]))
    assert refused(lambda: fitted.transform([upper[:2, :31], None])) == "X[0]"
    assert refused(lambda: fitted.transform([upper])) == "X"
    assert refused(lambda: fitted.transform(np.hstack([upper, lower]))) == "X"
    by_labels: dict[str, Any] = {"correspondence": "labels", "options": {"max_iterations": 1}}
    labeled = ct.HeatKernelCoupling(**by_labels).fit(list(digits[:2]), digits[2])
    assert refused(lambda: in_common(labeled, [upper, lower])) == "output"
    at_once = ct.HeatKernelCoupling(**by_labels, output="common")
    assert refused(lambda: at_once.fit(list(digits[:2]), digits[2])) == "output"
    assert refused(lambda: model(output="both").fit([upper, lower])) == "output"


def with_noise(seed: int, n: int, only: int = 0) -> tuple[list[Any], Any]:
    """Two views of four groups, and one of noise that has some items of its own."""
    random = np.random.default_rng(seed)
    groups = np.arange(n) % 4
    places = 4.0 * np.random.default_rng(0).standard_normal((4, 3))[groups]
    index = [f"{seed}-{v}" for v in range(n + only)]
    views = [pd.DataFrame(places + random.standard_normal((n, 3)), index=index[:n]) for _ in range(2)]
    return [*views, pd.DataFrame(3.0 * random.standard_normal((n + only, 3)), index=index)], groups


def test_a_view_of_noise_does_not_place_new_items() -> None:
    views, groups = with_noise(1, 80, only=10)
    new, truth = with_noise(2, 60)
    coupled = ct.HeatKernelCoupling(n_clusters=4, n_components=3).fit(views)
    assert coupled.common_graph_.views == (0, 1)
    assert coupled.common_graph_.notes
    assert np.array_equal(np.flatnonzero(np.isnan(coupled.common_embedding_).any(axis=1)), np.arange(80, 90))
    assert np.array_equal(np.flatnonzero(coupled.labels_ < 0), np.arange(80, 90))
    assert adjusted_rand_score(groups, coupled.labels_[:80]) > 0.7
    without = ct.HeatKernelCoupling(n_clusters=4, n_components=3).fit(views[:2])
    np.testing.assert_array_equal(in_common(coupled, new), in_common(without, new[:2]))
    np.testing.assert_array_equal(coupled.predict(new), without.predict(new[:2]))
    assert adjusted_rand_score(truth, coupled.predict(new)) > 0.7
    assert np.isnan(in_common(coupled, [None, None, new[2]])).all()
    assert np.all(coupled.predict([None, None, new[2]]) == -1)
