"""The time that heat takes for some moves along edges."""

from __future__ import annotations

import numpy as np
import pytest

import cotherm as ct
from cotherm.heat.times import diffusion_time, median_degree


def test_moves_over_the_median_degree_of_vertices_with_neighbors() -> None:
    path = ct.Graph(5, [0, 1, 3], [1, 2, 4], [1.0, 4.0, 0.0])  # degrees 1, 5, 4, 0, 0
    assert median_degree(path) == 4.0
    assert diffusion_time(6.0, path) == 1.5
    assert median_degree(path, ct.Graph(2, [0], [1], [2.0])) == 2.0  # 1, 5, 4, 2, 2
    assert diffusion_time(6.0, path, ct.Graph(2, [0], [1], [2.0])) == 3.0


def test_after_moves_so_many_that_heat_has_left() -> None:
    ring = ct.Graph(50, np.arange(50), (np.arange(50) + 1) % 50, np.full(50, 3.0))
    heat = ct.heat_flow(ring, np.eye(50)[0], [diffusion_time(moves, ring) for moves in (0.0, 1.0, 10.0)])[:, 0, 0]
    assert heat[0] == pytest.approx(1.0)
    assert heat[1] == pytest.approx(np.exp(-1.0) * np.i0(1.0), rel=1e-6)  # a random walk of about one move
    assert heat[2] < 0.2


def test_without_edges() -> None:
    lone = ct.Graph(3, [0], [1], [0.0])
    assert median_degree(lone) == 0.0
    assert diffusion_time(2.0, lone) == 0.0
    assert diffusion_time(2.0, lone, without_edges=np.inf) == np.inf
