"""Further mesh formats through meshio, the extra ``cotherm[mesh]``: ``.stl``, ``.vtk``, ``.vtu``, ``.msh``, ``.mesh``.

meshio rather than trimesh: it reads the formats of simulation and visualization, needs nothing but NumPy and rich, and
leaves vertices as they are in the file, which trimesh merges and drops by default. An ``.stl`` file has no vertices
but corners of triangles: equal ones become one vertex. Cells that are points or lines are passed over, as in ``.obj``.

``.off``, ``.obj`` and ``.ply`` have readers of their own. Of 30 sound variants in the tests meshio (5.3) reads 10.
trimesh (5.2) reads 24, one more wrongly, and takes 21 of 82 damaged files for sound, among them vertex counts that are
not those of the file, polygons cut without a word and vertex number 0.

Written are ``.vtk`` and ``.vtu``, which keep every bit; ``.stl`` would round positions to single precision.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from cotherm.errors import CothermError
from cotherm.graphs.mesh import TRIANGULATE, Mesh

INSTALL = "pip install 'cotherm[mesh]'"
# Suffixes and the modules of meshio that read them.
READ = {".mesh": "medit", ".msh": "gmsh", ".stl": "stl", ".vtk": "vtk", ".vtu": "vtu"}
WRITTEN = (".vtk", ".vtu")
_PASSED_OVER = ("vertex", "line")


def read(path: Path) -> Mesh:
    """The mesh in an existing file."""
    module = _module(path.suffix.lower())
    with _quiet("content", f"a {path.suffix.lower()} file"):
        found = module.read(str(path))
    blocks = [(block.type, np.asarray(block.data)) for block in found.cells if block.type not in _PASSED_OVER]
    for kind, cells in blocks:
        if kind != "triangle" and len(cells):
            raise CothermError("cells", f"{len(cells)} of type {kind!r}", "triangles alone", TRIANGULATE)
    faces = [cells for kind, cells in blocks if kind == "triangle" and len(cells)]
    return Mesh(found.points, np.concatenate(faces) if faces else ())


def render(mesh: Mesh, suffix: str) -> bytes:
    """The content of a file with this suffix for the mesh."""
    module = _module(suffix)
    points = np.arange(len(mesh.vertices))[:, np.newaxis]  # meshio refuses a file without cells
    cells = [("triangle", mesh.faces)] if len(mesh.faces) else [("vertex", points)]
    with TemporaryDirectory() as directory, _quiet("mesh", f"a mesh that a {suffix} file can hold"):
        place = Path(directory, f"mesh{suffix}")
        module.write(str(place), import_module("meshio").Mesh(mesh.vertices, cells))
        return place.read_bytes()


def _module(suffix: str) -> Any:
    try:
        return import_module(f"meshio.{READ[suffix]}")
    except ImportError:
        given = f"a {suffix} file, and meshio is not installed"
        raise CothermError("format", given, "the extra 'mesh', or .off, .obj, .ply", f"Run: {INSTALL}") from None


@contextmanager
def _quiet(what: str, needed: str) -> Iterator[None]:
    """Drop what meshio prints, and turn what it raises, even SystemExit, into a CothermError."""
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise CothermError(what, f"unreadable for meshio ({reason})", needed, "The file may be damaged.") from None
