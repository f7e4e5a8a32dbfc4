"""From graphs, coupled or not, to a correspondence of their vertices: the verb."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.engines.threads import limited_blas
from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.heat.coupling import functions_mismatch
from cotherm.heat.spectrum import Spectrum
from cotherm.methods.coupling.auto import useful_strength
from cotherm.methods.coupling.result import STRENGTH, Coupling
from cotherm.methods.matching.modes import default_times, first, graph_modes, signatures, time_ratio
from cotherm.methods.matching.refinement import Space, agreement, chance, from_signatures, refined, round_trip, shares
from cotherm.methods.matching.result import APPROXIMATE, BY_CHANCE, SUPPORTED, UNCERTAIN, UNJUDGED, Match
from cotherm.methods.result import JointBases, JointGraphs, JointResult
from cotherm.methods.validation import checked_graphs, checked_views, is_auto, versions

# Modes by default: one for every ``_PART`` vertices of the smaller graph, at most ``_MODES``.
_MODES, _PART = 150, 4
# The number of first modes that the signatures decide.
_FIRST = 15
# The part of the vertices at which halves of the functions must agree for a match to count as supported, and how
# far above chance for it to count at all; clouds with more noise than structure came to 0.08 above it (benchmark).
_SUPPORTED, _ABOVE_CHANCE = 0.5, 0.09


def match(
    result: JointResult | Sequence[Graph],
    functions: Sequence[ArrayLike] | None = None,
    *,
    source: int = 0,
    target: int = 1,
    n_modes: int | None = None,
    n_initial_modes: int | None = None,
    times: ArrayLike | str = "auto",
    n_neighbors: int = 10,
    refine: bool = True,
    n_splits: int = 2,
) -> Match:
    r"""Find which vertices of two graphs correspond, and the functional map between them.

    In three steps:

    1. The heat flow of the corresponding functions at several times, :math:`e^{-tL} F`, gives signatures of vertices.
    2. The functional map C of the first modes minimizes

       .. math:: \|C B - A\|_F^2 + \mu \|C \Lambda_t - \Lambda_s C\|_F^2,

       where A and B are the coefficients of the signatures on source and target: C carries the signatures of the
       target to those of the source and nearly commutes with the Laplacians [1]_.
    3. C is upsampled to all modes, in both directions at once [2]_. Vertices that are close in the modes correspond.

    Parameters
    ----------
    result : JointResult or sequence of Graph
        A result with graphs, such as that of :func:`cotherm.couple`, or a sequence of graphs of any sizes. Or a
        result whose bases correspond (:func:`cotherm.coupled_bases`, :func:`cotherm.align`): then the bases replace
        steps 1 and 2, and no functions are given.
    functions : sequence of array_like of shape (n_v, q), optional
        Corresponding functions of each graph: column c is the same function on every graph. By default those of the
        coupling.
    source : int, default 0
        Which graph to match from. For all pairs call the function for each.
    target : int, default 1
        Which graph to match to.
    n_modes : int, optional
        Number of modes in the end. By default 150, or a quarter of the vertices of the smaller graph but at least 30.
    n_initial_modes : int, optional
        Number of modes that the signatures determine, 15 by default.
    times : "auto" or array_like of float, default "auto"
        Times of the signatures, in units of the target. On the source they are divided by how many times faster heat
        diffuses there, from the ratio of the eigenvalues. "auto": six times, from the scale of the last of the
        initial modes to that of the smoothest.
    n_neighbors : int, default 10
        Maximum number of vertices that share a vertex in the soft correspondence.
    refine : bool, default True
        Whether to upsample. False stops at the first functional map, or at the bases that were given.
    n_splits : int, default 2
        How often the functions are divided into halves at random. Each half is matched by itself, and where both
        halves agree the match is supported: see ``Match.agreement``. 0 leaves that out; each takes about twice the time
        of the match. With fewer than two functions, or with bases that were given, there is nothing to divide.

    Returns
    -------
    Match
        Hard and soft correspondence in both directions, how far halves of the functions agree, and the functional map.

    Raises
    ------
    CothermError
        If an argument cannot be used, or if there are no functions.

    See Also
    --------
    couple : Remove wrong edges first.
    align : Modes of one joined graph.
    evaluate.geodesic_error : Compare a match with the truth.

    Notes
    -----
    A body and its mirror image have the same modes: heat alone does not distinguish left from right. The functions
    do. Give some on either side of every symmetry, such as a bump on each hand. Without them parts of a match may be
    mirrored, and nothing in the answer shows it.

    Wrong edges, such as those between hands that touch, mislead all steps. In that case run :func:`cotherm.couple`
    first and pass its result.

    Nothing of size n × n is formed.

    References
    ----------
    .. [1] M. Ovsjanikov, M. Ben-Chen, J. Solomon, A. Butscher and L. Guibas, "Functional maps: a flexible
       representation of maps between shapes", ACM Transactions on Graphics, 2012.
    .. [2] S. Melzi, J. Ren, E. Rodolà, A. Sharma, P. Wonka and M. Ovsjanikov, "ZoomOut: spectral upsampling for
       efficient shape correspondence", ACM Transactions on Graphics, 2019.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> coupled = ct.couple(views.graphs, views.functions, times=[1, 2, 5, 10], alpha=1e6)
    >>> found = ct.match(coupled)
    >>> found.hard.tolist() == list(range(70))  # vertex v is the same in both
    True
    """
    began = time.perf_counter()
    graphs, columns, common = _checked(result, functions)
    source = validation.integer("source", source, least=0, most=len(graphs) - 1)
    target = validation.integer("target", target, least=0, most=len(graphs) - 1)
    if source == target:
        raise CothermError("target", f"{target}, which is the source", "another graph")
    pair = (graphs[source], graphs[target])
    least = min(graph.n for graph in pair)
    usual = max(min(_MODES, least // _PART), min(least, 2 * _FIRST))
    k = usual if n_modes is None else validation.integer("n_modes", n_modes, least=1, most=min(least, limits.MODES))
    initial = min(_FIRST, k) if n_initial_modes is None else n_initial_modes
    start = validation.integer("n_initial_modes", initial, least=1, most=k)
    given_times = None if is_auto("times", times) else validation.times("times", times)
    m = validation.integer("n_neighbors", n_neighbors, least=1)
    refine = validation.boolean("refine", refine)
    n_splits = validation.integer("n_splits", n_splits, least=0, most=limits.REPETITIONS)

    agreed, exactly = np.full(pair[0].n, np.nan), np.nan
    with limited_blas(max(graph.n for graph in pair)):
        if common is None:
            modes = graph_modes(pair[0], k), graph_modes(pair[1], k)
            bases = modes if refine else (first(modes[0], start), first(modes[1], start))
            found = partial(_by_functions, modes, columns[source], columns[target], start, given_times, refine)
            space, q = found(slice(None)), columns[source].shape[1]
            if q > 1 and n_splits > 0:
                agreed, exactly = agreement(pair[1], found, q, n_splits)
        else:
            space, bases = _given(common[source], common[target])
            start = min(k, space.functional_map.shape[0])
            if refine:
                bases = graph_modes(pair[0], k), graph_modes(pair[1], k)
                space = refined(*bases, space, start)
    hard, soft = shares(space.source, space.target, min(m, pair[1].n))
    hard_back, soft_back = shares(space.target, space.source, min(m, pair[0].n))
    by_chance = chance(pair[1])
    return Match(
        hard=hard,
        soft=soft,
        round_trip=round_trip(pair[0], soft, soft_back),
        agreement=agreed,
        exact_agreement=exactly,
        chance=by_chance,
        hard_back=hard_back,
        soft_back=soft_back,
        functional_map=space.functional_map,
        bases=bases,
        source=source,
        target=target,
        status=_status(float(agreed.mean()), exactly, by_chance),
        settings={
            "n_modes": k,
            "n_initial_modes": start,
            "times": "auto" if given_times is None else given_times.tolist(),
            "n_neighbors": m,
            "refine": refine,
            "n_splits": n_splits,
            "coupling_may_help": bool(columns) and _may_help(result, (columns[source], columns[target])),
        },
        versions=versions(),
        seconds=time.perf_counter() - began,
    )


def _status(agreed: float, exactly: float, by_chance: float) -> str:
    if np.isnan(agreed):
        return UNJUDGED
    if agreed <= by_chance + _ABOVE_CHANCE and agreed < _SUPPORTED:
        return BY_CHANCE
    if agreed < _SUPPORTED:
        return UNCERTAIN
    return SUPPORTED if exactly >= _SUPPORTED else APPROXIMATE


def _checked(
    result: Any, functions: Sequence[ArrayLike] | None
) -> tuple[list[Graph], list[Floats], tuple[Spectrum, ...] | None]:
    """Graphs, their functions, and the bases where they correspond already."""
    if isinstance(result, JointBases):
        if functions is not None:
            given = "functions beside bases that correspond"
            raise CothermError("functions", given, "None: the bases come from them already")
        originals = getattr(result, "originals", ())
        if len(originals) < 2 or not all(isinstance(graph, Graph) for graph in originals):
            raise CothermError("result", "an answer for matrices", "one for two or more graphs")
        return list(originals), [], result.bases
    graphs = result.graphs if isinstance(result, JointGraphs) else result
    if isinstance(result, JointResult) and not isinstance(result, JointGraphs):
        needed = "an answer with graphs or bases, or a sequence of graphs"
        raise CothermError("result", validation.describe(result), needed)
    if functions is None and isinstance(result, Coupling):
        functions = result.functions
    if functions is None:
        checked_graphs(graphs)
        raise CothermError("functions", "none", "corresponding functions on each graph")
    checked, columns = checked_views(graphs, functions)
    return checked, columns, None


def _may_help(result: Any, columns: Sequence[Floats]) -> bool:
    """Whether to advise coupling: not for coupled graphs, nor if the functions allow only a weak coupling."""
    return not isinstance(result, Coupling) and useful_strength(functions_mismatch(columns)) == STRENGTH


def _by_functions(
    modes: tuple[Spectrum, Spectrum], F: Floats, G: Floats, k: int, times: Floats | None, refine: bool, columns: Any
) -> Space:
    """Vertices compared by the functional map that carries the signatures of some of the functions."""
    s, t = modes
    pace = time_ratio(first(s, k), first(t, k))
    times = default_times(t, k) if times is None else times
    with np.errstate(over="ignore"):
        paced = np.minimum(times / pace, np.finfo(np.float64).max)
    A, B = signatures(s, F[:, columns], paced)[:k], signatures(t, G[:, columns], times)[:k]
    C = from_signatures(A, B, s.values[:k] / pace, t.values[:k])
    space = Space(s.vectors[:, :k], t.vectors[:, :k] @ C.T, C)
    return refined(s, t, space, k) if refine else space


def _given(source: Spectrum, target: Spectrum) -> tuple[Space, tuple[Spectrum, Spectrum]]:
    """Bases that correspond, column by column: the functional map is the identity."""
    k = min(source.vectors.shape[1], target.vectors.shape[1])
    s, t = (Spectrum(one.values[:k], one.vectors[:, :k] * np.sqrt(len(one.vectors))) for one in (source, target))
    return Space(s.vectors, t.vectors, np.eye(k)), (s, t)
