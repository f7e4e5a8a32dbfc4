"""The result of coupling: the graphs, how far they moved, how alike heat now diffuses, and which edges changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm import limits, validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError, shortened, visible
from cotherm.graphs.graph import Graph
from cotherm.lazy import lazy
from cotherm.methods.pairs.agreement import PairReport, agreement_table
from cotherm.methods.picture import figure_of, page_of, small_png
from cotherm.methods.result import HasStatus, JointGraphs
from cotherm.notebook import Shown, Table
from cotherm.progress import in_notebook

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cotherm.methods.pairs.common import CommonGraph
    from cotherm.viewer.page import Page

_ENDINGS = {
    "converged": "",
    "stalled": "No step lowers the cost by more than rounding, though the optimality is not reached: functions that "
    "differ at t = 0, a smaller α or weights of one size may help.",
    "out of budget": "More iterations may lower the cost: raise max_iterations, or start from this answer (start=).",
    "time limit": "The best weights found in the time allowed: raise max_seconds for better ones.",
    "interrupted": "The best weights found until the interruption.",
}


STATUSES = tuple(_ENDINGS)

# Functions that differ by more than this at t = 0 get a note.
_MISMATCH = 0.01
# "auto" makes α this many times that of equal coupling and distance, if functions are alike at t = 0.
STRENGTH = 1e4


@dataclass(frozen=True, eq=False, repr=False)
class Changes(Shown):
    """Edges of one graph before and after coupling.

    The arrays have one entry for each edge, in the order of the graph's edges.

    Attributes
    ----------
    i, j : ndarray of int
        Ends of the edges.
    before, after : ndarray of float
        Weights before and after.
    kind : ndarray of str
        What happened to each edge: "cut", "weakened", "kept", "strengthened" or "switched on".

    See Also
    --------
    Coupling.changes : Classify the edges of a coupling.
    """

    i: NDArray[Any]
    j: NDArray[Any]
    before: Floats
    after: Floats
    kind: NDArray[np.str_]

    def edges(self, kind: str) -> NDArray[Any]:
        """Return the edges of one kind, those with the largest change first.

        Parameters
        ----------
        kind : {"cut", "weakened", "kept", "strengthened", "switched on"}
            Which edges.

        Returns
        -------
        ndarray of int of shape (m, 2)
            The ends (i, j) of the edges.
        """
        kind = validation.choice("kind", kind, _KINDS)
        chosen = np.flatnonzero(self.kind == kind)
        chosen = chosen[np.argsort(-np.abs(self.after - self.before)[chosen], kind="stable")]
        return np.column_stack([self.i[chosen], self.j[chosen]])

    def counts(self) -> dict[str, int]:
        """Count the edges of each kind.

        Returns
        -------
        dict of str to int
            Number of edges for every kind, zeros included.
        """
        return {kind: int(np.sum(self.kind == kind)) for kind in _KINDS}

    def _headline(self) -> str:
        counted = ", ".join(f"{count} {kind}" for kind, count in self.counts().items() if count)
        return f"Changes of {len(self.kind)} edges: {counted}" if counted else "Changes of no edges"

    def _tables(self) -> Sequence[Table]:
        return [(("change", "edges"), list(self.counts().items()))]


# Tables show names of graphs in at most this many characters.
_WIDEST = 40
_KINDS = ("cut", "weakened", "kept", "strengthened", "switched on")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CouplingOutcome(HasStatus):
    """What every coupling says about its cost and how the search for it ended."""

    advice_by_status: ClassVar[Mapping[str, str]] = _ENDINGS

    graphs: tuple[Any, ...]
    times: tuple[float, ...]
    alpha: float
    cost: float
    distance: float
    coupling_before: Floats
    coupling: Floats
    mismatch: float
    status: str
    optimality: float
    history: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    seconds: float

    def _headline(self) -> str:
        return f"Heat kernel coupling of {len(self.graphs)} graphs: {self.status}, {self.seconds:.2g} s"

    def _first_lines(self) -> list[str]:
        texts = [self._costs(), self._mismatched(), self.advice]
        return [self._headline(), *(f"  {text}" for text in texts if text)]

    def _costs(self) -> str:
        if np.isnan(self.cost):
            return "The cost was not computed."
        return (
            f"cost {self.cost:.6g} = distance {self.distance:.6g} + {self.cost - self.distance:.6g}, coupling times "
            f"α = {self.alpha:g}   (optimality {self.optimality:.1e})"
        )

    def _mismatched(self) -> str:
        strength = self.settings.get("strength")
        return mismatch_note(self.mismatch, strength if isinstance(strength, float) else None)

    def _coupling_table(self) -> list[str]:
        lines = [f"  {'time':>8}{'error before':>16}{'after':>12}"]
        for t, before, after in zip(self.times, self.coupling_before, self.coupling, strict=True):
            lines.append(f"  {t:8g}{before:16.4g}{after:12.4g}")
        return lines


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Coupling(CouplingOutcome, JointGraphs):
    """Result of couple: the coupled graphs, the cost and how the search ended.

    Print it for a summary. ``embedding``, ``distances`` and ``clusters`` work as for all results, see
    :class:`cotherm.JointResult`.

    Attributes
    ----------
    graphs : tuple of Graph
        Coupled graphs, with the vertices and edges of the originals and weights ≥ 0. Edges that a graph has borrowed,
        by :func:`cotherm.couple_pairs`, come after its own.
    originals : tuple of Graph
        The graphs that were given.
    functions : tuple of ndarray of shape (n_k, q)
        The corresponding functions that were given.
    times : tuple of float
        Diffusion times used.
    alpha : float
        Weight α used.
    cost : float
        Final cost: distance + α · Σ coupling², with pairs of graphs and functions weighted as asked.
    distance : float
        First term of the cost, Σ ρ_k ‖L(u_k) − L(w_k)‖² in the Frobenius norm.
    coupling_before, coupling : ndarray of float
        Weak coupling error at each time of the graphs as given and after coupling, unweighted; see
        :func:`cotherm.coupling_error`.
    mismatch : float
        How much the functions differ at t = 0: ‖F₁ᵀF₁ − F₂ᵀF₂‖ relative to their size. No weights can change it.
    status : str
        "converged", "stalled", "out of budget", "time limit" or "interrupted".
    optimality : float
        Projected gradient relative to the gradients of the two terms that balance in it.
    history : tuple of dict
        One entry for each step: route, stage, iteration, cost of the stage, its coupling term Σ coupling²,
        optimality.
    settings : dict
        The other arguments as they were understood. Where α was chosen for functions, "strength" is α in units of the
        one at which coupling and distance have equal weight.
    versions : dict of str to str
        Versions of Python and of the libraries that computed the result.
    seconds : float
        Run time.
    pairs : PairReport or None
        For a coupling by pairs of items: the pairs, what was chosen, and how far the views agree.

    See Also
    --------
    couple : Compute it.
    couple_pairs : Compute it from pairs of items.
    match : Vertex correspondence between the coupled graphs.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> result = ct.couple(views.graphs, views.functions)
    >>> result.converged
    True
    >>> result.changes()[0].counts()["cut"]
    3
    """

    graphs: tuple[Graph, ...]
    originals: tuple[Graph, ...]
    functions: tuple[Floats, ...]
    pairs: PairReport | None = None

    def changes(self, *, cut: float = 0.02, weak: float = 0.5, strong: float = 2.0) -> tuple[Changes, ...]:
        """Classify the edges of each graph by how their weight changed.

        Parameters
        ----------
        cut : float, default 0.02
            An edge below this fraction of its weight counts as cut.
        weak : float, default 0.5
            An edge below this fraction of its weight counts as weakened.
        strong : float, default 2.0
            An edge above this multiple of its weight counts as strengthened. An edge of weight zero that got weight
            counts as switched on.

        Returns
        -------
        tuple of Changes
            The edges of each graph.

        Raises
        ------
        CothermError
            Unless 0 ≤ cut ≤ weak ≤ 1 ≤ strong.
        """
        bounds = [validation.real("cut", cut), validation.real("weak", weak), validation.real("strong", strong)]
        if sorted(bounds) != bounds or bounds[1] > 1.0 or bounds[2] < 1.0:
            raise CothermError("cut, weak, strong", str(tuple(bounds)), "0 <= cut <= weak <= 1 <= strong")
        return tuple(_changes(old, new, *bounds) for old, new in zip(self.originals, self.graphs, strict=True))

    def common_graph(self, *, second_neighbors: bool = True, include_unrelated: bool = False) -> CommonGraph:
        """Merge the coupled graphs into one over all items, paired or not.

        Every graph counts, item by item, by how far its neighbors of the item are borne out by heat in the others as
        given (``view_weights``). Two graphs alone count, for all items alike, by how much structure they have, and the
        more so the less they are related. Graphs that have no more in common with any other than chance are left out,
        and so is one of two graphs whose correlation is below 0.1: a view that is little more than noise would ruin the
        other. Where no two graphs are related enough, the common graph is that of the one that has most structure.
        ``notes`` of the common graph say what was left out.

        Parameters
        ----------
        second_neighbors : bool, default True
            Whether to join items to their neighbors' neighbors, too, see :func:`cotherm.common_graph`.
        include_unrelated : bool, default False
            Whether to merge all graphs, also those that are hardly related to the others.

        Returns
        -------
        CommonGraph
            The graph, and which vertex of which view each item is.

        Raises
        ------
        CothermError
            If the graphs were not coupled by pairs.

        See Also
        --------
        couple_pairs : Couple graphs by pairs.
        common_graph : Merge graphs that were not coupled.
        """
        from cotherm.methods.pairs.common import merged_by_trust

        if self.pairs is None:
            raise CothermError(
                "result",
                "a coupling by functions, which does not know which vertices are the same",
                "a coupling by pairs",
                "Use couple_pairs, or common_graph(result.graphs, pairs).",
            )
        spread = validation.boolean("second_neighbors", second_neighbors)
        every = validation.boolean("include_unrelated", include_unrelated)
        return merged_by_trust(
            self.graphs, self.originals, self.pairs, second_neighbors=spread, include_unrelated=every
        )

    def plot(self, kind: str = "graphs", *, labels: Sequence[ArrayLike] | None = None, function: int = 0) -> Figure:
        """Draw the coupling, as ``cotherm show`` does.

        Parameters
        ----------
        kind : {"graphs", "heat", "coupling", "convergence"}, default "graphs"
            What to draw: the views before and after; heat from one function on them; how much heat differs at each
            time, before and after; or the cost after every step.
        labels : sequence of array_like of str, optional
            For "graphs", the class of every vertex of each view, shown in color; "" is unknown. By default the labels
            stored in the graphs.
        function : int, default 0
            For "heat", which function heat starts from.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. Notebooks show it; ``figure.savefig`` writes it.

        Raises
        ------
        CothermError
            If an argument cannot be used, or if matplotlib is not installed.

        Examples
        --------
        >>> import cotherm as ct
        >>> views = ct.datasets.ring()
        >>> result = ct.couple(views.graphs, views.functions)
        >>> figure = result.plot("coupling")
        """
        return figure_of(self, kind, labels=labels, function=function)

    def view(self, **given: Any) -> Page:
        """Show the coupling in a browser, or in the cell of a notebook: heat on all graphs, and what changed.

        Parameters
        ----------
        **given
            What the page shows beside the coupling: labels, names, positions, faces, thumbnails, pairs and title, as
            for :func:`cotherm.viewer.make_page`.

        Returns
        -------
        Page
            The page. A notebook shows it where it ends a cell; elsewhere it has been opened from a temporary file,
            ``page.place``.

        Raises
        ------
        CothermError
            If an argument cannot be used.

        See Also
        --------
        save_page : Write the page to a file.
        cotherm.viewer.make_page : Make it without showing it.
        """
        page = page_of(self, **given)
        if not in_notebook():
            page.open()
        return page

    def save_page(self, path: str | PathLike[str], *, overwrite: bool = False, **given: Any) -> None:
        """Write the page that view shows: one ``.html`` file that opens from disk, without a network.

        Parameters
        ----------
        path : str or path-like
            Where to write, a name that ends in ``.html``.
        overwrite : bool, default False
            Whether to replace an existing file.
        **given
            What the page shows beside the coupling, as for :meth:`view`.

        Raises
        ------
        CothermError
            If an argument cannot be used, or if the file cannot be written.

        See Also
        --------
        view : Show the page.
        """
        page_of(self, **given).save(path, overwrite=overwrite)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the whole result to a ``.npz`` file, without pickles.

        Parameters
        ----------
        path : str or path-like
            Where to write, a name that ends in ``.npz``.
        overwrite : bool, default False
            Whether to replace an existing file.

        Raises
        ------
        CothermError
            If the file cannot be written, or if its suffix stands for something else, such as ``.h5mu``.

        See Also
        --------
        load : Read the file again.
        save_page : Write a page.
        cotherm.write_graph : Write one graph.
        cotherm.interop.to_anndata : Put the result into AnnData or MuData.
        """
        from cotherm.methods.coupling import file as coupling_file

        coupling_file.save(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Coupling:
        """Read a result that was written by save.

        Parameters
        ----------
        path : str or path-like
            The ``.npz`` file.

        Returns
        -------
        Coupling
            The same result.

        See Also
        --------
        save : Write the file.
        """
        from cotherm.methods.coupling import file as coupling_file

        return coupling_file.load(path)

    def __str__(self) -> str:
        tables = [self._coupling_table(), self._graph_table()]
        if self.pairs is not None:
            tables.append(self.pairs.lines([visible(name) for name in self._names()]))
        return "\n".join([*self._first_lines(), *(line for table in tables for line in ("", *table))])

    def __repr__(self) -> str:
        sizes = ", ".join(f"{graph.n:,}" for graph in self.graphs)
        changed = ", ".join(f"{_changed(change):,} of {len(change.kind):,}" for change in self.changes())
        return (
            f"<{self._headline()}; {sizes} vertices; edges changed: {changed};\n "
            f"coupling error {_sum(self.coupling_before):.3g} before, {_sum(self.coupling):.3g} after>"
        )

    def _names(self) -> list[str]:
        return [graph.name or f"view {k + 1}" for k, graph in enumerate(self.graphs)]

    def _tables(self) -> Sequence[Table]:
        titles = ("view", "vertices", "edges", "changed", "cut", "weakened", "strengthened")
        rows = [[name, *row] for name, row in zip(self._names(), self._rows_of_graphs(), strict=True)]
        errors = ["coupling error", f"{_sum(self.coupling_before):.4g}", f"{_sum(self.coupling):.4g}"]
        tables: list[Table] = [(titles, rows), (("", "before", "after"), [errors])]
        if self.pairs is not None:
            tables.append(agreement_table(self.pairs.agreement, self._names()))
        return tables

    def _picture(self) -> bytes | None:
        return self._small_picture

    @lazy
    def _small_picture(self) -> bytes | None:
        """Computed once: graphs without coordinates take a moment to lay out."""
        if sum(graph.n for graph in self.graphs) > limits.PICTURED_VERTICES:
            return None
        return small_png(self)

    def _remarks(self) -> Sequence[str]:
        notes = () if self.pairs is None else self.pairs.notes
        return tuple(filter(None, [self.advice, self._mismatched(), *notes]))

    def _graph_table(self) -> list[str]:
        names = [shortened(graph.name or f"view {k + 1}", _WIDEST) for k, graph in enumerate(self.originals)]
        width = max(20, *(len(name) + 2 for name in names))
        lines = [f"  {'graph':<{width}}{'vertices':>9}{'edges':>9}{'cut':>7}{'weakened':>10}{'strengthened':>14}"]
        for name, (n, m, _, cut, weak, strong) in zip(names, self._rows_of_graphs(), strict=True):
            lines.append(f"  {name:<{width}}{n:>9}{m:>9}{cut:>7}{weak:>10}{strong:>14}")
        return lines

    def _rows_of_graphs(self) -> list[tuple[int, ...]]:
        """Vertices, edges, and how many changed, were cut, weakened and strengthened."""
        counts = [change.counts() for change in self.changes()]
        return [
            (
                graph.n,
                graph.m,
                graph.m - one["kept"],
                one["cut"],
                one["weakened"],
                one["strengthened"] + one["switched on"],
            )
            for graph, one in zip(self.graphs, counts, strict=True)
        ]


def mismatch_note(mismatch: float, strength: float | None) -> str:
    """A note about functions that differ at t = 0, and what was done; empty if it does not matter.

    ``strength`` is α in units of that of equal weight, None where α was given.
    """
    weakly = strength is not None and strength < STRENGTH
    if not weakly and mismatch <= _MISMATCH:
        return ""
    differ = f"The functions themselves differ by {mismatch:.{0 if mismatch > _MISMATCH else 2}%} at t = 0, which no "
    if not weakly:
        return f"{differ}weights can mend: make them alike or lower α."
    return (
        f"{differ}weights can mend, and strong coupling would bend the graphs to make up for it. So they were coupled "
        f"weakly: α is {strength:.3g} times that of equal weight, not {STRENGTH:,.0f} times. Make the functions alike, "
        "or give α."
    )


def _changed(change: Changes) -> int:
    return int(np.sum(change.kind != "kept"))


def _sum(errors: Floats) -> float:
    """The error over all times together."""
    return float(np.linalg.norm(errors))


def _changes(old: Graph, new: Graph, cut: float, weak: float, strong: float) -> Changes:
    before, after = np.pad(old.w, (0, new.m - old.m)), new.w
    kind = np.full(new.m, "kept", dtype="<U12")
    kind[after < weak * before] = "weakened"
    kind[after < cut * before] = "cut"
    kind[after > strong * before] = "strengthened"
    kind[(before == 0.0) & (after > 0.0)] = "switched on"
    return Changes(new.i, new.j, before, after, kind)


def best_route(history: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The steps of the route that ends with the least cost; if several tie, of the first."""
    routes: dict[str, list[Mapping[str, Any]]] = {}
    for row in history:
        routes.setdefault(str(row["route"]), []).append(row)
    ends = {name: float(rows[-1]["cost"]) for name, rows in routes.items()}
    finite = [name for name, cost in ends.items() if np.isfinite(cost)] or list(routes)
    return routes[min(finite, key=lambda name: ends[name])] if finite else []
