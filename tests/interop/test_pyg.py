"""PyTorch Geometric and back, where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm.interop import from_pyg, to_pyg
from tests import problems
from tests.problems import refused

torch: Any = pytest.importorskip("torch")
Data: Any = pytest.importorskip("torch_geometric.data").Data


@pytest.mark.parametrize("case", problems.CASES)
def test_round_trip(case: str) -> None:
    graph = problems.CASES[case]()
    back = from_pyg(to_pyg(graph, dtype=torch.float64))
    np.testing.assert_array_equal(back.adjacency().toarray(), graph.adjacency().toarray())
    assert (back.n, back.m) == (graph.n, graph.m)


def test_everything_that_data_holds() -> None:
    graph = ct.Graph(3, [0, 1], [1, 2], [0.1, 2.0], coordinates=[[0.0, 1.0], [2.0, 3.0], [4.0, 5.5]], labels=[4, 2, 4])
    data = to_pyg(graph)
    assert data.validate()
    assert data.is_undirected()
    assert data.edge_index.dtype == torch.int64
    assert data.edge_weight.dtype == data.pos.dtype == torch.float32
    assert data.y.tolist() == [4, 2, 4]
    assert from_pyg(to_pyg(graph, dtype=torch.float64)) == graph
    named = to_pyg(ct.Graph(3, [0], [1], [1.0], labels=["b", "a", "b"]))
    assert named.y.tolist() == [1, 0, 1]
    assert named.label_names == ["a", "b"]
    assert to_pyg(problems.CASES["no edges"]()).num_nodes == 5


def test_their_laplacian_is_ours() -> None:
    utils = pytest.importorskip("torch_geometric.utils")
    graph = problems.cloud(40)
    data = to_pyg(graph, dtype=torch.float64)
    index, values = utils.get_laplacian(data.edge_index, data.edge_weight, num_nodes=40)
    theirs = torch.sparse_coo_tensor(index, values, (40, 40), check_invariants=True).to_dense().numpy()
    np.testing.assert_allclose(theirs, graph.laplacian().toarray(), atol=1e-14)


def test_the_weight_is_chosen() -> None:
    both = torch.tensor([[0, 1], [1, 0]])
    data = Data(edge_index=both, edge_attr=torch.full((2, 1), 3.0, dtype=torch.bfloat16), num_nodes=2)
    assert from_pyg(data, "edge_attr").w.tolist() == [3.0]
    assert from_pyg(data, None).w.tolist() == [1.0]
    assert refused(lambda: from_pyg(data)) == "weight"


def test_what_is_refused() -> None:
    def pair(**more: Any) -> Any:
        return Data(**({"edge_index": torch.tensor([[0, 1], [1, 0]]), "num_nodes": 2} | more))

    assert refused(lambda: from_pyg(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2), None)) == "data"
    assert refused(lambda: from_pyg(Data(edge_index=torch.tensor([[0], [0]]), num_nodes=2), None)) == "data"
    assert refused(lambda: from_pyg(Data(num_nodes=2), None)) == "data"
    assert refused(lambda: from_pyg(problems.ring(3))) == "data"
    assert refused(lambda: from_pyg(pair(edge_weight=torch.tensor([1.0, 2.0])))) == "data"
    assert refused(lambda: from_pyg(pair(edge_weight=torch.tensor([-1.0, -1.0])))) == "data"
    assert refused(lambda: from_pyg(pair(edge_weight=torch.tensor([1.0])))) == "weight"
    assert refused(lambda: from_pyg(pair(edge_weight=torch.tensor([1.0, float("nan")])))) == "weight"
    assert refused(lambda: from_pyg(pair(y=torch.tensor([0.5, 1.0])), None)) == "labels"
    assert refused(lambda: from_pyg(pair(pos=torch.zeros(3, 2)), None)) == "data.pos"
    assert refused(lambda: from_pyg(pair(num_nodes=1), None)) == "data.edge_index"
    assert from_pyg(pair(y=torch.tensor([0.5, 1.0])), None, labels=None).labels is None
    assert refused(lambda: to_pyg(problems.ring(3), dtype=torch.int64)) == "dtype"
    assert refused(lambda: to_pyg(ct.Graph(2, [0], [1], [1e39]))) == "graph"
