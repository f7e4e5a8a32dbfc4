"""How numbers may be written in text formats, and how many vertices a file may name."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cotherm.errors import CothermError
from cotherm.graphs.files import read_graph, read_mesh, write_graph
from cotherm.graphs.graph import MOST_VERTICES, Graph
from cotherm.io import text
from tests.fuzz import mutations, seeds

# A file with a place for a number, and the line it is on; the fourth vertex is there to be named.
PLY = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
PLACES: dict[str, tuple[str, int]] = {
    "weight.csv": ("i,j,w\n0,1,1\n0,2,{}\n", 3),
    "vertex.csv": ("0,1,1\n0,{},1\n", 2),
    "bare.csv": ("0,1\n0,{}\n", 2),
    "weight.mtx": ("%%MatrixMarket matrix coordinate real symmetric\n5 5 1\n2 1 {}\n", 3),
    "vertex.mtx": ("%%MatrixMarket matrix coordinate pattern symmetric\n5 5 1\n{} 1\n", 3),
    "vertices.off": ("OFF\n4 0 0\n0 0 0\n1 0 0\n0 {} 0\n0 0 1\n", 5),
    "faces.off": ("OFF\n4 1 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 {}\n", 7),
    "vertices.obj": ("v 0 0 0\nv 1 0 {}\n", 2),
    "faces.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 {}\n", 5),
    "vertices.ply": ("ply\nformat ascii 1.0\n" + PLY + "end_header\n0 0 0\n{} 0 0\n0 1 0\n0 0 1\n", 9),
}
ACCEPTED = {"3": 3, "+3": 3, "3.": 3, "3.0": 3, "03": 3, "3e0": 3, "30E-1": 3, "0.3e+1": 3, "  3": 3}
REFUSED = [
    *("١", "٣", "３", "³", "Ⅲ", "1_0", "0_3", "0x3", "0x1p1", "0b11", "3d0", "3D0", "3j", "3L", "3f", "three"),
    *("nan", "NaN", "-nan", "inf", "-inf", "Infinity", "1e999", "−3", "$3", "'3'", '"3"', "(3)", "1e", "e1"),
    *(".", "+", "-", "--3", "+-3", "3e", "3e+", "3.0.0", "true", "None"),
]


def read(place: Path) -> object:
    return (read_graph if place.suffix in (".csv", ".mtx") else read_mesh)(place)


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("number", ACCEPTED)
def test_numbers(name: str, number: str, tmp_path: Path) -> None:
    pattern, _ = PLACES[name]
    (tmp_path / name).write_text(pattern.format(number), encoding="utf-8")
    found = read(tmp_path / name)
    (tmp_path / name).write_text(pattern.format(ACCEPTED[number]), encoding="utf-8")
    assert found == read(tmp_path / name)


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("number", REFUSED)
def test_what_is_no_number(name: str, number: str, tmp_path: Path) -> None:
    pattern, line = PLACES[name]
    (tmp_path / name).write_text(pattern.format(number), encoding="utf-8")
    with pytest.raises(CothermError, match=rf"line {line}: "):
        read(tmp_path / name)


@pytest.mark.parametrize("count", ["٣", "3_0", "0x3", "3.0", "+3", "-3", "3e0", "９"])
@pytest.mark.parametrize(
    "pattern",
    [
        "a.mtx %%MatrixMarket matrix coordinate real symmetric\n{} 3 0\n",
        "a.off OFF\n{} 0 0\n0 0 0\n",
        "a.ply ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nend_header\n",
    ],
)
def test_counts_are_plain_digits(pattern: str, count: str, tmp_path: Path) -> None:
    name, _, content = pattern.partition(" ")
    (tmp_path / name).write_text(content.format(count), encoding="utf-8")
    with pytest.raises(CothermError, match=r"line [23]: "):
        read(tmp_path / name)


# How many vertices

BANNER = "%%MatrixMarket matrix coordinate real symmetric\n"
HEAD = 'cotherm graph {{"version": 1, "n": {}, "m": 1, "name": null, "extras": []}}\n'


@pytest.mark.parametrize("n", [10**6 + 1, MOST_VERTICES])
@pytest.mark.parametrize(
    ("name", "pattern", "advice"),
    [
        ("g.csv", "0,{last},1\n", "renumber them"),
        ("g.csv", "source,target\n{last},0\n", "cotherm graph"),
        ("g.mtx", BANNER + "{n} {n} 1\n2 1 1\n", "cotherm graph"),
    ],
)
def test_vertices_out_of_proportion(n: int, name: str, pattern: str, advice: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(pattern.format(n=n, last=n - 1))
    with pytest.raises(CothermError, match=rf"{n} vertices and 1 edges; needed: .*{advice}"):
        read_graph(tmp_path / name)


def test_vertices_in_proportion_or_meant(tmp_path: Path) -> None:
    files = {
        "most.csv": ("0,999999,1\n", 10**6),
        "meant.csv": ("# " + HEAD.format(2 * 10**9) + "i,j,w\n0,1,1\n", 2 * 10**9),
        "meant.mtx": (BANNER + "% " + HEAD.format(2 * 10**9) + f"{2 * 10**9} {2 * 10**9} 1\n2 1 1\n", 2 * 10**9),
        "many.csv": ("".join(f"0,{k},1\n" for k in range(1, 20_001)) + "1,1999999,1\n", 2 * 10**6),
    }
    for name, (content, n) in files.items():
        (tmp_path / name).write_text(content)
        assert read_graph(tmp_path / name).n == n


@pytest.mark.parametrize("suffix", [".csv", ".mtx", ".npz"])
def test_what_is_written_is_read_however_many_vertices(suffix: str, tmp_path: Path) -> None:
    graph = Graph(MOST_VERTICES, [0], [MOST_VERTICES - 1], [1.0])
    write_graph(graph, tmp_path / f"g{suffix}")
    assert read_graph(tmp_path / f"g{suffix}") == graph


@pytest.mark.parametrize("suffix", [".csv", ".mtx", ".npz"])
def test_names_as_long_as_headers_hold(suffix: str, tmp_path: Path) -> None:
    graph = Graph(2, [0], [1], [1.0], name="😀" * 10**5)
    write_graph(graph, tmp_path / f"g{suffix}")
    assert read_graph(tmp_path / f"g{suffix}") == graph
    with pytest.raises(CothermError, match=r"graph.name: 100001 characters"):
        write_graph(Graph(1, [], [], [], name="x" * (10**5 + 1)), tmp_path / f"h{suffix}")


# Blocks


@pytest.mark.parametrize("size", [1, 7, 64])
def test_blocks_of_any_size_give_the_same(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line end falls between two blocks once."""
    from cotherm.graphs.formats import edge_list, matrix_market, obj, off, ply

    formats: dict[str, Callable[[bytes], object]] = {
        ".csv": edge_list.parse,
        ".mtx": matrix_market.parse,
        ".off": off.parse,
        ".obj": obj.parse,
        ".ply": ply.parse,
    }
    files = {name: data for name, data in (seeds.graphs() | seeds.meshes()).items() if not name.endswith(".npz")}
    for name, data in files.items():
        parse = formats[Path(name).suffix]
        variants = [data, *mutations.mutants(size, name, data, 40)]
        expected = [_outcome(parse, variant) for variant in variants]
        with monkeypatch.context() as patch:
            patch.setattr(text, "_BLOCK", size)
            assert [_outcome(parse, variant) for variant in variants] == expected


def _outcome(parse: Callable[[bytes], object], data: bytes) -> object:
    """What is read, or None; which of several faults is named may depend on the blocks."""
    try:
        return parse(data)
    except CothermError:
        return None


def test_a_line_without_end(tmp_path: Path) -> None:
    place = tmp_path / "g.csv"
    place.write_text("0,1,1\n0,2," + "1" * 10**6 + "\n")
    with pytest.raises(CothermError, match="line 2: 1000005 bytes; needed: lines of at most 1000000"):
        read_graph(place)
    place.write_text("0,1,1 #" + "1" * 10**7 + "\n0,2,1\n")  # a comment may be as long as it likes
    assert read_graph(place).m == 2


def test_bytes_that_are_not_text_are_named_in_any_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = "0,1,1\n# é✓😀\n".encode() + b"0,2,\xe9\n"
    monkeypatch.setattr(text, "_BLOCK", 5)
    with pytest.raises(CothermError, match="line 3: byte 0xe9"):
        text.utf8(data)
    with pytest.raises(CothermError, match="line 2: byte 0xf0"):
        text.utf8(data[:16])


# Headers of PLY


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian"])
def test_headers_of_many_properties_take_no_minutes(form: str, tmp_path: Path) -> None:
    """A limit and no measurement: in time quadratic in the number of properties this took more than a minute."""
    count = 20_000
    first = "".join(f"property list uchar uchar p{k}\n" for k in range(count))
    others = "".join(f"element e{k} 0\nproperty char b\n" for k in range(count))
    header = f"ply\nformat {form} 1.0\nelement vertex 1\n{first}{others}end_header\n"
    (tmp_path / "x.ply").write_bytes(header.encode() + (b"0 " if form == "ascii" else b"\0") * count)
    began = time.process_time()
    with pytest.raises(CothermError, match="no vertices with x, y and z"):
        read_mesh(tmp_path / "x.ply")
    assert time.process_time() - began < 15.0


def test_a_binary_record_past_the_largest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cotherm.graphs.formats import ply

    monkeypatch.setattr(ply, "_LONGEST_RECORD", 20)
    (tmp_path / "m.ply").write_bytes(seeds.meshes()["own.ply"])
    with pytest.raises(CothermError, match="first record of 'vertex': 24 bytes; needed: at most 20"):
        read_mesh(tmp_path / "m.ply")


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FC00000, 0x7F800000, 0xFFA00000])
def test_positions_that_are_not_finite(bits: int, tmp_path: Path) -> None:
    """Signalling NaN, too, are refused without a warning of NumPy's."""
    axes = "".join(f"property float {axis}\n" for axis in "xyz")
    header = f"ply\nformat binary_little_endian 1.0\nelement vertex 1\n{axes}end_header\n"
    (tmp_path / "m.ply").write_bytes(header.encode() + np.array([0, bits, 0], "<u4").tobytes())
    with pytest.raises(CothermError, match="needed: finite numbers"):
        read_mesh(tmp_path / "m.ply")


def test_positions_of_any_type(tmp_path: Path) -> None:
    for kind, dtype in {"uchar": "u1", "short": "<i2", "float": "<f4", "double": "<f8"}.items():
        axes = "".join(f"property {kind} {axis}\n" for axis in "xyz")
        header = f"ply\nformat binary_little_endian 1.0\nelement vertex 2\n{axes}end_header\n"
        points = np.array([[1, 2, 3], [4, 5, 6]], dtype)
        (tmp_path / "m.ply").write_bytes(header.encode() + points.tobytes())
        assert read_mesh(tmp_path / "m.ply").vertices.tolist() == points.tolist()
