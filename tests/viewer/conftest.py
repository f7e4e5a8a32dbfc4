"""Couplings that are shown in pages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cotherm as ct


@pytest.fixture(scope="session")
def ring() -> ct.Coupling:
    views = ct.datasets.ring()
    return ct.couple(views.graphs, views.functions, views.times, alpha=1e6)


@pytest.fixture(scope="session")
def paired() -> ct.Coupling:
    """Views of made-up photographs without coordinates, with labels, coupled by pairs."""
    views = ct.datasets.ambiguous()
    return ct.couple_pairs(views.graphs, options={"max_iterations": 3})


@pytest.fixture(scope="session")
def large() -> ct.Coupling:
    """Two views of a strip of 2,000 points, which tests show in part: as if solved, which would take long."""
    views = ct.datasets.shortcuts(2_000)
    begun = ct.couple(views.graphs, views.functions, views.times, options={"max_iterations": 1})
    assert views.wrong is not None
    factors = [np.where(planted, 0.0, 1.0) for planted in views.wrong]
    factors[1][[5, 1_000, 9_000]] = 0.3, 4.0, 0.001
    graphs = tuple(g.with_weights(factor * g.w) for g, factor in zip(views.graphs, factors, strict=True))
    return replace(begun, graphs=graphs)
