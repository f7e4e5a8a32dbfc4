"""GraphML holds all of a graph, and others read what we write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import cotherm as ct

HEAD = '<graphml><key id="d0" for="edge" attr.name="weight" attr.type="double"/>'


@pytest.mark.parametrize("names", [None, ["a&b", 'say "x"', "<c>", "ü"], [40, 30, 20, 10]])
@pytest.mark.parametrize("labels", [None, ["x", "", "y", "x"], [-1, 2, 2, 0], [True, False, True, True]])
@pytest.mark.parametrize("dimensions", [None, 1, 2, 3])
def test_everything_comes_back(names: Any, labels: Any, dimensions: int | None, tmp_path: Path) -> None:
    places = None if dimensions is None else np.random.default_rng(0).normal(size=(4, dimensions))
    graph = ct.Graph(
        4, [2, 0], [1, 1], [0.1, 1e-300], coordinates=places, labels=labels, vertex_names=names, name="a & b"
    )
    ct.write_graph(graph, tmp_path / "g.graphml")
    assert ct.read_graph(tmp_path / "g.graphml") == graph


def test_other_programs_read_it(tmp_path: Path) -> None:
    graph = ct.Graph(3, [0, 1], [1, 2], [2.0, 0.5], labels=["x", "y", "x"], vertex_names=["a", "b", "c"], name="g")
    ct.write_graph(graph, tmp_path / "g.graphml")
    theirs = nx.read_graphml(tmp_path / "g.graphml")
    assert list(theirs.edges(data="weight")) == [("a", "b", 2.0), ("b", "c", 0.5)]
    assert theirs.nodes["b"]["label"] == "y"
    assert igraph.Graph.Read_GraphML(str(tmp_path / "g.graphml")).es["weight"] == [2.0, 0.5]


def test_files_of_other_programs(tmp_path: Path) -> None:
    G = nx.Graph()
    G.add_weighted_edges_from([("rain", "wet", 2.0), ("wet", "cold", 0.5)])
    nx.write_graphml(G, tmp_path / "nx.graphml")
    graph = ct.read_graph(tmp_path / "nx.graphml")
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == ["rain", "wet", "cold"]
    assert graph.w.tolist() == [2.0, 0.5]
    nx.write_graphml(nx.path_graph(3), tmp_path / "plain.graphml")
    assert ct.read_graph(tmp_path / "plain.graphml").w.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no xml", "no XML"),
        ("<graphml></graphml>", "no graph with nodes"),
        (HEAD + '<graph edgedefault="directed"><node id="a"/></graph></graphml>', "directed graph"),
        (HEAD + '<graph><node id="a"/><node id="a"/></graph></graphml>', "'a' again"),
        (HEAD + '<graph><node id="a"/><edge source="a" target="b"/></graph></graphml>', "which is not a node"),
        (HEAD + '<graph><node id="a"/><edge source="a" target="a"/></graph></graphml>', "joins vertex 0 to itself"),
        (
            HEAD + '<graph><node id="a"/><node id="b"/><edge source="a" target="b"><data key="d0">x</data></edge>'
            "</graph></graphml>",
            "weight: 'x' on the edge from 'a' to 'b'",
        ),
        ('<!DOCTYPE x [<!ENTITY a "b">]>' + HEAD + '<graph><node id="a"/></graph></graphml>', "document type"),
    ],
)
def test_what_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "g.graphml").write_text(text)
    with pytest.raises(ct.CothermError, match=message):
        ct.read_graph(tmp_path / "g.graphml")


def test_text_that_xml_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(ct.CothermError, match="control characters"):
        ct.write_graph(ct.Graph(2, [0], [1], [1.0], vertex_names=["\x00a", "b"]), tmp_path / "g.graphml")
    assert not list(tmp_path.iterdir())


def test_edge_lists_between_names(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text('source,target,weight\nrain,wet,2\n"wet, cold",rain,0.5\n')
    graph = ct.read_graph(tmp_path / "e.csv")
    assert graph == ct.Graph(3, [0, 2], [1, 0], [2.0, 0.5], vertex_names=["rain", "wet", "wet, cold"])
    for text, message in (
        ("source,target,weight\na,b\n", "line 2.*3 cells"),
        ("source,target,weight\na,b,x\n", "line 2: 'x'"),
        ("source,target,weight\na,b,-1\n", "line 2: a negative weight between 'a' and 'b'"),
        ("source,target\na,b\nb,a\n", "line 3: 'a' and 'b' again, as in line 2"),
        ("source,target\na,a\n", "line 2: an edge from 'a' to itself"),
        ("source,target\na,\n", "line 2.*the names of two vertices"),
    ):
        (tmp_path / "e.csv").write_text(text)
        with pytest.raises(ct.CothermError, match=message):
            ct.read_graph(tmp_path / "e.csv")
