"""One graph over all items, against loops over items."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cotherm as ct
from cotherm import limits
from cotherm.arrays import Floats, Ints
from cotherm.methods.pairs.clusters import normalized_cut
from cotherm.methods.pairs.view_weights import structure
from tests import problems, references
from tests.problems import refused

# Three views of ten items: 0 to 3 are in all of them, 4 and 5 in two each, the others in one.
TABLE = np.array([[0, 3, 1], [1, 0, 6], [2, 1, 0], [3, 2, 2], [4, 5, -1], [-1, 4, 3]])
SIZES = (8, 6, 7)


def views(seed: int = 0) -> list[ct.Graph]:
    return [problems.random_graph(n, 2 * n, seed=seed + k) for k, n in enumerate(SIZES)]


def slow_common(graphs: list[ct.Graph], items: Ints, trust: Floats) -> Floats:
    """The weights between all items, by the definition."""
    weights = [graph.adjacency().toarray() for graph in graphs]
    degrees = [W.sum(axis=0) for W in weights]
    found = np.zeros((len(items), len(items)))
    for a in range(len(items)):
        for b in range(len(items)):
            total = known = 0.0
            for k, W in enumerate(weights):
                i, j = items[a, k], items[b, k]
                if a != b and i >= 0 and j >= 0:
                    known += trust[k]
                    if W[i, j] > 0.0:
                        total += trust[k] * W[i, j] / np.sqrt(degrees[k][i] * degrees[k][j])
            found[a, b] = total / known if known > 0.0 else 0.0
    degree = np.exp(np.mean([np.log(np.median(d[d > 0.0])) for d in degrees]))
    here = found.sum(axis=0)
    return np.asarray(found * degree / np.median(here[here > 0.0]))


def weights_by_item(common: ct.CommonGraph) -> dict[frozenset[tuple[int, ...]], float]:
    """Weights with both ends named by where they are in the views."""
    graph, names = common.graph, [tuple(row) for row in common.items.tolist()]
    return {frozenset((names[i], names[j])): float(w) for i, j, w in zip(graph.i, graph.j, graph.w, strict=True)}


def clustered(n: int, seed: int, noise: float = 0.5) -> ct.Graph:
    """A view of n items in three groups, item v in group v mod 3."""
    random = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    return ct.knn_graph(centers[np.arange(n) % 3] + noise * random.standard_normal((n, 2)), k=8)


def test_items_are_the_paired_ones_and_then_those_of_one_view() -> None:
    items = ct.common_graph(views(), TABLE).items
    assert_array_equal(items[: len(TABLE)], TABLE)
    alone = [[5, -1, -1], [6, -1, -1], [7, -1, -1], [-1, -1, 4], [-1, -1, 5]]
    assert_array_equal(items[len(TABLE) :], alone)


@pytest.mark.parametrize("trust", [None, [1.0, 2.0, 0.25]])
@pytest.mark.parametrize("seed", [0, 10, 20])
def test_weights_are_means_over_the_views_that_have_both_ends(trust: list[float] | None, seed: int) -> None:
    graphs = views(seed)
    common = ct.common_graph(graphs, TABLE, graph_weights=trust)
    expected = slow_common(graphs, common.items, np.ones(3) if trust is None else np.array(trust))
    assert_allclose(common.graph.adjacency().toarray(), expected, rtol=1e-12, atol=1e-14)
    assert common.graph.is_valid()


def test_only_ratios_of_graph_weights_matter() -> None:
    one, two = (ct.common_graph(views(), TABLE, graph_weights=np.array([1.0, 2.0, 3.0]) * c) for c in (1.0, 1e3))
    assert_allclose(one.graph.w, two.graph.w)


def test_units_of_a_view_matter_for_the_unit_of_the_common_graph_only() -> None:
    graphs = views()
    scaled = [graphs[0].with_weights(1e4 * graphs[0].w), *graphs[1:]]
    found, given = ct.common_graph(scaled, TABLE).graph, ct.common_graph(graphs, TABLE).graph
    assert_allclose(found.w, 1e4 ** (1.0 / 3.0) * given.w)


def test_times_mean_the_same_on_the_views_and_on_the_common_graph() -> None:
    graphs = [clustered(60, 0), clustered(60, 1)]
    common = ct.common_graph(graphs, [range(10, 40), range(30)])
    degrees = [np.median(graph.degrees) for graph in (*graphs, common.graph)]
    assert_allclose(degrees[2], np.sqrt(degrees[0] * degrees[1]))


def test_order_of_vertices_does_not_matter() -> None:
    graphs = views()
    order = np.random.default_rng(3).permutation(SIZES[1])  # vertex v of the new view is order[v] of the old one
    place = np.argsort(order)
    table = TABLE.copy()
    table[:, 1] = np.where(TABLE[:, 1] >= 0, place[TABLE[:, 1]], -1)
    moved = ct.common_graph([graphs[0], problems.relabeled(graphs[1], order), graphs[2]], table)
    as_given = ct.common_graph(graphs, TABLE)
    assert_allclose(moved.graph.adjacency().toarray(), as_given.graph.adjacency().toarray(), atol=1e-14)


def test_order_of_views_does_not_matter() -> None:
    graphs, turn = views(), [2, 0, 1]
    given = ct.common_graph(graphs, TABLE, graph_weights=[1.0, 2.0, 3.0])
    turned = ct.common_graph([graphs[k] for k in turn], TABLE[:, turn], graph_weights=[3.0, 1.0, 2.0])
    again = np.argsort(turn)
    back = ct.CommonGraph(turned.graph, turned.items[:, again], turned.view_weights[:, again])
    found, expected = weights_by_item(back), weights_by_item(given)
    assert found.keys() == expected.keys()
    assert_allclose([found[edge] for edge in expected], list(expected.values()))


def test_order_of_pairs_does_not_matter() -> None:
    given, turned = ct.common_graph(views(), TABLE), ct.common_graph(views(), TABLE[::-1])
    found, expected = weights_by_item(turned), weights_by_item(given)
    assert_allclose([found[edge] for edge in expected], list(expected.values()))


def test_one_view_twice_is_that_view() -> None:
    """The mean of equal weights; divided by the roots of degrees, as always."""
    graph = problems.cloud(40)
    common = ct.common_graph([graph, graph])
    root = np.sqrt(graph.degrees)
    assert common.graph.n == graph.n
    expected = graph.adjacency().toarray() / np.outer(root, root)
    expected *= np.median(graph.degrees) / np.median(expected.sum(axis=0))
    assert_allclose(common.graph.adjacency().toarray(), expected, rtol=1e-12, atol=1e-15)


def test_items_in_one_view_only_have_the_neighbors_of_that_view() -> None:
    graphs = views()
    common = ct.common_graph(graphs, TABLE)
    W, own = common.graph.adjacency().toarray(), graphs[2].adjacency().toarray()
    item, vertex = len(TABLE) + 3, 4
    assert_array_equal(common.items[item], [-1, -1, vertex])
    near = {int(common.items[v, 2]) for v in np.flatnonzero(W[item])}
    assert near == set(np.flatnonzero(own[vertex]).tolist())


def test_of_view_finds_every_vertex() -> None:
    common = ct.common_graph(views(), TABLE)
    for k, n in enumerate(SIZES):
        found = common.of_view(k)
        assert_array_equal(common.items[found, k], np.arange(n))


def slow_distances(common: ct.CommonGraph, t: float) -> Floats:
    """Heat view by view, relative to all heat there and to how far items are from all of the view."""
    kernel, n = references.heat_kernel(common.graph, t), common.graph.n
    views = []
    for column in common.items.T:
        inside = np.flatnonzero(column >= 0)
        heat = kernel[:, inside] / kernel[:, inside].sum(axis=1, keepdims=True)
        squares = np.array([[np.sum((heat[i] - heat[j]) ** 2) for j in range(n)] for i in range(n)])
        far = np.array([np.sqrt(np.mean(squares[i, inside])) for i in range(n)])
        views.append(squares / np.outer(far, far))
    found = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            both = np.flatnonzero((common.items[i] >= 0) & (common.items[j] >= 0)).tolist()
            found[i, j] = np.sqrt(np.mean([views[k][i, j] for k in both or range(len(views))]))
    return found


def slow_neighbors(common: ct.CommonGraph, view: int, item: int, k: int, t: float) -> list[int]:
    """Vertices of a view by distance on the common graph, from the dense heat kernel."""
    apart = slow_distances(common, t)[item]
    others = [row for row in range(len(common.items)) if common.items[row, view] >= 0 and row != item]
    return [int(common.items[row, view]) for row in sorted(others, key=lambda row: apart[row])[:k]]


@pytest.mark.parametrize("view", [0, 1])
def test_neighbors_against_all_distances(view: int) -> None:
    graphs = [clustered(60, 0), clustered(50, 1)]
    common = ct.common_graph(graphs, [range(10, 40), range(30)])
    missing = np.flatnonzero(common.items[:, view] < 0)
    near = common.neighbors(view, 6, t=0.7)
    apart = slow_distances(common, 0.7)
    here = common.of_view(view)
    assert near.indices.shape == (len(missing), 6)
    for row, item in enumerate(missing.tolist()):
        assert near.indices[row].tolist() == slow_neighbors(common, view, item, 6, 0.7)
        assert_allclose(near.distances[row], apart[item, here[near.indices[row]]], rtol=1e-6)


def test_neighbors_of_items_that_the_view_has_leave_them_out() -> None:
    common = ct.common_graph([clustered(60, 0), clustered(60, 1)], [range(20), range(20)])
    asked = [3, 19, 25]
    near = common.neighbors(0, 5, items=asked, t=1.0)
    for row, item in enumerate(asked):
        assert near.indices[row].tolist() == slow_neighbors(common, 0, item, 5, 1.0)
        assert common.items[item, 0] not in near.indices[row]


def test_the_time_of_neighbors_is_eight_moves() -> None:
    common = ct.common_graph([clustered(40, 0), clustered(40, 1)], [range(20), range(20)])
    by_default, given = common.neighbors(0, 3), common.neighbors(0, 3, t=8.0 / float(np.median(common.graph.degrees)))
    assert_array_equal(by_default.indices, given.indices)
    assert_array_equal(by_default.distances, given.distances)


def test_imputed_neighbors_are_of_the_same_group() -> None:
    """Items of the second view only: who is near them in the first, which never saw them?"""
    common = ct.common_graph([clustered(90, 0), clustered(90, 1)], [range(30), range(30)])
    missing = np.flatnonzero(common.items[:, 0] < 0)
    near = common.neighbors(0, 5)
    right = near.indices % 3 == (common.items[missing, 1] % 3)[:, np.newaxis]
    assert right.mean() > 0.95


def test_labels_of_all_views_become_one() -> None:
    a, b = problems.path(4), problems.path(3)
    table = np.array([[0, 2], [1, 1]])
    words = ct.common_graph(
        [a.replace(labels=["x", "yy", "x", "z"]), b.replace(labels=["longer", "yy", "x"])], table
    ).graph.labels
    assert words is not None
    assert words.tolist() == ["x", "yy", "x", "z", "longer"]
    numbers = ct.common_graph([a.replace(labels=[1, 2, 1, 3]), b.replace(labels=[7, 2, 1])], table).graph.labels
    assert numbers is not None
    assert numbers.tolist() == [1, 2, 1, 3, 7]


@pytest.mark.parametrize("labels", [None, ["x", "yy", "other"], [7, 2, 1]])
def test_labels_that_are_missing_or_contradict_are_left_out(labels: Any) -> None:
    first = problems.path(4).replace(labels=["x", "yy", "x", "z"])
    second = problems.path(3)
    second = second if labels is None else second.replace(labels=labels)
    assert ct.common_graph([first, second], np.array([[0, 2], [1, 1]])).graph.labels is None


@pytest.mark.parametrize("method", ["auto", "heat", "spectral", "leiden"])
def test_clusters_of_planted_groups(method: str) -> None:
    common = ct.common_graph([clustered(60, 0), clustered(75, 1)], [range(15, 45), range(30)])
    clusters = common.clusters(3, method=method)
    groups = np.where(common.items[:, 0] >= 0, common.items[:, 0] % 3, common.items[:, 1] % 3)
    assert ct.evaluate.clustering_scores(groups, clusters)["ARI"] > 0.95
    assert_array_equal(common.clusters(3, method=method), clusters)


def test_embedding_and_distances_are_those_of_the_graph() -> None:
    common = ct.common_graph([clustered(40, 0), clustered(40, 1)], [range(20), range(20)])
    assert_array_equal(common.embedding(3, t=1.0), ct.diffusion_map(common.graph, 1.0, 3))
    assert_allclose(common.distances(1.0, sources=[4, 50]), slow_distances(common, 1.0)[[4, 50]], atol=1e-8)
    whole = ct.common_graph([clustered(40, 0), clustered(40, 1)])
    assert_array_equal(whole.distances(1.0, sources=[4]), ct.diffusion_distance(whole.graph, 1.0, sources=[4]))


def test_distances_of_many_items_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    common = ct.common_graph([clustered(60, 0), clustered(60, 1)], [range(30), range(30)])
    exact = common.distances(1.0)
    monkeypatch.setattr(limits, "ALL_DISTANCES", 10)
    found = common.distances(1.0)
    assert_allclose(found, exact, atol=0.2 * exact.max())
    assert np.corrcoef(found.ravel(), exact.ravel())[0, 1] > 0.98


@pytest.mark.parametrize("weight", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("moment", [0.0, 1e-300, 1.0, 1e300])
def test_distances_are_numbers_where_no_heat_reaches_a_view(weight: float, moment: float) -> None:
    first = ct.Graph(4, [0, 1, 2], [1, 2, 3], [weight, 0.5 * weight, weight])
    common = ct.common_graph([first, ct.Graph(3, [0, 1], [1, 2], [1.0, 1e-10])], pairs=[[0, 1, 2], [0, 1, 2]])
    assert np.isfinite(common.distances(moment)).all()


def test_printed_in_one_line() -> None:
    text = str(ct.common_graph(views(), TABLE))
    assert text.startswith("Common graph of 3 views: 11 items, 6 of them in several views, ")


def test_a_coupling_merges_its_graphs_by_trust() -> None:
    """Two views count as wholes, in proportion to their structure to the power (1 − ρ)/ρ, ρ their correlation."""
    result = ct.couple_pairs([clustered(60, 0), clustered(60, 1)], [range(40), range(40)], options={"kept_back": 0.0})
    assert result.pairs is not None
    rho = float(np.mean(result.pairs.trust()))
    weights = np.array([structure(graph) for graph in result.originals]) ** ((1.0 - rho) / rho)
    common = result.common_graph(second_neighbors=False)
    expected = slow_common(list(result.graphs), common.items, weights)
    assert_allclose(common.graph.adjacency().toarray(), expected, atol=1e-12)


def test_a_view_that_nobody_trusts_counts_where_no_other_view_knows() -> None:
    views = [clustered(60, 0), clustered(60, 1)]
    order = np.random.default_rng(0).permutation(60)
    noise = problems.relabeled(clustered(60, 2), order)
    result = ct.couple_pairs([*views, noise], [[v, v, v] for v in range(40)], options={"kept_back": 0.0})
    assert result.pairs is not None
    assert result.pairs.trust()[2] == 0.0
    common = result.common_graph(second_neighbors=False)
    weights = common.view_weights[0, :2]  # the same for all items in both views
    without = ct.common_graph(result.graphs[:2], [range(40), range(40)], graph_weights=weights)
    W, expected = (one.graph.adjacency().toarray()[:40, :40] for one in (common, without))
    assert_allclose(W / W.sum(), expected / expected.sum(), atol=1e-7)


def test_couplings_by_functions_know_no_items() -> None:
    graph = problems.path(5)
    result = ct.couple([graph, graph], [np.eye(5), np.eye(5)], [1.0], 1.0)
    assert refused(result.common_graph) == "result"


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"pairs": "others"}, "pairs"),
        ({"pairs": "same"}, "pairs"),
        ({"pairs": [[0, 0, 9]]}, "pairs[2]"),
        ({"pairs": TABLE, "graph_weights": [1.0, 2.0]}, "graph_weights"),
        ({"pairs": TABLE, "graph_weights": [1.0, -1.0, 1.0]}, "graph_weights"),
    ],
)
def test_arguments_that_cannot_be_used(arguments: dict[str, Any], wrong: str) -> None:
    assert refused(lambda: ct.common_graph(views(), **arguments)) == wrong


def test_single_graphs_are_refused() -> None:
    assert refused(lambda: ct.common_graph([problems.path(4)])) == "graphs"


@pytest.mark.parametrize(
    ("method", "arguments", "wrong"),
    [
        ("of_view", {"view": 3}, "view"),
        ("of_view", {"view": -1}, "view"),
        ("embedding", {"k": 11}, "k"),
        ("embedding", {"t": -1.0}, "t"),
        ("distances", {"t": np.nan}, "t"),
        ("clusters", {"k": 0}, "k"),
        ("clusters", {"k": 12}, "k"),
        ("clusters", {"k": 2, "method": "guess"}, "method"),
        ("clusters", {"k": 2, "random_state": -1}, "random_state"),
        ("neighbors", {"view": 3}, "view"),
        ("neighbors", {"view": 0, "k": 0}, "k"),
        ("neighbors", {"view": 0, "k": 9}, "k"),
        ("neighbors", {"view": 0, "k": 2, "items": [11]}, "items"),
        ("neighbors", {"view": 0, "k": 2, "t": -1.0}, "t"),
        ("neighbors", {"view": 0, "k": 2, "t": "soon"}, "t"),
    ],
)
def test_methods_refuse_what_makes_no_sense(method: str, arguments: dict[str, Any], wrong: str) -> None:
    common = ct.common_graph(views(), TABLE)
    assert refused(lambda: getattr(common, method)(**arguments)) == wrong


def test_clusters_need_edges() -> None:
    empty = ct.Graph(4, [], [], [])
    assert refused(lambda: ct.common_graph([empty, empty]).clusters(2)) == "graph"


def test_an_unknown_label_does_not_contradict() -> None:
    path = problems.path(3)
    one, two = path.replace(labels=["a", "b", ""]), path.replace(labels=["a", "b", "c"])
    labels = ct.common_graph([one, two]).graph.labels
    assert labels is not None
    assert labels.tolist() == ["a", "b", "c"]


def test_items_without_a_view_in_common_are_clustered_together() -> None:
    """Half of the items are in one of the two views only: a cluster must not be all of one view."""
    rng = np.random.default_rng(3)
    groups = np.arange(120) % 3
    centers = 4.0 * np.eye(3)
    points = [centers[groups] + rng.standard_normal((120, 3)) for _ in range(2)]
    rows = [np.flatnonzero(np.arange(120) // 30 != 3 - k) for k in range(2)]
    graphs = [ct.knn_graph(X[at], k=8) for X, at in zip(points, rows, strict=True)]
    common = ct.common_graph(graphs, ct.pair_names(rows))
    names = np.concatenate([rows[0], np.setdiff1d(rows[1], rows[0])])
    truth = np.empty(120, dtype=int)
    for view, at in enumerate(rows):
        truth[common.of_view(view)] = groups[at]
    assert len(names) == 120
    for method in ("heat", "auto"):
        assert ct.evaluate.clustering_accuracy(truth, common.clusters(3, method=method)) > 0.9


def test_second_neighbors_are_those_of_the_merged_graph_with_equal_degrees() -> None:
    graphs = [clustered(60, 1), clustered(60, 2)]
    plain, spread = (ct.common_graph(graphs, second_neighbors=on) for on in (False, True))
    assert plain.first_neighbors is None
    assert spread.first_neighbors == plain.graph
    assert_array_equal(spread.graph.edges[: plain.graph.m], plain.graph.edges)
    assert spread.graph.m > plain.graph.m
    assert_allclose(spread.graph.degrees, np.median(plain.graph.degrees), rtol=1e-3)
    W = plain.graph.adjacency().toarray()
    paths = W @ (W / plain.graph.degrees[:, np.newaxis])
    added = spread.graph.edges[plain.graph.m :]
    assert np.all(paths[added[:, 0], added[:, 1]] > 0.0)
    assert refused(lambda: ct.common_graph(graphs, second_neighbors="no")) == "second_neighbors"  # type: ignore[arg-type]


def test_clusters_with_second_neighbors_never_cut_more() -> None:
    graphs = [clustered(90, 3, noise=1.5), clustered(90, 4, noise=1.5)]
    plain, spread = (ct.common_graph(graphs, second_neighbors=on) for on in (False, True))
    for method in ("heat", "spectral", "auto"):
        without, found = plain.clustering(3, method=method), spread.clustering(3, method=method)
        assert found.normalized_cut <= without.normalized_cut
        assert_array_equal(spread.clusters(3, method=method), found.labels)
        assert found.normalized_cut == normalized_cut(plain.graph, found.labels)


def test_the_number_of_clusters_is_found() -> None:
    for groups in (3, 5):
        centers = 8.0 * np.eye(groups)[np.arange(120) % groups]
        rng = np.random.default_rng(groups)
        views = [ct.knn_graph(centers + rng.standard_normal(centers.shape), k=8) for _ in range(2)]
        common = ct.common_graph(views, second_neighbors=True)
        found = common.clusters()
        assert ct.evaluate.clustering_scores(np.arange(120) % groups, found)["ARI"] == 1.0
        assert_array_equal(common.clusters("auto", method="leiden").max(), groups - 1)
        for wrong in ("many", 0, 121, 2.5):
            assert refused(partial(common.clusters, wrong)) == "k"  # type: ignore[arg-type]


def test_items_without_neighbors_stay_without() -> None:
    lonely = ct.Graph(5, [0, 1], [1, 2], [1.0, 2.0])
    common = ct.common_graph([lonely, lonely], second_neighbors=True)
    assert_array_equal(common.graph.degrees[3:], 0.0)
    assert np.all(np.isfinite(common.graph.w))


def test_a_coupling_gives_second_neighbors_unless_told_not_to() -> None:
    result = ct.couple_pairs([clustered(60, 5), clustered(60, 6)])
    common, plain = result.common_graph(), result.common_graph(second_neighbors=False)
    assert common.first_neighbors == plain.graph
    assert common.graph != plain.graph
    assert plain.first_neighbors is None


def noise_beside(n: int = 90, only: int = 0) -> tuple[list[ct.Graph], Ints]:
    """Two views of the same groups and one of noise, which has some items of its own."""
    random = np.random.default_rng(7)
    noise = ct.knn_graph(random.standard_normal((n + only, 3)), k=8).replace(name="noise")
    return [clustered(n, 1), clustered(n, 2), noise], np.tile(np.arange(n)[:, np.newaxis], 3)


@pytest.mark.parametrize("only", [0, 15])
def test_views_that_are_not_related_are_left_out(only: int) -> None:
    graphs, table = noise_beside(only=only)
    result = ct.couple_pairs(graphs, table)
    common = result.common_graph()
    assert common.views == (0, 1)
    assert "noise" in common.notes[0]
    assert "2 of 3 views" in str(common)
    two = ct.couple_pairs(graphs[:2]).common_graph()
    assert_array_equal(common.graph.w, two.graph.w)
    of_noise = common.of_view(2)
    assert_array_equal(of_noise, [*range(90), *[-1] * only])
    assert bool(only) == any("not in the common graph" in note for note in common.notes)
    assert set(common.neighbors(2, 3, items=[0, 5]).indices.ravel()) <= set(range(90))
    asked = result.common_graph(include_unrelated=True)
    assert asked.views == (0, 1, 2)
    assert len(asked.items) == 90 + only
    assert not asked.notes


def test_where_no_views_are_related_the_one_with_structure_is_taken() -> None:
    graphs, table = noise_beside()
    for order in ([0, 2], [2, 0]):
        result = ct.couple_pairs([graphs[k] for k in order], table[:, :2])
        common = result.common_graph(second_neighbors=False)
        assert common.views == (order.index(0),)
        groups = np.arange(90) % 3
        within = groups[common.graph.i] == groups[common.graph.j]
        assert common.graph.w[within].sum() > 0.95 * common.graph.w.sum()
        assert "No two views are known to be related enough" in common.notes[0]


def test_views_that_were_coupled_all_the_same_are_merged() -> None:
    graphs, table = noise_beside()
    result = ct.couple_pairs(graphs, table, options={"include_unrelated": True, "kept_back": 0.0})
    assert result.common_graph().views == (0, 1, 2)
