"""A small good call of every public callable, in which any one argument can be replaced by anything.

``calls()`` names functions, classes that users construct, and methods that take arguments. What is not in it is in
``LEFT_OUT``, with the reason; a test compares both with what the package says is public.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cotherm as ct
from tests.problems import path

PACKAGES = ("datasets", "draw", "estimators", "evaluate", "interop", "io", "viewer")
_RESULT = "made by a verb, which checks what it is given"
LEFT_OUT: dict[str, str] = {
    **dict.fromkeys(
        (
            *(
                "Agreement",
                "Alignment",
                "Average",
                "Changes",
                "Clustering",
                "CommonGraph",
                "Commuting",
                "Coupling",
            ),
            *("CouplingMemory", "Diagonalization", "Failure", "GraphPart", "JointResult", "LabelFunctions"),
            *("Match", "Nearest", "NeighborShards", "Neighbors", "PairReport", "QuasiHarmonic"),
            *("ShardedCoupling", "ShardedGraph", "Spectrum", "Step", "Validity"),
            *("datasets.Views", "evaluate.Retrieval", "io.Table", "viewer.Page"),
        ),
        _RESULT,
    ),
    "CothermError": "an error, made by the package",
    "CothermWarning": "a warning, made by the package",
    "Ranks": "the processes of MPI, which have no arguments",
    "Ranks.gather": "takes any value",
    **dict.fromkeys(("Ranks.sum", "Ranks.most"), "what ranks tell each other"),
    "Ranks.share": "takes any value",
    "Coupling.view": "opens a browser; make_page has the same arguments",
    **dict.fromkeys(
        (
            *("ShardedGraph.has", "ShardedGraph.read_vertices", "ShardedGraph.vertex_ranges"),
            *("ShardedGraph.part", "PairReport.lines", "Spectrum.decay"),
        ),
        "for programs that take a result apart themselves; numbers of shards, ranks and modes are not checked there",
    ),
}
# Searches that take minutes however small the graphs: valid=True is left to their own tests.
TAKE_LONG = {("closest_commuting", "valid")}
# Arguments that are not data.
NOT_DATA = {
    "ranks": "the processes of MPI",
    "key": "of single cells, left to anndata",
}


@dataclass(frozen=True)
class Call:
    """A function and good arguments for it."""

    function: Callable[..., Any]
    good: Mapping[str, Any]
    slow: bool = False

    def names(self) -> list[str]:
        """Of all arguments that take data."""
        given = inspect.signature(self.function).parameters.values()
        named = [one.name for one in given if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        return [name for name in dict.fromkeys([*named, *self.good]) if name not in NOT_DATA]

    def __call__(self, **others: Any) -> Any:
        return self.function(**{**self.good, **others})


def public() -> Iterator[tuple[str, Any]]:
    """Everything public that takes arguments, by its name."""
    modules: dict[str, ModuleType] = {"": ct, **{f"{name}.": getattr(ct, name) for name in PACKAGES}}
    for prefix, module in modules.items():
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.ismodule(found) or not callable(found) or (prefix == "estimators." and hasattr(ct, name)):
                continue
            yield prefix + name, found
            if inspect.isclass(found):
                yield from ((f"{prefix}{name}.{method}", one) for method, one in _methods(found))


def _methods(found: type) -> Iterator[tuple[str, Any]]:
    for name, method in inspect.getmembers(found, callable):
        ours = not name.startswith("_") and (getattr(method, "__module__", None) or "").startswith("cotherm")
        if ours and [one for one in inspect.signature(method).parameters if one != "self"]:
            yield name, method


@cache
def calls() -> dict[str, Call]:
    """By name; those whose library is not installed are left out."""
    found = {**_building(), **_heat(), **_functions(), **_joint(), **_coupled(), **_files(), **_sharded(), **_scores()}
    return {**found, **_data(), **_pictures(), **_estimators(), **_converters()}


GRAPH, OTHER, F = path(6), path(6).with_weights([1.0, 2.0, 0.5, 1.0, 3.0]), np.eye(6)[:, :2]
GRAPHS, FUNCTIONS = [GRAPH, OTHER], [F, F]
POINTS = np.random.default_rng(0).random((12, 3))
TWO: dict[str, Any] = {"graphs": GRAPHS, "functions": FUNCTIONS}


def _building() -> dict[str, Call]:
    mesh = {"vertices": np.eye(3), "faces": [[0, 1, 2]]}
    W = np.array([[0.0, 1.0], [1.0, 0.0]])
    return {
        "Graph": Call(ct.Graph, {"n": 3, "i": [0, 1], "j": [1, 2], "w": [1.0, 2.0]}),
        "Graph.from_adjacency": Call(ct.Graph.from_adjacency, {"W": W}),
        "Graph.is_valid": Call(GRAPH.is_valid, {}),
        "Graph.validity": Call(GRAPH.validity, {}),
        "Graph.replace": Call(GRAPH.replace, {}),
        "Graph.subgraph": Call(GRAPH.subgraph, {"vertices": [0, 1]}),
        "Graph.vertex": Call(GRAPH.replace(vertex_names=list("abcdef")).vertex, {"name": "a"}),
        "Graph.with_edges": Call(GRAPH.with_edges, {"i": [0], "j": [2], "w": [1.0]}),
        "Graph.with_weights": Call(GRAPH.with_weights, {"u": np.ones(5)}),
        "Mesh": Call(ct.Mesh, mesh),
        "knn_graph": Call(ct.knn_graph, {"X": POINTS, "k": 3}),
        "radius_graph": Call(ct.radius_graph, {"X": POINTS, "radius": 0.5}),
        "mesh_graph": Call(ct.mesh_graph, mesh),
        "nearest_neighbors": Call(ct.nearest_neighbors, {"X": POINTS, "k": 3}),
    }


def _heat() -> dict[str, Call]:
    return {
        "heat_flow": Call(ct.heat_flow, {"graph": GRAPH, "F": F, "times": [1.0]}),
        "heat_kernel": Call(ct.heat_kernel, {"graph": GRAPH, "t": 1.0}),
        "heat_trace": Call(ct.heat_trace, {"graph": GRAPH, "times": [1.0]}),
        "diffusion_distance": Call(ct.diffusion_distance, {"graph": GRAPH, "t": 1.0}),
        "diffusion_map": Call(ct.diffusion_map, {"graph": GRAPH, "t": 1.0}),
        "coupling_error": Call(ct.coupling_error, {**TWO, "times": [1.0]}),
    }


def _functions() -> dict[str, Call]:
    return {
        "feature_functions": Call(ct.feature_functions, {"graph": GRAPH, "features": F}),
        "landmark_functions": Call(ct.landmark_functions, {"graph": GRAPH, "vertices": [0, 2]}),
        "label_functions": Call(ct.label_functions, {"labels": [0, 1, 0]}),
        "shared_label_functions": Call(ct.shared_label_functions, {"labels": [[0, 1, 0], [1, 0]]}),
        "pair_functions": Call(ct.pair_functions, {"graphs": GRAPHS, "n_modes": 2}),
        "pair_names": Call(ct.pair_names, {"names": [["a", "b"], ["b", "c"]]}),
    }


_SHARED: dict[str, dict[str, Any]] = {
    "clusters": {"k": 2},
    "common_clusters": {"k": 2},
    "distances": {"t": 1.0},
    "embedding": {"k": 1},
    "modes": {"k": 2},
}


def _joint() -> dict[str, Call]:
    """Methods beside coupling, and what all of their results can do."""
    of_graphs = {"graphs": GRAPHS}
    verbs = {
        "Alignment": ("align", Call(ct.align, {**TWO, "k": 2})),
        "Average": ("average", Call(ct.average, of_graphs)),
        "Commuting": ("closest_commuting", Call(ct.closest_commuting, of_graphs, slow=True)),
        "Diagonalization": ("joint_diagonalize", Call(ct.joint_diagonalize, of_graphs)),
        "QuasiHarmonic": ("coupled_bases", Call(ct.coupled_bases, {**TWO, "k": 2, "restarts": 1})),
    }
    found = {}
    for kind, (name, call) in verbs.items():
        found[name] = call
        result = call()
        found |= {f"{kind}.{method}": Call(getattr(result, method), good) for method, good in _SHARED.items()}
        found |= {f"JointResult.{method}": Call(getattr(result, method), good) for method, good in _SHARED.items()}
    return found


_CHEAP: dict[str, Any] = {**TWO, "options": {"max_iterations": 2}}


def _coupled() -> dict[str, Call]:
    cheap: dict[str, Any] = {"times": [1.0], "alpha": 10.0, **_CHEAP}
    result = ct.couple(**cheap)
    common, match = ct.common_graph(GRAPHS), ct.match(GRAPHS, FUNCTIONS)
    by_pairs = Call(ct.couple_pairs, {"graphs": GRAPHS, "options": {"max_iterations": 2, "n_modes": 2}})
    return {
        "couple": Call(ct.couple, _CHEAP),
        "couple_pairs": by_pairs,
        "Coupling.common_graph": Call(by_pairs().common_graph, {}),
        "PairReport.trust": Call(by_pairs().pairs.trust, {}),
        "coupling_memory": Call(ct.coupling_memory, TWO),
        "common_graph": Call(ct.common_graph, {"graphs": GRAPHS}),
        "match": Call(ct.match, {"result": GRAPHS, "functions": FUNCTIONS}),
        **{f"Coupling.{method}": Call(getattr(result, method), good) for method, good in _SHARED.items()},
        "Coupling.changes": Call(result.changes, {}),
        "Changes.edges": Call(result.changes()[0].edges, {"kind": "cut"}),
        "Coupling.save": Call(result.save, {"path": "c.npz", "overwrite": True}),
        "Coupling.load": Call(ct.Coupling.load, {"path": "c.npz"}),
        "Coupling.save_page": Call(result.save_page, {"path": "c.html", "overwrite": True}, slow=True),
        "Match.save": Call(match.save, {"path": "m.npz", "overwrite": True}),
        "Match.load": Call(ct.Match.load, {"path": "m.npz"}),
        "Match.transfer": Call(match.transfer, {"values": np.ones(6)}),
        "CommonGraph.clusters": Call(common.clusters, {"k": 2}),
        "CommonGraph.clustering": Call(common.clustering, {"k": 2}),
        "CommonGraph.distances": Call(common.distances, {"t": 1.0}),
        "CommonGraph.embedding": Call(common.embedding, {"k": 2}),
        "CommonGraph.neighbors": Call(common.neighbors, {"view": 0, "k": 2}),
        "CommonGraph.of_view": Call(common.of_view, {"view": 0}),
        "viewer.make_page": Call(ct.viewer.make_page, {"result": result}, slow=True),
        "viewer.Page.save": Call(ct.viewer.make_page(result).save, {"path": "p.html", "overwrite": True}),
    }


def _files() -> dict[str, Call]:
    mesh = ct.Mesh(np.eye(3), [[0, 1, 2]])
    return {
        "read_graph": Call(ct.read_graph, {"path": "g.csv"}),
        "read_mesh": Call(ct.read_mesh, {"path": "m.off"}),
        "write_graph": Call(ct.write_graph, {"graph": GRAPH, "path": "g.csv", "overwrite": True}),
        "write_mesh": Call(ct.write_mesh, {"mesh": mesh, "path": "m.off", "overwrite": True}),
        "io.read_table": Call(ct.io.read_table, {"path": "t.csv"}),
        "io.read_labels": Call(ct.io.read_labels, {"path": "l.csv", "n": 3}),
    }


def prepare(directory: Path) -> None:
    """The files that the calls name."""
    ct.write_graph(GRAPH, directory / "g.csv")
    ct.write_mesh(ct.Mesh(np.eye(3), [[0, 1, 2]]), directory / "m.off")
    (directory / "t.csv").write_text("a,b\n1,2\n3,4\n5,7\n")
    (directory / "l.csv").write_text("kind\nx\ny\nx\n")
    np.save(directory / "points.npy", POINTS)
    ct.shard_graph(GRAPH, directory / "g.shards", 2)


def _sharded() -> dict[str, Call]:
    found = {
        "ShardedGraph.open": Call(ct.ShardedGraph.open, {"path": "g.shards"}),
        "shard_graph": Call(ct.shard_graph, {"source": GRAPH, "path": "s.shards", "parts": 2, "overwrite": True}),
        "shard_knn_graph": Call(
            ct.shard_knn_graph, {"points": "points.npy", "path": "k.shards", "k": 3, "overwrite": True}, slow=True
        ),
    }
    return found


def _scores() -> dict[str, Call]:
    kinds, distances = [0, 1, 0, 1], np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    found = ct.evaluate.retrieval(distances, kinds)
    return {
        "evaluate.clustering_accuracy": Call(ct.evaluate.clustering_accuracy, {"classes": kinds, "clusters": kinds}),
        "evaluate.clustering_scores": Call(ct.evaluate.clustering_scores, {"classes": kinds, "clusters": kinds}),
        "evaluate.foscttm": Call(ct.evaluate.foscttm, {"X": POINTS, "Y": POINTS}),
        "evaluate.geodesic_error": Call(
            ct.evaluate.geodesic_error, {"match": [0, 1], "truth": [0, 1], "distances": distances}
        ),
        "evaluate.Retrieval.curve": Call(found.curve, {}),
        "evaluate.Retrieval.precision_at": Call(found.precision_at, {"k": 1}),
        "evaluate.retrieval": Call(ct.evaluate.retrieval, {"distances": distances, "labels": kinds}),
    }


def _data() -> dict[str, Call]:
    """Generators."""
    made: dict[str, dict[str, Any]] = {"ambiguous": {}, "circles": {"n": 16}, "human": {"n": 200}, "ring": {"n": 10}}
    made["shortcuts"] = {"n": 100, "k": 4}
    return {f"datasets.{name}": Call(getattr(ct.datasets, name), good) for name, good in made.items()}


# These compute heat and places first.
_DRAWN_SLOWLY = ("Coupling.plot", "draw.draw_result")


def _pictures() -> dict[str, Call]:
    """With all that can be left out: what is not given is not looked at."""
    flat, body = GRAPH.replace(coordinates=POINTS[:6, :2]), GRAPH.replace(coordinates=POINTS[:6])
    heat, cut, result = np.ones((2, 6)), np.arange(5) < 2, ct.couple(**_CHEAP)
    bodies = {"graphs": [[body, body]], "values": [list(heat)], "titles": ["a", "b"], "names": ["c"]}
    bodies |= {"marked": [[cut, None]], "up": 1, "azimuth": 30.0}
    curves = {"curves": {"a": ([0, 1], [2, 3])}, "x": "b", "y": "c", "styles": {"a": (0, 1)}, "log": "y", "title": "d"}
    heats = {"graphs": [flat], "flows": [heat], "times": [0.0, 1.0], "names": ["a"], "marked": [cut]}
    errors = {"times": [1.0, 2.0], "before": [2.0, 1.0], "after": [0.2, 0.1]}
    one = {"graph": flat, "values": heat[0], "ax": Figure().subplots(), "limits": (0.0, 2.0)}
    found: dict[str, tuple[Callable[..., Figure], dict[str, Any]]] = {
        "draw.draw_bodies": (ct.draw.draw_bodies, bodies),
        "draw.draw_coupling": (ct.draw.draw_coupling, errors),
        "draw.draw_curves": (ct.draw.draw_curves, curves),
        "draw.draw_heat": (ct.draw.draw_heat, heats),
        "draw.draw_result": (ct.draw.draw_result, {"result": result, "labels": [list("xxyyzz")] * 2}),
        "Coupling.plot": (result.plot, {"kind": "heat", "function": 1}),
    }
    drawn = {name: Call(_laid_out(draw), good, slow=name in _DRAWN_SLOWLY) for name, (draw, good) in found.items()}
    return {**drawn, "draw.draw_graph": Call(ct.draw.draw_graph, {**one, "marked": cut})}


def _laid_out(draw: Callable[..., Figure]) -> Callable[..., Any]:
    """The same, up to where everything in the figure has its place: matplotlib refuses some of it no earlier."""

    @functools.wraps(draw)
    def laid_out(**given: Any) -> None:
        draw(**given).draw_without_rendering()

    return laid_out


def _estimators() -> dict[str, Call]:
    X = [POINTS, POINTS[:, ::-1] ** 2]
    kind, name = ct.HeatKernelCoupling, "HeatKernelCoupling"
    given: dict[str, Any] = {"n_neighbors": 3, "n_clusters": 2, "options": {"max_iterations": 2}}
    found = {name: Call(_fitted(kind, X), given, slow=True)}
    for method in ("fit", "fit_predict", "fit_transform"):
        found[f"{name}.{method}"] = Call(getattr(kind(**given), method), {"X": X}, slow=True)
    ready = kind(**given).fit(X)
    given_there: dict[str, dict[str, Any]] = {"predict": {"X": X}, "transform": {"X": X}}
    for method, good in given_there.items():
        found[f"{name}.{method}"] = Call(getattr(ready, method), good)
    beside = kind(**given, view_columns=[3, 3]).fit(np.hstack(X))
    found[f"{name}.get_feature_names_out"] = Call(beside.get_feature_names_out, {})
    return found


def _fitted(kind: Any, X: Any) -> Callable[..., Any]:
    def fitted(**options: Any) -> Any:
        return kind(**options).fit(X)

    fitted.__signature__ = inspect.signature(kind)  # type: ignore[attr-defined]
    return fitted


def _converters() -> dict[str, Call]:
    interop, found = ct.interop, {}
    if _installed("networkx"):
        found["interop.to_networkx"] = Call(interop.to_networkx, {"graph": GRAPH})
        found["interop.from_networkx"] = Call(interop.from_networkx, {"G": interop.to_networkx(GRAPH)})
    if _installed("igraph"):
        found["interop.to_igraph"] = Call(interop.to_igraph, {"graph": GRAPH})
        found["interop.from_igraph"] = Call(interop.from_igraph, {"G": interop.to_igraph(GRAPH)})
    if _installed("pandas"):
        found["interop.to_pandas"] = Call(interop.to_pandas, {"graph": GRAPH})
        found["interop.from_pandas"] = Call(interop.from_pandas, {"frame": interop.to_pandas(GRAPH)})
    if _installed("torch", "torch_geometric"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of itself when it is loaded
            data = interop.to_pyg(GRAPH)
        found["interop.to_pyg"] = Call(interop.to_pyg, {"graph": GRAPH})
        found["interop.from_pyg"] = Call(interop.from_pyg, {"data": data})
    if _installed("anndata", "mudata"):
        from tests.interop.cells import cells

        adatas = cells((30, 30))
        shared = interop.anndata_functions(adatas, "type").functions
        result = ct.couple(interop.anndata_graphs(adatas, rep="X"), shared, options={"max_iterations": 1})
        found["interop.from_anndata"] = Call(interop.from_anndata, {"adata": adatas[0], "rep": "X"})
        found["interop.anndata_graphs"] = Call(interop.anndata_graphs, {"adatas": adatas, "rep": "X"})
        found["interop.anndata_functions"] = Call(interop.anndata_functions, {"adatas": adatas, "column": "type"})
        found["interop.anndata_pairs"] = Call(interop.anndata_pairs, {"adatas": [adatas[0], adatas[0].copy()]})
        found["interop.to_anndata"] = Call(interop.to_anndata, {"result": result, "adatas": adatas})
    return found


# Callables whose library need not be installed.
OPTIONAL = {
    **dict.fromkeys(("interop.to_networkx", "interop.from_networkx"), ("networkx",)),
    **dict.fromkeys(("interop.to_igraph", "interop.from_igraph"), ("igraph",)),
    **dict.fromkeys(("interop.to_pandas", "interop.from_pandas"), ("pandas",)),
    **dict.fromkeys(("interop.to_pyg", "interop.from_pyg"), ("torch", "torch_geometric")),
    **dict.fromkeys(
        (
            f"interop.{name}"
            for name in ("from_anndata", "to_anndata", "anndata_graphs", "anndata_functions", "anndata_pairs")
        ),
        ("anndata", "mudata"),
    ),
}


def _installed(*names: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in names)


def not_here(name: str) -> bool:
    """Whether a callable is left out because its library is not installed."""
    return not _installed(*OPTIONAL.get(name, ()))
