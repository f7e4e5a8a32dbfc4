"""Cells and patients: how rows are made of files, on small files and on the real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.pairs import omics
from benchmarks.pairs.sets import source
from cotherm.errors import CothermError

COUNTS = sp.csr_array(np.array([[1, 0, 3, 0], [0, 2, 2, 0], [0, 0, 0, 0]]))


def test_counts_are_of_ten_thousand() -> None:
    expected = np.log1p(1e4 * np.array([[0.25, 0, 0.75, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 0]]))
    np.testing.assert_allclose(omics.normalized(COUNTS).toarray(), expected)


def test_rare_regions_weigh_more() -> None:
    rare, common = np.log1p(3.0), np.log1p(1.5)
    expected = [[0.25 * rare, 0, 0.75 * common], [0, 0.5 * rare, 0.5 * common], [0, 0, 0]]
    np.testing.assert_allclose(omics.weighted(COUNTS).toarray(), expected)


def test_columns_that_vary_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(omics, "_VARYING", 2)
    X = sp.csr_array(np.array([[0.0, 9.0, 1.0, 0.0], [1.0, 9.0, 5.0, 0.0]]))
    assert omics.varying(X).tolist() == [[0.0, 1.0], [1.0, 5.0]]


def test_standard_columns() -> None:
    np.testing.assert_allclose(omics.standard(np.array([[1.0, 5.0], [3.0, 5.0]])), [[-1.0, 0.0], [1.0, 0.0]])


def _write(folder: Path, name: str, lines: list[str]) -> None:
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_patients_without_protein(tmp_path: Path) -> None:
    for view in ("mirna", "mrna", "protein"):
        _write(tmp_path, f"train_{view}.csv", ["patient,a,b", "P1,1,0", "P2,3,1"])
    for view in ("mirna", "mrna"):
        _write(tmp_path, f"test_{view}.csv", ["patient,a,b", "P3,2,5"])
    _write(tmp_path, "train_subtype.csv", ["patient,subtype", "P1,LumA", "P2,Basal"])
    _write(tmp_path, "test_subtype.csv", ["patient,subtype", "P3,LumA"])
    both = omics.patients(tmp_path)
    assert [X.tolist() for X in both.rows] == [[[-1.0, -1.0], [1.0, 1.0]]] * 3
    found = omics.patients(tmp_path, missing=True)
    assert found.labels.tolist() == [1, 0, 1]
    assert [np.isnan(X).any(axis=1).tolist() for X in found.rows] == [[False] * 3] * 2 + [[False, False, True]]
    np.testing.assert_allclose(found.rows[0][:, 0], np.array([-1.0, 1.0, 0.0]) * np.sqrt(1.5))
    _write(tmp_path, "train_mrna.csv", ["patient,a,b", "P2,1,0", "P1,3,1"])
    with pytest.raises(CothermError, match="mrna"):
        omics.patients(tmp_path)


def test_real_cells_and_patients(data_file: Callable[[str], Path]) -> None:
    data = data_file("patchseq/patchseq.npz").parents[1]
    for name, n, columns, classes in (
        ("patchseq", 1208, [30, 29], [100, 48, 238, 91, 5, 289, 13, 271, 153]),
        ("tcga", 150, [184, 200, 142], [45, 30, 75]),
        ("tcga-missing", 220, [184, 200, 142], [66, 44, 110]),
    ):
        items = source(name).make(data)
        assert (items.n, [X.shape[1] for X in items.rows]) == (n, columns)
        assert np.bincount(items.labels).tolist() == classes
        missing = 70 if name == "tcga-missing" else 0
        assert (~items.there).sum(axis=0).tolist() == [0] * (len(columns) - 1) + [missing]
    assert source("tcga-missing").in_all == round(100.0 * 150 / 220, 1)


def test_real_cells_of_the_cortex(data_file: Callable[[str], Path]) -> None:
    items = source("mop-2000").make(data_file("mop/GxC1.npz").parents[1])
    assert (items.n, items.classes, items.views) == (2000, 14, ("RNA", "chromatin"))
    assert [X.shape for X in items.rows] == [(2000, 30)] * 2
    within = [float(np.average(items.labels[g.i] == items.labels[g.j], weights=g.w)) for g in items.default_graphs()]
    assert within[0] > 0.75
    assert within[0] > within[1] + 0.15  # chromatin is the poorer view
