"""Mesh files: exact round trips, the variants found in the wild, and a CothermError for everything else."""

from __future__ import annotations

import pickle
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cotherm.errors import CothermError
from cotherm.graphs.files import read_mesh, write_mesh
from cotherm.graphs.mesh import Mesh

SUFFIXES = (".off", ".obj", ".ply")
EXTREMES = (0.0, -0.0, 5e-324, -5e-324, 0.1, 1 / 3, 1e16 + 2, 1e308, -1.7976931348623157e308)
POSITIONS = st.sampled_from(EXTREMES) | st.floats(allow_nan=False, allow_infinity=False)

TETRAHEDRON = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


@st.composite
def meshes(draw: st.DrawFn) -> Mesh:
    n = draw(st.integers(1, 6))
    vertices = draw(st.lists(st.tuples(POSITIONS, POSITIONS, POSITIONS), min_size=n, max_size=n))
    corner = st.integers(0, n - 1)
    return Mesh(vertices, draw(st.lists(st.tuples(corner, corner, corner), max_size=8)))


def refused(path: Path) -> str:
    """The message on reading a file, which must name the path and leave the file as it is."""
    before = path.read_bytes()
    with pytest.raises(CothermError) as caught:
        read_mesh(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    return str(caught.value)


def read_or_refused(path: Path) -> Mesh | None:
    """The mesh in a file of doubtful content, or None after a CothermError; anything else is a failure."""
    before = path.read_bytes()
    message = str(path)
    found = None
    try:
        found = read_mesh(path)
    except CothermError as error:
        message = str(error)
    assert str(path) in message
    assert path.read_bytes() == before
    return found


def reads_as_tetrahedron(path: Path, content: str | bytes) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert read_mesh(path) == TETRAHEDRON


# The noun


def test_mesh_holds_checked_copies() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    mesh = Mesh(points, [[0, 1, 2]])
    points[0] = 7
    assert Mesh(points.astype(int)).vertices.dtype == np.float64
    assert mesh.faces.dtype == np.int32
    assert mesh.vertices[0].tolist() == [0, 0, 0]
    assert repr(mesh) == "Mesh(3 vertices, 1 faces)"
    for array in mesh:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError, match="frozen"):
        mesh.faces = mesh.faces
    with pytest.raises(AttributeError, match="frozen"):
        del mesh.faces


def test_mesh_equality_and_copies() -> None:
    vertices, faces = TETRAHEDRON
    assert Mesh(vertices, faces) == TETRAHEDRON
    assert pickle.loads(pickle.dumps(TETRAHEDRON)) == TETRAHEDRON
    assert Mesh(vertices, faces[:3]) != TETRAHEDRON
    assert Mesh(vertices + 1, faces) != TETRAHEDRON
    assert (vertices, faces) != TETRAHEDRON


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        ([[0, 0]], (), r"vertices: shape \(1, 2\)"),
        (np.empty((0, 3)), (), r"vertices: shape \(0, 3\)"),
        ([0, 0, 0], (), "vertices"),
        ([[0, 0, np.nan]], (), "vertices: nan"),
        ([["a", "b", "c"]], (), "vertices: dtype"),
        ([[0, 0, 0]], [[0, 0, 1]], "faces: 1 at position 2"),
        ([[0, 0, 0]], [[0, 0, -1]], "faces: -1"),
        ([[0, 0, 0]], [[0, 0, 0.0]], "faces: dtype float64"),
        ([[0, 0, 0]], [[0, 0, 0, 0]], r"faces: shape \(1, 4\)"),
        ([[0, 0, 0]], [0, 0, 0], r"faces: shape \(3,\)"),
    ],
)
def test_bad_mesh(vertices: Any, faces: Any, message: str) -> None:
    with pytest.raises(CothermError, match=message):
        Mesh(vertices, faces)


# Round trips


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(mesh=meshes())
def test_round_trip(suffix: str, mesh: Mesh, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / f"round{suffix}"
    write_mesh(mesh, path, overwrite=True)
    found = read_mesh(path)
    assert found == mesh
    assert found.vertices.tobytes() == mesh.vertices.tobytes()  # −0.0 stays −0.0
    assert found.faces.dtype == np.int32


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_existing_file_is_kept_unless_told(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"m{suffix}"
    cloud = Mesh(TETRAHEDRON.vertices)
    write_mesh(TETRAHEDRON, path)
    with pytest.raises(CothermError, match="the file exists"):
        write_mesh(cloud, path)
    assert read_mesh(path) == TETRAHEDRON
    write_mesh(cloud, path, overwrite=True)
    assert read_mesh(path) == cloud


def test_only_meshes_are_written(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match=r"mesh: [\s\S]*needed: a Mesh"):
        write_mesh(tuple(TETRAHEDRON), tmp_path / "m.off")  # type: ignore[arg-type]
    with pytest.raises(CothermError, match=r"needed: one of \.obj, \.off, \.ply.*read_graph"):
        write_mesh(TETRAHEDRON, tmp_path / "m.csv")
    with pytest.raises(CothermError, match=r"suffix '\.glb'"):
        read_mesh(tmp_path / "m.glb")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_and_empty(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"m{suffix}"
    with pytest.raises(CothermError, match="no such file; needed: an existing file"):
        read_mesh(path)
    path.touch()
    assert "an empty file" in refused(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(CothermError, match="a directory"):
        read_mesh(path)


@pytest.mark.parametrize(
    "name", ["tosca/michael7.off", "tosca/michael13.off", "tosca5k/michael7.off", "tosca5k/michael13.off"]
)
def test_tosca(name: str, data_file: Callable[[str], Path], tmp_path: Path) -> None:
    path = data_file(name)
    mesh = read_mesh(path)
    lines = path.read_text().split("\n")
    n, f = len(mesh.vertices), len(mesh.faces)
    assert [n, f] == [int(word) for word in lines[1].split()[:2]]
    for k in (0, n // 2, n - 1):
        assert mesh.vertices[k].tolist() == [float(word) for word in lines[2 + k].split()]
    for k in (0, f // 2, f - 1):
        assert mesh.faces[k].tolist() == [int(word) for word in lines[2 + n + k].split()[1:]]
    for suffix in SUFFIXES:
        write_mesh(mesh, tmp_path / f"copy{suffix}")
        assert read_mesh(tmp_path / f"copy{suffix}") == mesh


# Variants

VERTICES = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
FACES = "3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"
OFF_VARIANTS = {
    "plain": "OFF\n4 4 6\n" + VERTICES + FACES,
    "one line": "OFF 4 4 6\n" + VERTICES + FACES,
    "glued": "OFF4 4 6\n" + VERTICES + FACES,
    "two counts": "OFF\n4 4\n" + VERTICES + FACES,
    "no last line end": ("OFF\n4 4 0\n" + VERTICES + FACES).strip(),
    "windows": ("OFF\n4 4 0\n" + VERTICES + FACES).replace("\n", "\r\n"),
    "comments": "# a shape\nOFF # text\n\n#\n4 4 0\n\n" + VERTICES.replace("\n", " # corner\n\n") + FACES + "# end\n",
    "spaces": "OFF\n  4\t4 0 \n" + VERTICES.replace(" ", " \t ") + FACES.replace("\n", " \n"),
    "face colors": "OFF\n4 4 0\n" + VERTICES + "3 0 2 1 255 0 0\n3 0 1 3\n3 0 3 2 0.5 0.5 0.5 1.0\n3 1 2 3 7\n",
    "vertex colors": "COFF\n4 4 0\n" + VERTICES.replace("\n", " 255 0 0 255\n") + FACES,
    "normals": "NOFF\n4 4 0\n" + VERTICES.replace("\n", " 0 0 1\n") + FACES,
    "all": "STCNOFF\n4 4 0\n" + VERTICES.replace("\n", " 1 1 1 1 0 0 1 0 0\n") + FACES,
    "byte order mark": "\ufeffOFF\n4 4 0\n" + VERTICES + FACES,
}


@pytest.mark.parametrize("text", OFF_VARIANTS.values(), ids=OFF_VARIANTS)
def test_off_variants(text: str, tmp_path: Path) -> None:
    reads_as_tetrahedron(tmp_path / "m.OFF", text)


OBJ_VERTICES = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
OBJ_VARIANTS = {
    "plain": OBJ_VERTICES + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    "textures": OBJ_VERTICES + "vt 0 0\nf 1/1 3/1 2/1\nf 1/1 2/1 4/1\nf 1/1 4/1 3/1\nf 2/1 3/1 4/1\n",
    "normals": OBJ_VERTICES + "vn 0 0 1\nf 1//1 3//1 2//1\nf 1//1 2//1 4//1\nf 1//1 4//1 3//1\nf 2//1 3//1 4//1\n",
    "both": OBJ_VERTICES + "f 1/1/1 3/1/-1 2/-1/1\nf 1/2/3 2/2/2 4/4/4\nf 1 4/ 3\nf 2 3 4\n",
    "backwards": OBJ_VERTICES + "f -4 -2 -3\nf -4/-1 -3/-1 -1/-1\nf -4//-1 -1//-2 -2\nf 2 3 -1\n",
    "interleaved": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -1 -2\nv 0 0 1\nf -4 -3 -1\nf 1 4 3\nf 2 3 -1\n",
    "ahead": "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n" + OBJ_VERTICES,
    "furniture": "# by hand\nmtllib a.mtl\no thing\n\n"
    + OBJ_VERTICES
    + "g side\nusemtl red\ns off\nl 1 2\np 1\nf 1 3 2 # a face\n\tf\t1 2\t4 \nf 1 4 3\nf 2 3 4",
    "colors": OBJ_VERTICES.replace("0\n", "0 0.5 0.5 0.5\n") + "f 1 3 2\r\nf 1 2 4\r\nf 1 4 3\r\nf 2 3 4\r\n",
}


@pytest.mark.parametrize("text", OBJ_VARIANTS.values(), ids=OBJ_VARIANTS)
def test_obj_variants(text: str, tmp_path: Path) -> None:
    reads_as_tetrahedron(tmp_path / "m.obj", text)


def ply(form: str, *lines: str) -> str:
    return "\n".join(["ply", f"format {form} 1.0", *lines, "end_header", ""])


PLY_PLAIN = (
    "element vertex 4",
    "property float x",
    "property float y",
    "property float z",
    "element face 4",
    "property list uchar int vertex_indices",
)
PLY_RICH = (
    "comment made by hand",
    "obj_info nothing",
    "element material 1",
    "property uchar red",
    "element vertex 4",
    "property uchar flag",
    "property double z",
    "property int16 x",
    "property float32 y",
    "property list uint8 float32 weights",
    "element face 4",
    "property uchar red",
    "property list int32 uint32 vertex_index",
    "property list uchar float texcoord",
    "element edge 1",
    "property int vertex1",
)
PLY_VARIANTS = {
    "plain": ply("ascii", *PLY_PLAIN) + VERTICES + FACES,
    "windows": (ply("ascii", *PLY_PLAIN) + VERTICES + FACES).replace("\n", "\r\n"),
    "old mac": (ply("ascii", *PLY_PLAIN) + VERTICES + FACES).replace("\n", "\r"),
    "rich": ply("ascii", *PLY_RICH)
    + "255\n9 0 0 0 1 .5\n9 0 1 0 1 .5\n9 0 0 1 1 .5\n\n9 1 0 0 1 .5\n"
    + "1 3 0 2 1 2 .5 .5\n1 3 0 1 3 2 .5 .5\n1 3 0 3 2 2 .5 .5\n1 3 1 2 3 2 .5 .5\n8",
}


@pytest.mark.parametrize("text", PLY_VARIANTS.values(), ids=PLY_VARIANTS)
def test_ply_text_variants(text: str, tmp_path: Path) -> None:
    reads_as_tetrahedron(tmp_path / "m.ply", text)


def binary(order: str, *, rich: bool) -> bytes:
    """The tetrahedron in binary, packed with struct, record by record."""
    form = "binary_little_endian" if order == "<" else "binary_big_endian"
    data = ply(form, *(PLY_RICH if rich else PLY_PLAIN)).encode()
    data += b"\xff" if rich else b""
    for x, y, z in TETRAHEDRON.vertices.astype(int).tolist():
        data += struct.pack(order + "BdhfBf", 9, z, x, y, 1, 0.5) if rich else struct.pack(order + "fff", x, y, z)
    for a, b, c in TETRAHEDRON.faces.tolist():
        data += struct.pack(order + "Bi3IB2f", 1, 3, a, b, c, 2, 0.5, 0.5) if rich else b""
        data += b"" if rich else struct.pack(order + "B3i", 3, a, b, c)
    return data + (struct.pack(order + "i", 8) if rich else b"")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("rich", [False, True])
def test_ply_binary_variants(order: str, rich: bool, tmp_path: Path) -> None:
    reads_as_tetrahedron(tmp_path / "m.ply", binary(order, rich=rich))


def test_binary_data_after_windows_header(tmp_path: Path) -> None:
    header, _, body = binary("<", rich=False).partition(b"end_header\n")
    reads_as_tetrahedron(tmp_path / "m.ply", header.replace(b"\n", b"\r\n") + b"end_header\r\n" + body)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".off", "OFF\n1 0 0\n1 2 3\n"),
        (".obj", "v 1 2 3\n"),
        (".ply", ply("ascii", "element vertex 1", *PLY_PLAIN[1:4]) + "1 2 3\n"),
        (
            ".ply",
            ply("ascii", "element vertex 1", *PLY_PLAIN[1:4], "element face 0", PLY_PLAIN[5]) + "1 2 3\n",
        ),
    ],
)
def test_point_cloud(suffix: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"m{suffix}"
    path.write_text(text)
    assert read_mesh(path) == Mesh([[1, 2, 3]])


# Bad files

BAD_OFF = {
    "no word": ("4 4 0\n" + VERTICES + FACES, "first line: '4 4 0'; needed: the word OFF"),
    "blank": ("\n \n", "first line"),
    "other word": ("OFFSET\n1 0 0\n0 0 0\n", "first line"),
    "four dimensions": ("4OFF\n1 0 0\n0 0 0 0\n", "first line"),
    "binary": ("OFF BINARY\n\0\0\0\0", "needed: OFF as text"),
    "word only": ("OFF\n", "nothing after the word OFF"),
    "one count": ("OFF\n4\n", "line 2: '4'"),
    "four counts": ("OFF\n4 4 0 0\n" + VERTICES + FACES, "line 2"),
    "negative": ("OFF\n-4 4 0\n", "line 2: '-4 4 0'"),
    "fraction": ("OFF\n4.0 4 0\n", "line 2"),
    "many digits": ("OFF\n" + "9" * 5000 + " 0 0\n", "line 2"),
    "no vertices": ("OFF\n0 0 0\n", "vertices: shape (0, 3)"),
    "ten of nine": ("OFF\n10 0 0\n" + "0 0 0\n" * 9, "line 11: the file ends after 9 lines of"),
    "nine of ten": ("OFF\n9 0 0\n" + "0 0 0\n" * 10, "10 lines of vertices and faces; needed: 9 lines"),
    "vertices for faces": ("OFF\n5 3 0\n" + VERTICES + FACES, "line 7: '3 0 2 1'; needed: a vertex"),
    "faces for vertices": ("OFF\n3 5 0\n" + VERTICES + FACES, "line 6: '0 0 1'; needed: a triangle"),
    "two coordinates": ("OFF\n1 0 0\n0 0\n", "line 3: '0 0'; needed: a vertex: three coordinates"),
    "four coordinates": ("OFF\n1 0 0\n0 0 0 0\n", "line 3"),
    "word for number": ("OFF\n1 0 0\n0 zero 0\n", "line 3: '0 zero 0'"),
    "nan": ("OFF\n2 0 0\n0 0 0\n0 nan 0\n", "line 4: '0 nan 0'; needed: finite numbers"),
    "infinite": ("OFF\n1 0 0\n0 0 1e999\n", "line 3"),
    "quad": ("OFF\n4 1 0\n" + VERTICES + "4 0 1 2 3\n", "line 7: '4 0 1 2 3'; needed: a triangle"),
    "segment": ("OFF\n4 1 0\n" + VERTICES + "2 0 1\n", "line 7"),
    "beyond": (
        "OFF\n4 1 0\n" + VERTICES + "3 0 1 4\n",
        "line 7: '3 0 1 4'; needed: vertex numbers from 0 to 3",
    ),
    "below": ("OFF\n4 1 0\n" + VERTICES + "3 0 1 -1\n", "line 7"),
    "half a corner": ("OFF\n4 1 0\n" + VERTICES + "3 0 1 1.5\n", "line 7"),
    "10**15 vertices": (f"OFF\n{10**15} 0 0\n0 0 0\n", f"needed: {10**15} lines"),
}
BAD_OBJ = {
    "blank": ("# nothing\n", "no line 'v x y z'"),
    "faces only": ("f 1 2 3\n", "no line 'v x y z'"),
    "junk": ("hello world\n", "line 1: 'hello world'; needed: a Wavefront line"),
    "free form": (OBJ_VERTICES + "surf 0 1 0 1 1 2\n", "line 5"),
    "bare v": ("v\n", "line 1: 'v'"),
    "bare f": (OBJ_VERTICES + "f\n", "line 5: 'f'"),
    "two coordinates": ("v 0 0\n", "line 1: '0 0'; needed: a vertex"),
    "word": ("v 0 0 0\nv 0 zero 0\n", "line 2"),
    "nan": ("v 0 0 0\nv 0 nan 0\n", "line 2"),
    "quad": (OBJ_VERTICES + "f 1 2 3\nf 1/1 2/2 3/3 4/4\n", "line 6: '1 2 3 4'; needed: a triangle"),
    "all quads": (OBJ_VERTICES + "f 1 2 3 4\n", "Triangulate the mesh first"),
    "segment": (OBJ_VERTICES + "f 1 2\n", "line 5"),
    "zero": (OBJ_VERTICES + "f 0 1 2\n", "line 5: '0 1 2'; needed: vertex numbers from 1 to 4"),
    "beyond": (OBJ_VERTICES + "f 1 2 5\n", "line 5"),
    "backwards too far": (OBJ_VERTICES + "f -1 -2 -5\n", "line 5"),
    "backwards too early": ("v 0 0 0\nf -1 -1 -2\nv 0 0 0\nv 0 0 0\n", "line 2"),
    "half": (OBJ_VERTICES + "f 1 2 2.5\n", "line 5"),
    "slashes": (OBJ_VERTICES + "f 1/2/3/4 2 3\n", "line 5"),
    "slash only": (OBJ_VERTICES + "f / 2 3\n", "line 5"),
    "slash word": (OBJ_VERTICES + "f 1/a 2 3\n", "line 5"),
    "nan corner": (OBJ_VERTICES + "f 1 2 nan\n", "line 5"),
    "continued": (OBJ_VERTICES + "f 1 2 \\\n3\n", "line 6: '3'"),
}
BAD_PLY = {
    "no word": ("poly\n", "line 1"),
    "word glued": ("plyformat ascii 1.0\n", "line 1"),
    "no end": ("ply\nformat ascii 1.0\n", "no line end_header"),
    "no format": ("ply\nelement vertex 0\nproperty float x\nend_header\n", "no line 'format ...'"),
    "other format": (ply("text", *PLY_PLAIN), "line 2: 'format text 1.0'"),
    "two formats": (ply("ascii", "format ascii 1.0", *PLY_PLAIN), "line 3"),
    "other version": (ply("ascii", *PLY_PLAIN).replace("1.0", "2.0"), "line 2"),
    "unknown line": (ply("ascii", "elephant 1"), "line 3: 'elephant 1'"),
    "early property": (ply("ascii", "property float x"), "line 3"),
    "unknown type": (ply("ascii", "element vertex 1", "property quad x"), "line 4"),
    "unknown list": (ply("ascii", "element vertex 1", "property list float int x"), "line 4"),
    "half a list": (ply("ascii", "element vertex 1", "property list uchar x"), "line 4"),
    "same property": (ply("ascii", "element vertex 1", "property int x", "property int x"), "line 5"),
    "same element": (ply("ascii", *PLY_PLAIN, "element vertex 1"), "line 9"),
    "negative": (ply("ascii", "element vertex -1", "property int x"), "line 3"),
    "no properties": (ply("ascii", "element vertex 5"), "element 'vertex' without properties"),
    "no vertices": (ply("ascii", "element face 0", PLY_PLAIN[5]), "no vertices with x, y and z"),
    "no z": (ply("ascii", "element vertex 1", *PLY_PLAIN[1:3]) + "1 2\n", "no vertices with x, y and z"),
    "z a list": (
        ply("ascii", "element vertex 1", *PLY_PLAIN[1:3], "property list uchar int z") + "1 2 1 3\n",
        "no vertices with x, y and z",
    ),
    "no corners": (
        ply("ascii", *PLY_PLAIN[:4], "element face 1", "property int red") + VERTICES + "1\n",
        "faces without a list vertex_indices",
    ),
    "strips": (
        ply("ascii", *PLY_PLAIN[:4], "element tristrips 1", "property list int int vertex_indices")
        + VERTICES
        + "3 0 1 2\n",
        "triangle strips",
    ),
    "too few": (ply("ascii", *PLY_PLAIN) + VERTICES, "4 records; needed: 8 records"),
    "too many": (ply("ascii", *PLY_PLAIN) + VERTICES + FACES + "0\n", "9 records; needed: 8 records"),
    "10**15": (ply("ascii", f"element vertex {10**15}", *PLY_PLAIN[1:4]) + VERTICES, f"{10**15} records"),
    "two coordinates": (
        ply("ascii", *PLY_PLAIN) + VERTICES.replace("1 0 0", "1 0") + FACES,
        "line 11: '1 0'",
    ),
    "first short": (ply("ascii", *PLY_PLAIN) + "0 0\n" * 4 + FACES, "line 10: '0 0'; needed: 3 numbers for a record"),
    "word": (ply("ascii", *PLY_PLAIN) + VERTICES.replace("1", "x") + FACES, "line 11: 'x 0 0'"),
    "nan": (ply("ascii", *PLY_PLAIN) + VERTICES.replace("1", "nan") + FACES, "line 11: 'nan 0 0'"),
    "quad": (ply("ascii", *PLY_PLAIN) + VERTICES + FACES[:-8] + "4 0 1 2 3\n", "line 17: '4 0 1 2 3'"),
    "all quads": (ply("ascii", *PLY_PLAIN) + VERTICES + "4 0 1 2 3\n" * 4, "polygons with 4 corners"),
    "lying length": (ply("ascii", *PLY_PLAIN) + VERTICES + FACES[:-8] + "4 0 1 2\n", "line 17: '4 0 1 2'"),
    "first length": (ply("ascii", *PLY_PLAIN) + VERTICES + "9 0 1 2\n" * 4, "line 14: '9 0 1 2'"),
    "length a word": (ply("ascii", *PLY_PLAIN) + VERTICES + "x 0 1 2\n" * 4, "line 14: 'x 0 1 2'"),
    "beyond": (ply("ascii", *PLY_PLAIN) + VERTICES + FACES.replace("2 1", "2 4"), "line 14: '3 0 2 4'"),
    "list missing": (
        ply("ascii", "element vertex 1", "property int x", "property list int int y") + "1\n",
        "line 7: '1'",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD_OFF.values(), ids=BAD_OFF)
def test_bad_off(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.off"
    path.write_text(text)
    assert message in refused(path)


@pytest.mark.parametrize(("text", "message"), BAD_OBJ.values(), ids=BAD_OBJ)
def test_bad_obj(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.obj"
    path.write_text(text)
    assert message in refused(path)


@pytest.mark.parametrize(("text", "message"), BAD_PLY.values(), ids=BAD_PLY)
def test_bad_ply(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.ply"
    path.write_text(text)
    assert message in refused(path)


WHOLE = binary("<", rich=False)
FACE = struct.pack("<B3i", 3, 1, 2, 3)
BAD_BINARY_PLY = {
    "cut": (WHOLE[:-1], "the file ends among the records of 'face'"),
    "no faces": (WHOLE[: -4 * len(FACE)], "the file ends among the records of 'face'"),
    "no records": (WHOLE[: WHOLE.index(b"end_header") + 11], "the file ends among the records of 'vertex'"),
    "too long": (WHOLE + b"\0", "1 bytes after the last record"),
    "quad last": (
        WHOLE[:-13] + struct.pack("<B4i", 4, 0, 1, 2, 3),
        "face 3: a list 'vertex_indices' of length 4",
    ),
    "beyond": (WHOLE[:-4] + struct.pack("<i", 4), "faces: 4 at position 11"),
    "below": (WHOLE[:-4] + struct.pack("<i", -1), "faces: -1 at position 11"),
    "nan": (WHOLE.replace(struct.pack("<f", 1), struct.pack("<f", np.nan), 1), "vertices: nan"),
    "10**15 vertices": (WHOLE.replace(b"vertex 4", b"vertex %d" % 10**15), "records of 'vertex'"),
    "10**15 faces": (WHOLE.replace(b"face 4", b"face %d" % 10**15), "records of 'face'"),
    "float corners": (WHOLE.replace(b"uchar int", b"uchar float"), "faces: dtype float32"),
    "long list": (
        WHOLE.replace(b"uchar int", b"int int")[: -4 * len(FACE)] + struct.pack("<i", 2**31 - 1),
        "first record of 'face': a list of length 2147483647",
    ),
    "endless list": (
        ply("binary_little_endian", "element blob 1", "property list int uchar bytes").encode()
        + struct.pack("<i", 10**6 + 1)
        + b"\0" * (10**6 + 1),
        "first record of 'blob': a list of length 1000001",
    ),
    "negative list": (
        WHOLE.replace(b"uchar int", b"char int")[: -4 * len(FACE)] + b"\xff" * 13,
        "first record of 'face': a list of length -1",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD_BINARY_PLY.values(), ids=BAD_BINARY_PLY)
def test_bad_binary_ply(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.ply"
    path.write_bytes(content)
    tracemalloc.start()
    found = refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message in found
    assert peak < 2**22  # nothing is allocated on the header's word


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"\xff\xfe", b"OFF\n1 0 0\n0 0 \xe9\n", b"ply\nformat \xe9\nend_header\n"])
def test_bytes_that_are_not_text(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    message = refused(path)
    assert ("UTF-8" in message) == (suffix != ".ply" or content.startswith(b"ply"))


# Damage


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.data())
def test_truncation(suffix: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    mesh = data.draw(meshes())
    path = folder / f"cut{suffix}"
    write_mesh(mesh, path, overwrite=True)
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    found = read_or_refused(path)
    if found is not None and suffix != ".obj":  # only that one declares no counts
        assert suffix != ".ply"
        assert len(found.vertices) == len(mesh.vertices)
        assert len(found.faces) == len(mesh.faces)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".text.ply"])
@given(data=st.data())
def test_damaged_bytes(suffix: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / f"damaged{suffix}"
    if suffix == ".text.ply":
        path.write_text(data.draw(st.sampled_from(sorted(PLY_VARIANTS.values()))))
    elif suffix == ".ply":
        path.write_bytes(binary(data.draw(st.sampled_from("<>")), rich=data.draw(st.booleans())))
    else:
        write_mesh(data.draw(meshes()), path, overwrite=True)
    damaged = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged)
    found = read_or_refused(path)
    if found is not None:
        assert np.isfinite(found.vertices).all()
        assert found.faces.size == 0 or 0 <= found.faces.min() <= found.faces.max() < len(found.vertices)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(junk=st.binary(max_size=60) | st.text(alphabet="OFFvf 0123/-.\n", max_size=60).map(str.encode))
def test_junk(suffix: str, junk: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / f"junk{suffix}"
    path.write_bytes({".off": b"OFF\n", ".obj": b"v 0 0 0\n", ".ply": b"ply\n"}[suffix] + junk)
    found = read_or_refused(path)
    assert found is None or (suffix != ".ply" and len(found.vertices) > 0)
