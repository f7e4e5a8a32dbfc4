"""Anything as an argument of verbs, estimators and converters: an answer, or a CothermError; never a foreign error."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cotherm as ct
from tests.problems import path
from tests.public_calls import LEFT_OUT, OPTIONAL, TAKE_LONG, Call, calls, not_here, prepare, public

FEW = settings(
    derandomize=True, max_examples=25, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

NUMBERS = st.one_of(
    st.sampled_from([0, 1, 2, -1, 0.0, -0.5, 1.0, np.nan, np.inf, -np.inf, 1e300, 1e-300, True, 10**30, 2**64]),
    st.floats(allow_nan=True, width=64),
)
ODD = st.one_of(
    NUMBERS,
    st.none(),
    st.text(max_size=4),
    st.lists(NUMBERS, max_size=4),
    st.lists(st.lists(NUMBERS, max_size=3), max_size=3),
    st.sampled_from([b"x", object(), {}, {"a": 1}, (), np.array(1.0), np.zeros((2, 0)), np.array(["a"]), range(3), 1j]),
)

GRAPH, F = path(6), np.eye(6)[:, :2]
VERBS: dict[str, Callable[[Any], Any]] = {
    "Graph": lambda x: ct.Graph(3, [0], [1], x),
    "Graph of n": lambda x: ct.Graph(x, [0], [1], [1.0]),
    "from_adjacency": ct.Graph.from_adjacency,
    "knn_graph": lambda x: ct.knn_graph(x, 2),
    "knn_graph of k": lambda x: ct.knn_graph(np.random.default_rng(0).random((9, 2)), x),
    "radius_graph": lambda x: ct.radius_graph(np.random.default_rng(0).random((9, 2)), x),
    "heat_flow of functions": lambda x: ct.heat_flow(GRAPH, x, [1.0]),
    "heat_flow of times": lambda x: ct.heat_flow(GRAPH, F, x),
    "diffusion_distance": lambda x: ct.diffusion_distance(GRAPH, x),
    "landmark_functions": lambda x: ct.landmark_functions(GRAPH, x),
    "label_functions": ct.label_functions,
    "couple of graphs": lambda x: ct.couple(x, [F, F]),
    "couple of functions": lambda x: ct.couple([GRAPH, GRAPH], x, options={"max_iterations": 2}),
    "couple of times": lambda x: ct.couple([GRAPH, GRAPH], [F, F], x, options={"max_iterations": 2}),
    "couple of alpha": lambda x: ct.couple([GRAPH, GRAPH], [F, F], [1.0], x, options={"max_iterations": 2}),
    "couple of rigidity": lambda x: ct.couple([GRAPH, GRAPH], [F, F], options={"rigidity": x, "max_iterations": 2}),
    "couple of frozen": lambda x: ct.couple([GRAPH, GRAPH], [F, F], frozen=x, options={"max_iterations": 2}),
    "couple of start": lambda x: ct.couple([GRAPH, GRAPH], [F, F], start=x, options={"max_iterations": 2}),
    "couple of memory": lambda x: ct.couple([GRAPH, GRAPH], [F, F], options={"memory": x, "max_iterations": 2}),
    "couple_pairs of pairs": lambda x: ct.couple_pairs([GRAPH, GRAPH], x, options={"max_iterations": 2}),
    "couple_pairs of modes": lambda x: ct.couple_pairs([GRAPH, GRAPH], options={"n_modes": x, "max_iterations": 2}),
    "average": ct.average,
    "joint_diagonalize": ct.joint_diagonalize,
    "coupled_bases": lambda x: ct.coupled_bases([GRAPH, GRAPH], [F, F], k=x),
    "match": lambda x: ct.match([GRAPH, GRAPH], x),
}


@pytest.mark.parametrize("verb", VERBS)
@FEW
@given(value=ODD)
def test_verbs(verb: str, value: Any) -> None:
    with contextlib.suppress(ct.CothermError):
        VERBS[verb](value)


def points(value: Any) -> np.ndarray:
    """Two tables side by side, of which one has this number somewhere."""
    X = np.random.default_rng(0).random((12, 5))
    X[3, 2] = value
    return X


QUICK = {"max_iterations": 2}
ESTIMATORS: dict[str, Callable[[Any], Any]] = {
    "a number in a table": lambda x: ct.HeatKernelCoupling(options=QUICK, view_columns=[2, 3]).fit(points(x)),
    "tables": lambda x: ct.HeatKernelCoupling(options=QUICK).fit(x),
    "a table beside a good one": lambda x: ct.HeatKernelCoupling(options=QUICK).fit([points(0.5), x]),
    "alpha": lambda x: ct.HeatKernelCoupling(options=QUICK, alpha=x).fit([points(0.5), points(0.4)]),
    "clusters": lambda x: ct.HeatKernelCoupling(options=QUICK, n_clusters=x).fit([points(0.5), points(0.4)]),
    "neighbors": lambda x: ct.HeatKernelCoupling(options=QUICK, n_neighbors=x).fit([points(0.5), points(0.4)]),
    "an option": lambda x: ct.HeatKernelCoupling(options=QUICK | {"borrow": x}).fit([points(0.5), points(0.4)]),
    "options": lambda x: ct.HeatKernelCoupling(options=x).fit([points(0.5), points(0.4)]),
    "landmarks": lambda x: ct.HeatKernelCoupling(
        n_neighbors=3, correspondence="landmarks", options=QUICK | {"n_landmarks": x}
    ).fit([points(0.5), points(0.4)]),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
@FEW
@given(value=ODD)
def test_estimators(name: str, value: Any) -> None:
    if name == "a number in a table" and not isinstance(value, int | float):
        return
    with contextlib.suppress(ct.CothermError):
        ESTIMATORS[name](value)


@FEW
@given(rows=st.lists(st.tuples(ODD, ODD, ODD), max_size=4))
def test_data_frames(rows: list[tuple[Any, Any, Any]]) -> None:
    pandas = pytest.importorskip("pandas")
    columns = {name: pandas.Series([row[k] for row in rows], dtype=object) for k, name in enumerate("abc")}
    frame = pandas.DataFrame({"source": columns["a"], "target": columns["b"], "weight": columns["c"]})
    with contextlib.suppress(ct.CothermError):
        ct.interop.from_pandas(frame)


@FEW
@given(edges=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), ODD), max_size=5))
def test_networkx(edges: list[tuple[int, int, Any]]) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for a, b, weight in edges:
        graph.add_edge(a, b, weight=weight)
    with contextlib.suppress(ct.CothermError):
        ct.interop.from_networkx(graph)


@FEW
@given(edges=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), ODD), max_size=5))
def test_igraph(edges: list[tuple[int, int, Any]]) -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(5, [(a, b) for a, b, _ in edges])
    graph.es["weight"] = [weight for _, _, weight in edges]
    with contextlib.suppress(ct.CothermError):
        ct.interop.from_igraph(graph)


# ------------------------------------------------------------------------------------- every argument of everything


def odd_values() -> list[Any]:
    """What people hand over by mistake, and what they would never."""
    one = ct.Graph(1, [], [], [])
    return [
        *(0, 1, 2, -1, 0.0, -0.5, 1.5, np.nan, np.inf, 1e300, 1e-300, True, 10**30, 2**64, 1j, None),
        *("", "a", "auto", "\0", "x" * 5_000, "\ud800", b"x", object(), type, slice(2), range(3)),
        *({}, {"a": 1}, (), [], [0], [1.0, 2.0], [[1.0]], [[1, 2], [3]], [None], ["a", 1], [[[]]], iter([1])),
        *(np.array(1.0), np.zeros((2, 0)), np.ones((2, 2, 2)), np.array(["a"]), np.array([None, 1], dtype=object)),
        *(np.array([1j]), np.datetime64("2020-01-01"), np.ma.masked, sp.csr_array(np.eye(3)), [np.eye(3)]),
        *(one, [one] * 2),
    ]


def tried(name: str, argument: str, call: Call) -> list[Any]:
    """A part of them, another one for every argument: all of them are tried with many arguments."""
    step = 12 if call.slow else 5
    values = odd_values()[zlib.crc32(f"{name} {argument}".encode()) % step :: step]
    if (name, argument) in TAKE_LONG:
        return [value for value in values if not isinstance(value, int)]
    return values


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a directory with the files that the calls name."""
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path)


CALLED = sorted(name for name, _ in public() if name not in LEFT_OUT)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", CALLED)
def test_every_argument_of_everything_public(name: str) -> None:
    if not_here(name):
        pytest.skip(f"{OPTIONAL[name]} not installed")
    call = calls()[name]
    if name in ("Coupling.load", "Match.load"):
        calls()[name.replace("load", "save")]()
    call()
    for argument in call.names():
        for value in tried(name, argument, call):
            try:
                call(**{argument: value})
            except ct.CothermError:
                continue
            except Exception as error:
                pytest.fail(f"{name}({argument}={value!r}): {type(error).__name__}: {error}")


def test_nothing_public_is_left_out() -> None:
    """Whoever adds a public name adds a call of it to tests/public_calls.py, or says there why there is none."""
    known = {name for name, _ in public()}
    assert not known - set(calls()) - set(LEFT_OUT) - {name for name in OPTIONAL if not_here(name)}
    assert not (set(calls()) | set(LEFT_OUT)) - known
    assert not set(calls()) & set(LEFT_OUT)


@settings(database=None, deadline=None)
@given(data=st.data(), value=ODD)
def _anything(data: st.DataObject, value: Any) -> None:
    name = data.draw(st.sampled_from(sorted(calls())))
    argument = data.draw(st.sampled_from(calls()[name].names() or [""]))
    if not calls()[name].slow and argument and (name, argument) not in TAKE_LONG:
        with contextlib.suppress(ct.CothermError):
            calls()[name](**{argument: value})


def any_argument(data: bytes, directory: Path) -> None:
    """Bytes as a value for an argument of anything public, for fuzzing that follows coverage."""
    with contextlib.chdir(directory):
        prepare(directory)
        _anything.hypothesis.fuzz_one_input(data)  # type: ignore[attr-defined]
