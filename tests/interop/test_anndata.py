"""Graphs and functions from AnnData and MuData."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
import scipy.sparse as sp

import cotherm as ct
from cotherm.interop import anndata_functions, anndata_graphs, from_anndata
from tests import problems
from tests.interop.cells import TYPES, cells, together
from tests.problems import refused


def with_weights(W: Any, n: int = 3) -> anndata.AnnData:
    adata = anndata.AnnData(np.zeros((n, 2)), obs=pd.DataFrame(index=[str(v) for v in range(n)]))
    adata.obsp["connectivities"] = W
    return adata


def test_the_graph_of_scanpy() -> None:
    adata = cells()[0]
    sc.pp.neighbors(adata, use_rep="X", n_neighbors=8)
    sc.pp.neighbors(adata, use_rep="X", n_neighbors=5, key_added="near")
    graph = from_anndata(adata, labels="type", name="rna")
    np.testing.assert_array_equal(graph.adjacency().toarray(), adata.obsp["connectivities"].toarray())
    assert graph.labels is not None
    assert graph.labels.tolist() == adata.obs["type"].tolist()
    assert graph.name == "rna"
    assert from_anndata(adata, "near") == from_anndata(adata, "near_connectivities")
    assert from_anndata(adata, "near").m < graph.m


def test_directions_that_differ_by_rounding_need_a_word() -> None:
    """As those of scanpy's Gaussian weights may."""
    adata = cells()[0]
    sc.pp.neighbors(adata, use_rep="X", n_neighbors=8, method="gauss")
    W = adata.obsp["connectivities"].toarray()
    i, j = np.argwhere(W > 0.0)[0]
    W[i, j] = np.nextafter(W[j, i], 1.0)
    adata.obsp["connectivities"] = sp.csr_matrix(W)
    with pytest.raises(ct.CothermError, match='symmetrize="max"') as caught:
        from_anndata(adata)
    assert caught.value.argument == "obsp['connectivities']"
    np.testing.assert_allclose(from_anndata(adata, symmetrize="mean").adjacency().toarray(), W, atol=1e-14)


@pytest.mark.parametrize(("how", "expected"), [("max", [2.0, 3.0]), ("mean", [1.5, 1.5]), ("min", [1.0])])
@pytest.mark.parametrize("make", [np.array, sp.csr_matrix, sp.csc_array])
def test_two_directions(make: Any, how: str, expected: list[float]) -> None:
    W = make(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]]))
    assert refused(lambda: from_anndata(with_weights(W))) == "obsp['connectivities']"
    assert from_anndata(with_weights(W), symmetrize=how).w.tolist() == expected


def test_a_graph_from_a_representation() -> None:
    adata = cells()[0]
    assert from_anndata(adata, rep="X", k=5) == ct.knn_graph(np.asarray(adata.X), 5, vertex_names=adata.obs_names)
    adata.obsm["X_pca"] = np.asarray(adata.X)[:, :2].astype(np.float64)
    adata.obsm["frame"] = pd.DataFrame(adata.obsm["X_pca"], index=adata.obs_names, columns=["a", "b"])
    assert from_anndata(adata, rep="X_pca") == ct.knn_graph(adata.obsm["frame"])
    assert from_anndata(adata, rep="frame") == from_anndata(adata, rep="X_pca")
    adata.X = sp.csr_matrix(adata.X)
    assert from_anndata(adata, rep="X", k=5).n == 60


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_a_representation_on_disk(make: Any, tmp_path: Path) -> None:
    adata = cells()[0]
    adata.X = make(adata.X)
    expected = from_anndata(adata, rep="X", k=5)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    assert from_anndata(backed, rep="X", k=5) == expected
    backed.file.close()


def test_what_is_refused() -> None:
    adata = cells()[0]
    with pytest.raises(ct.CothermError, match=r"scanpy\.pp\.neighbors") as caught:
        from_anndata(adata)
    assert caught.value.argument == "key"
    not_cells: Any = np.eye(3)
    assert refused(lambda: from_anndata(not_cells)) == "adata"
    assert refused(lambda: from_anndata(adata, k=5)) == "k"
    assert refused(lambda: from_anndata(adata, rep="X_pca")) == "rep"
    assert refused(lambda: from_anndata(adata, "connectivities", rep="X")) == "key"
    assert refused(lambda: from_anndata(adata, symmetrize="max", rep="X")) == "symmetrize"
    assert refused(lambda: from_anndata(adata, rep="X", k=60)) == "k"
    assert refused(lambda: from_anndata(adata, rep="X", labels="color")) == "labels"
    assert refused(lambda: from_anndata(adata, rep="X", labels="known")) == "labels"
    assert refused(lambda: from_anndata(anndata.AnnData(obs=adata.obs), rep="X")) == "rep"
    assert refused(lambda: from_anndata(with_weights(np.eye(3)))) == "obsp['connectivities']"
    assert refused(lambda: from_anndata(with_weights(np.full((3, 3), np.nan)), symmetrize="max")) == (
        "obsp['connectivities']"
    )
    assert refused(lambda: from_anndata(with_weights(np.zeros((3, 3))), symmetrize="sum")) == "symmetrize"
    broken = np.asarray(adata.X).copy()
    broken[0, 0] = np.nan
    adata.X = broken
    assert refused(lambda: from_anndata(adata, rep="X")) == "rep='X'"


def test_several_at_once() -> None:
    three = cells()
    graphs = anndata_graphs(three, rep="X", k=5)
    assert [g.n for g in graphs] == [60, 75, 66]
    assert refused(lambda: anndata_graphs(three)) == "adatas[0]: key"
    assert refused(lambda: anndata_graphs([])) == "adatas"
    one: Any = three[0]
    assert refused(lambda: anndata_graphs(one)) == "adatas"
    stray: Any = [three[0], problems.ring(3)]
    assert refused(lambda: anndata_graphs(stray)) == "adatas[1]"


def test_mudata_in_place_of_a_list() -> None:
    three = cells()
    mdata = together(three)
    graphs = anndata_graphs(mdata, rep="X", k=5)
    assert [g.name for g in graphs] == ["rna", "met", "acc"]
    for graph, adata in zip(graphs, three, strict=True):
        assert graph == from_anndata(adata, rep="X", k=5, name=graph.name)
    by_list, by_mudata = anndata_functions(three, "known"), anndata_functions(mdata, "known")
    assert by_list.classes == by_mudata.classes
    for F, G in zip(by_list.functions, by_mudata.functions, strict=True):
        np.testing.assert_array_equal(F, G)
    assert refused(lambda: from_anndata(mdata)) == "adata"
    assert refused(lambda: anndata_graphs(mdata)) == "adatas['rna']: key"


def test_columns_are_the_same_category_everywhere() -> None:
    three = cells()
    functions, categories = anndata_functions(three, "known")
    assert categories == TYPES
    for F, adata in zip(functions, three, strict=True):
        np.testing.assert_allclose(np.linalg.norm(F, axis=0), 1.0)
        for c, category in enumerate(TYPES):
            np.testing.assert_array_equal(F[:, c] > 0.0, (adata.obs["known"] == category).to_numpy())
    plain = anndata_functions(three, "known", unit_norm=False).functions[0]
    np.testing.assert_array_equal(plain.sum(axis=1), three[0].obs["known"].notna())


def pair(first: Any, second: Any) -> list[anndata.AnnData]:
    frames = [pd.DataFrame({"of": v}, index=[f"c{k}" for k in range(len(v))]) for v in (first, second)]
    return [anndata.AnnData(obs=frame) for frame in frames]


def test_categories_declared_differently_are_sorted() -> None:
    declared = pd.Categorical(["b", "a"], categories=["b", "unused", "a"])
    functions, categories = anndata_functions(pair(declared, ["a", "b"]), "of")
    assert categories == ["a", "b"]
    assert [F.tolist() for F in functions] == [[[0, 1], [1, 0]], [[1, 0], [0, 1]]]
    assert anndata_functions(pair([True, False], [False, True]), "of").classes == [False, True]
    assert anndata_functions(pair([10, 9], [9, 10]), "of").classes == [9, 10]


def test_a_category_that_a_modality_lacks_is_named() -> None:
    with pytest.warns(ct.CothermWarning, match=r"^obs\['of'\]: .* left out: 'c' \(not in adatas\[1\]\)"):
        functions, categories = anndata_functions(pair(["a", "c"], ["a", "a"]), "of")
    assert categories == ["a"]
    assert functions[0].tolist() == [[1.0], [0.0]]


def test_columns_that_do_not_correspond() -> None:
    assert refused(lambda: anndata_functions(pair(["a", "b"], ["A", "B"]), "of")) == "column"
    assert refused(lambda: anndata_functions(pair(["1", "2"], [1, 2]), "of")) == "column"
    assert refused(lambda: anndata_functions(pair([None, None], ["a", "b"]), "of")) == "column"
    assert refused(lambda: anndata_functions(pair([0.5, 1.5], [0.5, 1.5]), "of")) == "column"
    assert refused(lambda: anndata_functions(pair(["a"], ["a"]), "stage")) == "column"
    assert refused(lambda: anndata_functions(pair(["a"], ["a"])[:1], "of")) == "adatas"
    unit: Any = 1
    assert refused(lambda: anndata_functions(pair(["a"], ["a"]), "of", unit_norm=unit)) == "unit_norm"
