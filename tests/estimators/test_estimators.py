"""The estimator on views of every kind: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import cotherm as ct
from cotherm.estimators.new_samples import factors
from tests.problems import refused, ring

WAYS = ("labels", "landmarks", "pairs")


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels of the digits 0 to 2: the upper half is one view, the lower another."""
    X, y = load_digits(n_class=3, return_X_y=True)
    return X[:150], y[:150]


def _quick(way: str = "landmarks", more: dict[str, Any] | None = None, **parameters: Any) -> ct.HeatKernelCoupling:
    pairs = {"kept_back": 0, "n_modes": 6, "borrow": 0.0, "max_iterations": 30}
    options = pairs if way == "pairs" else {"continuation": "times", "tolerance": 1e-2}
    return ct.HeatKernelCoupling(correspondence=way, options=options | (more or {}), **parameters)


@pytest.mark.parametrize("way", WAYS)
def test_one_array_and_a_list_of_views_are_the_same(way: str, digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    X, y = X[:80], y[:80]
    options: dict[str, Any] = {"n_components": 3, "n_clusters": 3, "t": 0.1}
    stacked = _quick(way, view_columns=[32, 32], **options).fit(X, y)
    listed = _quick(way, **options).fit([X[:, :32], X[:, 32:]], y)
    for a, b in zip(stacked.embedding_, listed.embedding_, strict=True):
        np.testing.assert_array_equal(a, b)
    assert stacked.n_features_in_ == 64
    assert not hasattr(listed, "n_features_in_")
    assert stacked.labels_.shape == (80,)
    assert np.shape(listed.labels_) == ((80,) if way == "pairs" else (2, 80))
    together = stacked.fit_transform(X, y)
    assert together.shape == (80, 6)
    np.testing.assert_allclose(stacked.transform(X), together, atol=1e-12)
    for a, b in zip(listed.transform([X[:, :32], X[:, 32:]]), listed.embedding_, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    np.testing.assert_array_equal(stacked.predict(X), stacked.labels_)
    again = pickle.loads(pickle.dumps(stacked))
    np.testing.assert_array_equal(again.transform(X[:5] + 0.5), stacked.transform(X[:5] + 0.5))


@pytest.mark.parametrize("way", WAYS)
def test_clusters_are_the_digits(way: str, digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    model = _quick(way, view_columns=[32, 32], n_clusters=3).fit(X[:110], y[:110])
    assert ct.evaluate.clustering_accuracy(y[:110], model.labels_) > 0.8
    assert ct.evaluate.clustering_accuracy(y[110:], model.predict(X[110:])) > 0.8
    assert model.n_views_ == len(model.graphs_) == 2
    np.testing.assert_array_equal(
        _quick(way, view_columns=[32, 32], n_clusters=3).fit_predict(X[:110], y[:110]), model.labels_
    )


# What the guide says: coordinates of held-out digits beside those of a fit that had them, correlation; and labels by
# five neighbors, of new samples and of samples of the fit itself.
@pytest.mark.parametrize(
    ("way", "output", "n", "correlation", "accuracy"),
    [("landmarks", "views", 200, 0.7, 0.6), ("pairs", "common", 400, 0.7, 0.7)],
)
def test_new_samples_are_placed_where_a_fit_with_them_would(
    way: str, output: str, n: int, correlation: float, accuracy: float
) -> None:
    X, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:n]
    X, y, known = X[chosen], y[chosen], 3 * n // 4
    model = _quick(way, view_columns=[32, 32], n_components=6, output=output)
    full, part = model.fit_transform(X), model.fit_transform(X[:known])
    new = model.transform(X[known:])
    turn = np.linalg.lstsq(part, full[:known], rcond=None)[0]  # modes of two fits differ by a rotation
    found = [np.corrcoef(a, b)[0, 1] for a, b in zip((new @ turn).T, full[known:].T, strict=True)]
    assert np.mean(found) > correlation
    assert KNeighborsClassifier(5).fit(part, y[:known]).score(new, y[known:]) > accuracy


def test_the_factor_is_nystroems_where_modes_are_eigenvectors() -> None:
    """On a ring P = W/2 and Pφ = (1 − λ/2)φ: s = 1/(1 − λ/d)."""
    graph = ring(40)
    values, vectors = np.linalg.eigh(graph.laplacian().toarray())
    np.testing.assert_allclose(factors(graph, vectors[:, 1:6]), 1.0 / (1.0 - values[1:6] / 2.0))
    tiny = graph.with_weights(np.full(40, 2.0**-1060))
    np.testing.assert_allclose(factors(tiny, vectors[:, 1:6]), factors(graph, vectors[:, 1:6]), rtol=0.01)


def test_new_vertices_of_given_graphs_are_extended_by_their_weights() -> None:
    """Rows of the training weights themselves give the eigenvectors back, where all degrees are alike."""
    graph = ring(40)
    model = _quick(n_components=4).fit([graph, graph])
    assert model.result_.distance == 0.0
    W = graph.adjacency()
    for new in (W, W.toarray()):
        for found, E in zip(model.transform([new, new]), model.embedding_, strict=True):
            np.testing.assert_allclose(found, E, atol=1e-10)
    # Few new vertices reach few of the others; so do not all columns of a sparse matrix.
    np.testing.assert_allclose(model.transform([W[3:5], W[3:5]])[0], model.embedding_[0][3:5], atol=1e-10)


def test_views_of_different_samples_and_kinds() -> None:
    """A sparse matrix, a graph and float32 points, of other samples each; labels say what corresponds."""
    X, y = load_digits(n_class=3, return_X_y=True)
    views = [sp.csr_array(X[:60, :32]), ct.knn_graph(X[60:130, 32:], 6), X[130:180].astype(np.float32)]
    labels = [y[:60], y[60:130], np.where(np.arange(50) < 40, y[130:180], -1)]
    model = _quick("labels", n_neighbors=6, n_clusters=3).fit(views, labels)
    assert [E.shape for E in model.embedding_] == [(60, 2), (70, 2), (50, 2)]
    assert [F.shape for F in model.functions_] == [(60, 3), (70, 3), (50, 3)]
    np.testing.assert_allclose([np.linalg.norm(F, axis=0) for F in model.functions_], 1.0)
    assert not model.functions_[2][40:].any()
    new = [views[0][:5], np.eye(70)[:4], views[2][:3]]
    found = model.transform(new)
    assert [E.shape for E in found] == [(5, 2), (4, 2), (3, 2)]
    np.testing.assert_allclose(found[0], model.embedding_[0][:5], atol=1e-12)
    assert [len(own) for own in model.predict(new)] == [5, 4, 3]
    np.testing.assert_array_equal(model.predict(new)[0], model.labels_[0][:5])
    with_functions = _quick("auto", n_neighbors=6).fit(views, functions=model.functions_)
    np.testing.assert_array_equal(with_functions.embedding_[0], model.embedding_[0])
    also_labels = _quick("auto", n_neighbors=6).fit(views, "not looked at", model.functions_)
    np.testing.assert_array_equal(also_labels.embedding_[0], model.embedding_[0])


def test_sparse_and_dense_samples_are_placed_alike(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, _ = digits
    dense = _quick("pairs", view_columns=[32, 32], metric="cosine").fit(X[:100])
    sparse = _quick("pairs", view_columns=[32, 32], metric="cosine").fit(sp.csr_array(X[:100]))
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X[100:])), dense.transform(X[100:]), atol=1e-8)
    np.testing.assert_allclose(sparse.transform(X[100:]), dense.transform(sp.csr_array(X[100:])), atol=1e-8)


@pytest.mark.parametrize("scale", ["self-tuning", "median", 20.0, None])
def test_kernels_of_new_samples_are_those_of_the_graph(scale: Any, digits: tuple[np.ndarray, np.ndarray]) -> None:
    """A training sample moved a little hangs on nearly the same weights as itself, and itself."""
    X, _ = digits
    model = _quick(more={"scale": scale}, n_neighbors=8).fit([X, X])
    view = model._views[0]
    moved = view.join("X", X[:1] + 1e-6).shares.toarray()[0]
    A = model.graphs_[0].adjacency().toarray()[0]
    near = np.argsort(np.linalg.norm(X - X[0], axis=1))[:8]
    expected = np.where(np.isin(np.arange(len(X)), near), A, 0.0)
    expected[0] = 1.0
    if scale == "self-tuning":  # the moved sample counts its original as a neighbor, so its own scale is one nearer
        assert set(np.flatnonzero(moved)) == set(near)
    else:
        np.testing.assert_allclose(moved, expected / expected.sum(), atol=1e-5)


def test_far_away_samples_still_have_neighbors() -> None:
    X = np.random.default_rng(0).random((30, 2))
    model = _quick(more={"scale": 0.1}, n_neighbors=4).fit([X, X])
    assert np.isfinite(model.transform([X[:2] + 1e6, X[:2]])[0]).all()


def test_landmarks_are_drawn_where_asked(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    quick = {"continuation": "direct", "max_iterations": 5}

    def model(way: str, more: dict[str, Any], **parameters: Any) -> Any:
        return ct.HeatKernelCoupling(correspondence=way, view_columns=[32, 32], options=quick | more, **parameters)

    four = {"n_landmarks": 4}
    found = model("landmarks", four).fit(X)
    assert [F.shape for F in found.functions_] == [(150, 4)] * 2
    assert found.result_.mismatch == 0.0
    assert (found.result_.settings["times"], found.result_.settings["alpha"]) == ("auto", "auto")
    same = model("landmarks", four).fit(X, y)
    np.testing.assert_array_equal(same.functions_[0], found.functions_[0])
    other = model("landmarks", four, random_state=1).fit(X)
    assert not np.array_equal(other.functions_[0], found.functions_[0])
    words = np.array(["zero", "one", "two"])[y]
    named = model("labels", {"unlabeled": "two"}).fit(X, words)
    assert named.functions_[0].shape == (150, 2)
    unseeded = model("labels", {}, random_state=None).fit(X, list(words))
    assert unseeded.functions_[0].shape == (150, 3)


@pytest.mark.parametrize("way", [*WAYS, "auto"])
@pytest.mark.filterwarnings("ignore:X is one table:cotherm.CothermWarning")
def test_a_single_view_is_embedded_as_it_is(way: str, digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    model = ct.HeatKernelCoupling(correspondence=way, options={"rigidity": [2.0]}).fit(X, y)
    assert model.n_views_ == 1
    expected = ct.average([ct.knn_graph(X, 10)] * 2).embedding(2)[0]
    np.testing.assert_allclose(model.fit_transform(X, y), expected, atol=1e-9)
    common = model.set_params(output="common")
    np.testing.assert_array_equal(common.transform(X), common.embedding_[0])
    np.testing.assert_array_equal(common.fit_transform([X], y), common.embedding_[0])


def test_labels_are_never_used_in_silence(digits: tuple[np.ndarray, np.ndarray]) -> None:
    """Unless correspondence="labels" says so, y changes nothing, whatever it is."""
    X, y = digits
    X, y = X[:60], y[:60]
    quick: dict[str, Any] = {"kept_back": 0, "n_modes": 5, "borrow": 0.0, "max_iterations": 3}
    model = ct.HeatKernelCoupling(view_columns=[32, 32], options=quick)
    plain = model.fit_transform(X)
    for given in (y, y[::-1], "no labels at all", y[:-1]):
        np.testing.assert_array_equal(model.fit_transform(X, given), plain)
    labeled = _quick("labels", view_columns=[32, 32])
    assert not np.array_equal(labeled.fit_transform(X, y), labeled.fit_transform(X, y[::-1]))
    functions = [np.eye(3)[y]] * 2
    for way in ("labels", "landmarks"):
        assert refused(partial(_quick(way, view_columns=[32, 32]).fit, X, y, functions)) == "functions"


@pytest.mark.filterwarnings("ignore:X is one table:cotherm.CothermWarning")
def test_bad_input(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    two = [X[:, :32], X[:, 32:]]
    HKC = ct.HeatKernelCoupling
    labeled, landmarks = HKC(correspondence="labels"), HKC(correspondence="landmarks")
    assert refused(lambda: HKC(view_columns=[30, 30]).fit(X)) == "view_columns"
    assert refused(lambda: HKC(view_columns="half").fit(X)) == "view_columns"
    assert refused(lambda: HKC(view_columns=[[0, 1], [99]]).fit(X)) == "view_columns[1]"
    assert refused(lambda: HKC(view_columns=[[0, 1], slice(0, 0)]).fit(X)) == "view_columns[1]"
    assert refused(lambda: HKC(n_neighbors=150).fit(X)) == "n_neighbors"
    assert refused(lambda: HKC(random_state="x").fit(X)) == "random_state"
    assert refused(lambda: HKC(n_components=0).fit(X)) == "n_components"
    assert refused(lambda: HKC(n_clusters=151).fit(X)) == "n_clusters"
    assert refused(lambda: landmarks.fit([X, np.full((150, 2), np.nan)])) == "X[1]"
    assert refused(lambda: landmarks.fit([X, X[:1]])) == "X[1]"
    assert refused(lambda: HKC().fit([X[:, :32], X[:140, 32:]])) == "X"
    assert refused(lambda: labeled.fit([X[:, :32], X[:140, 32:]], y)) == "y"
    assert refused(lambda: labeled.fit(two, [y])) == "y"
    assert refused(lambda: labeled.fit(two, y[:-1])) == "y"
    assert refused(lambda: labeled.fit(two, y + 0.5)) == "y"
    assert refused(lambda: labeled.fit(two, np.full(150, -1))) == "y"
    assert refused(lambda: labeled.fit(two, [y, y.astype(str)])) == "y"
    assert refused(lambda: labeled.fit(two)) == "y"
    assert refused(lambda: HKC(correspondence="guess").fit(two)) == "correspondence"
    assert refused(lambda: HKC(correspondence="landmarks", options={"n_landmarks": 151}).fit(two)) == "n_landmarks"
    assert refused(lambda: landmarks.fit([X[:, :32], X[:140, 32:]])) == "X"
    assert refused(lambda: HKC(alpha="often").fit(two, y)) == "alpha"
    assert refused(lambda: HKC().fit(two, functions=[X])) == "functions"
    fitted = _quick("landmarks", metric="cosine", n_clusters=3).fit(two)
    assert refused(lambda: fitted.transform([None, X[:, 32:]])) == "X[0]"
    assert refused(lambda: fitted.transform(X)) == "X"
    assert refused(lambda: fitted.transform([X])) == "X"
    assert refused(lambda: fitted.transform([X[:, :31], X[:, 32:]])) == "X[0]"
    assert refused(lambda: fitted.transform([np.zeros((1, 32)), X[:1, 32:]])) == "X[0]"
    assert refused(fitted.get_feature_names_out) == "X"
    graph = ring(20)
    given = _quick().fit([graph, graph])
    assert refused(lambda: given.transform([np.ones((1, 19)), np.ones((1, 20))])) == "X[0]"
    assert refused(lambda: given.transform([np.ones((1, 20)), -np.ones((1, 20))])) == "X[1]"
    assert refused(lambda: given.transform([np.ones((1, 20)), np.eye(20)[:1] * 0.0])) == "X[1]"
    with pytest.raises(AttributeError, match="no attribute 'predict'") as caught:
        given.predict([graph, graph])
    assert "n_clusters" in str(caught.value.__cause__)
