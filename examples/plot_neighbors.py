"""
One pair of graphs, seven methods
=================================

One pair of graphs, seven methods: what each makes of two eccentric circles bridged in different places.

Run it: python examples/plot_neighbors.py [PICTURE]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import cotherm as ct

# %%
# Two circles, one inside the other. In the first graph they touch on the right, in the second on the left: no bridge is
# in both graphs.

views = ct.datasets.circles()
first, second = views.graphs
outer = np.arange(first.n) < first.n // 2

# %%
# Methods that give graphs, then methods that give coordinates.

average = ct.average(views.graphs)
commuting = ct.closest_commuting(views.graphs, valid=True, restarts=0)
coupled = ct.couple(views.graphs, views.functions, views.times, alpha=1e6)
joint = ct.joint_diagonalize(views.graphs)
bases = ct.coupled_bases(views.graphs, views.functions, k=6)
aligned = ct.align(views.graphs, views.functions, k=6)

# %%
# The average keeps both bridges at half their weight. Coupling cuts them in both graphs.

figure = Figure(figsize=(11, 8.4), layout="constrained")
axes = figure.subplots(3, 3)

for ax, graph, title in (
    (axes[0, 0], first, "given: touching right"),
    (axes[0, 1], second, "given: touching left"),
    (axes[0, 2], average.graph, "average: both bridges, weaker"),
    (axes[1, 0], commuting.graphs[0], "closest commuting, first graph"),
    (axes[1, 1], commuting.graphs[1], "closest commuting, second graph"),
    (axes[1, 2], coupled.graphs[0], "coupled, first graph: bridges cut"),
):
    ct.draw.draw_graph(graph, outer.astype(float), ax=ax)
    ax.set_title(title, fontsize=11)

for ax, result, title in (
    (axes[2, 0], joint, "joint diagonalization"),
    (axes[2, 1], bases, "coupled bases"),
    (axes[2, 2], aligned, "alignment"),
):
    for points, marker in zip(result.embedding(2), "o+", strict=True):
        ax.scatter(*points.T, c=outer, cmap="viridis", marker=marker, s=26, alpha=0.8)
    ax.set_title(f"{title}: modes 1 and 2", fontsize=11)
    ax.set_xticks([])
    ax.set_yticks([])

picture = Path(sys.argv[1] if len(sys.argv) > 1 else "out/neighbors.png")
picture.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(picture, dpi=110)
sys.stdout.write(f"{coupled}\n\n{commuting}\n\nPicture: {picture}\n")

# %%
# What the picture shows, in numbers:

bridges = views.wrong[0]
assert coupled.graphs[0].w[bridges].sum() < 1e-2 * first.w[bridges].sum()
assert commuting.commutator < 1e-9 * commuting.commutator_before
assert all(report.valid for report in commuting.validity())
assert joint.off < joint.off_before
