"""Items of seven classes that neither of two views tells apart alone, made by our own code: NUS without its data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from cotherm import validation
from cotherm.arrays import Floats, Ints
from cotherm.datasets.views import Views
from cotherm.functions import label_functions
from cotherm.graphs.build import knn_graph

# The sizes of the classes are those of NUS.
_SIZES = (33, 30, 17, 19, 15, 15, 16)
# Classes that share most of their tags, and classes that share most of their colors: no pair shares both.
_ALIKE_IN_TAGS = ((0, 1), (2, 3), (4, 5))
_ALIKE_IN_COLORS = ((1, 2), (3, 4), (5, 6))
# Every class favors some tags and shares most of them with the class it resembles. An item has a few of those and a few
# arbitrary ones.
_TAGS, _FAVORED, _SHARED, _OWN, _STRAY = 1000, 10, 7, 6.8, 2.0
# Colors vary in few directions. Items deviate from their class, and classes that resemble each other are closer.
_BINS, _DIRECTIONS, _FAR, _DEVIATION, _CLOSER = 64, 8, 2.5, 0.6, 0.8


def ambiguous(seed: int = 0) -> Views:
    """Make items of seven classes that neither of two views separates by itself.

    145 items with tags and colors. Some classes share most of their tags, others their colors. What one view confuses
    the other separates, so that together they say more than either. They stand for the photographs of the paper's
    experiment NUS: as many items and classes, and graphs, functions and times made alike.

    Parameters
    ----------
    seed : int, default 0
        Seed of the random items.

    Returns
    -------
    Views
        The graphs of tags and colors; the functions are the indicators of the classes.

    See Also
    --------
    circles : Two circles that touch in different places.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ambiguous()
    >>> views.functions[0].shape
    (145, 7)
    """
    tags, colors, labels = ambiguous_points(seed)
    points: tuple[tuple[Any, str], ...] = ((tags, "tags"), (colors, "colors"))
    graphs = tuple(
        knn_graph(X, 25, scale_neighbor=15, scale_factor=4.0, symmetrize="mean", labels=labels, name=name)
        for X, name in points
    )
    F = label_functions(labels, unit_norm=False)
    return Views("ambiguous", graphs, (F, F), times=(0.75, 1.0, 1.25), labels=labels, aligned=True)


def ambiguous_points(seed: int = 0) -> tuple[sp.csr_array, Floats, Ints]:
    """What the graphs of :func:`ambiguous` are made of: tags (145, 1000) of 0 and 1, colors (145, 64), classes."""
    rng = np.random.default_rng(validation.integer("seed", seed, least=0))
    labels = np.repeat(np.arange(len(_SIZES), dtype=np.int64), _SIZES)
    return _tags(labels, rng), _colors(labels, rng), labels


def _tags(labels: Ints, rng: np.random.Generator) -> sp.csr_array:
    """The tags of each item: those its class favors, and others by their popularity."""
    favored = rng.permutation(_TAGS)[: len(_SIZES) * _FAVORED].reshape(len(_SIZES), _FAVORED)
    for one, other in _ALIKE_IN_TAGS:
        favored[other, :_SHARED] = favored[one, :_SHARED]
    popular = 1.0 / (10.0 + np.arange(_TAGS))
    chance = np.tile(_STRAY * popular / popular.sum(), (len(_SIZES), 1))
    np.put_along_axis(chance, favored, _OWN / _FAVORED, axis=1)
    return sp.csr_array((rng.random((len(labels), _TAGS)) < chance[labels]).astype(np.float64))


def _colors(labels: Ints, rng: np.random.Generator) -> Floats:
    """Histograms of colors: each class has a palette, from which its items deviate; every bin is then standardized."""
    # Equal distances first, so that seeds are about equally hard; then some pairs are moved closer.
    palettes = _FAR * np.eye(len(_SIZES), _DIRECTIONS)
    for pair in map(list, _ALIKE_IN_COLORS):
        palettes[pair] += _CLOSER * (palettes[pair].mean(axis=0) - palettes[pair])
    places = palettes[labels] + _DEVIATION * rng.standard_normal((len(labels), _DIRECTIONS))
    values = np.exp(places @ rng.standard_normal((_DIRECTIONS, _BINS)) / np.sqrt(_DIRECTIONS))
    histograms = values / values.sum(axis=1, keepdims=True)
    return (histograms - histograms.mean(axis=0)) / histograms.std(axis=0)
