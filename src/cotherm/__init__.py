"""Multimodal spectral geometry on graphs.

Build graphs (``Graph``, ``knn_graph``, ``radius_graph``, ``mesh_graph``), diffuse heat on them (``heat_flow``,
``heat_kernel``, ``heat_trace``), measure their geometry (``diffusion_distance``, ``diffusion_map``), and change the
weights of several graphs so that heat diffuses alike on all of them (``couple``). Names are loaded on first use, so
that ``import cotherm`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cotherm.version import __version__ as __version__

if TYPE_CHECKING:
    from cotherm import datasets, draw, estimators, evaluate, interop, io, viewer
    from cotherm.errors import CothermError, CothermWarning
    from cotherm.estimators.heat_kernel_coupling import HeatKernelCoupling
    from cotherm.functions import (
        LabelFunctions,
        feature_functions,
        label_functions,
        landmark_functions,
        pair_functions,
        shared_label_functions,
    )
    from cotherm.graphs.build import knn_graph, mesh_graph, radius_graph
    from cotherm.graphs.files import read_graph, read_mesh, write_graph, write_mesh
    from cotherm.graphs.graph import Graph
    from cotherm.graphs.mesh import Mesh
    from cotherm.graphs.search.neighbors import Neighbors, nearest_neighbors
    from cotherm.graphs.sharded.convert import shard_graph
    from cotherm.graphs.sharded.knn.build import NeighborShards, shard_knn_graph
    from cotherm.graphs.sharded.store import GraphPart, ShardedGraph
    from cotherm.graphs.validity import Failure, Validity
    from cotherm.heat.coupling import coupling_error
    from cotherm.heat.distance import Nearest, diffusion_distance, diffusion_map
    from cotherm.heat.flow import heat_flow, heat_kernel
    from cotherm.heat.spectrum import Spectrum
    from cotherm.heat.trace import heat_trace
    from cotherm.methods.alignment import Alignment, align
    from cotherm.methods.average import Average, average
    from cotherm.methods.commuting.closest import Commuting, closest_commuting
    from cotherm.methods.coupling.couple import couple, coupling_memory
    from cotherm.methods.coupling.memory import CouplingMemory
    from cotherm.methods.coupling.result import Changes, Coupling
    from cotherm.methods.coupling.search import Step
    from cotherm.methods.coupling.shards import ShardedCoupling
    from cotherm.methods.joint_diagonalization import Diagonalization, joint_diagonalize
    from cotherm.methods.matching.match import match
    from cotherm.methods.matching.modes import Modes
    from cotherm.methods.matching.result import Match
    from cotherm.methods.pairs.agreement import Agreement, PairReport
    from cotherm.methods.pairs.clusters import Clustering
    from cotherm.methods.pairs.common import CommonGraph, common_graph
    from cotherm.methods.pairs.couple_pairs import couple_pairs
    from cotherm.methods.quasi_harmonic import QuasiHarmonic, coupled_bases
    from cotherm.methods.result import JointResult
    from cotherm.pairs import pair_names
    from cotherm.ranks import Ranks

_HOMES = {
    "Agreement": "methods.pairs.agreement",
    "Alignment": "methods.alignment",
    "Average": "methods.average",
    "Changes": "methods.coupling.result",
    "Clustering": "methods.pairs.clusters",
    "CommonGraph": "methods.pairs.common",
    "Commuting": "methods.commuting.closest",
    "CothermError": "errors",
    "CothermWarning": "errors",
    "Coupling": "methods.coupling.result",
    "CouplingMemory": "methods.coupling.memory",
    "Diagonalization": "methods.joint_diagonalization",
    "Failure": "graphs.validity",
    "Graph": "graphs.graph",
    "GraphPart": "graphs.sharded.store",
    "HeatKernelCoupling": "estimators.heat_kernel_coupling",
    "JointResult": "methods.result",
    "LabelFunctions": "functions",
    "Match": "methods.matching.result",
    "Mesh": "graphs.mesh",
    "Modes": "methods.matching.modes",
    "Nearest": "heat.distance",
    "NeighborShards": "graphs.sharded.knn.build",
    "Neighbors": "graphs.search.neighbors",
    "PairReport": "methods.pairs.agreement",
    "QuasiHarmonic": "methods.quasi_harmonic",
    "Ranks": "ranks",
    "ShardedGraph": "graphs.sharded.store",
    "Spectrum": "heat.spectrum",
    "Step": "methods.coupling.search",
    "Validity": "graphs.validity",
    "align": "methods.alignment",
    "average": "methods.average",
    "closest_commuting": "methods.commuting.closest",
    "common_graph": "methods.pairs.common",
    "couple": "methods.coupling.couple",
    "couple_pairs": "methods.pairs.couple_pairs",
    "coupled_bases": "methods.quasi_harmonic",
    "coupling_error": "heat.coupling",
    "coupling_memory": "methods.coupling.couple",
    "datasets": "datasets",
    "diffusion_distance": "heat.distance",
    "diffusion_map": "heat.distance",
    "draw": "draw",
    "estimators": "estimators",
    "evaluate": "evaluate",
    "feature_functions": "functions",
    "heat_flow": "heat.flow",
    "heat_kernel": "heat.flow",
    "heat_trace": "heat.trace",
    "interop": "interop",
    "io": "io",
    "joint_diagonalize": "methods.joint_diagonalization",
    "knn_graph": "graphs.build",
    "label_functions": "functions",
    "landmark_functions": "functions",
    "match": "methods.matching.match",
    "mesh_graph": "graphs.build",
    "nearest_neighbors": "graphs.search.neighbors",
    "pair_functions": "functions",
    "pair_names": "pairs",
    "radius_graph": "graphs.build",
    "read_graph": "graphs.files",
    "read_mesh": "graphs.files",
    "ShardedCoupling": "methods.coupling.shards",
    "shard_graph": "graphs.sharded.convert",
    "shard_knn_graph": "graphs.sharded.knn.build",
    "shared_label_functions": "functions",
    "viewer": "viewer",
    "write_graph": "graphs.files",
    "write_mesh": "graphs.files",
}

__all__ = [
    "Agreement",
    "Alignment",
    "Average",
    "Changes",
    "Clustering",
    "CommonGraph",
    "Commuting",
    "CothermError",
    "CothermWarning",
    "Coupling",
    "CouplingMemory",
    "Diagonalization",
    "Failure",
    "Graph",
    "GraphPart",
    "HeatKernelCoupling",
    "JointResult",
    "LabelFunctions",
    "Match",
    "Mesh",
    "Modes",
    "Nearest",
    "NeighborShards",
    "Neighbors",
    "PairReport",
    "QuasiHarmonic",
    "Ranks",
    "ShardedCoupling",
    "ShardedGraph",
    "Spectrum",
    "Step",
    "Validity",
    "align",
    "average",
    "closest_commuting",
    "common_graph",
    "couple",
    "couple_pairs",
    "coupled_bases",
    "coupling_error",
    "coupling_memory",
    "datasets",
    "diffusion_distance",
    "diffusion_map",
    "draw",
    "estimators",
    "evaluate",
    "feature_functions",
    "heat_flow",
    "heat_kernel",
    "heat_trace",
    "interop",
    "io",
    "joint_diagonalize",
    "knn_graph",
    "label_functions",
    "landmark_functions",
    "match",
    "mesh_graph",
    "nearest_neighbors",
    "pair_functions",
    "pair_names",
    "radius_graph",
    "read_graph",
    "read_mesh",
    "shard_graph",
    "shard_knn_graph",
    "shared_label_functions",
    "viewer",
    "write_graph",
    "write_mesh",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cotherm' has no attribute {name!r}")
    home = import_module(f"cotherm.{_HOMES[name]}")
    value = home if _HOMES[name] == name else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
