"""
Wrong edges found and cut
=========================

Two eccentric circles, bridged on one side in the first view and on the other in the second. Four functions are known to
correspond, nothing else. Which edges are wrong?

Run it: python examples/plot_surgery.py [PICTURE]
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import cotherm as ct

views = ct.datasets.circles()

# %%
# Times and α come from the data; the answer says which edges were cut.
result = ct.couple(views.graphs, views.functions, times="auto", alpha="auto")
changes = result.changes(cut=0.05)

# %%
# Heat from one function, before and after, on both; dotted edges were cut.
t = 10.0
figure = Figure(figsize=(8.5, 8.5), layout="constrained")
axes = figure.subplots(2, 2)
for column, (state, graphs) in enumerate((("before", views.graphs), ("coupled", result.graphs))):
    for row, (graph, F) in enumerate(zip(graphs, views.functions, strict=True)):
        heat = ct.heat_flow(graph, F[:, 0], [t])[0, :, 0]
        marked = changes[row].kind == "cut" if column else None
        ct.draw.draw_graph(graph, heat, ax=axes[row, column], limits=(0.0, 0.15), marked=marked)
        axes[row, column].set_title(f"view {row + 1}, {state}: heat at t = {t:g}")

picture = Path(sys.argv[1] if len(sys.argv) > 1 else "out/surgery.png")
picture.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(picture, dpi=110)
sys.stdout.write(f"{result}\n\nPicture: {picture}\n")

for graph, original, wrong in zip(result.graphs, views.graphs, views.wrong, strict=True):
    assert graph.w[wrong].sum() < 0.02 * original.w[wrong].sum()
assert result.coupling.max() < 0.1 * result.coupling_before.max()
