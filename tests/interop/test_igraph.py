"""igraph and back."""

from __future__ import annotations

from typing import Any

import igraph
import numpy as np
import pytest
from hypothesis import given

import cotherm as ct
from cotherm.interop import from_igraph, to_igraph
from tests import problems
from tests.problems import refused


@given(problems.graphs())
def test_round_trip_keeps_the_order(graph: ct.Graph) -> None:
    assert from_igraph(to_igraph(graph)) == graph


@pytest.mark.parametrize("case", problems.CASES)
def test_the_same_laplacian(case: str) -> None:
    graph = problems.CASES[case]()
    theirs = np.array(to_igraph(graph).laplacian(weights="weight"))
    np.testing.assert_allclose(theirs, graph.laplacian().toarray(), rtol=1e-12, atol=1e-300)


def test_everything_round_trips() -> None:
    graph = ct.Graph(
        3,
        [1, 0],
        [2, 1],
        [1.0, 2.0],
        coordinates=np.array([[0, 1, 2], [2, 3, 4], [4, 5.5, 6]]),
        labels=[3, 1, 3],
        vertex_names=["c", "b", "a"],
        name="walk",
    )
    G = to_igraph(graph)
    assert G.vs["name"] == ["c", "b", "a"]
    assert G.vs.find("b")["y"] == 3.0
    assert G.es[G.get_eid("b", "a")]["weight"] == 1.0
    assert from_igraph(G) == graph
    wide = ct.Graph(1, [], [], [], coordinates=[[1.0, 2.0, 3.0, 4.0]])
    assert refused(lambda: to_igraph(wide)) == "graph"


def test_names_that_count_are_kept_and_vertices_without_names_have_none() -> None:
    assert from_igraph(igraph.Graph([(0, 1)])).vertex_names is None
    G = igraph.Graph([(0, 1)], vertex_attrs={"name": [0, 1]})
    kept = from_igraph(G).vertex_names
    assert kept is not None
    assert kept.tolist() == [0, 1]
    G.vs["name"] = ["a", None]
    assert from_igraph(G).vertex_names is None


def test_without_weights_every_edge_has_weight_one() -> None:
    assert from_igraph(igraph.Graph([(0, 1), (1, 2)])).w.tolist() == [1.0, 1.0]


def test_what_is_refused() -> None:
    assert refused(lambda: from_igraph(igraph.Graph([(0, 1)], directed=True), None)) == "G"
    assert refused(lambda: from_igraph(igraph.Graph([(0, 1), (1, 0)]), None)) == "G"
    assert refused(lambda: from_igraph(igraph.Graph([(1, 1)]), None)) == "G"
    assert refused(lambda: from_igraph(igraph.Graph(0), None)) == "G"
    not_a_graph: Any = problems.ring(3)
    assert refused(lambda: from_igraph(not_a_graph)) == "G"
    assert refused(lambda: from_igraph(igraph.Graph([(0, 1)], edge_attrs={"weight": [-2.0]}))) == "weight"
    partly = igraph.Graph([(0, 1), (1, 2)], edge_attrs={"weight": [1.0, None]})
    assert refused(lambda: from_igraph(partly)) == "weight"
    assert from_igraph(partly, None).w.tolist() == [1.0, 1.0]
