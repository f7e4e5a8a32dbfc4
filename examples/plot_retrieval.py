"""
A weak view borrows from a strong one
=====================================

145 made-up photographs of seven classes: some classes share their colors, others their words. Which photographs are
nearest, by diffusion distance in each view alone, in their average, and after coupling by their classes?

As in the paper all classes are known to the coupling. What if only half of the photographs of each class are, and the
others are judged? Then the words still gain, and the colors do not: edges are changed where something is known.

Run it: python examples/plot_retrieval.py [PICTURE]
"""

import sys
from pathlib import Path

import numpy as np

import cotherm as ct

views = ct.datasets.ambiguous()
labels = views.labels
rng = np.random.default_rng(0)
half = np.concatenate([rng.permutation(np.flatnonzero(labels == c))[: np.sum(labels == c) // 2] for c in set(labels)])
others = np.setdiff1d(np.arange(len(labels)), half)


# %%
# Coupling with the classes of some photographs, the words being trusted four times as much.
def coupled(known):
    F = ct.label_functions(np.where(np.isin(np.arange(len(labels)), known), labels, -1), unlabeled=-1, unit_norm=False)
    return ct.couple(views.graphs, [F, F], times=[0.2, 0.75], alpha=1e6, options={"rigidity": [4, 1]}).graphs


def judged(graph, photographs):
    """How many of the nearest of a photograph are of its class?"""
    distances = ct.diffusion_distance(graph, 1.0)[np.ix_(photographs, photographs)]
    return ct.evaluate.retrieval(distances, labels[photographs])


# %%
# The paper's protocol, and the harder one.
names = ("words", "colors", "average", "words, coupled", "colors, coupled")
found = {}
for share, known, asked in (("all", np.arange(len(labels)), np.arange(len(labels))), ("half", half, others)):
    graphs = (*views.graphs, ct.average(views.graphs).graph, *coupled(known))
    found[share] = {name: judged(graph, asked) for name, graph in zip(names, graphs, strict=True)}
    sys.stdout.write(f"mAP, {share} of the classes known\n")
    for name, answer in found[share].items():
        sys.stdout.write(f"  {name:<18}{answer.mean_average_precision:.3f}\n")

styles = {"words": (1, 3), "colors": (0, 3), "average": (2, 2), "words, coupled": (1, 0), "colors, coupled": (0, 0)}
curves = {name: answer.curve() for name, answer in found["all"].items()}
figure = ct.draw.draw_curves(curves, x="recall", y="precision", styles=styles)
picture = Path(sys.argv[1] if len(sys.argv) > 1 else "out/retrieval.png")
picture.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(picture, dpi=110)
sys.stdout.write(f"Picture: {picture}\n")

everything = {name: answer.mean_average_precision for name, answer in found["all"].items()}
assert everything["colors, coupled"] > everything["colors"] + 0.2
assert everything["words, coupled"] > everything["words"] + 0.05
assert found["half"]["words, coupled"].mean_average_precision > found["half"]["words"].mean_average_precision + 0.02
