"""What ranks run to test the distributed engine: ``python -m tests.distributed.engine_programs CHECK ...``."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from mpi4py import MPI
from numpy.testing import assert_allclose

import cotherm as ct
import paper.data
from cotherm import limits, ranks
from cotherm.engines import default_engine, get_engine
from cotherm.engines.petsc.array import DistributedArray
from cotherm.engines.petsc.communicator import Communicator
from cotherm.engines.petsc.engine import PetscEngine
from cotherm.functions import smooth_modes
from cotherm.graphs.sharded.store import ShardedGraph
from cotherm.methods import checkpoint
from cotherm.methods.coupling.search import Search
from cotherm.methods.coupling.solve import reordered
from cotherm.methods.pairs.choice import strength_by_own_edges
from cotherm.methods.pairs.rules import USUAL_STRENGTH
from cotherm.solve.filtered_eigenpairs import smooth_eigenvectors
from cotherm.solve.quasi_newton import QuasiNewton
from tests import problems
from tests.problems import nested

WORLD = MPI.COMM_WORLD
CPU = default_engine()


def petsc() -> PetscEngine:
    engine = get_engine("petsc")
    assert isinstance(engine, PetscEngine)
    return engine


def with_isolated_vertices() -> ct.Graph:
    """Some vertices at both ends and in between have no edge."""
    g = problems.random_graph(30, 80, seed=3)
    places = np.r_[2:12, 17:37]
    return ct.Graph(40, places[g.i], places[g.j], g.w)


# ---------------------------------------------------------------- arrays and kernels


def arrays() -> None:
    """NumPy's functions on rows that are spread are those on all rows."""
    engine: Any = petsc()
    rng = np.random.default_rng(0)
    X, Y, x = rng.standard_normal((23, 3)), rng.standard_normal((23, 4)), rng.standard_normal(23)
    count = 23 // WORLD.size if WORLD.rank < WORLD.size - 1 else 23 - (WORLD.size - 1) * (23 // WORLD.size)
    first = sum(WORLD.allgather(count)[: WORLD.rank])
    A, B, a = (engine.asarray(whole[first : first + count]) for whole in (X, Y, x))
    same = assert_allclose
    same(A.T @ B, X.T @ Y, atol=1e-13)
    same(a @ a, x @ x)
    same(np.linalg.norm(a), np.linalg.norm(x))
    same([a.sum(), a.max(), a.min(), a.mean()], [x.sum(), x.max(), x.min(), x.mean()])
    same(A.sum(axis=0), X.sum(axis=0), atol=1e-13)
    same(engine.communicator.rows(engine.to_numpy(A.sum(axis=1))), X.sum(axis=1), atol=1e-13)
    same(engine.communicator.rows(engine.to_numpy(np.where(a > 0.0, a, -2.0 * a))), np.where(x > 0.0, x, -2.0 * x))
    same(engine.communicator.rows(engine.to_numpy(A * a[:, np.newaxis])), X * x[:, np.newaxis])
    same(engine.communicator.rows(engine.to_numpy(A @ np.ones((3, 2)))), X @ np.ones((3, 2)))
    same(engine.communicator.rows(engine.to_numpy(np.stack([a, a]).T)), np.stack([x, x]).T)
    block = DistributedArray(np.stack([A.values, A.values]), engine.communicator, axis=1)
    same(block.transpose(0, 2, 1) @ block, np.stack([X.T @ X, X.T @ X]), atol=1e-13)
    assert (a > x.max() - 1e-12).any()
    assert not (a > x.max()).any()
    assert np.array_equal(a, a.copy())
    assert not np.array_equal(a, a + (1e-9 if WORLD.rank == 0 else 0.0))
    assert engine.ranks.sum(len(a)) == 23
    for refused in (lambda: np.cumsum(a), lambda: np.sort(a), lambda: np.add.reduce(a), lambda: A + A.T):
        try:
            refused()
        except TypeError as error:
            told = str(error)
        else:
            told = "not refused"
        assert "spread" in told


def kernels() -> None:
    """Each kernel gives what the processor's gives, on a graph with isolated vertices and on one of three vertices."""
    for graph in (with_isolated_vertices(), ct.Graph(3, [0, 1], [1, 2], [1.0, 2.0]), ct.Graph(2, [], [], [])):
        _same_kernels(graph)


def _same_kernels(graph: ct.Graph) -> None:
    engine, rng = petsc(), np.random.default_rng(1)
    F, E = rng.standard_normal((graph.n, 3)), rng.standard_normal((graph.m, 4))
    d, y, free = rng.standard_normal(graph.m), rng.standard_normal(graph.n), rng.random(graph.m) < 0.7
    S, scale = rng.standard_normal((3, 3)), rng.random(6)
    table, bound = rng.standard_normal((12, 5)), 2.0 * float(graph.degrees.max(initial=0.0)) + 1.0
    weights = rng.standard_normal(2)
    found: list[dict[str, Any]] = []
    engines: list[Any] = [CPU, engine]
    for one in engines:
        p = one.pattern(graph.n, graph.i, graph.j)
        edges, vertices, host_e, host_v = (
            partial(move, p) for move in (one.edge_rows, one.vertex_rows, one.edges_to_numpy, one.vertices_to_numpy)
        )
        L = one.laplacian(p, edges(graph.w))
        x = one.chebyshev_sums(L, vertices(F), table, bound)
        products = one.xp.zeros((len(p.i), 8))
        one.edge_products(x, p.i, p.j, weights, 1, scale, products, 2)
        sums = vertices(np.ones((graph.n, 4))).copy()
        one.add_at_vertices(edges(E), p.i, p.j, sums)
        part = one.restricted_pattern(p, one.edge_numbers(p, np.flatnonzero(free)))
        symmetric = one.asarray(S + S.T)
        cg = one.signless_solver(p, edges(free))
        found.append(
            {
                "bound": L.bound,
                "series": host_v(x),
                "over rows": one.chebyshev_sums(L, vertices(F), table, bound).sum(axis=0),
                "products": host_e(products),
                "inner": host_e(one.edge_inner_products(x, 2.0 * x, p.i, p.j, np.ones(5))),
                "forms": host_e(one.edge_inner_products(x, np.tensordot(x, symmetric, 1), p.i, p.j, np.ones(5))),
                "sum of forms": one.to_numpy(one.laplacian_forms(p, edges(d), x, np.ones(5))),
                "at vertices": host_v(one.sums_at_vertices(p, edges(d))),
                "at edges": host_e(one.sums_at_edges(p, vertices(y))),
                "added": host_v(sums),
                "part": host_v(one.sums_at_vertices(part, edges(d)[one.edge_numbers(p, np.flatnonzero(free))])),
                "iterated": host_v(cg(vertices(F), 1e-13, None)),
                "column sums": np.array(one.column_sums(vertices(F))),
                "rmatvec": one.to_numpy(edges(d) @ edges(E)),
                "matvec": host_e(edges(E) @ scale[:4]),
            }
        )
    for name, value in found[0].items():
        assert_allclose(found[1][name], value, rtol=1e-10, atol=1e-10, err_msg=name)


def quasi_newton() -> None:
    """Steps over rows that are spread are those over all rows, also where a rank has none."""
    _same_steps(WORLD.size)
    _same_steps(max(1, WORLD.size - 1))


def _same_steps(ranks: int) -> None:
    """With rows on so many ranks."""
    engine, n, rng = petsc(), 60, np.random.default_rng(0)
    A, b, first = rng.standard_normal((90, n)), rng.standard_normal(90), 3.0 * rng.random(n)
    here = slice(*(n * np.minimum(np.arange(WORLD.size + 1), ranks) // ranks)[WORLD.rank : WORLD.rank + 2])

    def all_rows(u: Any) -> _Place:
        r = A @ u - b
        return _Place(u, float(r @ r) + float(np.sum(u**4)), A.T @ r + 2.0 * u**3)

    def own_rows(u: Any) -> _Place:
        r = engine.ranks.sum(A[:, here] @ u.values) - b
        return _Place(u, float(r @ r) + float(np.sum(u**4)), engine.asarray(A[:, here].T @ r) + 2.0 * u**3)

    one: list[Any] = []
    other: list[Any] = []
    own, whole = QuasiNewton(engine, 10), QuasiNewton(CPU, 10)
    place = own_rows(engine.asarray(first[here]))
    own.minimize(own_rows, place, iterations=30, after_step=lambda at: one.append(at.u.values))
    whole.minimize(all_rows, all_rows(first), iterations=30, after_step=lambda at: other.append(at.u))
    assert len(one) == len(other) == 30
    for mine, found in zip(one, other, strict=True):
        assert_allclose(mine, found[here], atol=1e-9)
    assert engine.ranks.sum(int(np.sum(one[-1] == 0.0))) > 5
    assert own.state()["pairs"]["S"].shape == (10, len(first[here]))  # each rank has its rows, and no more


class _Place(NamedTuple):
    u: Any
    cost: float
    half: Any


# ---------------------------------------------------------------- couplings


def same(one: Any, other: Any, bound: float = 1e-8) -> None:
    """Cost and every weight to 1e-8, and the same edges cut."""
    assert_allclose(other.cost, one.cost, rtol=bound)
    for a, b in zip(one.graphs, other.graphs, strict=True):
        assert_allclose(b.w, a.w, rtol=0.0, atol=bound * float(a.w.max()))
    assert [c.counts() for c in other.changes()] == [c.counts() for c in one.changes()]


def both(views: Any, **options: Any) -> None:
    given = (views.graphs, views.functions, views.times)
    one, other = (ct.couple(*given, engine=engine, **nested(**options)) for engine in ("cpu", "petsc"))
    assert other.settings["engine"] == "petsc"
    same(one, other)
    assert len(set(WORLD.allgather(other.cost))) == 1  # to the last bit


def ring() -> None:
    both(ct.datasets.ring())


def frozen_ring() -> None:
    """Edges that keep their weight, a graph that is more rigid, and a time at which nothing can change."""
    views = ct.datasets.ring(30)
    given = (views.graphs, views.functions, [0.0, 1.0, 5.0])
    options: dict[str, Any] = {"continuation": "times", "frozen": [[0, 3], None], "rigidity": [1.0, 3.0]}
    options = nested(**options)
    same(ct.couple(*given, **options), ct.couple(*given, engine="petsc", **options))


def shortcuts() -> None:
    """Chebyshev series, renumbered vertices and conjugate gradients."""
    both(ct.datasets.shortcuts(2_500))


def few_vertices() -> None:
    """Fewer vertices than ranks, and vertices without edges."""
    path = ct.Graph(3, [0, 1], [1, 2], [1.0, 1.0])
    longer = ct.Graph(5, [0, 1], [1, 2], [1.0, 0.3])
    F = [np.eye(3)[:, :2], np.eye(5)[:, :2]]
    one, other = (ct.couple([path, longer], F, [0.5, 1.0], 10.0, engine=e) for e in ("cpu", "petsc"))
    same(one, other)


def isolated_vertices() -> None:
    views = ct.datasets.shortcuts(2_300)
    places = np.sort(np.random.default_rng(0).choice(3_000, 2_300, replace=False))
    graphs = [ct.Graph(3_000, places[g.i], places[g.j], g.w) for g in views.graphs]
    functions = [np.zeros((3_000, F.shape[1])) for F in views.functions]
    for F, given in zip(functions, views.functions, strict=True):
        F[places] = given
    one, other = (ct.couple(graphs, functions, engine=engine) for engine in ("cpu", "petsc"))
    same(one, other)


def by_pairs() -> None:
    views = ct.datasets.ambiguous()
    one, other = (ct.couple_pairs(views.graphs, engine=engine) for engine in ("cpu", "petsc"))
    same(one, other)


def many_functions() -> None:
    """So many that derivatives are only applied."""
    views = ct.datasets.ring(40)
    functions = [np.hstack([F, np.eye(len(F))[:, ::2]]) for F in views.functions]
    # Both by series, and to the end: until then rounding grows from step to step.
    given, options = (views.graphs, functions, [1.0, 4.0], 10.0), {"tolerance": 1e-8}
    with patch.object(limits, "SPECTRAL_CORRELATION", 0):
        one, other = (ct.couple(*given, engine=e, options=options) for e in ("cpu", "petsc"))
    assert len(one.functions[0].T) ** 2 > 400
    same(one, other)


def heat() -> None:
    graph = ct.datasets.shortcuts(2_500).graphs[0]
    F = np.random.default_rng(0).standard_normal((graph.n, 20))
    one, other = (ct.heat_flow(graph, F, [0.0, 0.5, 3.0], engine=engine) for engine in ("cpu", "petsc"))
    assert_allclose(other, one, atol=1e-8)


def man() -> None:
    both(paper.data.man(500, data=os.environ["COTHERM_DATA"]))


def nus_by_pairs() -> None:
    views = paper.data.nus(data=os.environ["COTHERM_DATA"])
    one, other = (ct.couple_pairs(views.graphs, engine=engine) for engine in ("cpu", "petsc"))
    same(one, other)


def nus_shards_by_pairs() -> None:
    """The same views as shards: functions made by ranks, and the coupling of one process with them.

    Where one process rounds its input differently its weights differ by 7e-8 at this tolerance, and by 4e-6 at 1e-6.
    """
    views = paper.data.nus(data=os.environ["COTHERM_DATA"])
    folder, tolerance = shared_folder(), 1e-8
    paths = _sharded(folder, views.graphs, "nus")
    found = ct.couple_pairs(paths, "same", engine="petsc", options={"out": folder / "nus", "tolerance": tolerance})
    assert found.settings["n_modes"] == 24
    F = _whole_functions(found)
    if WORLD.rank == 0:
        _same_in_units(views.graphs, found, F, 1e-6, tolerance)


def large_shortcuts() -> None:
    """n = 10⁵, through shards; one rank couples it in memory meanwhile."""
    folder = shared_folder()
    views = ct.datasets.shortcuts(100_000)
    moved = [reordered(g) for g in views.graphs]
    functions = [F[one.vertices] for F, one in zip(views.functions, moved, strict=True)]
    graphs = [one.graph for one in moved]
    paths = _sharded(folder, graphs)
    parts = [ShardedGraph.open(path).part(WORLD.rank, WORLD.size) for path in paths]
    rows = [F[part.start : part.stop] for F, part in zip(functions, parts, strict=True)]
    found = ct.couple(paths, rows, engine="petsc", options={"out": folder / "out"})
    if WORLD.rank == 0:
        _same_shards(ct.couple(graphs, functions), found, [np.lexsort((g.j, g.i)) for g in graphs])


# ---------------------------------------------------------------- shards


def shared_folder() -> Path:
    return Path(WORLD.bcast(tempfile.mkdtemp() if WORLD.rank == 0 else None))


def _sharded(folder: Path, graphs: Any, name: str = "large") -> list[Path]:
    paths = [folder / f"{name}{k}.shards" for k in range(len(graphs))]
    if WORLD.rank == 0:
        for path, graph in zip(paths, graphs, strict=True):
            ct.shard_graph(graph, path, parts=3)
    WORLD.Barrier()
    return paths


def shards() -> None:
    """Of graphs of which every rank has a part, by landmarks, and of small ones, by labels."""
    folder = shared_folder()
    views = ct.datasets.shortcuts(2_500)
    marks = [[5, 5], [700, 700], [2_000, 2_000], [1_500, 1_400]]
    functions = [ct.landmark_functions(g, [row[k] for row in marks]) for k, g in enumerate(views.graphs)]
    one = ct.couple(views.graphs, functions)
    paths = _sharded(folder, views.graphs)
    found = ct.couple(paths, {"landmarks": marks}, engine="petsc", options={"out": folder / "out"})
    # Edges of shards are in order.
    order = [np.lexsort((g.j, g.i)) for g in views.graphs]
    _same_shards(one, found, order)
    if WORLD.size > 1:
        assert all(len(part.w) < 0.8 * g.m for part, g in zip(found.parts, views.graphs, strict=True))
    small = [g.replace(labels=np.arange(g.n) % 3) for g in ct.datasets.ring(30).graphs]
    labels = ct.shared_label_functions([np.arange(g.n) % 3 for g in small]).functions
    one = ct.couple(small, labels, [1.0, 5.0])
    paths = _sharded(folder, small, "small")
    found = ct.couple(paths, "labels", times=[1.0, 5.0], engine="petsc", options={"out": folder / "out2"})
    _same_shards(one, found, [np.lexsort((g.j, g.i)) for g in small])


# ---------------------------------------------------------------- shards by pairs


def _points(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((n, 2)) * [3.0, 1.0]


def _paired_views(n: int) -> tuple[list[ct.Graph], list[Any]]:
    """Two graphs of nearest neighbors in different units, the second with other numbers, and part of them paired."""
    rng = np.random.default_rng(1)
    points = _points(n)
    places = rng.permutation(n)  # point v is vertex places[v] of the second
    moved = np.empty_like(points)
    moved[places] = points + 0.02 * rng.standard_normal(points.shape)
    first, second = ct.knn_graph(points, 8), ct.knn_graph(moved, 8)
    known = np.sort(rng.choice(n, 3 * n // 4, replace=False))
    return [first, second.with_weights(3.0 * second.w)], [known, places[known]]


def _whole_functions(found: Any) -> list[Any]:
    return [petsc().communicator.rows(F) for F in found.functions]


def _in_order(graph: ct.Graph) -> ct.Graph:
    """With the edges in the order of shards."""
    order = np.lexsort((graph.j, graph.i))
    return ct.Graph(graph.n, graph.i[order], graph.j[order], graph.w[order])


def modes_of_shards() -> None:
    """The smoothest eigenvectors, those of dense algebra: of a connected graph, and of equal components."""
    engine, n = petsc(), 2_250
    one = ct.knn_graph(_points(n // 3), 8)
    third = [ct.Graph(n, one.i + at, one.j + at, one.w) for at in (0, n // 3, 2 * (n // 3))]
    three = ct.Graph(n, *(np.concatenate([getattr(g, name) for g in third]) for name in "ijw"))
    for graph, k in ((ct.knn_graph(_points(n), 8), 7), (three, 5), (ct.Graph(n, [0], [1], [1.0]), 3)):
        pattern = engine.pattern(n, graph.i, graph.j)
        L = engine.laplacian(pattern, engine.edge_rows(pattern, graph.w))
        # The rows here: the graph is there whole, as its engine cuts it.
        found = engine.vertices_to_numpy(L, smooth_eigenvectors(engine, L, np.arange(n), k))
        assert_allclose(found.T @ found, np.eye(k), atol=1e-12)
        assert_allclose(found.sum(axis=0), 0.0, atol=1e-11)
        dense = graph.laplacian().toarray()
        values, vectors = np.linalg.eigh(dense)
        assert_allclose(np.einsum("va,va->a", found, dense @ found), values[1 : k + 1], atol=1e-12 * L.bound)
        same_space = vectors[:, values < values[k] + 1e-9 * L.bound]
        assert_allclose(same_space @ (same_space.T @ found), found, atol=1e-9)


def shards_by_pairs() -> None:
    """Functions as in memory, and the coupling of one process with the same functions."""
    folder = shared_folder()
    graphs, pairs = _paired_views(2_300)
    paths = _sharded(folder, graphs, "paired")
    # A formed Jacobian, and one that is only applied, where rounding grows from step to step until the end.
    for n_modes, bound, tolerance in ((4, 1e-8, 1e-6), (7, 5e-7, 1e-8)):
        options = {"out": folder / f"modes{n_modes}", "n_modes": n_modes, "tolerance": tolerance}
        with _no_whole_edges(sum(g.m for g in graphs)):
            found = ct.couple_pairs(paths, pairs, engine="petsc", options=options)
        F = _whole_functions(found)
        for mine, expected in zip(F, ct.pair_functions(graphs, pairs, n_modes=n_modes)[0, 1], strict=True):
            signs = np.sign(np.sum(mine * expected, axis=0))
            assert_allclose(mine * signs, expected, atol=1e-8)
        if WORLD.rank == 0:
            _same_in_units(graphs, found, F, bound, tolerance)
    if WORLD.rank == 0:  # one move; α in the same units as that of coupling by pairs without borrowing
        degree = np.sqrt(np.prod([np.median(g.degrees) for g in graphs]))
        assert_allclose(found.times, 1.0 / degree)
        one = ct.couple_pairs(
            graphs, pairs, times=found.times, options={"n_modes": 7, "kept_back": 0.0, "max_iterations": 1}, borrow=0.0
        )
        strength = strength_by_own_edges(2, len(pairs[0]) / graphs[0].n)
        assert_allclose(found.alpha, one.alpha * strength / USUAL_STRENGTH, rtol=1e-2)


@contextmanager
def _no_whole_edges(count: int) -> Iterator[None]:
    """Refuse that a rank is told a number for each of so many edges, but for some breakpoints at a time."""
    rows = Communicator.rows

    def watched(communicator: Communicator, mine: Any) -> Any:
        found = rows(communicator, mine)
        assert WORLD.size == 1 or len(found) < 0.5 * count
        return found

    with patch.object(Communicator, "rows", watched):
        yield


def _same_in_units(graphs: Any, found: Any, F: Any, bound: float, tolerance: float = 1e-6) -> None:
    """As one process couples the scaled graphs."""
    units = found.settings["units"]
    scaled = [_in_order(g.with_weights(g.w / unit)) for g, unit in zip(graphs, units, strict=True)]
    degrees = [np.median(g.degrees) for g in scaled]
    assert_allclose(degrees, degrees[0])
    one = ct.couple(scaled, F, found.times, found.alpha, options={"continuation": "direct", "tolerance": tolerance})
    assert_allclose(found.cost, one.cost, rtol=1e-8)
    assert_allclose(found.coupling, one.coupling, rtol=1e-6)
    assert one.cost < one.alpha * float(np.sum(one.coupling_before**2))  # it has changed something
    for graph, coupled, unit in zip(found.graphs, one.graphs, units, strict=True):
        written = ShardedGraph.open(graph.path).to_graph()
        assert_allclose(written.w / unit, coupled.w, rtol=0.0, atol=bound * float(coupled.w.max()))


def pairs_in_other_ways() -> None:
    """Vertices that are the same, by number, by name and by a table, in shards of another order; three graphs."""
    folder = shared_folder()
    points = _points(130)
    graphs = [
        ct.knn_graph(points + 0.02 * k * _points(130, k), 6).replace(
            coordinates=points[:, :: 1 if k else -1], vertex_names=[f"item {v}" for v in range(130)]
        )
        for k in range(3)
    ]
    paths = [folder / f"{k}.shards" for k in range(3)]
    for path, graph in zip(paths, graphs, strict=True):
        ct.shard_graph(graph, path, parts=3, order="partition", ranks=ranks.world())
    table = np.tile(np.arange(130)[:, np.newaxis], 3)
    ways: list[Any] = ["same", "names", table]
    results = [
        ct.couple_pairs(paths, how, engine="petsc", options={"out": folder / f"out{k}", "n_modes": 3})
        for k, how in enumerate(ways)
    ]
    for one in results:
        assert_allclose(one.cost, results[0].cost, rtol=1e-9)
        assert one.settings["items"] == 130
        for mine, theirs in zip(one.functions, results[0].functions, strict=True):
            assert_allclose(mine, theirs, atol=1e-12)
    numbers = [
        np.arange(part.start, part.stop) if part.original is None else part.original for part in results[0].parts
    ]
    original = [petsc().communicator.rows(own) for own in numbers]
    columns = []
    for F, order in zip(_whole_functions(results[0]), original, strict=True):
        columns.append(np.empty_like(F))
        columns[-1][order] = F
    assert_allclose(columns[1], columns[0], atol=1e-12)  # the same columns at the same items
    modes = np.hstack([smooth_modes(g, 3) for g in graphs])
    assert_allclose(np.abs(columns[0]), np.abs(modes / np.linalg.norm(modes, axis=0)), atol=1e-8)


def bad_pairs() -> None:
    """Each is refused on all ranks, with one error."""
    folder = shared_folder()
    graphs, _ = _paired_views(150)
    graphs = [*graphs, graphs[0]]
    named = [g.replace(vertex_names=[f"{k}-{v}" for v in range(g.n)]) for k, g in enumerate(graphs)]
    other = ct.knn_graph(_points(140), 8)
    paths, names = _sharded(folder, [*graphs, other], "bad"), _sharded(folder, named, "named")
    two, three = paths[:2], paths[:3]
    holes = np.array([[0, 0, 0], [1, 1, -1], [2, 2, 2]])
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (two, [[0, 150], [0, 1]], {}, r"pairs\[0\]: vertex 150 in row 1; needed: vertices from 0 to 149"),
        (two, [[0, 1, 0], [0, 1, 0]], {}, "the same pair twice"),
        (two, [[0, 1, 0], [0, 1, 2]], {}, "with different partners"),
        (two, [[0, 1], [0, 1, 2]], {}, "index arrays of 2, 3 entries"),
        (two, np.array([[0, -1], [-1, 0]]), {}, "no item that is in two graphs"),
        (two, [[3], [4]], {}, "one item that is in two graphs"),
        (two, [[0.5, 1], [0, 1]], {}, "0.5 in row 0; needed: whole numbers"),
        (two, "likewise", {}, "'likewise'; needed: the word"),
        (two, "names", {}, "the vertices of graph 0 have none"),
        ([paths[0], paths[3]], "same", {}, '"same" with graphs of 150, 140 vertices'),
        (names[:2], "same", {}, "has different names in graph 0 and graph 1"),
        (names[:2], "names", {}, "no item that is in two graphs"),
        (three, holes, {}, "1 items that are in some of 3 graphs only"),
        (two, "same", {"n_modes": 150}, "n_modes: 150; needed: at most 149"),
        (two, "same", {"n_modes": 0}, "n_modes: 0"),
        (two, "same", {"kept_back": 0.1}, "options: the key 'kept_back'"),
    ]
    for given, pairs, more, expected in cases:
        with pytest.raises(ct.CothermError, match=expected):
            ct.couple_pairs(given, pairs, engine="petsc", options=more)
        WORLD.Barrier()
    if WORLD.size > 1:
        with pytest.raises(ct.CothermError, match=r"pairs: .* on rank 0 and .* on rank 1; needed: the same on all"):
            ct.couple_pairs(two, [[0, 1, 2], [0, 1, 2 + min(WORLD.rank, 1)]], engine="petsc")


def checkpoints_of_pairs() -> None:
    """Go on to the same result; those of other pairs are refused."""
    folder = shared_folder()
    graphs, pairs = _paired_views(150)
    paths = _sharded(folder, graphs, "kept-pairs")
    given: dict[str, Any] = {
        "checkpoint": folder / "pairs.ckpt",
        "engine": "petsc",
        "options": {"n_modes": 3},
    }
    expected = ct.couple_pairs(paths, pairs, engine="petsc", options={"n_modes": 3})
    ct.couple_pairs(paths, pairs, **given, max_seconds=1e-3)
    assert ct.couple_pairs(paths, pairs, **given).cost == expected.cost
    fewer = [pairs[0][1:], pairs[1][1:]]
    with pytest.raises(ct.CothermError, match=r"other pairs\[0\]"):
        ct.couple_pairs(paths, fewer, **given)


def checkpoints() -> None:
    """Runs on shards that end after some steps, on all ranks, go on to the same result, to the last bit."""
    folder = shared_folder()
    paths = _sharded(folder, ct.datasets.shortcuts(2_500).graphs, "kept")
    marks = [[5, 5], [700, 700], [2_000, 2_000], [1_500, 1_400]]
    _goes_on(ct.couple, paths, {"landmarks": marks}, folder / "run.ckpt", {"max_iterations": 12})
    with pytest.raises(ct.CothermError, match=r"other functions\[0\]"):
        ct.couple(
            paths,
            {"landmarks": marks[:3]},
            checkpoint=folder / "run.ckpt",
            engine="petsc",
            options={"max_iterations": 12},
        )


def checkpoints_of_quasi_newton_steps() -> None:
    """The same among the first steps with many functions, of which each rank keeps its own edges' part."""
    folder = shared_folder()
    graphs, pairs = _paired_views(300)
    paths = _sharded(folder, graphs, "kept-many")
    _goes_on(ct.couple_pairs, paths, pairs, folder / "many.ckpt", {"n_modes": 8, "max_iterations": 25})


def _goes_on(couple: Any, paths: Any, what: Any, place: Path, options: dict[str, Any]) -> None:
    """A run that is ended after every six steps, and one that is not."""
    record, steps = Search._record, 0

    def counted(search: Search, *arguments: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == 6:
            raise InterruptedError
        record(search, *arguments)

    with patch.object(checkpoint, "EVERY", 0.0), patch.object(checkpoint, "_RATIO", 0.0):
        expected, found = couple(paths, what, engine="petsc", options=options), None
        with patch.object(Search, "_record", counted):
            for _ in range(12):
                steps = 0
                try:
                    found = couple(paths, what, engine="petsc", options=options, checkpoint=place)
                    break
                except InterruptedError:
                    continue
    assert found is not None
    assert found.cost == expected.cost
    assert found.history == expected.history
    for u, v in zip(found.weights, expected.weights, strict=True):
        assert np.array_equal(u, v)


def more_options_of_shards() -> None:
    """Frozen edges, weights of functions, a start and a callback do what they do in memory."""
    folder = shared_folder()
    for views, name in ((ct.datasets.shortcuts(2_500), "large"), (ct.datasets.ring(30), "small")):
        order = [np.lexsort((g.j, g.i)) for g in views.graphs]
        graphs = [ct.Graph(g.n, g.i[o], g.j[o], g.w[o]) for g, o in zip(views.graphs, order, strict=True)]
        paths = _sharded(folder, graphs, name)
        parts = [ShardedGraph.open(path).part(WORLD.rank, WORLD.size) for path in paths]
        rows = [F[part.start : part.stop] for F, part in zip(views.functions, parts, strict=True)]
        omega = 1.0 + np.arange(rows[0].shape[1])
        frozen = (np.arange(graphs[0].m) % 7 == 0, None)
        here = slice(parts[0].first_edge, parts[0].first_edge + len(parts[0].w))
        times, weighted = list(views.times), {"function_weights": omega}
        one = ct.couple(graphs, views.functions, times, frozen=frozen, options=weighted)
        found = ct.couple(
            paths,
            rows,
            times,
            frozen=(frozen[0][here], None),
            engine="petsc",
            options={**weighted, "out": folder / f"{name}-out"},
        )
        everything = [np.arange(g.m) for g in graphs]
        _same_shards(one, found, everything)
        seen: list[ct.Step] = []
        again = ct.couple(
            paths,
            rows,
            times,
            start=folder / f"{name}-out",
            callback=seen.append,
            engine="petsc",
            options={**weighted, "out": folder / f"{name}-again"},
        )
        expected = ct.couple(graphs, views.functions, times, start=one.graphs, options=weighted)
        _same_shards(expected, again, everything)
        assert len(seen) == len(again.history)
        # It begins where the other ended, and any rank may stop it.
        first = ct.couple(
            paths,
            rows,
            times,
            start=folder / f"{name}-out",
            callback=lambda _: WORLD.rank == WORLD.size - 1,
            engine="petsc",
            options=weighted,
        )
        assert first.status == "interrupted"
        for w, g, part in zip(first.weights, one.graphs, parts, strict=True):
            here = slice(part.first_edge, part.first_edge + len(part.w))
            assert_allclose(w, g.w[here], atol=1e-8 * float(g.w.max()))
        swapped = partial(ct.couple, paths, rows, start=paths[::-1], engine="petsc")
        assert "other edges" in _refused(swapped)


def _refused(task: Callable[[], Any]) -> str:
    try:
        task()
    except ct.CothermError as error:
        return str(error).replace("vertices and", "other edges")  # other numbers of edges are refused as well
    return "not refused"


def _same_shards(one: Any, found: Any, order: Any) -> None:
    assert_allclose(found.cost, one.cost, rtol=1e-8)
    assert_allclose(found.coupling, one.coupling, rtol=1e-6)
    assert_allclose(found.coupling_before, one.coupling_before, rtol=1e-6)
    for graph, coupled, places in zip(found.graphs, one.graphs, order, strict=True):
        written = ShardedGraph.open(graph.path)
        written.verify()
        assert_allclose(written.to_graph().w, coupled.w[places], rtol=0.0, atol=1e-8 * float(coupled.w.max()))


# ---------------------------------------------------------------- faults: these must end, and all ranks with them


def unequal_weights() -> None:
    views = ct.datasets.ring(30)
    graphs = [g.with_weights(g.w * (1.0 + 1e-9 * WORLD.rank)) for g in views.graphs]
    ct.couple(graphs, views.functions, views.times, engine="petsc")


def unequal_alpha() -> None:
    views = ct.datasets.ring(30)
    ct.couple(views.graphs, views.functions, views.times, alpha=1.0 + WORLD.rank, engine="petsc")


def bad_argument() -> None:
    views = ct.datasets.ring(30)
    ct.couple(views.graphs, views.functions, views.times, alpha=-1.0, engine="petsc")


def rank_raises() -> None:
    views = ct.datasets.shortcuts(2_500)

    def callback(step: ct.Step) -> None:
        if WORLD.rank == WORLD.size - 1 and step.iteration == 1:
            raise ValueError("this rank has a problem")

    ct.couple(views.graphs, views.functions, engine="petsc", callback=callback)


def rank_dies() -> None:
    views = ct.datasets.shortcuts(2_500)

    def callback(step: ct.Step) -> None:
        if WORLD.rank == WORLD.size - 1 and step.iteration == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    ct.couple(views.graphs, views.functions, engine="petsc", callback=callback)
    time.sleep(60)


def main(names: list[str]) -> None:
    for name in names:
        check: Callable[[], None] = globals()[name]
        began = time.perf_counter()
        check()
        WORLD.Barrier()
        if WORLD.rank == 0:
            sys.stdout.write(f"passed {name} ({time.perf_counter() - began:.1f} s)\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
