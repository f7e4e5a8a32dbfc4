"""Correspondence between two poses of a body: ours, uncoupled and coupled, against pyFM's ZoomOut and POT, one judge.

Every contestant is given the same two graphs or meshes and the same landmarks and returns a vertex of the pose with
hands apart for every vertex of the pose with hands joined; the judge alone knows which is right. Errors are lengths of
shortest paths on the body with hands apart, divided by the square root of its area, as is customary, and by its
diameter. ``nearest`` is the least error possible: where the graphs are samples, the right point may be no vertex.
"""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from cotherm.arrays import Floats, Ints
from cotherm.datasets import human
from cotherm.datasets.human import farthest_points, nearest
from cotherm.errors import CothermError
from cotherm.evaluate import geodesic_error
from cotherm.functions import landmark_functions
from cotherm.graphs.build import knn_graph, mesh_graph
from cotherm.graphs.graph import Graph
from cotherm.graphs.mesh import Mesh
from cotherm.methods.coupling.couple import couple
from cotherm.methods.matching.match import match
from paper.data import man_remeshed
from paper.data.man import REMESHED_HANDS, carrier, read_remeshed
from paper.rivals.transport import transport

OURS, COUPLED = "cotherm match", "cotherm couple, match"
SAME_MODES, MESHES, CLOUDS = "pyFM ZoomOut, our modes", "pyFM, meshes", "pyFM, points"
COUPLED_MODES = "cotherm couple, pyFM ZoomOut"
POT = "POT, fused Gromov-Wasserstein"
_LANDMARKS = 8
_SAMPLES = 500
_COUPLING_HELPS = 1.0
# Ten times as many points as the experiment's: more moves along edges for a bump of its width, and longer times.
_NEAREST, _MOVES, _TIMES = 6, 20.0, (25.0, 50.0, 100.0)
# Of the samples, as in the experiment. On all points it would couple too little: α from the data.
_ALPHA = 1e6
_NONE = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
# pyFM as its documentation uses it: wave kernel signatures of landmarks, every fifth, and ZoomOut by five modes a step.
_SIGNATURES, _EVERY, _FIRST, _STEP = 100, 5, 30, 5


@dataclass(frozen=True)
class Problem:
    """Two graphs, corresponding functions on each, and what only the judge may know."""

    name: str
    graphs: tuple[Graph, Graph]
    functions: tuple[Floats, Floats]
    landmarks: tuple[Ints, Ints]
    truth: Ints  # pairs: a vertex of the first graph, and its place on the second body
    places: Ints  # of the vertices of the second graph on that body
    distances: Floats
    length: float | None  # the square root of the area, where there is a surface
    coupling: tuple[tuple[Floats, Floats], tuple[float, ...], float | str] | None = None  # functions, times and α
    meshes: tuple[Mesh, Mesh] | None = None


def run(*, quick: bool = False, data: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Measure everything; the report holds the figures and, for each claim, whether it held."""
    makers: list[tuple[str, Callable[[], list[Problem]]]] = [("modeled body", lambda: modeled(200 if quick else 500))]
    if not quick:
        makers.append(("TOSCA remeshed", lambda: remeshed(data)))
    comparisons = [comparison for name, make in makers for comparison in _compare_all(name, make)]
    return {
        "benchmark": "match",
        "quick": quick,
        "machine": {"system": platform.platform(), "python": platform.python_version(), "processors": os.cpu_count()},
        "comparisons": comparisons,
        "claims": [] if quick else [claim for comparison in comparisons for claim in _claims(comparison)],
    }


def modeled(n: int) -> list[Problem]:
    views = human(n)
    first, second = views.graphs
    assert second.coordinates is not None
    D = _along(second.coordinates, second.i, second.j)
    v = np.arange(n)
    given = views.functions[0], views.functions[1]
    return [
        Problem(
            f"modeled body, {n} samples, bumps on both hands",
            (first, second),
            given,
            _NONE,
            np.column_stack([v, v]),
            v,
            D,
            None,
            (given, views.times, _ALPHA),
        )
    ]


def remeshed(data: str | os.PathLike[str] | None) -> list[Problem]:
    """The 500 samples of the experiment with its functions and with eight landmarks, and the whole meshes."""
    views = man_remeshed(_SAMPLES, data=data)
    (joined, of_joined), (apart, of_apart) = (read_remeshed(pose, data) for pose in ("michael13", "michael7"))
    whole = tuple(mesh_graph(*mesh, weights="inverse-length") for mesh in (joined, apart))
    D = _along(apart.vertices, whole[1].i, whole[1].j)
    length = _area(apart) ** 0.5
    chosen = _spread(of_apart, D, _LANDMARKS)
    samples = [farthest_points(mesh.vertices, _SAMPLES) for mesh in (joined, apart)]
    places = of_apart[cKDTree(joined.vertices[of_joined]).query(joined.vertices[samples[0]])[1]]
    marks = (
        _nearest_samples(joined, samples[0], of_joined[chosen]),
        _nearest_samples(apart, samples[1], of_apart[chosen]),
    )
    own = views.functions[0], views.functions[1]
    coupling = own, views.times, _ALPHA
    truth = np.column_stack([np.arange(_SAMPLES), places])
    pair = views.graphs[0], views.graphs[1]
    given = truth, samples[1].astype(np.int64), D, length
    name = f"TOSCA remeshed, {_SAMPLES} samples"
    on_meshes = (of_joined[chosen], of_apart[chosen])
    points = (
        knn_graph(joined.vertices, _NEAREST, scale_neighbor=_NEAREST),
        knn_graph(apart.vertices, _NEAREST, scale_neighbor=_NEAREST),
    )
    everywhere = np.column_stack([of_joined, of_apart]), np.arange(whole[1].n), D, length
    return [
        Problem(f"{name}, bumps on both hands", pair, own, _NONE, *given, coupling),
        Problem(f"{name}, {_LANDMARKS} landmarks", pair, _bumps(pair, marks), marks, *given, coupling),
        Problem(
            f"TOSCA remeshed, meshes of {whole[0].n:,} vertices, {_LANDMARKS} landmarks",
            (whole[0], whole[1]),
            _bumps((whole[0], whole[1]), on_meshes),
            on_meshes,
            *everywhere,
            meshes=(joined, apart),
        ),
        Problem(
            f"TOSCA remeshed, {whole[0].n:,} points without faces, {_LANDMARKS} landmarks",
            points,
            _bumps(points, on_meshes),
            on_meshes,
            *everywhere,
            (_on_hands(points, joined, of_joined, apart, of_apart), _TIMES, "auto"),
            (Mesh(joined.vertices), Mesh(apart.vertices)),
        ),
    ]


def _on_hands(
    points: tuple[Graph, Graph], joined: Mesh, of_joined: Ints, apart: Mesh, of_apart: Ints
) -> tuple[Floats, Floats]:
    """What the experiment couples by: wide bumps on the hands, carried from the second body to the first."""
    wide = _MOVES / float(np.median(points[1].degrees))
    bumps = landmark_functions(points[1], REMESHED_HANDS, time=wide)
    places = apart.vertices[of_apart[cKDTree(joined.vertices[of_joined]).query(joined.vertices)[1]]]
    carried = carrier(apart.vertices, places) @ bumps
    return carried / np.linalg.norm(carried, axis=0), bumps


def _nearest_samples(mesh: Mesh, samples: Any, vertices: Ints) -> Ints:
    return np.array([nearest(mesh.vertices[samples], mesh.vertices[v]) for v in vertices])


def _bumps(graphs: tuple[Graph, Graph], landmarks: tuple[Ints, Ints]) -> tuple[Floats, Floats]:
    return landmark_functions(graphs[0], landmarks[0]), landmark_functions(graphs[1], landmarks[1])


def _along(X: Floats, i: Any, j: Any) -> Floats:
    """Lengths of shortest paths along edges, all pairs."""
    lengths = np.linalg.norm(X[i] - X[j], axis=1)
    return np.asarray(dijkstra(sp.coo_array((lengths, (i, j)), shape=(len(X), len(X))).tocsr(), directed=False))


def _area(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def _spread(vertices: Ints, D: Floats, count: int) -> Ints:
    """Lines of the list whose vertices are far from each other: the most remote, then each the farthest from those."""
    among = D[np.ix_(vertices, vertices)]
    chosen = [int(np.argmax(among.mean(axis=1)))]
    while len(chosen) < count:
        chosen.append(int(np.argmax(among[chosen].min(axis=0))))
    return np.array(chosen)


def ours(problem: Problem) -> Ints:
    """The public verb with its defaults."""
    return match(problem.graphs, problem.functions).hard


def coupled(problem: Problem) -> Ints:
    """The same on coupled graphs."""
    assert problem.coupling is not None
    return match(couple(problem.graphs, *problem.coupling), problem.functions).hard


def same_modes(problem: Problem, *, couples: bool = False) -> Ints:
    """pyFM's ZoomOut in the same modes of the same graphs, or the coupled ones, from the same first functional map."""
    from pyFM.refine import zoomout_refine

    graphs: Any = problem.graphs
    if couples:
        assert problem.coupling is not None
        graphs = couple(problem.graphs, *problem.coupling)
    start = match(graphs, problem.functions, refine=False).functional_map
    source, target = match(graphs, problem.functions).bases
    steps = (len(source.values) - len(start)) // _STEP
    # Theirs goes from their first shape, our target, to their second.
    masses = sp.diags(np.full(len(source.vectors), 1.0 / len(source.vectors)))
    found = zoomout_refine(start, target.vectors, source.vectors, nit=steps, step=_STEP, A2=masses, return_p2p=True)
    return np.asarray(found[1], dtype=np.int64)


def meshes(problem: Problem) -> Ints:
    """pyFM from the meshes on: cotangent Laplacians with areas, or the Laplacian of points where there are no faces."""
    from pyFM.functional import FunctionalMapping
    from pyFM.mesh import TriMesh

    assert problem.meshes is not None
    joined, apart = (TriMesh(mesh.vertices, mesh.faces if len(mesh.faces) else None) for mesh in problem.meshes)
    model = FunctionalMapping(apart, joined)
    model.preprocess(
        n_descr=_SIGNATURES, landmarks=np.column_stack(problem.landmarks[::-1]), subsample_step=_EVERY, k_process=200
    )
    model.fit(K=(_FIRST, _FIRST))
    final = model.zoomout_refine(nit=(150 - _FIRST) // _STEP, step=_STEP)
    return np.asarray(model.get_p2p(final), dtype=np.int64)


def planned(problem: Problem) -> Ints:
    """Fused Gromov–Wasserstein by POT, through :func:`paper.rivals.transport.transport`."""
    return transport(problem.graphs, problem.functions).match()[0]


def judged(problem: Problem, found: Ints) -> dict[str, float | None]:
    """The mean error as parts of √area and diameter, and the part of the vertices that are off by a tenth of it."""
    errors = geodesic_error(problem.places[found], problem.truth, problem.distances)
    diameter = float(problem.distances.max())
    return {
        "by_root_area": None if problem.length is None else float(errors.mean()) / problem.length,
        "by_diameter": float(errors.mean()) / diameter,
        "far_off": float(np.mean(errors > 0.1 * diameter)),
    }


def _contestants(problem: Problem) -> list[tuple[str, Callable[[Problem], Ints], str | None]]:
    found: list[tuple[str, Callable[[Problem], Ints], str | None]] = [(OURS, ours, None)]
    if problem.coupling is not None:
        found.append((COUPLED, coupled, None))
    found.append((SAME_MODES, same_modes, "pyFM"))
    if problem.coupling is not None:
        found.append((COUPLED_MODES, lambda p: same_modes(p, couples=True), "pyFM"))
    if problem.meshes is not None:
        faces = len(problem.meshes[0].faces) > 0
        return [*found, (MESHES if faces else CLOUDS, meshes, "pyFM")]
    return [*found, (POT, planned, "ot")]


def _compare_all(name: str, make: Callable[[], list[Problem]]) -> list[dict[str, Any]]:
    try:
        problems = make()
    except CothermError as error:
        return [{"problem": name, "skipped": str(error)}]
    return [_compare(problem) for problem in problems]


def _compare(problem: Problem) -> dict[str, Any]:
    right = problem.truth[:, 1]
    least = problem.distances[np.ix_(right, problem.places)].min(axis=1).mean() / problem.distances.max()
    return {
        "problem": problem.name,
        "vertices": [graph.n for graph in problem.graphs],
        "nearest": float(least),
        "contestants": [_measured(problem, *contestant) for contestant in _contestants(problem)],
    }


_PACKAGES = {"pyFM": "pyfmaps", "ot": "POT"}


def _measured(
    problem: Problem, name: str, contestant: Callable[[Problem], Ints], package: str | None
) -> dict[str, Any]:
    if package is not None and find_spec(package) is None:
        return {"name": name, "skipped": f"not installed: pip install {_PACKAGES[package]}"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the others' own dependencies
        began = time.perf_counter()
        found = contestant(problem)
    return {"name": name, "seconds": time.perf_counter() - began, **judged(problem, found)}


def _claims(comparison: dict[str, Any]) -> list[dict[str, Any]]:
    rows = {row["name"]: row for row in comparison.get("contestants", []) if "skipped" not in row}
    if OURS not in rows:
        return []
    best = COUPLED if COUPLED in rows else OURS
    # Like with like: refinements on the same graphs, then whole ways.
    pairs = [(OURS, SAME_MODES), (best, COUPLED_MODES), (best, MESHES), (best, CLOUDS), (best, POT)]
    claims = [
        _claim(f"{comparison['problem']}: {mine} over {other}", _ratio(rows, mine, other), "<=", 1.0)
        for mine, other in pairs
        if other in rows
    ]
    if COUPLED in rows:
        falls = _ratio(rows, OURS, COUPLED)
        claims.append(_claim(f"{comparison['problem']}: coupling divides the error by", falls, ">=", _COUPLING_HELPS))
    return claims


def _ratio(rows: dict[str, dict[str, Any]], one: str, other: str) -> float:
    return float(rows[one]["by_diameter"] / rows[other]["by_diameter"])


def _claim(text: str, value: float, sign: str, limit: float) -> dict[str, Any]:
    holds = value <= limit if sign == "<=" else value >= limit
    return {"claim": text, "measured": value, "needed": f"{sign} {limit:g}", "holds": bool(holds)}


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = ["Correspondence: mean geodesic error, each contestant with its defaults and the same landmarks", ""]
    for comparison in report["comparisons"]:
        if "skipped" in comparison:
            lines += [f"{comparison['problem']}: skipped, {comparison['skipped']}", ""]
            continue
        lines += [
            f"{comparison['problem']}; nearest possible {comparison['nearest']:.4f} of the diameter",
            f"  {'contestant':<32}{'/ √area':>10}{'/ diameter':>12}{'off by a tenth':>16}{'seconds':>10}",
        ]
        for row in comparison["contestants"]:
            if "skipped" in row:
                lines.append(f"  {row['name']:<32}{row['skipped']}")
                continue
            area = "" if row["by_root_area"] is None else f"{row['by_root_area']:.4f}"
            lines.append(
                f"  {row['name']:<32}{area:>10}{row['by_diameter']:12.4f}{row['far_off']:16.1%}{row['seconds']:10.1f}"
            )
        lines.append("")
    for c in report["claims"]:
        verdict = "holds" if c["holds"] else "DOES NOT HOLD"
        lines.append(f"{c['claim']:<118}{c['measured']:8.3g}  needed {c['needed']:<6} {verdict}")
    return "\n".join(lines)
