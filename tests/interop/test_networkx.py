"""networkx and back: names, order, attributes; what is no such graph is refused."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import cotherm as ct
from cotherm.interop import from_networkx, to_networkx
from tests import problems
from tests.problems import refused


def in_order(graph: ct.Graph) -> ct.Graph:
    """The same graph with its edges sorted."""
    order = np.lexsort((graph.j, graph.i))
    return ct.Graph(
        graph.n,
        graph.i[order],
        graph.j[order],
        graph.w[order],
        coordinates=graph.coordinates,
        labels=graph.labels,
        vertex_names=range(graph.n),
        name=graph.name,
    )


@given(problems.graphs())
def test_round_trip(graph: ct.Graph) -> None:
    assert from_networkx(to_networkx(graph)) == in_order(graph)


@pytest.mark.parametrize("case", problems.CASES)
def test_the_same_laplacian(case: str) -> None:
    graph = problems.CASES[case]()
    theirs = nx.laplacian_matrix(to_networkx(graph)).toarray()
    np.testing.assert_allclose(theirs, graph.laplacian().toarray(), rtol=1e-12, atol=1e-300)


def test_coordinates_labels_and_names_round_trip() -> None:
    graph = ct.Graph(
        3,
        [0, 1],
        [1, 2],
        [1.0, 2.0],
        coordinates=[[0.0, 1.0], [2.0, 3.0], [4.0, 5.5]],
        labels=["a", "b", "a"],
        name="walk",
    )
    names: list[Any] = [("x", 1), "mid", 7]
    G = nx.relabel_nodes(to_networkx(graph), dict(enumerate(names)))
    assert list(G.nodes) == names
    assert G.nodes["mid"] == {"pos": (2.0, 3.0), "label": "b"}
    assert G["mid"][7]["weight"] == 2.0
    assert from_networkx(G) == graph.replace(vertex_names=["('x', 1)", "mid", "7"])
    again = to_networkx(from_networkx(G))
    assert list(nx.relabel_nodes(again, dict(zip(again, names, strict=True))).edges(data=True)) == list(
        G.edges(data=True)
    )


def test_vertices_follow_the_nodes() -> None:
    G = nx.Graph()
    G.add_nodes_from(["c", "alone", "a"])
    G.add_edge("a", "c", weight=3.0)
    assert from_networkx(G).edges.tolist() == [[0, 2]]
    assert from_networkx(nx.karate_club_graph()).w.sum() == 231.0  # the published sum of all contacts
    assert from_networkx(nx.path_graph(4), weight=None).w.tolist() == [1.0, 1.0, 1.0]
    assert from_networkx(nx.path_graph(4)).w.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "node", [int, str, lambda v: (v // 7, v % 7), lambda v: v / 2, lambda v: v if v % 2 else f"n{v}"]
)
def test_the_order_of_nodes_does_not_matter(node: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    order = random.permutation(40).tolist()
    sorted_nodes = nx.relabel_nodes(nx.watts_strogatz_graph(40, 4, 0.3, seed=seed), node)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(node(v) for v in order)
    shuffled.add_edges_from(sorted_nodes.edges)
    graphs = [from_networkx(sorted_nodes), from_networkx(shuffled)]
    common = ct.common_graph(graphs, second_neighbors=False)
    assert common.graph.m == graphs[0].m  # the same edges, each once
    nodes = [list(sorted_nodes), list(shuffled)]
    assert [nodes[1][b] for _, b in common.items] == [nodes[0][a] for a, _ in common.items]
    assert refused(lambda: ct.couple_pairs([graphs[0].bare(), graphs[1]])) == "pairs"


def test_nodes_keep_their_names() -> None:
    def names_of(*nodes: Any) -> list[Any]:
        G = nx.Graph()
        G.add_nodes_from(nodes)
        kept = from_networkx(G).vertex_names
        assert kept is not None
        return kept.tolist()

    assert names_of(0, 1) == [0, 1]
    assert names_of(np.int64(3), 1) == [3, 1]
    assert names_of("b", "") == ["b", "''"]
    assert names_of("1", 1) == ["'1'", "1"]
    assert names_of(2**80, 1) == [str(2**80), "1"]
    assert names_of(True, (0, "a")) == ["True", "(0, 'a')"]


def weighted(*edges: Any) -> nx.Graph:
    G = nx.Graph()
    G.add_weighted_edges_from(edges)
    return G


def test_what_is_refused() -> None:
    assert refused(lambda: from_networkx(nx.DiGraph([(0, 1)]), None)) == "G"
    assert refused(lambda: from_networkx(nx.MultiGraph([(0, 1), (0, 1)]), None)) == "G"
    assert refused(lambda: from_networkx(weighted(("a", "a", 1.0)))) == "G"
    assert refused(lambda: from_networkx(nx.Graph())) == "G"
    assert refused(lambda: from_networkx(np.eye(2))) == "G"
    assert refused(lambda: from_networkx(weighted(("a", "b", -1.0)))) == "weight"
    assert refused(lambda: from_networkx(weighted(("a", "b", float("nan"))))) == "weight"
    assert refused(lambda: from_networkx(weighted(("a", "b", "heavy")))) == "weight"
    partly = weighted(("a", "b", 1.0))
    partly.add_edge("b", "c")
    assert refused(lambda: from_networkx(partly)) == "weight"
    with pytest.raises(ct.CothermError, match="-1 between 'a' and 'b'"):
        from_networkx(weighted(("a", "b", -1.0)))
    half = nx.path_graph(3)
    half.nodes[1]["pos"] = (0.0, 1.0)
    assert refused(lambda: from_networkx(half, None)) == "coordinates"
    assert from_networkx(half, None, coordinates=None).coordinates is None


def test_only_graphs_are_converted() -> None:
    not_a_graph: Any = nx.path_graph(3)
    assert refused(lambda: to_networkx(not_a_graph)) == "graph"
