"""Diffusion distances on a large graph at very long times, when all but its smoothest modes have decayed.

d_t(p, q)² = Σ_k e^{−2tλ_k} (φ_kp − φ_kq)²: the modes that have not decayed are a short list of coordinates.
"""

from __future__ import annotations

import numpy as np

from cotherm.arrays import Floats, Ints
from cotherm.engines import Engine, default_engine
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.graphs.search.neighbors import nearest_neighbors
from cotherm.heat.spectrum import smoothest

_MODES = 96
# A mode has decayed when it is this much weaker than the slowest that decays.
_DECAYED = 1e-6


def coordinates(graph: Graph, t: float, engine: Engine | None = None) -> Floats | None:
    """The modes that have not decayed at time t, e^{−tλ}φ as columns, or None if they are too many."""
    try:
        spectrum = smoothest(graph, _MODES, engine=engine)
    except CothermError:  # no gap in the spectrum to stop at
        return None
    if t * float(spectrum.values[-1] - spectrum.values[1]) < -np.log(_DECAYED):
        return None
    return spectrum.vectors * spectrum.decay(t)


def rows(modes: Floats, sources: Ints) -> Floats:
    """Distances from each source to every vertex."""
    squares = np.zeros((len(sources), len(modes)))
    default_engine().add_squared_differences(
        modes, sources, np.broadcast_to(np.arange(len(modes)), squares.shape), squares
    )
    return np.sqrt(squares)


def nearest(modes: Floats, sources: Ints, k: int) -> tuple[Ints, Floats]:
    """The k nearest of each source."""
    # Rescaled, because heat at late times is small everywhere, and the search refuses tiny numbers.
    scale = float(np.abs(modes - modes.mean(axis=0)).max()) or 1.0
    found = nearest_neighbors((modes - modes.mean(axis=0)) / scale, k, search="exact")
    return found.indices[sources].astype(np.int64), scale * found.distances[sources]
