"""Cells and patients measured in several ways: files as published, made into rows for neighbors, and classes.

Neurons by genes and electrical behavior (Scala et al. 2021), patients with breast cancer (TCGA, as mixOmics has them),
and cells of mouse cortex by RNA and open chromatin (SNARE-seq, as scMoMaT has them).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, TruncatedSVD

from benchmarks.pairs.words import texts
from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError

_COMPONENTS = 30
_VARYING = 2_000
_UNASSIGNED = "Mis"


class Measured(NamedTuple):
    """Rows of every view, (n, d_k), NaN where an item is not in it, and the class of each item.

    ``features`` are the columns that rows were made of, for methods that reduce them themselves.
    """

    rows: tuple[Floats, ...]
    labels: Ints
    features: tuple[Floats, ...] | None = None


def neurons(path: Path) -> Measured:
    """Principal components of the logarithms of counts, and standardized electrical features; families of cells."""
    with np.load(path, allow_pickle=False) as archive:
        counts, electrical = (np.asarray(archive[name], dtype=np.float64) for name in ("expression", "ephys"))
    genes, electrical = np.log1p(counts), standard(electrical)
    return Measured((components(genes), electrical), _numbers(texts(path, "family")), (genes, electrical))


def patients(folder: Path, *, missing: bool = False) -> Measured:
    """Standardized microRNA, mRNA and protein; ``missing`` adds the patients that were never measured in protein."""
    parts, views = (("train", "test") if missing else ("train",)), ("mirna", "mrna", "protein")
    classes = [_table(folder / f"{part}_subtype.csv") for part in parts]
    ids = [name for names, _ in classes for name in names]
    rows = []
    for view in views:
        files = [folder / f"{part}_{view}.csv" for part in parts if (part, view) != ("test", "protein")]
        found = [_table(file) for file in files]
        if [name for names, _ in found for name in names] != ids[: sum(len(names) for names, _ in found)]:
            raise CothermError(str(folder), f"patients of {view} that are not those of the classes", "as published")
        X = standard(np.vstack([table.astype(np.float64) for _, table in found]))
        rows.append(np.vstack([X, np.full((len(ids) - len(X), X.shape[1]), np.nan)]))
    return Measured(tuple(rows), _numbers(np.concatenate([table[:, 0] for _, table in classes])))


def cortex(folder: Path) -> Measured:
    """Components of RNA and of open chromatin; cells whose cluster is not known are left out."""
    with (folder / "meta_c1.csv").open(encoding="utf-8", newline="") as file:
        clusters = np.array([line[-1] for line in csv.reader(file)][1:])
    kept = np.flatnonzero(clusters != _UNASSIGNED)
    rna, chromatin = (sp.csr_array(sp.load_npz(folder / name).T)[kept] for name in ("GxC1.npz", "RxC1.npz"))
    genes, regions = normalized(rna).toarray(), weighted(chromatin)
    rows = components(genes), singular(regions)
    return Measured(rows, _numbers(clusters[kept]), (genes, varying(regions)))


def normalized(counts: Any) -> Any:
    """log(1 + counts per 10,000 of a cell), sparse."""
    return _of_cells(counts, 1e4).log1p()


def weighted(counts: Any) -> Any:
    """TF-IDF: the share of a region in the cell × log(1 + cells / cells that have it); regions of no cell go."""
    cells = np.bincount(counts.indices, minlength=counts.shape[1])
    there = np.flatnonzero(cells)
    rare = sp.diags_array(np.log1p(counts.shape[0] / cells[there]))
    return sp.csr_array(_of_cells(counts, 1.0)[:, there] @ rare)


def components(X: Floats) -> Floats:
    """The first 30 principal components."""
    return np.asarray(PCA(_COMPONENTS, svd_solver="covariance_eigh").fit_transform(X))


def singular(X: Any) -> Floats:
    """The first 30 singular vectors, times the singular values."""
    return np.asarray(TruncatedSVD(_COMPONENTS, n_iter=10, random_state=0).fit_transform(X))


def varying(X: Any) -> Floats:
    """The columns of a sparse table that vary most, dense."""
    variance = np.asarray(X.power(2).mean(axis=0) - X.mean(axis=0) ** 2).ravel()
    return np.asarray(X[:, np.sort(np.argsort(variance, kind="stable")[-_VARYING:])].toarray())


def standard(X: Floats) -> Floats:
    """Columns of mean 0 and deviation 1; a column without deviation stays 0."""
    deviation = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))


def _of_cells(counts: Any, total: float) -> Any:
    """Rows of a sparse table that sum to the total; a cell without counts has none."""
    sums = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    return sp.csr_array(sp.diags_array(total / np.where(sums > 0.0, sums, 1.0)) @ counts)


def _table(path: Path) -> tuple[list[str], Any]:
    """The ids in the first column, and the other columns as texts."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[1:]
    return [line[0] for line in lines], np.array([line[1:] for line in lines])


def _numbers(classes: Sequence[str] | Any) -> Ints:
    return np.asarray(np.unique(classes, return_inverse=True)[1], dtype=np.int64)
