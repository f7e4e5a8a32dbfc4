"""Texts of archives are read, and nothing in an archive is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.pairs.words import texts
from cotherm.errors import CothermError


class Harmful:
    """What would write a file if it were unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.place,)


def _archive(place: Path, *values: Any) -> Path:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    np.savez_compressed(place / "some.npz", family=array, numbers=np.arange(3))
    return place / "some.npz"


def test_texts_are_read_in_order(tmp_path: Path) -> None:
    found = texts(_archive(tmp_path, "Pvalb", "Sst", "été"), "family")
    assert found.tolist() == ["Pvalb", "Sst", "été"]
    assert found.dtype.kind == "U"


def test_nothing_but_texts(tmp_path: Path) -> None:
    for values in (("Sst", 3.0), ("Sst", None), ("Sst", ("Vip",)), ("Sst", Harmful(tmp_path / "harm"))):
        path = _archive(tmp_path, *values)
        with pytest.raises(CothermError, match="texts"):
            texts(path, "family")
    assert not (tmp_path / "harm").exists()
    with np.load(path, allow_pickle=True) as archive:
        archive["family"]
    assert (tmp_path / "harm").exists()  # it would have harmed
