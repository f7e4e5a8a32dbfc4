"""
Which point of one body is which of the other
=============================================

Colors carried from one body to another whose hands touch: matched as given, and after coupling.

Run it: python examples/plot_match.py [PICTURE]
"""

import sys
from pathlib import Path

import numpy as np

import cotherm as ct

# %%
# The body stands in two poses. With joined hands, the graph of nearest neighbors has edges from hand to hand, which
# are wrong. Coupling cuts them.

views = ct.datasets.human(400)
joined, apart = views.graphs
coupled = ct.couple(views.graphs, views.functions, views.times, alpha=1e6)

# %%
# Vertices of the first graph are looked for on the second. A bump on each hand tells left from right.

before = ct.match(views.graphs, views.functions)
after = ct.match(coupled, views.functions)

# %%
# A color for every vertex of the second body, from the fingers of one hand to those of the other, is carried to the
# first. Both graphs have the same samples of the body, vertex by vertex, so that the truth is known; ``match`` is not
# told.

color = apart.coordinates[:, 0]
shown = [
    [color, before.transfer(color, to="source"), after.transfer(color, to="source")],
    [color, color, color],
]
figure = ct.draw.draw_bodies(
    [[joined, joined, coupled.graphs[0]], [apart, apart, coupled.graphs[1]]],
    shown,
    titles=["the truth", "matched as given", "coupled, then matched"],
    names=["hands joined: carried", "hands apart: given"],
    up=2,
    azimuth=65.0,
)
picture = Path(sys.argv[1] if len(sys.argv) > 1 else "out/match.png")
picture.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(picture, dpi=110)
sys.stdout.write(f"{before}\n\n{after}\n\nPicture: {picture}\n")

# %%
# How far the vertices that were found are from the true ones:

error = {
    name: np.linalg.norm(apart.coordinates[found.hard] - apart.coordinates, axis=1).mean()
    for name, found in (("as given", before), ("coupled", after))
}
sys.stdout.write(f"Mean error in centimeters: {error['as given']:.1f} as given, {error['coupled']:.1f} coupled\n")
assert error["coupled"] < 3.0
assert error["coupled"] < 0.2 * error["as given"]
