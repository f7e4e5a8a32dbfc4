"""Answers written into AnnData: scanpy works on them, files keep them."""

from __future__ import annotations

import doctest
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import anndata
import mudata
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
import scipy.sparse as sp

import cotherm as ct
from cotherm.interop import anndata_functions, anndata_graphs, anndata_pairs, from_anndata, to_anndata
from cotherm.interop.anndata_results import _plain
from tests.interop.cells import cells, together
from tests.problems import refused

STAGES = np.array(["E4.5", "E5.5", "E6.5", "E7.5"])


def coupled(adatas: list[anndata.AnnData], alpha: float = 100.0) -> ct.Coupling:
    graphs = anndata_graphs(adatas, rep="X", k=6)
    return ct.couple(
        graphs, anndata_functions(adatas, "known").functions, [1.0], alpha, options={"continuation": "direct"}
    )


def through_a_file(adata: anndata.AnnData, path: Path) -> anndata.AnnData:
    adata.write_h5ad(path)
    return anndata.read_h5ad(path)


def scanpy_runs(adata: anndata.AnnData) -> None:
    """UMAP, Leiden, PAGA and a diffusion map on the graph that was written."""
    sc.tl.umap(adata, neighbors_key="cotherm", maxiter=10)
    assert np.isfinite(adata.obsm["X_umap"]).all()
    sc.tl.leiden(adata, neighbors_key="cotherm", flavor="igraph", n_iterations=2, directed=False)
    assert adata.obs["leiden"].nunique() > 1
    sc.tl.paga(adata, groups="leiden", neighbors_key="cotherm")
    sc.tl.diffmap(adata, neighbors_key="cotherm", n_comps=5)


def test_from_cells_to_scanpy_and_back(tmp_path: Path) -> None:
    three = cells()
    result = coupled(three)
    to_anndata(result, three, k=4)
    for v, (adata, graph) in enumerate(zip(three, result.graphs, strict=True)):
        read = through_a_file(adata, tmp_path / f"{v}.h5ad")
        np.testing.assert_array_equal(read.obsp["cotherm_connectivities"].toarray(), graph.adjacency().toarray())
        np.testing.assert_array_equal(read.obsm["X_cotherm"], result.embedding(4)[v])
        entry = read.uns["cotherm"]
        assert (entry["method"], entry["status"], entry["view"], entry["views"]) == ("Coupling", result.status, v, 3)
        assert entry["cost"] == result.cost
        assert entry["times"].tolist() == [1.0]
        assert entry["coupling"].tolist() == result.coupling.tolist()
        assert entry["settings"]["rigidity"].tolist() == [1.0, 1.0, 1.0]
        assert entry["versions"]["numpy"] == np.__version__
        again = from_anndata(read, "cotherm")
        np.testing.assert_array_equal(again.adjacency().toarray(), graph.adjacency().toarray())
    scanpy_runs(read)


def test_leiden_finds_planted_types() -> None:
    """On what was written, scanpy sees the graph that is there."""
    three = cells()
    to_anndata(coupled(three), three)
    for adata in three:
        sc.tl.leiden(adata, neighbors_key="cotherm", flavor="igraph", n_iterations=2, directed=False, resolution=0.3)
        scores = ct.evaluate.clustering_scores(adata.obs["type"].cat.codes, adata.obs["leiden"].cat.codes)
        assert scores["AMI"] > 0.8


def test_lengths_are_inverse_weights() -> None:
    two = cells((10, 10))
    graph = ct.Graph(10, [0, 1, 2, 3], [1, 2, 3, 4], [4.0, 0.0, 1e-320, 0.5])
    to_anndata(ct.average([graph, graph]), two)
    W, D = (two[0].obsp[f"cotherm_{what}"] for what in ("connectivities", "distances"))
    assert W.nnz == D.nnz == 6
    assert (D[0, 1], D[4, 3], D[2, 3]) == (0.25, 2.0, np.finfo(np.float64).max)
    assert isinstance(W, sp.csr_matrix)
    assert "distances" in sc._utils.NeighborsView(two[0], "cotherm")


METHODS: dict[str, Callable[[Any, Any], ct.JointResult]] = {
    "align": lambda g, F: ct.align(g, F, k=5),
    "average": lambda g, F: ct.average(g),
    "closest_commuting": lambda g, F: ct.closest_commuting(g),
    "closest_commuting, valid": lambda g, F: ct.closest_commuting(g, valid=True, restarts=0),
    "couple": lambda g, F: ct.couple(g, F, [1.0], 10.0),
    "coupled_bases": lambda g, F: ct.coupled_bases(g, F, k=5),
    "joint_diagonalize": lambda g, F: ct.joint_diagonalize(g),
}
WITH_GRAPHS = {"average", "closest_commuting, valid", "couple"}


@pytest.mark.parametrize("method", METHODS)
def test_every_method(method: str, tmp_path: Path) -> None:
    views = ct.datasets.ring(30)
    result = METHODS[method](views.graphs, views.functions)
    two = cells((30, 30))
    to_anndata(result, two)
    read = through_a_file(two[1], tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(read.obsm["X_cotherm"], result.embedding(read.obsm["X_cotherm"].shape[1])[1])
    assert ("cotherm_connectivities" in read.obsp) == (method in WITH_GRAPHS)
    assert ("connectivities_key" in read.uns["cotherm"]) == (method in WITH_GRAPHS)
    assert read.uns["cotherm"]["method"] == type(result).__name__
    if method in WITH_GRAPHS:
        graphs: Any = result
        W = read.obsp["cotherm_connectivities"].toarray()
        np.testing.assert_array_equal(W, graphs.graphs[1].adjacency().toarray())
    if method == "couple":
        assert read.uns["cotherm"]["settings"]["continuation"] == "auto"


def test_mudata(tmp_path: Path) -> None:
    three = cells()
    mdata = together(three)
    result = coupled(three)
    to_anndata(result, mdata, k=3)
    with mudata.set_options(pull_on_update=False):
        mdata.write_h5mu(tmp_path / "cells.h5mu")
        read = mudata.read_h5mu(tmp_path / "cells.h5mu")
    assert read.mod["met"].uns["cotherm"]["view"] == 1
    for graph, expected in zip(anndata_graphs(read, "cotherm"), result.graphs, strict=True):
        np.testing.assert_array_equal(graph.adjacency().toarray(), expected.adjacency().toarray())


def overlapping(sizes: tuple[int, int] = (60, 50), shared: int = 40) -> list[anndata.AnnData]:
    """Two modalities of the same made-up cells; the last of the first and the first of the second are shared."""
    n = sum(sizes) - shared
    (whole,) = cells((n,), features=8)
    whole.obs_names = [f"cell {c}" for c in range(n)]
    rows = [np.arange(sizes[0]), np.random.default_rng(1).permutation(np.arange(n - sizes[1], n))]
    names = [[f"{v}-{f}" for f in range(4)] for v in range(2)]
    result = []
    for v in range(2):
        part = whole[rows[v], 4 * v : 4 * v + 4].copy()
        part.var_names = names[v]
        result.append(part)
    return result


def coupled_by_pairs(adatas: Any) -> ct.Coupling:
    graphs = anndata_graphs(adatas, rep="X", k=6)
    return ct.couple_pairs(graphs, anndata_pairs(adatas), options={"kept_back": 0, "n_modes": 5, "max_iterations": 5})


def test_a_coupling_by_pairs(tmp_path: Path) -> None:
    """One space and one clustering for all cells, whichever modality they are in."""
    two = overlapping()
    result = coupled_by_pairs(two)
    common = result.common_graph()
    assert common.graph.n == 70
    to_anndata(result, two, k=3, clusters=3)
    for v, adata in enumerate(two):
        read = through_a_file(adata, tmp_path / f"{v}.h5ad")
        np.testing.assert_array_equal(read.obsm["X_cotherm"], result.embedding(3)[v])
        np.testing.assert_array_equal(read.obsm["X_cotherm_common"], common.embedding(3)[common.of_view(v)])
        assert read.obs["cotherm_clusters"].cat.categories.tolist() == ["0", "1", "2"]
        assert read.obs["cotherm_clusters"].astype(int).tolist() == common.clusters(3)[common.of_view(v)].tolist()
        np.testing.assert_array_equal(read.obs["mod_weight"], common.view_weights[common.of_view(v), v])
        # Of two views nothing can tell which one is wrong about an item: they are weighed as wholes.
        weights = sorted(set(read.obs["mod_weight"]))
        assert len(weights) == 2
        assert 0.02 <= weights[0] <= 0.98
        assert weights[1] == 1.0
        entry = read.uns["cotherm"]["pairs"]
        assert (entry["items"], entry["n_modes"]) == (40, 5)
        assert entry["agreement"]["views"].tolist() == [[0, 1]]
        assert entry["agreement"]["shared"].tolist() == [40]
        assert entry["shares"].shape == (2,)
        assert sum(np.asarray(value).nbytes for value in entry["agreement"].values()) < 200
    scanpy_runs(read)
    shared = two[0].obs_names.intersection(two[1].obs_names)
    np.testing.assert_array_equal(*(adata[shared].obsm["X_cotherm_common"] for adata in two))
    assert (two[0].obs.loc[shared, "cotherm_clusters"] == two[1].obs.loc[shared, "cotherm_clusters"]).all()
    # What this answer has not, an earlier one does not leave behind; what others wrote stays.
    two[0].obs["mine"] = 1
    to_anndata(ct.align(result.graphs, [np.eye(n)[:, :3] for n in (60, 50)], k=4), two, k=2)
    assert "X_cotherm_common" not in two[0].obsm
    assert "cotherm_clusters" not in two[0].obs
    assert "mod_weight" not in two[0].obs
    assert "mine" in two[0].obs


def test_what_views_without_partners_say_is_written(tmp_path: Path) -> None:
    two = overlapping()
    random = np.random.default_rng(0)
    two[1].X = random.standard_normal(two[1].shape).astype(np.float32)
    result = coupled_by_pairs(two)
    assert result.pairs is not None
    to_anndata(result, two)
    notes = through_a_file(two[0], tmp_path / "cells.h5ad").uns["cotherm"]["pairs"].get("notes", [])
    assert list(notes) == list(result.pairs.notes)
    assert len(notes) > 0


def test_a_mudata_of_modalities_with_different_cells(tmp_path: Path) -> None:
    two = overlapping()
    with mudata.set_options(pull_on_update=False):
        mdata = mudata.MuData({"rna": two[0], "acc": two[1]})
        result = coupled_by_pairs(mdata)
        to_anndata(result, mdata, k=3, clusters=3)
        mdata.write_h5mu(tmp_path / "cells.h5mu")
        read = mudata.read_h5mu(tmp_path / "cells.h5mu")
    common = result.common_graph()
    assert read.n_obs == common.graph.n == 70
    for name, adata in read.mod.items():
        rows = read.obs_names.get_indexer(adata.obs_names)
        np.testing.assert_array_equal(read.obsm["X_cotherm"][rows], adata.obsm["X_cotherm_common"])
        assert read.obs["cotherm_clusters"].iloc[rows].tolist() == adata.obs["cotherm_clusters"].tolist(), name
    W = read.obsp["cotherm_connectivities"]
    assert W.sum() == pytest.approx(2.0 * common.graph.w.sum())
    rna = read.obs_names.get_indexer(two[0].obs_names)
    np.testing.assert_array_equal(
        W.toarray()[np.ix_(rna, rna)],
        common.graph.adjacency().toarray()[np.ix_(common.of_view(0), common.of_view(0))],
    )
    assert read.uns["cotherm"]["connectivities_key"] == "cotherm_connectivities"
    assert sorted(layout_as_muon_does(read).obsm) == ["X_umap"]
    # A result that is not by pairs has nothing for all cells.
    with mudata.set_options(pull_on_update=False):
        to_anndata(ct.align(result.graphs, [np.eye(n)[:, :3] for n in (60, 50)], k=4), mdata, k=2, clusters=2)
    assert "cotherm" not in mdata.uns
    assert "X_cotherm" not in mdata.obsm
    assert "cotherm_connectivities" not in mdata.obsp
    assert "rna:mod_weight" not in mdata.obs
    assert mdata.mod["rna"].obs["cotherm_clusters"].cat.categories.tolist() == ["0", "1"]


@pytest.mark.filterwarnings("ignore:From 0.4 .update:FutureWarning")  # mudata's default, which moves columns
def test_weights_of_modalities_are_where_muon_writes_its_own(tmp_path: Path) -> None:
    three = cells((60, 60, 60))
    for v, adata in enumerate(three):
        adata.obs_names = [f"cell {c}" for c in range(60)]
        adata.X = (np.eye(6)[np.arange(60) % 6] + 0.05 * adata.X).astype(np.float32)
        three[v] = adata[np.random.default_rng(v).permutation(60)[: 60 - 5 * v]].copy()
    mdata, without = together(three), [adata.copy() for adata in three]
    result = coupled_by_pairs(mdata)
    common = result.common_graph()
    to_anndata(result, mdata)
    mdata.update()  # as muon and files do
    mdata.write_h5mu(tmp_path / "cells.h5mu")
    read = mudata.read_h5mu(tmp_path / "cells.h5mu")
    weights = read.obs[[f"{name}:mod_weight" for name in ("rna", "met", "acc")]].to_numpy()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    for v, (name, adata) in enumerate(read.mod.items()):
        here = read.obs_names.isin(adata.obs_names)
        assert not weights[~here, v].any()
        rows = read.obs_names.get_indexer(adata.obs_names)
        np.testing.assert_array_equal(weights[rows], common.view_weights[common.of_view(v)])
        assert "mod_weight" not in adata.obs, name
    assert len(np.unique(weights)) > 60
    to_anndata(result, mdata)  # over an earlier answer
    to_anndata(result, mdata, key="other")
    np.testing.assert_array_equal(mdata.obs["met:other_mod_weight"], mdata.obs["met:mod_weight"])
    # Muon's own, under the same name, are kept.
    mdata = together(without)
    mdata.obs["met:mod_weight"] = 0.25
    assert refused(lambda: to_anndata(result, mdata)) == "key"
    assert "cotherm" not in mdata.mod["rna"].uns
    to_anndata(result, mdata, key="other")
    assert set(mdata.obs["met:mod_weight"]) == {0.25}


def layout_as_muon_does(mdata: Any) -> anndata.AnnData:
    """``mu.tl.umap(mdata, neighbors_key="cotherm")``, what it reads and in which form, without muon.

    Coordinates of several modalities stand side by side. Those of missing cells are means, for which muon (0.1.9) finds
    the columns of the first modality alone.
    """
    entry = mdata.uns["cotherm"]
    use_rep, n_pcs = ({k: None if v == -1 else v for k, v in entry["params"][x].items()} for x in ("use_rep", "n_pcs"))
    reps = {
        m: sc.tools._utils._choose_representation(mdata.mod[m], use_rep=use_rep[m], n_pcs=n_pcs[m]) for m in use_rep
    }
    X, filled = np.empty((mdata.n_obs, sum(rep.shape[1] for rep in reps.values())), np.float32), 0
    for name, rep in reps.items():
        here = mdata.obs_names.isin(mdata.mod[name].obs_names)
        X[here, filled : filled + rep.shape[1]] = rep
        if not here.all():
            X[~here, filled : rep.shape[1]] = rep.mean(axis=0)
        filled += rep.shape[1]
    adata = anndata.AnnData(X, obs=mdata.obs[[]])
    params = {**entry["params"], "use_rep": "X"}
    del params["n_pcs"]
    adata.uns["cotherm"] = {**entry, "params": params}
    for name in (entry["connectivities_key"], entry["distances_key"]):
        adata.obsp[name] = mdata.obsp[name]
    sc.tl.umap(adata, neighbors_key="cotherm", maxiter=10)
    assert np.isfinite(adata.obsm["X_umap"]).all()
    sc.tl.leiden(mdata, neighbors_key="cotherm", flavor="igraph", n_iterations=2, directed=False)
    assert mdata.obs["leiden"].nunique() > 1
    return adata


def test_a_mudata_that_takes_other_cells_for_the_same() -> None:
    """Pairs that are not by name, and cells left out since: the modalities alone are written."""
    two = overlapping()
    with mudata.set_options(pull_on_update=False):
        mdata = mudata.MuData({"rna": two[0], "acc": two[1]})
        graphs = anndata_graphs(mdata, rep="X", k=6)
        few = anndata_pairs(mdata)[:30]  # ten cells of the same name are not said to be the same
        to_anndata(ct.couple_pairs(graphs, few, options={"kept_back": 0, "n_modes": 3, "max_iterations": 2}), mdata)
        assert "cotherm" not in mdata.uns
        assert "X_cotherm_common" in mdata.mod["rna"].obsm
        assert "mod_weight" in mdata.mod["rna"].obs
        mdata.mod["rna"] = two[0][:50].copy()
        to_anndata(coupled_by_pairs(mdata), mdata)
        assert "cotherm" not in mdata.uns
        mdata.update()
        mdata.obsm["X_cotherm"] = np.zeros((mdata.n_obs, 2))
        assert refused(lambda: to_anndata(coupled_by_pairs(mdata), mdata)) == "key"


def test_cells_are_paired_by_name() -> None:
    two = overlapping()
    table = anndata_pairs(two)
    assert table.shape == (40, 2)
    for row in table:
        assert two[0].obs_names[row[0]] == two[1].obs_names[row[1]]
    three = cells((10, 10, 10))
    for v, adata in enumerate(three):
        adata.obs_names = [f"cell {c}" for c in range(3 * v, 3 * v + 10)]
    assert (anndata_pairs(together(three)) >= 0).sum(axis=1).tolist() == [2] * 3 + [3] * 4 + [2] * 3
    assert (anndata_pairs(three)[:, 0] >= 0).sum() == 7
    three[1].obs_names = ["cell 5", *three[1].obs_names[1:]]
    with pytest.raises(ct.CothermError) as caught:
        anndata_pairs(three)
    assert "adatas[1].obs_names: 'cell 5' twice, at 0 and 2" in str(caught.value)
    assert "obs_names_make_unique" in str(caught.value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mudata warns of names that are there twice
        renamed = together(three)
    with pytest.raises(ct.CothermError, match=r"adatas\['met'\]\.obs_names: 'cell 5' twice"):
        anndata_pairs(renamed)
    with pytest.raises(ct.CothermError, match="no name that is in two of them"):
        anndata_pairs(cells((10, 10)))
    assert refused(lambda: anndata_pairs(two[:1])) == "adatas"
    thing: Any = two[0]
    assert refused(lambda: anndata_pairs(thing)) == "adatas"


def test_an_earlier_answer_is_replaced_and_nothing_else() -> None:
    two = cells((30, 30))
    views = ct.datasets.ring(30)
    to_anndata(ct.average(views.graphs), two)
    to_anndata(ct.align(views.graphs, views.functions, k=4), two, k=2, t=1.0)
    assert not list(two[0].obsp)
    assert two[0].obsm["X_cotherm"].shape == (30, 2)
    assert two[0].uns["cotherm"]["time_of_embedding"] == 1.0
    sc.pp.neighbors(two[1], use_rep="X", n_neighbors=5)
    before = two[0].uns.copy()
    assert refused(lambda: to_anndata(ct.average(views.graphs), two, key="neighbors")) == "key"
    assert two[0].uns.keys() == before.keys()  # nothing half written
    two[0].obsm["X_mine"] = np.zeros((30, 2))
    assert refused(lambda: to_anndata(ct.average(views.graphs), two, key="mine")) == "key"
    two[1].obs["cotherm_clusters"] = "of another"
    assert refused(lambda: to_anndata(ct.average(views.graphs), two, clusters=2)) == "key"


def test_what_is_refused() -> None:
    two = cells((30, 30))
    result = ct.average(ct.datasets.ring(30).graphs)
    thing: Any
    for thing in (None, result.graphs, two):
        assert refused(partial(to_anndata, thing, two)) == "result"
    for thing in ("", "a/b", 3):
        assert refused(partial(to_anndata, result, two, key=thing)) == "key"
    assert refused(lambda: to_anndata(result, two[:1])) == "adatas"
    assert refused(lambda: to_anndata(result, cells((30, 31)))) == "adatas"
    assert refused(lambda: to_anndata(result, [two[0], cells((40,))[0][:30]])) == "adatas[1]"
    assert refused(lambda: to_anndata(result, [two[0], two[0]])) == "adatas"
    assert refused(lambda: to_anndata(result, two, k=30)) == "k"
    assert refused(lambda: to_anndata(result, two, t=-1.0)) == "t"
    assert refused(lambda: to_anndata(result, two, clusters=0)) == "clusters"
    assert "cotherm" not in two[0].uns


def test_scnmt_end_to_end(data_file: Callable[[str], Path], tmp_path: Path) -> None:
    """Real cells: expression, methylation and accessibility of different cells, half of the stages known."""
    random = np.random.default_rng(0)
    modalities = []
    for short in ("rna", "met", "acc"):
        adata = anndata.AnnData(np.loadtxt(data_file(f"scnmt/{short}_30.txt")))
        adata.obs_names = [f"{short}-{c}" for c in range(adata.n_obs)]
        stage = STAGES[np.loadtxt(data_file(f"scnmt/{short}_stage.txt")).astype(int)]
        adata.obs["stage"] = pd.Categorical(stage, categories=STAGES.tolist())
        adata.obs["known"] = adata.obs["stage"].where(random.random(adata.n_obs) < 0.5)
        sc.pp.neighbors(adata, use_rep="X", n_neighbors=15)
        modalities.append(adata)
    graphs = anndata_graphs(modalities)
    functions, stages = anndata_functions(modalities, "known")
    assert stages == STAGES.tolist()
    result = ct.couple(graphs, functions, [1.0], 1e3, options={"continuation": "direct", "max_iterations": 3})
    assert result.coupling[0] < result.coupling_before[0]
    to_anndata(result, modalities)
    for adata, graph in zip(modalities, result.graphs, strict=True):
        read = through_a_file(adata, tmp_path / "cells.h5ad")
        assert from_anndata(read, "cotherm").w.sum() == pytest.approx(graph.w.sum(), rel=1e-12)
    scanpy_runs(read)


def test_the_code_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands, on files like those it speaks of."""
    text = (Path(__file__).parents[2] / "docs" / "single-cell.md").read_text(encoding="utf-8")
    code = "\n".join(block.split("```")[0] for block in text.split("```python\n")[1:])
    monkeypatch.chdir(tmp_path)
    for name, adata in zip(("rna", "met", "acc"), cells(), strict=True):
        adata.obs["stage"] = adata.obs["known"]
        adata.write_h5ad(f"{name}.h5ad")
    for name, adata in zip(("rna", "atac"), overlapping(), strict=True):
        adata.write_h5ad(f"multiome-{name}.h5ad")
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["result"].coupling[0] < names["result"].coupling_before[0]
    assert anndata.read_h5ad("met-coupled.h5ad").uns["cotherm"]["view"] == 1
    assert len(names["near"].indices) == 20
    assert names["everything"].obsm["X_umap"].shape == (201, 2)
    assert names["pairs"].shape == (40, 2)
    assert names["both"][1].obsm["X_cotherm_common"].shape == (50, 10)


def test_what_files_cannot_hold_is_made_plain() -> None:
    plain = _plain({"none": None, "pair": (1, 2), "words": ["a", "b"], "deep": {"nested": [[1], [2, 3]], "none": None}})
    assert plain.keys() == {"pair", "words", "deep"}
    assert plain["pair"].tolist() == [1, 2]
    assert plain["words"].tolist() == ["a", "b"]
    assert plain["deep"] == {"nested": "[[1], [2, 3]]"}


@pytest.mark.parametrize("home", ["anndata", "igraph", "networkx", "pandas"])
def test_docstring_examples(home: str) -> None:
    result = doctest.testmod(import_module(f"cotherm.interop.{home}"))
    assert result.attempted > 3
    assert not result.failed
