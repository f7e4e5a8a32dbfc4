"""Names of vertices go with a graph from where it is made to every file and result."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cotherm as ct

NAMES = ["ann", "bob", "eve", "dan", "kim", "lee"]
POINTS = np.array([[0.0, 0.0], [1.0, 0.2], [0.2, 1.0], [5.0, 5.0], [6.0, 5.1], [5.2, 6.0]])


def graph(names: Any = NAMES, seed: int = 0) -> ct.Graph:
    noise = np.random.default_rng(seed).normal(scale=0.1, size=POINTS.shape)
    return ct.knn_graph(POINTS + noise, 3, scale_neighbor=2, vertex_names=names)


def named(one: ct.Graph) -> list[Any]:
    assert one.vertex_names is not None
    return one.vertex_names.tolist()


def test_a_graph_keeps_names_through_every_change() -> None:
    one = graph()
    for other in (
        one.replace(name="g"),
        one.with_weights(2.0 * one.w),
        one.with_edges([0], [1], [1.0]),
        pickle.loads(pickle.dumps(one)),
    ):
        assert named(other) == NAMES
    assert one.bare().vertex_names is None
    assert one.replace(vertex_names=None).vertex_names is None
    assert one != one.replace(vertex_names=NAMES[::-1])
    assert one.vertex("eve") == 2


def test_a_subgraph_is_the_matrix_of_its_vertices() -> None:
    one = graph().replace(labels=list("abcabc"))
    part = one.subgraph([4, 1, 0])
    assert named(part) == ["kim", "bob", "ann"]
    assert part.labels is not None
    assert part.labels.tolist() == ["b", "b", "a"]
    np.testing.assert_array_equal(part.adjacency().toarray(), one.adjacency().toarray()[np.ix_([4, 1, 0], [4, 1, 0])])
    assert part.coordinates is not None
    assert one.coordinates is not None
    np.testing.assert_array_equal(part.coordinates, one.coordinates[[4, 1, 0]])
    for bad in ([0, 0], [], [6]):
        with pytest.raises(ct.CothermError, match="vertices: "):
            one.subgraph(bad)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "one name per vertex"),
        (["a", "b", "a"], "the name 'a' more than once"),
        (["a", "", "c"], "an empty name"),
        ([1, "b", "c"], "several kinds"),
        ([0.5, 1.5, 2.5], "integers or strings"),
    ],
)
def test_names_that_cannot_be_used(names: Any, message: str) -> None:
    with pytest.raises(ct.CothermError, match=message):
        ct.Graph(3, [0], [1], [1.0], vertex_names=names)


def test_a_name_that_no_vertex_has() -> None:
    with pytest.raises(ct.CothermError, match=r"name: 'zoe'.*'ann', 'bob', 'eve'"):
        graph().vertex("zoe")
    with pytest.raises(ct.CothermError, match="whose vertices have names"):
        graph(None).vertex("ann")


def test_the_index_of_a_data_frame() -> None:
    frame = pd.DataFrame(POINTS, index=NAMES)
    assert named(ct.knn_graph(frame, 2, scale_neighbor=2)) == NAMES
    assert named(ct.radius_graph(frame, 2.0)) == NAMES
    assert named(ct.knn_graph(frame, 2, scale_neighbor=2, vertex_names=range(1, 7))) == [1, 2, 3, 4, 5, 6]
    assert named(ct.knn_graph(frame.set_axis(range(10, 16)), 2, scale_neighbor=2)) == list(range(10, 16))
    assert ct.knn_graph(frame.reset_index(drop=True), 2, scale_neighbor=2).vertex_names is None
    for index in (
        ["a"] * 6,
        pd.date_range("2020-01-01", periods=6),
        [("a", k) for k in range(6)],
        [1, "b", 2, 3, 4, 5],
    ):
        with pytest.raises(ct.CothermError, match=r"X: an index.*reset_index"):
            ct.knn_graph(pd.DataFrame(POINTS, index=pd.Index(index, tupleize_cols=False)), 2, scale_neighbor=2)


@pytest.mark.parametrize("names", [NAMES, [10, 20, 30, 40, 50, 60]])
def test_files_of_graphs(names: Any, tmp_path: Path) -> None:
    one = graph(names)
    ct.write_graph(one, tmp_path / "g.npz")
    assert ct.read_graph(tmp_path / "g.npz") == one
    for suffix in (".csv", ".mtx"):
        with pytest.raises(ct.CothermError, match=r"vertex_names: .*bare\(\)"):
            ct.write_graph(one.replace(coordinates=None), tmp_path / f"g{suffix}")


def test_results_keep_names(tmp_path: Path) -> None:
    views = [graph(), graph(seed=1)]
    couplings = [
        ct.couple_pairs(views, alpha=1.0, times=[0.5], options={"n_modes": 2}),
        ct.couple(views, [np.eye(6)] * 2, [0.5], 1.0),
    ]
    for result in couplings:
        result.save(tmp_path / "c.npz", overwrite=True)
        for one in (*result.graphs, *result.originals, *ct.Coupling.load(tmp_path / "c.npz").graphs):
            assert named(one) == NAMES
    assert named(ct.average(views).graph) == NAMES
    assert all(named(one) == NAMES for one in ct.closest_commuting(views, valid=True, restarts=0).graphs or ())


def test_pairs_by_name() -> None:
    views = [graph(), graph(NAMES[::-1], seed=1)]
    by_name = ct.common_graph(views, "names")
    assert named(by_name.graph) == NAMES
    assert by_name.items.tolist() == [[k, 5 - k] for k in range(6)]
    part = [graph(), graph(seed=1).subgraph([5, 0, 2])]
    common = ct.common_graph(part, "names")
    assert common.graph.n == 6
    assert sorted(named(common.graph)) == sorted(NAMES)
    with pytest.raises(ct.CothermError, match="graph 1 have none"):
        ct.common_graph([graph(), graph(None)], "names")


def test_items_whose_names_disagree_have_none_in_common() -> None:
    swapped = ct.common_graph([graph(), graph(seed=1)], [[0, 1, 2], [1, 0, 2]])
    assert swapped.graph.vertex_names is None


@pytest.mark.parametrize(
    "method",
    [
        ct.average,
        ct.joint_diagonalize,
        ct.closest_commuting,
    ],
)
def test_the_same_vertices_in_another_order_are_refused(method: Any) -> None:
    with pytest.raises(ct.CothermError, match="vertex 0 is 'ann' in graph 0 and 'lee' in graph 1"):
        method([graph(), graph(NAMES[::-1])])
    with pytest.raises(ct.CothermError, match=r"vertex 0 is 'ann' in graph 1, and graph 0 has no names.*bare\(\)"):
        method([graph(None), graph()])
    method([graph(None), graph(range(6))])


@pytest.mark.parametrize("seed", range(5))
def test_the_same_names_in_another_order_are_paired_by_name(seed: int) -> None:
    order = np.random.default_rng(seed).permutation(6)
    views = [graph(), graph(seed=1).subgraph(order)]
    right = [graph(), graph(seed=1)]
    F, G = ct.pair_functions(views, n_modes=2)[0, 1]
    np.testing.assert_array_equal(F[order], G)
    common, expected = ct.common_graph(views), ct.common_graph(right)
    assert common.items.tolist() == [[v, int(np.argmax(order == v))] for v in range(6)]
    assert named(common.graph) == NAMES
    np.testing.assert_allclose(
        common.graph.adjacency().toarray(), expected.graph.adjacency().toarray(), rtol=1e-12, atol=1e-15
    )
    assert ct.couple_pairs(views, options={"kept_back": 0, "max_iterations": 1, "n_modes": 2}).pairs is not None


def test_names_beside_none_are_refused_unless_they_count() -> None:
    call: Any
    for call in (ct.couple_pairs, ct.common_graph, ct.pair_functions):
        with pytest.raises(ct.CothermError, match=r"graph 1 has no names.*vertex_names.*bare\(\)"):
            call([graph(), graph(None)])
        with pytest.raises(ct.CothermError, match=r"vertex 0 is 5 in graph 1, and graph 0 has no names"):
            call([graph(None), graph(range(5, -1, -1))])
    for counting in (range(6), [str(v) for v in range(6)]):
        assert ct.common_graph([graph(None), graph(counting)]).items.tolist() == [[v, v] for v in range(6)]
