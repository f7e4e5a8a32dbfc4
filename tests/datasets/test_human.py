"""The modeled body: points on its surface, arms that carry them, hands that touch, and what coupling makes of it."""

from __future__ import annotations

import numpy as np
import pytest

import cotherm as ct
from cotherm.datasets.human import Capsules, carry, far_along, farthest_points, surface_points
from tests import references

ROD = Capsules(np.array([[0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 20.0]]), np.array([4.0]), np.array([4.0]))


def test_points_of_a_capsule_lie_on_it() -> None:
    points = surface_points(ROD, 2000, np.random.default_rng(0))
    nearest = np.clip(points[:, 2], 0.0, 20.0)[:, np.newaxis] * [0.0, 0.0, 1.0]
    np.testing.assert_allclose(np.linalg.norm(points - nearest, axis=1), 4.0, atol=1e-12)
    # On all sides of it, and on its caps.
    assert np.all(points.min(axis=0) < [-3.5, -3.5, -3.0])
    assert np.all(points.max(axis=0) > [3.5, 3.5, 23.0])


def test_a_capsule_carries_its_points_rigidly() -> None:
    moved = Capsules(np.array([[5.0, 1.0, 2.0]]), np.array([[17.0, 17.0, 2.0]]), ROD.r_a, ROD.r_b)
    points = surface_points(ROD, 500, np.random.default_rng(1))
    there = carry(np.vstack([points, ROD.a, ROD.b]), ROD, moved)
    np.testing.assert_allclose(there[-2:], np.vstack([moved.a, moved.b]), atol=1e-12)
    before, after = (np.linalg.norm(x[:, np.newaxis] - x, axis=2) for x in (points, there[:-2]))
    np.testing.assert_allclose(after, before, atol=1e-10)


def test_where_two_capsules_meet_the_body_is_smooth() -> None:
    """A cross of two rods is thicker at its center than either, by no more than the smoothing."""
    cross = Capsules(
        np.array([[0.0, 0.0, -20.0], [-20.0, 0.0, 0.0]]),
        np.array([[0.0, 0.0, 20.0], [20.0, 0.0, 0.0]]),
        np.full(2, 4.0),
        np.full(2, 4.0),
    )
    points = surface_points(cross, 200_000, np.random.default_rng(0))
    thick = np.abs(points[np.hypot(points[:, 0], points[:, 2]) < 0.5, 1])
    assert np.all((thick > 4.0) & (thick < 4.0 + 2.0))


def test_farthest_points_spread() -> None:
    line = np.linspace(0.0, 1.0, 101)[:, np.newaxis]
    assert sorted(farthest_points(line, 5).tolist()) == [0, 25, 50, 75, 100]
    assert farthest_points(line, 101).tolist() == list(range(101))


def test_farthest_points_are_those_of_all_gaps() -> None:
    points = np.random.default_rng(3).normal(size=(400, 3)).round(1)
    points[200:220] = points[0]
    np.testing.assert_array_equal(farthest_points(points, 399), references.farthest_points(points, 399))


def test_far_along_agrees_with_all_distances() -> None:
    joined, apart = ct.datasets.human(400).graphs
    np.testing.assert_array_equal(far_along(apart, joined), references.far_along(apart, joined, 40.0))
    places = np.random.default_rng(0).permutation(apart.n)
    expected = references.far_along(apart, joined, 40.0, places)
    assert expected.any()
    assert not expected.all()
    np.testing.assert_array_equal(far_along(apart, joined, places=places), expected)


def test_bumps_grow_with_the_body() -> None:
    """On more points of the same body a bump lies on as much of it, not on as few neighbors."""
    for n in (1_000, 3_000):
        views = ct.datasets.human(n)
        covered = np.mean(1.0 / np.sum(views.functions[0] ** 4, axis=0))
        assert 0.015 < covered / n < 0.05


@pytest.mark.parametrize("n", [300, 500, 800])
def test_only_the_hands_are_joined_wrongly(n: int) -> None:
    views = ct.datasets.human(n)
    joined, apart = views.graphs
    assert (joined.n, apart.n, joined.name, apart.name) == (n, n, "hands joined", "hands apart")
    assert views.wrong is not None
    assert 10 <= views.wrong[0].sum() <= 40
    assert not views.wrong[1].any()
    X = apart.coordinates
    assert X is not None
    # With the hands apart nothing but a hand is further than 50 from the middle.
    ends = X[np.stack([joined.i, joined.j])[:, views.wrong[0]], 0]
    assert np.all(np.abs(ends) > 50)
    assert np.all(ends.prod(axis=0) < 0)
    # The body itself is in one piece.
    assert joined.with_weights(np.where(views.wrong[0], 0.0, joined.w)).component_count == 1
    assert apart.component_count == 1


def test_the_body_is_a_body() -> None:
    views = ct.datasets.human()
    apart, joined = views.graphs[1].coordinates, views.graphs[0].coordinates
    assert apart is not None
    assert joined is not None
    assert 160 < np.ptp(apart[:, 2]) < 180
    # Whatever is no arm stays where it is, and arms neither stretch nor shrink much.
    still = np.abs(apart[:, 0]) < 8
    np.testing.assert_allclose(joined[still], apart[still], atol=0.5)
    i, j = views.graphs[1].i, views.graphs[1].j
    lengths = np.linalg.norm(joined[i] - joined[j], axis=1) / np.linalg.norm(apart[i] - apart[j], axis=1)
    assert np.mean(np.abs(lengths - 1.0) < 0.2) > 0.85
    # A bump on each hand, the same in both views.
    left, right = apart[views.functions[0].argmax(axis=0)]
    assert np.linalg.norm(left - right) > 100
    np.testing.assert_array_equal(views.functions[0], views.functions[1])


def test_the_same_body_every_time() -> None:
    one, two = ct.datasets.human(200), ct.datasets.human(200)
    for a, b in zip(one.graphs, two.graphs, strict=True):
        assert a.coordinates is not None
        assert b.coordinates is not None
        np.testing.assert_array_equal(a.coordinates, b.coordinates)
        np.testing.assert_array_equal(a.w, b.w)


def test_coupling_takes_the_hands_apart() -> None:
    views = ct.datasets.human()
    assert views.wrong is not None
    coupled = ct.couple(views.graphs, views.functions, views.times, alpha=1e4).graphs
    ratios = [new.w / old.w for new, old in zip(coupled, views.graphs, strict=True)]
    assert ratios[0][views.wrong[0]].max() < 0.02
    assert sum(int(np.sum(r[~w] < 0.2)) for r, w in zip(ratios, views.wrong, strict=True)) <= 10


@pytest.mark.parametrize("n", [199, 5001, 300.0])
def test_sizes_that_make_no_body(n: int) -> None:
    with pytest.raises(ct.CothermError, match="n: "):
        ct.datasets.human(n)
