"""Other libraries that cluster items with missing views: imml's NEMO, PIMVC and EEIMVC, and the factors of mofapy2.

Each gets a table for every view, with rows of NaN where an item is not in it, and its own default options.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.suite.parts import Library
from cotherm.arrays import Floats, Ints

Tables = Sequence[Floats]
Peer = Callable[[Tables, int, int], Ints]  # tables, clusters, seed

IMML = Library("imml", "pip install imml")
MOFA = Library("mofapy2", "pip install mofapy2")


def standardized(tables: Tables) -> list[Floats]:
    """Columns of mean 0 and deviation 1 over the items that a view has; a column without deviation stays 0."""
    found = []
    for X in tables:
        deviation = np.nanstd(X, axis=0)
        found.append((X - np.nanmean(X, axis=0)) / np.where(deviation > 0.0, deviation, 1.0))
    return found


def nemo(tables: Tables, clusters: int, seed: int) -> Ints:
    from imml.cluster import NEMO

    return np.asarray(NEMO(n_clusters=clusters, random_state=seed).fit_predict(list(tables)))


def pimvc(tables: Tables, clusters: int, seed: int) -> Ints:
    from imml.cluster import PIMVC

    return np.asarray(PIMVC(n_clusters=clusters, random_state=seed).fit_predict(list(tables)))


def eeimvc(tables: Tables, clusters: int, seed: int) -> Ints:
    """Its kernel is by default that of dot products."""
    from imml.cluster import EEIMVC

    return np.asarray(EEIMVC(n_clusters=clusters, random_state=seed).fit_predict(list(tables)))


def mofa(tables: Tables, clusters: int, seed: int) -> Ints:
    """k-means on the factors."""
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(clusters, n_init=10, random_state=seed).fit_predict(factors(tables, seed)))


def factors(tables: Tables, seed: int) -> Floats:
    """MOFA's factors; views are scaled to unit variance, as its guide says for views of different ranges."""
    from mofapy2.run.entry_point import entry_point

    model = entry_point()
    model.set_data_options(scale_views=True)
    model.set_data_matrix([[X.copy()] for X in tables])
    model.set_model_options()
    model.set_train_options(seed=seed, quiet=True)
    model.build()
    model.run()
    return np.asarray(model.model.nodes["Z"].getExpectation())


PEERS: dict[str, tuple[Peer, Library]] = {
    "NEMO": (nemo, IMML),
    "PIMVC": (pimvc, IMML),
    "EEIMVC": (eeimvc, IMML),
    "MOFA, k-means": (mofa, MOFA),
}
