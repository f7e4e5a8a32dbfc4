"""How far from the truth a match is."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from tests import problems

D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


def test_by_hand() -> None:
    errors = ct.evaluate.geodesic_error([0, 3, 1], [0, 1, 3], D)
    assert errors.tolist() == [0.0, 2.0, 2.0]
    # Vertex 1 of the source twice, once right and once one off.
    assert ct.evaluate.geodesic_error(SimpleNamespace(hard=[0, 3, 1]), [[1, 3], [1, 2]], D).tolist() == [0.0, 1.0]


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "not square": (lambda: ct.evaluate.geodesic_error([0], [0], D[:2]), "distances"),
    "match outside": (lambda: ct.evaluate.geodesic_error([4], [0], D), "match"),
    "truth outside": (lambda: ct.evaluate.geodesic_error([0], [4], D), "truth"),
    "truth too short": (lambda: ct.evaluate.geodesic_error([0, 1], [0], D), "truth"),
    "triples": (lambda: ct.evaluate.geodesic_error([0, 1], [[0, 1, 2]], D), "truth"),
    "no such source": (lambda: ct.evaluate.geodesic_error([0, 1], [[2, 1]], D), "truth"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    call, argument = BAD[case]
    assert problems.refused(call) == argument
