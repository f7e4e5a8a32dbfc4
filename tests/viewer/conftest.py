"""Couplings that are shown in pages."""

from __future__ import annotations

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
    return ct.couple_pairs(views.graphs, max_iterations=3)


@pytest.fixture(scope="session")
def large() -> ct.Coupling:
    """Two views of a strip of 2,000 points, which tests show in part."""
    views = ct.datasets.shortcuts(2_000)
    return ct.couple(views.graphs, views.functions, views.times, max_iterations=20)
