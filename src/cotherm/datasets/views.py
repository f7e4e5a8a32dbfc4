"""The shape every data set comes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph
from cotherm.notebook import ArraysInShort


@dataclass(frozen=True, repr=False)
class Views(ArraysInShort):
    """Data set with several views of the same items: a graph and corresponding functions for each view.

    Parameters
    ----------
    name : str
        Name of the data set.
    graphs : tuple of Graph
        Graph of each view.
    functions : tuple of ndarray of shape (n_k, q)
        Corresponding functions: column c of every array is the same function on the graph of that view.
    times : tuple of float
        Diffusion times that suit the data.
    wrong : tuple of ndarray of bool, optional
        For evaluation, the edges of each graph that should not be there.
    labels : ndarray of shape (n,), optional
        For evaluation, the classes of the vertices, where all views have the same vertices.
    aligned : bool, default False
        Whether vertex v is the same item in all views.
    classes : tuple of ndarray, optional
        For evaluation, the classes of the vertices of each view, where the vertices differ.
    correspondence : ndarray of shape (n_2, n_1), optional
        For evaluation, a matrix that carries functions from the first graph to the second.

    See Also
    --------
    cotherm.couple : Couple the graphs of the views.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> [graph.name for graph in views.graphs]
    ['ring', 'cracked ring']
    """

    name: str
    graphs: tuple[Graph, ...]
    functions: tuple[Floats, ...]
    times: tuple[float, ...]
    wrong: tuple[NDArray[np.bool_], ...] | None = None
    labels: NDArray[Any] | None = None
    aligned: bool = False
    classes: tuple[NDArray[Any], ...] | None = None
    correspondence: Floats | None = None
