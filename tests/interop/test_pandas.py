"""Tables of edges and back."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import cotherm as ct
from cotherm.interop import from_pandas, to_pandas
from tests import problems
from tests.problems import refused


@given(problems.graphs())
def test_round_trip_keeps_the_order(graph: ct.Graph) -> None:
    back = from_pandas(to_pandas(graph), names=range(graph.n))
    assert back == graph.replace(coordinates=None, labels=None, vertex_names=range(graph.n), name=None)


def test_names() -> None:
    frame = pd.DataFrame({"from": ["wet", "rain"], "to": ["cold", "wet"], "w": [1, 2]})
    graph = from_pandas(frame, "from", "to", "w")
    assert graph == ct.Graph(3, [0, 1], [2, 2], [1.0, 2.0], vertex_names=["cold", "rain", "wet"])
    names = ["rain", "alone", "wet", "cold"]
    graph = from_pandas(frame, "from", "to", None, names=names)
    assert graph == ct.Graph(4, [2, 0], [3, 2], [1.0, 1.0], vertex_names=names)
    table = to_pandas(graph)
    assert table.values.tolist() == [["wet", "cold", 1.0], ["rain", "wet", 1.0]]
    assert from_pandas(table, names=iter(names)) == graph


@pytest.mark.parametrize("kind", ["category", "string", object])
def test_columns_of_every_kind(kind: Any) -> None:
    frame = pd.DataFrame({"source": ["b", "a"], "target": ["c", "b"], "weight": [1, 2]})
    frame = frame.astype({"source": kind, "target": kind, "weight": "Int64"})
    assert from_pandas(frame) == ct.Graph(3, [1, 0], [2, 1], [1.0, 2.0], vertex_names=["a", "b", "c"])


def table(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]} | columns)


def test_what_is_refused() -> None:
    assert refused(lambda: from_pandas(table(target=["b", "b"]))) == "frame"
    assert refused(lambda: from_pandas(table(target=["b", "a"]))) == "frame"
    assert refused(lambda: from_pandas(table().iloc[:0])) == "frame"
    assert refused(lambda: from_pandas(np.eye(3))) == "frame"
    assert refused(lambda: from_pandas(table(target=["b", None]))) == "target"
    assert refused(lambda: from_pandas(table(weight=[1.0, np.nan]))) == "weight"
    assert refused(lambda: from_pandas(table(weight=[1.0, -1.0]))) == "weight"
    assert refused(lambda: from_pandas(table(weight=["1", "2"]))) == "weight"
    assert refused(lambda: from_pandas(table(), weight="w")) == "weight"
    assert refused(lambda: from_pandas(table(target=[1, 2]))) == "source, target"
    assert refused(lambda: from_pandas(table(), names=["a", "b"])) == "target"
    assert refused(lambda: from_pandas(table(), names=["a", "b", "c", "c"])) == "names"
    assert refused(lambda: from_pandas(table(), names="abc")) == "names"
    twice = pd.concat([table(), table()["weight"]], axis=1)
    assert refused(lambda: from_pandas(twice)) == "weight"
    odd: Any
    for odd in (["a", "b", "a"], [[1], [2], [3]], 3):
        assert refused(partial(from_pandas, table(), names=odd)) == "names"
    with pytest.raises(ct.CothermError, match="2 edges between 'a' and 'b'"):
        from_pandas(table(target=["b", "a"]))
