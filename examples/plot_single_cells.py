"""
Single cells from AnnData and back
==================================

Three modalities of different cells, half of their stages known: from AnnData to coupled graphs, files and scanpy.

Run it: python examples/plot_single_cells.py [PICTURE]

With COTHERM_DATA set to a directory that holds scnmt/, on the cells of scNMT; else on made-up ones. It needs scanpy.
"""

import os
import sys
import tempfile
from itertools import permutations
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import scanpy as sc
from matplotlib.figure import Figure
from sklearn.neighbors import KNeighborsClassifier

import cotherm as ct

# %%
# The cells of three modalities, none of which was measured twice. Without data, a path through four stages is made up.

STAGES = ["E4.5", "E5.5", "E6.5", "E7.5"]
MODALITIES = ["expression", "methylation", "accessibility"]


def scnmt(folder):
    for short in ("rna", "met", "acc"):
        yield np.loadtxt(folder / f"{short}_30.txt"), np.loadtxt(folder / f"{short}_stage.txt").astype(int)


def made_up(random):
    """A path through four stages, seen in three modalities by different cells and through different noise."""
    bends = random.standard_normal((len(STAGES), 8)) * 2.5
    for n, noise in ((240, 0.7), (290, 1.0), (260, 1.3)):
        time = random.random(n) * 2.99 + 0.005
        low = time.astype(int)
        place = bends[low] + (time - low)[:, np.newaxis] * (bends[low + 1] - bends[low])
        yield (
            (place + noise * random.standard_normal((n, 8))) @ random.standard_normal((8, 20)),
            time.round().astype(int),
        )


# %%
# In scanpy: an AnnData for each modality, with its graph of neighbors. Half of the stages are known.

sc.settings.verbosity = "error"  # it warns that graphs are not made by UMAP, which these are not
random = np.random.default_rng(0)
data = os.environ.get("COTHERM_DATA")
cells = []
for X, stage in scnmt(Path(data) / "scnmt") if data else made_up(random):
    adata = anndata.AnnData(X, obs=pd.DataFrame(index=[f"cell {c}" for c in range(len(X))]))
    adata.obs["stage"] = pd.Categorical.from_codes(stage, STAGES)
    adata.obs["known"] = adata.obs["stage"].where(random.random(len(X)) < 0.5)
    sc.pp.neighbors(adata, use_rep="X", n_neighbors=15)
    cells.append(adata)

# %%
# In cotherm: graphs that agree on how heat flows from stage to stage, and a space that all cells share. Both are
# written back.

graphs = ct.interop.anndata_graphs(cells)
functions, stages = ct.interop.anndata_functions(cells, "known")
coupled = ct.couple(graphs, functions, times=[1.0], alpha=1e3, options={"continuation": "direct"})
aligned = ct.align(graphs, functions, k=10, normalized=True)
ct.interop.to_anndata(coupled, cells)
ct.interop.to_anndata(aligned, cells, key="aligned")

# %%
# Written and read again, scanpy works on them as on its own.

with tempfile.TemporaryDirectory() as folder:
    for v, adata in enumerate(cells):
        adata.write_h5ad(Path(folder) / f"{v}.h5ad")
    cells = [anndata.read_h5ad(Path(folder) / f"{v}.h5ad") for v in range(len(cells))]
for adata in cells:
    for key in ("neighbors", "cotherm"):
        sc.tl.umap(adata, neighbors_key=key, key_added=f"umap_{key}", maxiter=200)
        sc.tl.leiden(
            adata, neighbors_key=key, key_added=f"leiden_{key}", flavor="igraph", n_iterations=2, directed=False
        )

# %%
# Judged on the cells whose stages were not used: clusters of each modality, and stages carried from one to another.

known = [adata.obs["known"].notna().to_numpy() for adata in cells]
truth = [adata.obs["stage"].cat.codes.to_numpy() for adata in cells]
rows = []
for name, adata, own, right in zip(MODALITIES, cells, known, truth, strict=True):
    scores = [
        ct.evaluate.clustering_scores(right[~own], adata.obs[f"leiden_{key}"].cat.codes.to_numpy()[~own])["AMI"]
        for key in ("neighbors", "cotherm")
    ]
    rows.append(f"{name:<16}{scores[0]:>10.3f}{scores[1]:>10.3f}")
space = [adata.obsm["X_aligned"] for adata in cells]
transfer = np.mean(
    [
        KNeighborsClassifier(5).fit(X[seen], own[seen]).score(Y[~others], theirs[~others])
        for (X, own, seen), (Y, theirs, others) in permutations(zip(space, truth, known, strict=True), 2)
    ]
)
chance = np.bincount(np.concatenate(truth)).max() / sum(map(len, truth))

# %%

figure = Figure(figsize=(10.5, 9.6), layout="constrained")
axes = figure.subplots(3, 3)
titles = ("UMAP of the graph by scanpy", "UMAP of the coupled graph", "alignment: one space for all cells")
for name, row, adata in zip(MODALITIES, axes, cells, strict=True):
    for ax, key in zip(row, ("umap_neighbors", "umap_cotherm", "X_aligned"), strict=True):
        dots = ax.scatter(*adata.obsm[key][:, :2].T, c=adata.obs["stage"].cat.codes, cmap="viridis", s=9)
        ax.set_xticks([])
        ax.set_yticks([])
    row[0].set_ylabel(f"{name}, {adata.n_obs} cells")
for ax, title in zip(axes[0], titles, strict=True):
    ax.set_title(title, fontsize=11)
points = np.vstack([x[:, :2] for x in space])
for ax in axes[:, 2]:  # one space, one frame
    ax.update_datalim(points)
    ax.autoscale_view()
axes[0, 0].legend(dots.legend_elements()[0], stages, fontsize=8, frameon=False)

picture = Path(sys.argv[1] if len(sys.argv) > 1 else "out/single-cells.png")
picture.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(picture, dpi=110)
table = "\n".join([f"{'AMI of Leiden':<16}{'before':>10}{'coupled':>10}", *rows])
sys.stdout.write(
    f"{coupled}\n\n{table}\n\nstages carried to other modalities by alignment: {transfer:.3f} "
    f"(always the most frequent: {chance:.3f})\n\nPicture: {picture}\n"
)

assert stages == STAGES
assert coupled.converged
assert coupled.coupling[0] < 0.9 * coupled.coupling_before[0]
assert transfer > 1.5 * chance
assert all(np.isfinite(adata.obsm["umap_cotherm"]).all() for adata in cells)
