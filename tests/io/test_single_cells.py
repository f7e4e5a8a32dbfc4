"""Single cells: representations, names and labels from .h5ad and .h5mu files."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import cotherm as ct
from cotherm import CothermError, limits, memory

anndata = pytest.importorskip("anndata")
h5py = pytest.importorskip("h5py")
pd = pytest.importorskip("pandas")


def cells(n: int = 8, start: int = 0) -> Any:
    names = [f"cell-{k}" for k in range(start, start + n)]
    obs = pd.DataFrame({"kind": pd.Categorical(["T", "B"] * (n // 2))}, index=names)
    X = sp.csr_matrix(np.arange(3.0 * n).reshape(n, 3) % 5)
    found = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=["g1", "g2", "g3"]))
    found.obsm["X_pca"] = np.arange(2.0 * n).reshape(n, 2) ** 1.5
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "cells.h5ad"
    cells().write_h5ad(path)
    return path


@pytest.fixture
def several(tmp_path: Path) -> Path:
    mudata = pytest.importorskip("mudata")
    path = tmp_path / "cells.h5mu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = mudata.MuData({"rna": cells(8), "atac": cells(6, 2)})
        both.obs["batch"] = ["x", "y"] * 4
        both.write(path)
    return path


def test_cells(place: Path) -> None:
    table = ct.io.read_table(place)
    np.testing.assert_array_equal(table.values, cells().X.toarray())
    assert table.values.flags.writeable
    assert table.names == tuple(f"cell-{k}" for k in range(8))
    assert (table.titles, table.labels) == (("g1", "g2", "g3"), None)
    assert table.reading == "8 cells, 3 columns of X (g1, g2, g3) (there are also X_pca), names from obs_names"


def test_a_representation_and_labels(place: Path) -> None:
    table = ct.io.read_table(place, rep="X_pca", label_column="kind")
    np.testing.assert_array_equal(table.values, cells().obsm["X_pca"])
    assert table.titles is None
    assert table.labels is not None
    assert table.labels.tolist() == ["T", "B"] * 4
    assert ct.io.read_table(place, columns=["g3", "g1"]).values[1].tolist() == [0.0, 3.0]
    for options, message in (
        ({"rep": "X_umap"}, "no X_umap; needed: one of X, X_pca"),
        ({"label_column": "age"}, "obs: no column 'age'; needed: some of its columns: kind"),
        ({"columns": ["g9"]}, "no column 'g9'"),
        ({"rep": "X_pca", "columns": ["g1"]}, "no titles"),
        ({"modality": "rna"}, "modality: rna for a .h5ad file"),
    ):
        with pytest.raises(CothermError, match=message):
            ct.io.read_table(place, **options)


def test_missing_values_and_names_given_twice(tmp_path: Path) -> None:
    found = anndata.AnnData(np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]]))
    found.obs_names = ["a", "b", "c"]
    found.write_h5ad(tmp_path / "a.h5ad")
    with pytest.raises(CothermError, match="'a', '1': a missing value, the only missing value"):
        ct.io.read_table(tmp_path / "a.h5ad")
    assert ct.io.read_table(tmp_path / "a.h5ad", missing="drop").names == ("b", "c")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.obs_names = ["a", "b", "a"]
        found.write_h5ad(tmp_path / "b.h5ad")
    table = ct.io.read_table(tmp_path / "b.h5ad", missing="median")
    assert table.names is None
    assert "without names: some of obs_names are given twice" in table.reading


def test_modalities(several: Path) -> None:
    with pytest.raises(CothermError, match=r"2 modalities, 'rna', 'atac'; needed: one. Choose it with modality="):
        ct.io.read_table(several)
    table = ct.io.read_table(several, modality="atac", label_column="kind", rep="X_pca")
    assert table.names == tuple(f"cell-{k}" for k in range(2, 8))
    assert table.labels is not None
    assert table.labels.tolist() == ["T", "B"] * 3
    both = ct.io.read_table(several, modality="atac", label_column="batch")  # of the whole file, by name
    assert both.labels is not None
    assert both.labels.tolist() == ["x", "y"] * 3
    with pytest.raises(CothermError, match="no modality 'protein'; needed: one of 'rna', 'atac'"):
        ct.io.read_table(several, modality="protein")


def test_what_is_too_large(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: place.stat().st_size + 1)
    monkeypatch.setattr("cotherm.io.single_cells._size", lambda element: 0)
    found = cells()
    found.obsm["wide"] = sp.csr_matrix((8, 10_000))
    found.write_h5ad(place)
    with pytest.raises(CothermError, match=r"8 x 10,000 numbers, 640 kB;.*rep="):
        ct.io.read_table(place, rep="wide")


def test_bombs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with h5py.File(place, "r+") as file:
        del file["X"]
        zeros = file.create_dataset("X", (8, 5_000_000), chunks=(8, 1_000), dtype="f8")  # nothing of it is stored
        zeros.attrs["encoding-type"], zeros.attrs["encoding-version"] = "array", "0.2.0"
    with pytest.raises(CothermError, match="at most 100 times the size"):
        ct.io.read_table(place)
    assert limits.UNPACKED_BYTES < 8 * 8 * 5_000_000


@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_forged_places_of_sparse_numbers(part: str, place: Path) -> None:
    """They would be written to, past the end of the array."""
    with h5py.File(place, "r+") as file:
        file["X"][part][-1] = 10**6
    with pytest.raises(CothermError, match="unreadable for anndata"):
        ct.io.read_table(place)


def test_damaged_files(place: Path) -> None:
    data = place.read_bytes()
    for junk in (b"junk", data[: len(data) // 2], data[:100] + bytes(400) + data[500:]):
        place.write_bytes(junk)
        with pytest.raises(CothermError, match=r"cells.h5ad"):
            ct.io.read_table(place)
    with h5py.File(place, "w") as file:
        file["X"] = np.eye(3)
    with pytest.raises(CothermError, match="no obs; needed: a file that anndata wrote"):
        ct.io.read_table(place)


def test_the_extra_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(CothermError, match=r"pip install 'cotherm\[anndata\]'"):
        ct.io.read_table(place)
