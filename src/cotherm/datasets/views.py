"""The shape every data set comes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.arrays import Floats
from cotherm.graphs.graph import Graph


@dataclass(frozen=True)
class Views:
    """The same things seen in several ways: a graph for each view, corresponding functions, and times to look at.

    Column c of every array in ``functions`` is the same function seen on that view's graph. Where the truth is known,
    for judging: ``wrong`` marks the edges of each graph that should not be there, ``labels`` are the classes of the
    vertices, and ``aligned`` says that vertex v is the same thing in all views. Where it is not, ``classes`` are those
    of the vertices of each view, and ``correspondence`` is a matrix that carries functions on the first graph to the
    second.
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
