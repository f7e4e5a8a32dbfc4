"""Arrays in a page come out as they went in."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from cotherm.viewer.blocks import Blocks
from tests.viewer.reading import unpacked

ARRAYS = {
    "f8": np.array([0.0, -0.0, 1e-300, np.pi, -1e300]),
    "f4": np.linspace(-1.0, 1.0, 7).reshape(7, 1),
    "u4": np.array([5, 0, 2**32 - 1, 7]),
    "i4": np.array([-1, 3, -(2**31), 2**31 - 1]),
    "u2": np.array([[65_535, 0, 1], [2, 40_000, 3]]),
    "u1": np.array([0, 255, 4, 4]),
}


@pytest.mark.parametrize("dtype", ARRAYS)
def test_round_trip(dtype: str) -> None:
    blocks = Blocks()
    blocks.add("before", np.arange(3), "u2")
    assert blocks.add("it", ARRAYS[dtype], dtype) == "it"
    about = blocks.index["it"]
    found = unpacked(about, base64.b64decode(blocks.base64()))
    np.testing.assert_array_equal(found, ARRAYS[dtype].astype(dtype))
    assert (about["dtype"], about["shape"]) == (dtype, list(ARRAYS[dtype].shape))


@pytest.mark.parametrize("dtype", ARRAYS)
def test_empty_arrays(dtype: str) -> None:
    blocks = Blocks()
    blocks.add("none", np.empty((0, 3)), dtype)
    assert unpacked(blocks.index["none"], base64.b64decode(blocks.base64())).shape == (0, 3)


def test_sorted_ends_of_edges_take_little_room() -> None:
    i = np.sort(np.random.default_rng(0).integers(0, 50_000, 300_000))
    blocks = Blocks()
    blocks.add("i", i, "u4")
    assert blocks.size < 0.2 * i.size
