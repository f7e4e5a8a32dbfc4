"""Whatever has an index is matched by it or refused, wherever it is given beside something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cotherm as ct
from cotherm.indexed import counts, index_of, rows_in_order
from tests.problems import refused

N = 12
X = np.random.default_rng(0).normal(size=(N, 5))
KINDS = np.repeat(["a", "b", "c"], 4)
D = np.linalg.norm(X[:, np.newaxis] - X, axis=2)

names = st.one_of(
    st.lists(st.text("abcdef", min_size=1), min_size=N, max_size=N, unique=True),
    st.lists(st.integers(-(10**6), 10**6), min_size=N, max_size=N, unique=True),
    st.just(list(range(N))),
)
orders = st.permutations(range(N))


@settings(max_examples=60, deadline=None)
@given(names, orders, orders)
def test_rows_in_any_order_give_the_same(ids: list[Any], of_rows: list[int], of_labels: list[int]) -> None:
    """To the last bit: only the order of the rows differs, and the index says so."""
    frame = pd.DataFrame(X, index=ids).iloc[of_rows]
    labels = pd.Series(KINDS, index=ids).iloc[of_labels]
    right = KINDS[of_rows]
    graph = ct.knn_graph(frame, k=3, labels=labels)
    assert graph.labels is not None
    assert graph.labels.tolist() == right.tolist()
    assert ct.radius_graph(frame, 2.0, labels=labels) == ct.radius_graph(frame, 2.0, labels=right)
    if graph.vertex_names is not None:
        assert ct.Graph.from_adjacency(graph.adjacency(), labels=labels, vertex_names=graph.vertex_names) == graph
        placed = graph.replace(labels=labels, coordinates=pd.DataFrame(X[:, :2], ids))
        assert placed == graph.replace(labels=right, coordinates=X[of_rows, :2])
        heat = pd.Series(X[:, 0], index=ids).iloc[of_labels]
        np.testing.assert_array_equal(ct.heat_flow(graph, heat, 1.0), ct.heat_flow(graph, X[of_rows, 0], 1.0))
    distances = pd.DataFrame(D, ids, ids)
    best = ct.evaluate.retrieval(D, KINDS).average_precisions
    found = ct.evaluate.retrieval(distances.iloc[:, of_rows], labels).average_precisions
    np.testing.assert_array_equal(found, best)
    assert ct.evaluate.clustering_accuracy(labels, pd.Series(KINDS, index=ids).iloc[of_rows]) == 1.0
    assert ct.evaluate.foscttm(frame, pd.DataFrame(X, index=ids).iloc[of_labels]) == 0.0


SHUFFLED = pd.Series(KINDS, index=[f"s{v}" for v in range(N)]).sample(frac=1.0, random_state=1)
ROWS = pd.Series(KINDS).sample(frac=1.0, random_state=1)  # named by row numbers, in another order


@pytest.mark.parametrize("series", [SHUFFLED, ROWS, ROWS.iloc[::-1].set_axis(range(5, N + 5))])
def test_an_index_that_nothing_can_be_compared_with_is_refused(series: Any) -> None:
    graph = ct.knn_graph(X, k=3)
    number = series.astype("category").cat.codes
    assert refused(lambda: ct.knn_graph(X, k=3, labels=series)) == "labels"
    assert refused(lambda: ct.knn_graph(X, k=3, vertex_names=pd.Series(range(N), series.index))) == "vertex_names"
    assert refused(lambda: ct.evaluate.retrieval(D, series)) == "labels"
    assert refused(lambda: ct.evaluate.clustering_scores(series, KINDS)) == "classes"
    assert refused(lambda: ct.evaluate.clustering_accuracy(KINDS, series)) == "clusters"
    assert refused(lambda: ct.evaluate.foscttm(pd.DataFrame(X, series.index), X)) == "X"
    assert refused(lambda: ct.evaluate.geodesic_error(range(N), number, D)) == "truth"
    assert refused(lambda: ct.label_functions(series)) == "labels"
    assert refused(lambda: ct.shared_label_functions([series, KINDS])) == "labels[0]"
    assert refused(lambda: ct.heat_flow(graph, number, 1.0)) == "F"
    assert refused(lambda: ct.feature_functions(graph, number)) == "features"
    assert refused(lambda: ct.coupling_error([graph, graph], [number, number], 1.0)) == "functions[0]"
    assert refused(lambda: ct.couple_pairs([graph, graph], [number, np.arange(N)])) == "pairs[0]"


def test_names_that_differ_are_refused() -> None:
    frame = pd.DataFrame(X, index=[f"s{v}" for v in range(N)])
    labels = pd.Series(KINDS, frame.index)
    other = labels.rename({"s3": "t3"})
    with pytest.raises(ct.CothermError, match=r"'t3' is on one side only.*labels\.to_numpy\(\)"):
        ct.knn_graph(frame, k=3, labels=other)
    assert refused(lambda: ct.knn_graph(frame, k=3, labels=labels.iloc[:-1])) == "labels"
    assert refused(lambda: ct.knn_graph(frame, k=3, labels=labels.rename({"s3": "s4"}))) == "labels"
    assert refused(lambda: ct.evaluate.clustering_accuracy(labels, other)) == "clusters"
    crossed = pd.DataFrame(D, frame.index, other.index)
    assert refused(lambda: ct.evaluate.retrieval(crossed, labels)) == "distances"


def test_what_says_nothing_is_taken_row_by_row() -> None:
    frame = pd.DataFrame(X, index=[f"s{v}" for v in range(N)])
    for labels in (KINDS, KINDS.tolist(), pd.Series(KINDS), pd.Series(KINDS, [str(v) for v in range(N)])):
        for rows in (frame, X):
            graph = ct.knn_graph(rows, k=3, labels=labels)
            assert graph.labels is not None
            assert graph.labels.tolist() == KINDS.tolist()
        assert ct.evaluate.retrieval(D, labels).ranked.shape == (N, N - 1)
        assert ct.evaluate.clustering_accuracy(KINDS, labels) == 1.0
    assert ct.knn_graph(frame, k=3, labels=pd.Index(KINDS)).labels is not None


def test_the_index_of_what_has_none() -> None:
    assert index_of([1, 2]) is index_of("ab") is index_of(np.ones(2)) is index_of((1,)) is None
    names: Any
    for names in ([], [0, 1], ["0", "1"]):
        assert counts(names)
    for names in ([1, 0], ["a"], [1, 2]):
        assert not counts(names)
    given: Any = [3, 1]
    assert rows_in_order("labels", given, ["a", "b"]) is given


def test_vertices_of_a_mesh_keep_their_names() -> None:
    corners = pd.DataFrame([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], index=["p", "q", "r"])
    graph = ct.mesh_graph(corners, [[0, 1, 2]], labels=pd.Series([2, 0, 1], ["r", "p", "q"]))
    assert graph.vertex_names is not None
    assert graph.labels is not None
    assert graph.vertex_names.tolist() == ["p", "q", "r"]
    assert graph.labels.tolist() == [0, 1, 2]


def test_a_matrix_with_names() -> None:
    W = pd.DataFrame([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]], list("abc"), list("abc"))
    graph = ct.Graph.from_adjacency(W[["c", "a", "b"]])
    assert graph == ct.Graph.from_adjacency(W.to_numpy(), vertex_names=list("abc"))
    assert refused(lambda: ct.Graph.from_adjacency(W.rename(columns={"a": "x"}))) == "W"


def test_cells_are_pointed_to_their_converter() -> None:
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(X)
    call: Any
    for call in (
        lambda: ct.knn_graph(adata),
        lambda: ct.HeatKernelCoupling().fit([adata, adata]),
        lambda: ct.HeatKernelCoupling().fit(adata),
    ):
        with pytest.raises(ct.CothermError, match=r"AnnData; .*interop\.from_anndata"):
            call()


def test_objects_that_are_all_integers_are_labels() -> None:
    assert ct.label_functions(np.array([0, 1, 1], dtype=object)).shape == (3, 2)
    assert refused(lambda: ct.label_functions(np.array([0, 10**30], dtype=object))) == "labels"
