"""Mesh formats that another library reads: exact where we write, errors of ours, nothing printed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm import CothermError
from cotherm.cli.main import main
from tests.fuzz import mutations

VERTICES = np.random.default_rng(0).standard_normal((6, 3))
FACES = np.array([[0, 1, 2], [1, 2, 3], [0, 3, 4]])  # vertex 5 is in none
FORMATS = {".mesh": "medit", ".msh": "gmsh22", ".stl": "stl", ".vtk": "vtk", ".vtu": "vtu"}


def write_with_meshio(place: Path, blocks: dict[str, np.ndarray], **options: object) -> None:
    meshio = pytest.importorskip("meshio")
    mesh = meshio.Mesh(VERTICES, list(blocks.items()))
    meshio.write(place, mesh, file_format=FORMATS[place.suffix], **options)


@pytest.mark.parametrize("suffix", [".vtk", ".vtu"])
@pytest.mark.parametrize("mesh", [ct.Mesh(VERTICES, FACES), ct.Mesh(VERTICES)], ids=["triangles", "points"])
def test_what_is_written_is_read_back_to_the_last_bit(suffix: str, mesh: ct.Mesh, tmp_path: Path) -> None:
    pytest.importorskip("meshio")
    place = tmp_path / f"mesh{suffix}"
    ct.write_mesh(mesh, place)
    assert ct.read_mesh(place) == mesh
    with pytest.raises(CothermError, match="the file exists"):
        ct.write_mesh(mesh, place)
    ct.write_mesh(ct.Mesh(VERTICES[:3], FACES[:1]), place, overwrite=True)
    assert len(ct.read_mesh(place).vertices) == 3
    assert [p.name for p in tmp_path.iterdir()] == [place.name]


@pytest.mark.parametrize("suffix", [".mesh", ".msh", ".vtk", ".vtu"])
def test_what_meshio_writes(suffix: str, tmp_path: Path) -> None:
    place = tmp_path / f"mesh{suffix.upper()}"
    lower = tmp_path / f"mesh{suffix}"
    write_with_meshio(lower, {"line": FACES[:, :2], "triangle": FACES})
    lower.rename(place)
    mesh = ct.read_mesh(place)
    np.testing.assert_array_equal(mesh.vertices, VERTICES)
    np.testing.assert_array_equal(mesh.faces, FACES)


@pytest.mark.parametrize("binary", [True, False])
def test_equal_corners_of_an_stl_file_are_one_vertex(binary: bool, tmp_path: Path) -> None:
    write_with_meshio(tmp_path / "mesh.stl", {"triangle": FACES}, binary=binary)
    mesh = ct.read_mesh(tmp_path / "mesh.stl")
    assert (len(mesh.vertices), len(mesh.faces)) == (5, 3)
    np.testing.assert_allclose(mesh.vertices[mesh.faces], VERTICES[FACES], rtol=1e-6 if binary else 1e-14)
    with pytest.raises(CothermError, match=r"one of \.obj, \.off, \.ply, \.vtk, \.vtu"):
        ct.write_mesh(mesh, tmp_path / "again.stl")


@pytest.mark.parametrize("suffix", [".mesh", ".msh", ".vtk", ".vtu"])
@pytest.mark.parametrize("kind", ["quad", "tetra"])
def test_cells_that_are_no_triangles_are_refused(suffix: str, kind: str, tmp_path: Path) -> None:
    write_with_meshio(tmp_path / f"mesh{suffix}", {"triangle": FACES, kind: np.array([[0, 1, 2, 3]])})
    with pytest.raises(CothermError, match=f"1 of type '{kind}'; needed: triangles alone"):
        ct.read_mesh(tmp_path / f"mesh{suffix}")


@pytest.mark.parametrize("suffix", FORMATS)
def test_damaged_files(suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / f"mesh{suffix}"
    write_with_meshio(place, {"triangle": FACES})
    capfd.readouterr()
    refused = []
    for mutant in mutations.mutants(0, place.name, place.read_bytes(), 60):
        place.write_bytes(mutant)
        began = time.monotonic()
        try:
            ct.read_mesh(place)
        except CothermError as error:
            refused.append(str(error))
        assert time.monotonic() - began < 5.0
    assert len(refused) > 10
    assert all(str(place) in message for message in refused)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_that_are_none(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("meshio")
    place = tmp_path / f"mesh{suffix}"
    with pytest.raises(CothermError, match="no such file"):
        ct.read_mesh(place)
    place.touch()
    with pytest.raises(CothermError, match="an empty file"):
        ct.read_mesh(place)
    place.write_text("words\n")
    with pytest.raises(CothermError):
        ct.read_mesh(place)


def test_positions_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("meshio")
    ct.write_mesh(ct.Mesh(VERTICES, FACES), tmp_path / "mesh.vtk")
    data = (tmp_path / "mesh.vtk").read_bytes()
    first = VERTICES[:1, 0].astype(">f8").tobytes()
    assert data.count(first) == 1
    (tmp_path / "mesh.vtk").write_bytes(data.replace(first, np.array([np.nan], ">f8").tobytes()))
    with pytest.raises(CothermError, match="vertices"):
        ct.read_mesh(tmp_path / "mesh.vtk")


@pytest.mark.parametrize("suffix", [".stl", ".vtu"])
def test_without_meshio_the_extra_is_named(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("meshio", *(f"meshio.{module}" for module in ("stl", "vtu"))):
        monkeypatch.setitem(sys.modules, name, None)
    place = tmp_path / f"mesh{suffix}"
    place.write_text("words\n")
    with pytest.raises(CothermError, match=r"pip install 'cotherm\[mesh\]'"):
        ct.read_mesh(place)
    with pytest.raises(CothermError, match=r"pip install 'cotherm\[mesh\]'"):
        ct.write_mesh(ct.Mesh(VERTICES, FACES), tmp_path / "new.vtu")
    assert not (tmp_path / "new.vtu").exists()


def test_the_command_line_reads_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_with_meshio(tmp_path / "mesh.stl", {"triangle": FACES})
    main(["info", str(tmp_path / "mesh.stl")])
    assert "5 vertices and 3 triangles" in capsys.readouterr().out
