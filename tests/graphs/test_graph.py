"""Graph: what it holds, what it refuses, and the paper's set L(V, E)."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from tests import problems, references
from tests.problems import CASES


@given(problems.graphs())
def test_laplacian_and_adjacency_are_the_obvious_ones(graph: ct.Graph) -> None:
    L = references.laplacian(graph)
    assert_allclose(graph.laplacian().toarray(), L, atol=1e-12)
    assert_allclose(graph.adjacency().toarray(), np.diag(np.diag(L)) - L, atol=1e-12)
    assert_allclose(graph.degrees, np.diag(L), atol=1e-12)
    assert sp.issparse(graph.laplacian())


@given(problems.graphs())
def test_adjacency_round_trip(graph: ct.Graph) -> None:
    back = ct.Graph.from_adjacency(graph.adjacency())
    order = np.lexsort((graph.j, graph.i))
    assert back.n == graph.n
    assert_array_equal(back.edges, graph.edges[order])
    assert_array_equal(back.w, graph.w[order])


@given(problems.graphs())
def test_components_are_those_of_the_positive_weights(graph: ct.Graph) -> None:
    reach = np.linalg.matrix_power(np.eye(graph.n) + (graph.adjacency().toarray() > 0), graph.n) > 0
    labels = graph.components
    assert_array_equal(labels[:, np.newaxis] == labels, reach)
    firsts = [int(np.flatnonzero(labels == c)[0]) for c in range(graph.component_count)]
    assert firsts == sorted(firsts)


def test_edges_are_kept_in_order_and_turned() -> None:
    graph = ct.Graph(5, [4, 0, 3], [1, 2, 2], [0.5, 1.0, 2.0], name="g")
    assert graph.edges.tolist() == [[1, 4], [0, 2], [2, 3]]
    assert graph.w.tolist() == [0.5, 1.0, 2.0]
    assert (graph.n, graph.m) == (5, 3)
    assert graph.weights is graph.w
    assert repr(graph) == "Graph('g', n=5, m=3, total weight 3.5)"


def test_frozen_and_independent_of_what_it_was_made_from() -> None:
    w = np.ones(3)
    graph = ct.Graph(4, [0, 1, 2], [1, 2, 3], w, coordinates=np.zeros((4, 2)), labels=[0, 0, 1, 1])
    w[:] = 7
    assert graph.w.tolist() == [1, 1, 1]
    assert graph.coordinates is not None
    assert graph.labels is not None
    for array in (graph.i, graph.j, graph.w, graph.coordinates, graph.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError, match="frozen"):
        graph.n = 3
    with pytest.raises(AttributeError, match="frozen"):
        del graph.w


def test_with_weights_keeps_everything_else() -> None:
    graph = ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0], labels=["a", "b", "a"], name="x")
    other = graph.with_weights([0.0, 5.0])
    assert other.w.tolist() == [0.0, 5.0]
    assert other.i is graph.i
    assert other.labels is graph.labels
    assert (other.n, other.name) == (3, "x")
    assert graph.w.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("bad", [[1.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf], ["a", "b"], [1j, 1], [[1.0, 2.0]]])
def test_with_weights_refuses(bad: Any) -> None:
    graph = ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0])
    with pytest.raises(ct.CothermError) as caught:
        graph.with_weights(bad)
    assert caught.value.argument == "u"


def test_equality_and_pickling() -> None:
    make: Callable[..., ct.Graph] = lambda **k: ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0], **k)  # noqa: E731
    assert make() == make()
    assert make(name="a") != make()
    assert make(labels=[1, 2, 3]) != make(labels=[1, 2, 4])
    assert make() != make().with_weights([1.0, 2.5])
    assert make() != "graph"
    full = make(name="a", labels=["x", "y", "z"], coordinates=np.eye(3))
    assert pickle.loads(pickle.dumps(full)) == full


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "negative weight": ({"w": [1.0, -0.1]}, "w"),
    "NaN weight": ({"w": [1.0, np.nan]}, "w"),
    "infinite weight": ({"w": [np.inf, 1.0]}, "w"),
    "too few weights": ({"w": [1.0]}, "w"),
    "weights in words": ({"w": ["a", "b"]}, "w"),
    "complex weights": ({"w": [1j, 1.0]}, "w"),
    "weights of objects": ({"w": np.array([1.0, None])}, "w"),
    "integers no float can hold": ({"w": np.array([1, 2**60])}, "w"),
    "long double weights": ({"w": np.ones(2, np.longdouble)}, "w"),
    "table of weights": ({"w": [[1.0, 1.0]]}, "w"),
    "weights that overflow when added": ({"w": [1e308, 1e308]}, "w"),
    "self-loop": ({"i": [0, 2]}, "i, j"),
    "repeated edge": ({"i": [0, 0], "j": [1, 1]}, "i, j"),
    "repeated edge, turned": ({"i": [0, 1], "j": [1, 0]}, "i, j"),
    "index too large": ({"j": [1, 3]}, "j"),
    "negative index": ({"i": [-1, 1]}, "i"),
    "fractional index": ({"i": [0.0, 1.0]}, "i"),
    "index in words": ({"i": ["0", "1"]}, "i"),
    "boolean index": ({"i": [False, True]}, "i"),
    "unequal ends": ({"j": [1]}, "j"),
    "table of ends": ({"i": [[0, 1]]}, "i"),
    "no vertices": ({"n": 0, "i": [], "j": [], "w": []}, "n"),
    "negative n": ({"n": -3}, "n"),
    "fractional n": ({"n": 3.0}, "n"),
    "n in words": ({"n": "three"}, "n"),
    "n true": ({"n": True}, "n"),
    "n past int32": ({"n": 2**31}, "n"),
    "coordinates for other vertices": ({"coordinates": np.zeros((4, 2))}, "coordinates"),
    "coordinates with NaN": ({"coordinates": np.full((3, 2), np.nan)}, "coordinates"),
    "coordinates of one dimension": ({"coordinates": np.zeros(3)}, "coordinates"),
    "labels for other vertices": ({"labels": [1, 2]}, "labels"),
    "fractional labels": ({"labels": [1.5, 2.0, 1.0]}, "labels"),
    "labels of objects": ({"labels": [None, 1, 2]}, "labels"),
    "labels ragged": ({"labels": [[1], [1, 2], [3]]}, "labels"),
    "labels masked": ({"labels": np.ma.masked_equal([1, 2, 3], 2)}, "labels"),
    "name not a word": ({"name": 5}, "name"),
}


@pytest.mark.parametrize(("changes", "argument"), BAD.values(), ids=BAD.keys())
def test_bad_graph(changes: dict[str, Any], argument: str) -> None:
    good: dict[str, Any] = {"n": 3, "i": [0, 1], "j": [1, 2], "w": [1.0, 1.0]}
    with pytest.raises(ct.CothermError) as caught:
        ct.Graph(**{**good, **changes})
    assert caught.value.argument == argument
    assert caught.value.given
    assert caught.value.needed in str(caught.value)


def broken(change: Callable[[np.ndarray], Any]) -> np.ndarray:
    W = np.array([[0, 1.0, 0], [1.0, 0, 2.0], [0, 2.0, 0]])
    answer = change(W)
    return W if answer is None else answer


BAD_MATRICES: dict[str, Callable[[np.ndarray], Any]] = {
    "asymmetric": lambda W: W.__setitem__((0, 1), 1.0 + 1e-15),
    "one-sided": lambda W: W.__setitem__((2, 0), 1.0),
    "not square": lambda W: W[:2],
    "a vector": lambda W: W[0],
    "empty": lambda W: W[:0, :0],
    "negative": lambda W: -W,
    "NaN": lambda W: W * np.nan,
    "infinite": lambda W: np.where(W > 0, np.inf, 0),
    "self-loop": lambda W: W.__setitem__((1, 1), 3.0),
    "complex": lambda W: W.astype(complex),
    "strings": lambda W: W.astype(str),
}


# SciPy itself refuses to make a sparse matrix of these.
DENSE_ONLY = {"a vector", "empty", "strings"}
FORMS: dict[str, Callable[[Any], Any]] = {"dense": np.asarray, "csr": sp.csr_array, "coo": sp.coo_matrix}


@pytest.mark.parametrize(
    ("form", "change"),
    [(form, change) for form in FORMS for change in BAD_MATRICES if form == "dense" or change not in DENSE_ONLY],
)
def test_bad_adjacency(form: str, change: str) -> None:
    with pytest.raises(ct.CothermError) as caught:
        ct.Graph.from_adjacency(FORMS[form](broken(BAD_MATRICES[change])))
    assert caught.value.argument in {"W", "w"}


def test_repeated_sparse_entries_and_one_sided_zeros_are_refused() -> None:
    twice = sp.coo_array(([1.0, 1.0, 2.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    with pytest.raises(ct.CothermError, match="repeated"):
        ct.Graph.from_adjacency(twice)
    zero = sp.coo_array(([0.0], ([0], [1])), shape=(2, 2))
    with pytest.raises(ct.CothermError, match="stored zero"):
        ct.Graph.from_adjacency(zero)


@given(st.data())
def test_any_numbers_give_a_graph_or_our_error(data: st.DataObject) -> None:
    """Whatever comes in, either a valid graph comes out or a CothermError: never another exception."""
    n = data.draw(st.integers(-1, 5))
    ends = st.lists(st.integers(-1, 5), max_size=5)
    weights = st.lists(st.floats(), max_size=5)
    i, j, w = data.draw(ends), data.draw(ends), data.draw(weights)
    try:
        graph = ct.Graph(n, i, j, w)
    except ct.CothermError:
        return
    assert len(i) == len(j) == len(w)
    assert all(0 <= a < n and 0 <= b < n and a != b for a, b in zip(i, j, strict=True))
    assert len({frozenset(e) for e in zip(i, j, strict=True)}) == len(i)
    assert np.isfinite(sum(w))
    assert all(x >= 0 for x in w)
    assert graph.is_valid()


@pytest.mark.parametrize("case", CASES)
def test_own_laplacian_is_valid(case: str) -> None:
    graph = CASES[case]()
    assert graph.is_valid()
    assert bool(graph.validity())
    assert "hold" in str(graph.validity())


def spoil(L: np.ndarray, entries: dict[tuple[int, int], float]) -> np.ndarray:
    L = L.copy()
    for (r, c), change in entries.items():
        L[r, c] += change
    return L


@pytest.mark.parametrize(
    ("entries", "condition", "where", "amount"),
    [
        # Row sums are kept where another condition is meant to fail alone.
        ({(0, 1): 1.5, (1, 0): 1.5, (0, 0): -1.5, (1, 1): -1.5}, "i", {0, 1}, 0.5),
        ({(0, 1): 0.25, (0, 0): -0.25}, "i", {0, 1}, 0.25),
        ({(0, 2): -0.75, (2, 0): -0.75, (0, 0): 0.75, (2, 2): 0.75}, "ii", {0, 2}, 0.75),
        ({(2, 2): 0.125}, "iii", {2}, 0.125),
    ],
)
def test_validity_says_which_where_and_by_how_much(
    entries: dict[tuple[int, int], float], condition: str, where: set[int], amount: float
) -> None:
    graph = ct.Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0])
    L = spoil(graph.laplacian().toarray(), entries)
    for matrix in (L, sp.csr_array(L)):
        validity = graph.validity(matrix)
        assert not validity
        assert not graph.is_valid(matrix)
        (failure,) = validity.failures
        assert failure.condition == condition
        assert set(failure.where) == where
        assert failure.amount == pytest.approx(amount)
        assert failure.explanation in str(validity)
    assert graph.is_valid(L, tolerance=1.0)


def test_validity_refuses_other_shapes() -> None:
    with pytest.raises(ct.CothermError, match="laplacian"):
        problems.ring(4).validity(np.eye(3))


def test_replace_changes_what_is_passed_and_nothing_else() -> None:
    full = ct.Graph(3, [0, 2], [1, 1], [1.0, 2.0], coordinates=np.eye(3), labels=["a", "b", "c"], name="three")
    assert full.replace() == full
    fields: dict[str, Any] = {"w": [3.0, 0.0], "coordinates": np.ones((3, 1)), "labels": [1, 2, 3], "name": "other"}
    for field, value in fields.items():
        expected = {name: getattr(full, name) for name in fields} | {field: value}
        assert full.replace(**{field: value}) == ct.Graph(3, full.i, full.j, expected.pop("w"), **expected)
        if field != "w":
            without: dict[str, Any] = {field: None}
            assert getattr(full.replace(**without), field) is None
    changed = full.replace(**fields)
    assert changed == ct.Graph(3, full.i, full.j, **fields)
    for array in (changed.w, changed.coordinates, changed.labels):
        assert array is not None
        assert not array.flags.writeable
    fields["coordinates"][:] = 7.0
    assert_array_equal(changed.coordinates, np.ones((3, 1)))


@pytest.mark.parametrize(
    ("field", "bad"),
    [("w", None), ("w", [1.0]), ("w", [1.0, -1.0]), ("coordinates", np.eye(2)), ("labels", [1]), ("name", 3)],
)
def test_replace_refuses(field: str, bad: Any) -> None:
    graph = ct.Graph(3, [0, 2], [1, 1], [1.0, 2.0])
    with pytest.raises(ct.CothermError, match=f"{field}: "):
        graph.replace(**{field: bad})


def test_bare_leaves_coordinates_and_labels_out() -> None:
    full = ct.Graph(3, [0, 2], [1, 1], [1.0, 2.0], coordinates=np.eye(3), labels=["a", "b", "c"], name="three")
    assert full.bare() == ct.Graph(3, [0, 2], [1, 1], [1.0, 2.0], name="three")
    assert full.labels is not None


@pytest.mark.parametrize("digits", [20, 5_000])
def test_numbers_too_long_to_write_are_refused_like_others(digits: int) -> None:
    n: Any
    for n in (10**digits, -(10**digits), [10**digits]):
        with pytest.raises(ct.CothermError, match="n: "):
            ct.Graph(n, [], [], [])


@pytest.mark.parametrize("sparse", [False, True])
def test_negative_and_huge_entries_are_named_as_the_matrix(sparse: bool) -> None:
    negative, huge = r"W: W\[0, 2\] = -1.5 \(2 negative entries\)", r"W: weights up to 1e\+308"
    for entry, message in ((-1.5, negative), (1e308, huge)):
        W = np.array([[0.0, 1.0, entry], [1.0, 0.0, 1e308], [entry, 1e308, 0.0]])
        with pytest.raises(ct.CothermError, match=message):
            ct.Graph.from_adjacency(sp.csr_array(W) if sparse else W)
