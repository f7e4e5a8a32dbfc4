"""Small valid files of every format that is read, as bytes by name; the suffix tells the format.

Made by hand, without any computation, so that a runner of many mutants starts at once.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from cotherm.graphs.formats import edge_list, matrix_market, npz, obj, off, ply
from cotherm.graphs.graph import Graph
from cotherm.graphs.mesh import Mesh
from cotherm.heat.spectrum import Spectrum
from cotherm.methods.coupling import file as coupling_file
from cotherm.methods.coupling.result import Coupling
from cotherm.methods.matching import file as match_file
from cotherm.methods.matching.result import Match
from cotherm.methods.pairs.agreement import Agreement, PairReport

_POSITION = b"property float x\nproperty float y\nproperty float z\n"
_VERSIONS = {"cotherm": "0.1.0", "numpy": "2.0.0", "python": "3.11.0"}


def graph(name: str | None = "ring", **more: Any) -> Graph:
    """A ring of eight vertices with a chord, edges in no order, and an isolated vertex."""
    i, j = [0, 1, 2, 3, 4, 5, 6, 7, 6], [1, 2, 3, 4, 5, 6, 7, 0, 2]
    return Graph(9, i, j, [1.0, 0.5, 1 / 3, 2.0, 1e-300, 0.0, 1e100, 7.25, 0.1], name=name, **more)


def full_graph() -> Graph:
    angles = np.linspace(0.0, 6.0, 9)
    labels = ["red", "green", "", "é", "red", "x,y", "green", "0", "last"]
    return graph('a "quoted" name', coordinates=np.column_stack([np.cos(angles), np.sin(angles)]), labels=labels)


def mesh() -> Mesh:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, -2.5e-3, 1e5]])
    return Mesh(points, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def coupling() -> Coupling:
    """Two graphs of different sizes and what a coupling says of them; no search was run."""
    large, small = full_graph(), Graph(4, [0, 1, 2], [1, 2, 3], [1.0, 2.0, 0.5], name=None)
    history = [
        {
            "route": route,
            "stage": stage,
            "iteration": k,
            "cost": 8.0 / (k + 1),
            "coupling": 0.1 / (k + 1),
            "optimality": 0.5**k,
        }
        for route, stage, k in (("direct", 0, 0), ("direct", 0, 1), ("stepwise", 1, 2))
    ]
    return Coupling(
        graphs=(large.with_weights(0.5 * large.w), small.with_weights([1.0, 0.0, 0.25])),
        originals=(large, small),
        functions=(np.eye(9)[:, :2], np.eye(4)[:, :2]),
        times=(0.5, 2.0),
        alpha=10.0,
        cost=2.5,
        distance=1.5,
        coupling_before=np.array([0.5, 0.25]),
        coupling=np.array([0.05, 0.025]),
        mismatch=0.0,
        status="converged",
        optimality=1e-7,
        history=tuple(history),
        settings={
            "times": [0.5, 2.0],
            "alpha": None,
            "continuation": "auto",
            "memory": {"peak": 1_000, "precision": "float64"},
        },
        versions=_VERSIONS,
        seconds=0.125,
    )


def paired() -> Coupling:
    """The same as if by pairs: three items in both graphs."""
    agreement = Agreement((0, 1), 3, 2, 0.25, 0.375, 0.5, 0.125, 0.75, 9.0, 1e-9, coupled=True)
    table = np.array([[0, 3], [4, 0], [8, 1]])
    return replace(coupling(), pairs=PairReport(table, 2, 10.0, (0.25, 0.0), (1.0, 1.0), (agreement,), ("A note.",)))


def match() -> Match:
    """Five vertices against four."""
    forth = sp.csr_array(np.array([[0.5, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0.25, 0.75], [0, 0, 0, 1]]))
    back = sp.csr_array(np.array([[1.0, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0.5, 0.5]]))
    bases = [Spectrum(np.array([0.0, 0.5, 1.5]), np.eye(n)[:, :3]) for n in (5, 4)]
    return Match(
        hard=np.array([0, 1, 2, 3, 3]),
        soft=forth,
        round_trip=np.array([0.5, 1.0, 0.75, 0.5, 1.0]),
        agreement=np.array([1.0, 0.5, 0.5, 0.0, 1.0]),
        exact_agreement=0.5,
        chance=0.25,
        hard_back=np.array([0, 0, 2, 3]),
        soft_back=back,
        functional_map=np.eye(3),
        bases=(bases[0], bases[1]),
        source=0,
        target=1,
        status="supported",
        settings={"modes": 3, "refine": True, "times": None},
        versions=_VERSIONS,
        seconds=0.25,
    )


def graphs() -> dict[str, bytes]:
    """For ``read_graph``: as written here, and as other programs write."""
    general = b"%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 4\n3 1 9\n1 3 9\n2 1 4\n"
    pattern = b"%%MatrixMarket matrix coordinate pattern symmetric\n% words\n4 4 3\n2 1\n3 1\n4 2\n"
    integer = b"%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 4\n3 1 9\n"
    return {
        "own.csv": edge_list.render(graph()),
        "titled.csv": b"source,target,weight\n0,1,0.5\n3,1,2e-3\n2,0,1\n",
        "bare.csv": b"0,1,0.5\r\n# half\r\n3,1,2.25\r\n2,0,1\r\n",
        "pairs.csv": b"i,j\n0,1\n2,1\n",
        "own.mtx": matrix_market.render(graph()),
        "general.mtx": general,
        "pattern.mtx": pattern,
        "integer.mtx": integer,
        "own.npz": npz.render(graph()),
        "full.npz": npz.render(full_graph()),
    }


def meshes() -> dict[str, bytes]:
    """For ``read_mesh``: as written here, and as other programs write."""
    plain = b"ply\nformat ascii 1.0\ncomment by hand\nelement vertex 3\n" + _POSITION
    faces = b"element face 1\nproperty list uchar int vertex_index\nend_header\n"
    return {
        "own.off": off.render(mesh()),
        "colored.off": b"COFF 3 1 0\n0 0 0 255 0 0\n1 0 0 0 255 0\n0 1 0 0 0 255 # blue\n3 0 1 2 128 128 128\n",
        "own.obj": obj.render(mesh()),
        "textured.obj": b"# words\no body\nv 0 0 0\nv 1 0 0\nv 0 1 0 1.0\nvt 0 0\nf 1/1/1 2//1 -1\nf 1/1 2/1 3/1\n",
        "own.ply": ply.render(mesh()),
        "text.ply": plain + faces + b"0 0 0\n1 0 0\n0 1.5 0\n3 0 1 2\n",
        "big.ply": _big_endian(),
    }


def arrays() -> dict[str, bytes]:
    """Tables of points for the command line, ``.npy``."""
    points = np.arange(24.0).reshape(8, 3) ** 1.5
    kinds: dict[str, NDArray[Any]] = {
        "points": points,
        "small": points.astype(np.float32),
        "whole": points.astype(np.int64),
        "turned": points.T.copy().T,
    }
    return {f"{name}.npy": _npy(array) for name, array in kinds.items()}


def couplings() -> dict[str, bytes]:
    return {"coupling.npz": coupling_file.render(coupling()), "paired.npz": coupling_file.render(paired())}


def matches() -> dict[str, bytes]:
    return {"match.npz": match_file.render(match())}


# What is read, by kind; each gives files by name.
ALL: dict[str, Callable[[], dict[str, bytes]]] = {
    "graphs": graphs,
    "meshes": meshes,
    "arrays": arrays,
    "couplings": couplings,
    "matches": matches,
}


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _big_endian() -> bytes:
    lists = b"property list uint int vertex_indices\nproperty list uchar float extra\n"
    vertex_lines = b"element vertex 3\n" + _POSITION + b"property uchar red\n"
    header = b"ply\nformat binary_big_endian 1.0\n" + vertex_lines + b"element face 1\n" + lists + b"end_header\n"
    vertex = np.dtype([("p", ">f4", (3,)), ("red", "u1")])
    face = np.dtype([("n", ">u4"), ("v", ">i4", (3,)), ("m", "u1"), ("e", ">f4", (2,))])
    vertices = np.array([((0, 0, 0), 255), ((1, 0, 0), 0), ((0, 1, 0), 7)], vertex)
    return header + vertices.tobytes() + np.array([(3, (0, 1, 2), 2, (0.5, 0.25))], face).tobytes()
