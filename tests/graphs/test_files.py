"""Graph files: exact round trips, and a CothermError naming the path for everything that cannot be read."""

from __future__ import annotations

import io
import json
import os
import pickle
import stat
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

from cotherm.errors import CothermError
from cotherm.graphs.files import read_graph, write_graph
from cotherm.graphs.graph import Graph

SUFFIXES = (".npz", ".csv", ".mtx")
EXTREMES = (0.0, 5e-324, 2.2250738585072014e-308, 0.1, 1 / 3, 1e16 + 2, 1e305, 1.7976931348623157e305)
NASTY_NAMES = (
    "",
    '"',
    "'",
    "\n",
    "\r\n",
    "a\0",
    "\ud800",
    "# cotherm graph {",
    "%",
    "5 5 0",
    "é,✓ \u2028",
    "null",
)

WEIGHTS = st.sampled_from(EXTREMES) | st.floats(min_value=0, max_value=2e305)
NAMES = st.none() | st.sampled_from(NASTY_NAMES) | st.text(max_size=12)
POSITIONS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def graphs(draw: st.DrawFn, *, extras: bool) -> Graph:
    """A graph with edges in any order and either way round, and often isolated vertices."""
    n = draw(st.integers(1, 7))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    pairs = draw(st.lists(ends, max_size=12, unique_by=frozenset)) if n > 1 else []
    w = draw(st.lists(WEIGHTS, min_size=len(pairs), max_size=len(pairs)))
    more = draw(extra_fields(n)) if extras else {}
    i, j = [p[0] for p in pairs], [p[1] for p in pairs]
    return Graph(n, i, j, w, name=draw(NAMES), **more)


@st.composite
def extra_fields(draw: st.DrawFn, n: int) -> dict[str, Any]:
    d = draw(st.integers(1, 3))
    coordinates = st.lists(st.lists(POSITIONS, min_size=d, max_size=d), min_size=n, max_size=n)
    strings = st.lists(st.sampled_from(NASTY_NAMES) | st.text(max_size=5), min_size=n, max_size=n)
    integers = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n)
    return {
        "coordinates": draw(st.none() | coordinates),
        "labels": draw(st.none() | strings | integers.map(lambda x: np.array(x, dtype=np.int64))),
    }


def assert_same(a: Graph, b: Graph) -> None:
    """Equal to the last bit: −0.0 differs from 0.0, and labels keep their type."""
    assert a == b
    for field in ("i", "j", "w", "coordinates", "labels"):
        x, y = getattr(a, field), getattr(b, field)
        assert (x is None) == (y is None)
        if x is not None:
            assert x.dtype == y.dtype
            assert x.tobytes() == y.tobytes()


def refused(path: Path) -> CothermError:
    """The error on reading a file, which must name the path and leave the file as it is."""
    before = path.read_bytes()
    with pytest.raises(CothermError) as caught:
        read_graph(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    return caught.value


def read_or_refused(path: Path) -> Graph | None:
    """The graph in a file of doubtful content, or None after a CothermError; anything else is a failure."""
    before = path.read_bytes()
    message = str(path)
    found = None
    try:
        found = read_graph(path)
    except CothermError as error:
        message = str(error)
    assert str(path) in message
    assert path.read_bytes() == before
    return found


def triangle(**more: Any) -> Graph:
    return Graph(4, [0, 2, 1], [1, 0, 2], [0.1, 0.0, 1 / 3], **more)


def full() -> Graph:
    return triangle(coordinates=np.eye(4), labels=list("abcd"))


def bytes_of(graph: Graph, suffix: str, folder: Path) -> bytes:
    path = folder / f"whole{suffix}"
    write_graph(graph, path, overwrite=True)
    return path.read_bytes()


# Round trips


@given(graph=graphs(extras=True))
def test_npz_holds_everything(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "round.npz"
    write_graph(graph, path, overwrite=True)
    assert_same(read_graph(path), graph)


@pytest.mark.parametrize("suffix", [".csv", ".mtx"])
@given(graph=graphs(extras=False))
def test_text_keeps_every_bit(suffix: str, graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / f"round{suffix}"
    write_graph(graph, path, overwrite=True)
    assert_same(read_graph(path), graph)
    assert path.read_bytes().isascii()


@pytest.mark.parametrize("suffix", [".csv", ".mtx"])
@pytest.mark.parametrize("field", ["coordinates", "labels"])
def test_text_refuses_to_lose_extras(suffix: str, field: str, tmp_path: Path) -> None:
    value = np.zeros((4, 2)) if field == "coordinates" else list("abcd")
    with pytest.raises(CothermError, match=f"graph.{field}: .*npz"):
        write_graph(triangle(**{field: value}), tmp_path / f"g{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_same_graph_same_bytes(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        assert bytes_of(triangle(), suffix, tmp_path) == bytes_of(triangle(), suffix, tmp_path)


# Other programs


def test_numpy_opens_npz(tmp_path: Path) -> None:
    graph = triangle(labels=[3, 1, 4, 1], name="π")
    write_graph(graph, tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz", allow_pickle=False) as file:
        assert sorted(file) == ["header", "i", "j", "labels", "w"]
        assert file["w"].tolist() == graph.w.tolist()
        mark, _, fields = file["header"].item().partition(" {")
    assert mark == "cotherm graph"
    assert json.loads("{" + fields) == {"version": 1, "n": 4, "m": 3, "name": "π", "extras": ["labels"]}


def test_scipy_reads_matrix_market(tmp_path: Path) -> None:
    write_graph(triangle(name="two\nlines"), tmp_path / "g.mtx")
    matrix: Any = scipy.io.mmread(tmp_path / "g.mtx")
    assert matrix.nnz == 6  # the edge of weight 0 is stored
    np.testing.assert_array_equal(matrix.toarray(), triangle().adjacency().toarray())


@pytest.mark.parametrize("symmetry", ["symmetric", "general"])
def test_reads_matrix_market_of_scipy(symmetry: Any, tmp_path: Path) -> None:
    graph = Graph(5, [0, 0, 2], [1, 4, 3], [0.25, 1.0, 7.5])
    scipy.io.mmwrite(tmp_path / "g.mtx", graph.adjacency(), symmetry=symmetry, comment="by SciPy")
    assert Graph.from_adjacency(read_graph(tmp_path / "g.mtx").adjacency()) == graph


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n", [1.0, 1.0]),
        ("%%matrixmarket MATRIX Coordinate integer Symmetric\n% words\n\n3 3 2\n2 1 4\n3 1 9", [4.0, 9.0]),
        ("%%MatrixMarket matrix coordinate real general\n3 3 0\n", []),
        ("%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 4\n3 1 9\n1 3 9\n2 1 4\n", [4.0, 9.0]),
    ],
)
def test_matrix_market_variants(text: str, weights: list[float], tmp_path: Path) -> None:
    path = tmp_path / "g.mtx"
    path.write_text(text)
    m = len(weights)
    assert read_graph(path) == Graph(3, [0, 0][:m], [1, 2][:m], weights)


@pytest.mark.parametrize(
    "text",
    [
        "i,j,w\n0,1,0.5\n3,1,2\n",
        "source,target,weight\n0,1,0.5\n3,1,2",
        "0,1,0.5\n3,1,2\n",
        '"Source","Target","Weight"\r\n0,1,0.5\r\n3,1,2\r\n',
        "\ufeff# from a spreadsheet\n\n i , j , w \n0, 1, .5 # half\n\n3.0,1,2e0\n",
    ],
)
def test_csv_variants(text: str, tmp_path: Path) -> None:
    path = tmp_path / "G.CSV"
    path.write_bytes(text.encode())
    assert read_graph(path) == Graph(4, [0, 1], [1, 3], [0.5, 2.0])


@pytest.mark.parametrize("text", ["0,1\n2,1\n", "i,j\n0,1\n2,1\n", "source,target\n0,1\n2,1\n"])
def test_csv_without_weights(text: str, tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text(text)
    assert read_graph(path) == Graph(3, [0, 1], [1, 2], [1.0, 1.0])


# Bad files

HEAD = '# cotherm graph {"version": 1, "n": 3, "m": 1, "name": null, "extras": []}\n'
MTX = "%%MatrixMarket matrix coordinate real symmetric\n"
GENERAL = "%%MatrixMarket matrix coordinate real general\n"

BAD_CSV = {
    "blank": (" \n\n", "no edges"),
    "titles only": ("i,j,w\n", "no edges"),
    "unknown titles": ("from,to,cost\n0,1,2\n", "line 1"),
    "junk": ("hello\n", "line 1: 'hello'"),
    "spaces": ("0 1 2\n", "line 1"),
    "one column": ("0\n", "line 1"),
    "four columns": ("0,1,2,3\n", "line 1"),
    "ragged": ("i,j,w\n0,1,2\n0,2\n", "line 3: '0,2'"),
    "word": ("i,j,w\n0,1,2\n\n0,2,x\n", "line 4: '0,2,x'"),
    "missing weight": ("0,1,2\n0,2,\n", "line 2"),
    "digits apart": ("0,1,1_0\n", "line 1"),
    "fraction": ("i,j,w\n0,1.5,1\n", "line 2: '0,1.5,1'; needed: vertex numbers from 0"),
    "negative vertex": ("0,-1,1\n", "line 1"),
    "huge vertex": ("0,1000000000000000,1\n", "line 1"),
    "infinite vertex": ("0,inf,1\n", "line 1"),
    "loop": ("0,1,1\n2,2,1\n", "line 2: '2,2,1'; needed: two different ends"),
    "repeated": ("0,1,1\n1,2,1\n1,0,3\n", "line 3: '1,0,3' joins the same two vertices as line 1"),
    "negative": ("0,1,-1\n", "line 1: '0,1,-1'; needed: a finite weight"),
    "nan": ("0,1,1\n0,2,nan\n", "line 2"),
    "infinite": ("0,1,inf\n", "line 1"),
    "overflow": ("0,1,1e999\n", "line 1"),
    "out of range": (HEAD + "i,j,w\n0,3,1\n", "line 3: '0,3,1'; needed: vertex numbers from 0 to 2"),
    "too few": (HEAD + "i,j,w\n", "0 edges; needed: 1 edges"),
    "too many": (HEAD + "i,j,w\n0,1,1\n0,2,1\n", "2 edges; needed: 1 edges"),
    "cut digits": (HEAD + "i,j,w\n0,1,1", "cut short"),
    "newer": (HEAD.replace('"version": 1', '"version": 2'), "version 2 of the format; needed: version 1"),
    "newer, other fields": ('# cotherm graph {"version": 7, "x": 1}\n', "version 7"),
    "version 0": (HEAD.replace('"version": 1', '"version": 0'), "version"),
    "version true": (HEAD.replace('"version": 1', '"version": true'), "version"),
    "no version": ('# cotherm graph {"n": 3}\n', "line 1"),
    "no fields": ("# cotherm graph\n0,1,1\n", "line 1"),
    "not an object": ("# cotherm graph [1]\n", "line 1"),
    "a list with it": ('# cotherm graph ["version"]\n', "line 1"),
    "a string with it": ('# cotherm graph "version"\n', "line 1"),
    "missing n": ('# cotherm graph {"version": 1, "m": 0, "name": null, "extras": []}\n', "line 1"),
    "n of 0": (HEAD.replace('"n": 3', '"n": 0'), "line 1: n: 0"),
    "n of 10**15": (HEAD.replace('"n": 3', '"n": 1000000000000000'), "line 1: n: 1000000000000000"),
    "n of many digits": (HEAD.replace('"n": 3', '"n": ' + "9" * 5000), "line 1"),
    "n in words": (HEAD.replace('"n": 3', '"n": "3"'), "line 1: n"),
    "m negative": (HEAD.replace('"m": 1', '"m": -1'), "line 1: m"),
    "name a number": (HEAD.replace("null", "5"), "line 1: name: 5"),
    "deep": ("# cotherm graph " + "[" * 100_000 + "\n", "line 1"),
}
BAD_MTX = {
    "no banner": ("3 3 1\n2 1 1\n", "line 1: '3 3 1'; needed: a banner"),
    "banner only": (MTX, "nothing after the banner"),
    "banner without end": (MTX.strip(), "nothing after the banner"),
    "array": ("%%MatrixMarket matrix array real symmetric\n1 1\n0\n", "coordinate"),
    "complex": ("%%MatrixMarket matrix coordinate complex symmetric\n1 1 0\n", "real, integer or pattern"),
    "skew": ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", "symmetric or general"),
    "size words": (MTX + "3 three 1\n", "line 2: '3 three 1'; needed: the size line"),
    "size short": (MTX + "3 3\n", "line 2"),
    "size negative": (MTX + "3 3 -1\n", "line 2"),
    "not square": (MTX + "3 4 0\n", "a square matrix"),
    "no rows": (MTX + "0 0 0\n", "a square matrix"),
    "10**15 rows": (MTX + f"{10**15} {10**15} 1\n2 1 1\n", "a square matrix"),
    "10**15 entries": (MTX + f"3 3 {10**15}\n2 1 1\n", f"1 entries; needed: {10**15} entries"),
    "too few": (MTX + "3 3 2\n2 1 1\n", "1 entries; needed: 2 entries"),
    "too many": (MTX + "3 3 1\n2 1 1\n3 1 1\n", "2 entries; needed: 1 entries"),
    "from zero": (MTX + "3 3 1\n1 0 1\n", "line 3: '1 0 1'; needed: row and column from 1 to 3"),
    "beyond": (MTX + "3 3 1\n4 1 1\n", "line 3"),
    "loop": (MTX + "3 3 1\n2 2 1\n", "line 3: '2 2 1'; needed: two different ends"),
    "both sides": (MTX + "3 3 2\n2 1 1\n1 2 1\n", "line 4: '1 2 1' joins the same two vertices as line 3"),
    "negative": (MTX + "3 3 1\n2 1 -1\n", "line 3"),
    "nan": (MTX + "3 3 1\n2 1 nan\n", "line 3"),
    "word": (MTX + "3 3 1\n2 1 x\n", "line 3: '2 1 x'"),
    "no weight": (MTX + "3 3 1\n2 1\n", "line 3"),
    "half integer": (MTX.replace("real", "integer") + "3 3 1\n2 1 0.5\n", "line 3"),
    "rounded integer": (MTX.replace("real", "integer") + f"3 3 1\n2 1 {2**53 + 1}\n", "line 3"),
    "one-sided": (GENERAL + "3 3 3\n2 1 1\n1 2 1\n1 3 1\n", "line 5: '1 3 1'; needed: an equal entry"),
    "unequal": (GENERAL + "3 3 2\n2 1 1\n1 2 3\n", "needed: an equal entry"),
    "general nan": (GENERAL + "3 3 2\n2 1 nan\n1 2 nan\n", "line 3"),
    "general loop": (GENERAL + "3 3 1\n2 2 1\n", "line 3: '2 2 1'; needed: an empty diagonal"),
    "general repeated": (
        GENERAL + "3 3 2\n2 1 1\n2 1 1\n",
        "line 4: '2 1 1'; needed: every entry at most once",
    ),
    "header differs": (
        MTX + "%" + HEAD[1:] + "3 3 0\n",
        "n=3, m=1; needed: the numbers of the size line, 3 and 0",
    ),
    "newer": (MTX + "% cotherm graph " + '{"version": 2}\n3 3 0\n', "version 2"),
    "cut digits": (MTX + "%" + HEAD[1:] + "3 3 1\n2 1 0.5", "cut short"),
}


@pytest.mark.parametrize(("text", "message"), BAD_CSV.values(), ids=BAD_CSV)
def test_bad_csv(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert message in str(refused(path))


@pytest.mark.parametrize(("text", "message"), BAD_MTX.values(), ids=BAD_MTX)
def test_bad_mtx(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.mtx"
    path.write_text(text)
    assert message in str(refused(path))


def test_bad_line_is_found_among_many(tmp_path: Path) -> None:
    lines = [f"0,{k},1" for k in range(1, 2001)]
    lines[1234] = "0,5000,one"
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(lines))
    assert "line 1235: '0,5000,one'" in str(refused(path))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"", b"\x00" * 50, b"\x89PNG\r\n\x1a\n\xff\xfe", b"PK\x05\x06junk", b"\xff"])
def test_not_a_graph(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(content)
    message = str(refused(path))
    assert ("an empty file" in message) == (content == b"")


@pytest.mark.parametrize("suffix", [".csv", ".mtx"])
def test_bytes_that_are_not_text(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(bytes_of(triangle(), suffix, tmp_path) + b"0,\xe9\n")
    line = 6 if suffix == ".csv" else 7
    assert f"line {line}: byte 0xe9, which is not text; needed: UTF-8 text" in str(refused(path))


# Bad .npz files


class Trap:
    """Unpickling one writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.path,)


def fields_of(graph: Graph, folder: Path) -> dict[str, Any]:
    with np.load(io.BytesIO(bytes_of(graph, ".npz", folder))) as file:
        return dict(file)


def npz_refused(folder: Path, fields: dict[str, Any]) -> str:
    path = folder / "bad.npz"
    np.savez(path, **fields)
    return str(refused(path))


def test_npz_with_objects_is_not_unpickled(tmp_path: Path) -> None:
    trap = Trap(tmp_path / "sprung")
    pickle.loads(pickle.dumps(trap))
    assert trap.path.exists()  # the trap works
    trap.path.unlink()
    for field in ("header", "i", "w", "labels"):
        objects = np.array([trap] * 3, dtype=object)
        message = npz_refused(tmp_path, fields_of(full(), tmp_path) | {field: objects})
        assert f"{field}: dtype object" in message
        assert not trap.path.exists()


def test_npz_of_another_program(tmp_path: Path) -> None:
    message = npz_refused(tmp_path, {"data": np.ones(3), "indices": np.arange(3)})
    assert "'data, indices'; needed: header, i, j, w" in message


@pytest.mark.parametrize("field", ["header", "i", "j", "w"])
def test_npz_without_a_field(field: str, tmp_path: Path) -> None:
    fields = fields_of(triangle(), tmp_path)
    del fields[field]
    assert "arrays: " in npz_refused(tmp_path, fields)


def test_npz_with_an_unknown_field(tmp_path: Path) -> None:
    assert "arrays: " in npz_refused(tmp_path, fields_of(triangle(), tmp_path) | {"extra": np.ones(3)})


BAD_FIELDS = {
    "negative weight": ("w", [1.0, -1.0, 1.0], "w: -1.0 on edge 1"),
    "nan": ("w", [1.0, np.nan, 1.0], "w: nan"),
    "too few weights": ("w", [1.0], "w: shape (1,)"),
    "complex": ("w", [1j, 1j, 1j], "w: dtype complex128"),
    "weights in words": ("w", ["1", "2", "3"], "w: dtype <U1"),
    "matrix": ("w", [[1.0]], "w: shape (1, 1)"),
    "out of range": ("j", [1, 9, 2], "j: 9"),
    "floats": ("i", [0.0, 1.0, 2.0], "i: dtype float64"),
    "loop": ("i", [0, 2, 2], "joins vertex 2 to itself"),
    "coordinates": ("coordinates", [[0.0]], "coordinates: shape (1, 1)"),
    "labels": ("labels", [1.5, 2.5, 3.5, 4.5], "labels: dtype float64"),
    "dates": ("labels", np.zeros(4, dtype="M8[s]"), "labels: dtype datetime64[s]"),
    "records": ("labels", np.zeros(4, dtype=[("a", "i4")]), "labels: dtype"),
    "header number": ("header", 5, "header: "),
    "header vector": ("header", ["cotherm graph {}", ""], "needed: a text starting with 'cotherm graph'"),
    "no mark": ("header", '{"version": 1, "n": 4, "m": 3, "name": null, "extras": []}', "a text starting with"),
    "foreign header": ("header", "hello", "header: 'hello'"),
    "newer": ("header", 'cotherm graph {"version": 2}', "header: version 2 of the format"),
}


@pytest.mark.parametrize(("field", "value", "message"), BAD_FIELDS.values(), ids=BAD_FIELDS)
def test_npz_with_a_bad_field(field: str, value: Any, message: str, tmp_path: Path) -> None:
    assert message in npz_refused(tmp_path, fields_of(full(), tmp_path) | {field: np.asarray(value)})


def forge(folder: Path, header: str, body: bytes = b"\0" * 24, *, field: str = "w", version: int = 1) -> Path:
    """A .npz file with a sound archive in which one array describes itself as ``header`` says."""
    member = b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(2, "little") + header.encode() + body
    path = folder / "forged.npz"
    whole = bytes_of(full(), ".npz", folder)
    with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(path, "w") as target:
        for name in [n for n in source.namelist() if n != f"{field}.npy"]:
            target.writestr(name, source.read(name))
        target.writestr(f"{field}.npy", member)
    return path


def described(shape: str, dtype: str = "<f8") -> str:
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n"


def test_forged_but_sound(tmp_path: Path) -> None:
    graph = read_graph(forge(tmp_path, described("(3,)")))
    assert graph.w.tolist() == [0, 0, 0]


@pytest.mark.parametrize("shape", ["(1000000000000000,)", "(4,)", "(2,)", "(-3,)", "()", "(2, 2)"])
def test_npz_with_a_lying_shape(shape: str, tmp_path: Path) -> None:
    message = str(refused(forge(tmp_path, described(shape))))
    assert f"w: 24 bytes; needed: an array of shape {shape} and dtype float64, as declared" in message


def test_npz_with_entries_of_no_size(tmp_path: Path) -> None:
    path = forge(tmp_path, described("(1000000000000000,)", "<U0"), b"", field="labels")
    assert "labels: dtype <U0" in str(refused(path))


@pytest.mark.parametrize(
    "header",
    [
        described("(3, -1, -1)"),
        described("(" + "1," * 99 + "3)"),
        described("(10**9,)"),
        described("3"),
        described("(3,)", "|O"),
        described("(3,)", "<f9"),
        described("(3,)", "no"),
        "{'descr': [('a', 'O')], 'fortran_order': False, 'shape': (3,), }\n",
        "{'shape': (3,)}\n",
        "(" * 5000,
        "",
        "\0",
    ],
)
def test_npz_with_an_array_that_is_none(header: str, tmp_path: Path) -> None:
    assert "forged.npz: w: " in str(refused(forge(tmp_path, header)))


def test_npz_with_impossible_characters(tmp_path: Path) -> None:
    path = forge(tmp_path, described("(4,)", "<U1"), b"\xff" * 16, field="labels")
    assert "labels: not an array" in str(refused(path))


def test_npz_with_another_npy_version(tmp_path: Path) -> None:
    assert "w: not an array" in str(refused(forge(tmp_path, described("(3,)"), version=9)))


def test_compressed_npz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, **fields_of(triangle(), tmp_path))
    assert "is compressed" in str(refused(path))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_npz_with_an_array_twice(tmp_path: Path) -> None:
    path = tmp_path / "twice.npz"
    path.write_bytes(bytes_of(triangle(), ".npz", tmp_path))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("w.npy", b"")
    assert "arrays: " in str(refused(path))


def test_npz_that_lost_its_labels(tmp_path: Path) -> None:
    fields = fields_of(triangle(labels=list("abcd")), tmp_path)
    del fields["labels"]
    assert "header: extras: \"['labels']\"; needed: what the file holds, []" in npz_refused(tmp_path, fields)


def test_npz_with_a_wrong_checksum(tmp_path: Path) -> None:
    data = bytes_of(triangle(), ".npz", tmp_path)
    path = tmp_path / "bad.npz"
    path.write_bytes(data.replace(np.float64(0.1).tobytes(), np.float64(0.2).tobytes()))
    assert "Bad CRC-32" in str(refused(path))


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".csv", HEAD.replace('"m": 1', f'"m": {10**15}').replace('"n": 3', f'"n": {2**31 - 2}') + "0,1,1\n"),
        (".mtx", MTX + f"{2**31 - 2} {2**31 - 2} {10**15}\n2 1 1\n"),
    ],
)
def test_declared_sizes_are_not_allocated(suffix: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / f"liar{suffix}"
    path.write_text(content)
    tracemalloc.start()
    refused(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


# Damage


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.data())
def test_a_file_cut_short_never_changes_its_meaning(
    suffix: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    graph = data.draw(graphs(extras=suffix == ".npz"))
    whole = bytes_of(graph, suffix, folder)
    path = folder / f"cut{suffix}"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    found = read_or_refused(path)
    if found is not None:
        assert_same(found, graph)


@pytest.mark.parametrize("flip", [0x01, 0x80])
def test_every_byte_of_npz_in_turn(flip: int, tmp_path: Path) -> None:
    whole = bytes_of(full(), ".npz", tmp_path)
    path = tmp_path / "damaged.npz"
    refusals = 0
    for k in range(len(whole)):
        path.write_bytes(whole[:k] + bytes([whole[k] ^ flip]) + whole[k + 1 :])
        found = read_or_refused(path)
        refusals += found is None
        if found is not None:  # time stamps and the like do not matter
            assert_same(found, full())
    assert refusals > len(whole) / 2


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.data())
def test_damaged_bytes(suffix: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    graph = data.draw(graphs(extras=suffix == ".npz"))
    damaged = bytearray(bytes_of(graph, suffix, folder))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path = folder / f"damaged{suffix}"
    path.write_bytes(damaged)
    found = read_or_refused(path)
    if found is None:
        return
    more: dict[str, Any] = {"coordinates": found.coordinates, "labels": found.labels, "name": found.name}
    assert Graph(found.n, found.i, found.j, found.w, **more) == found  # passes all checks once more
    if suffix == ".npz":  # the checksums see to that
        assert_same(found, graph)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(junk=st.binary(max_size=60) | st.text(alphabet="0123456789.,- \n#%ijwe", max_size=60).map(str.encode))
def test_junk(suffix: str, junk: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / f"junk{suffix}"
    path.write_bytes(junk)
    found = read_or_refused(path)
    # A few numbers are an edge list; the other formats need a banner or an archive.
    assert found is None or (suffix == ".csv" and found.m > 0)


# Paths


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_file(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(CothermError, match="no such file; needed: an existing file"):
        read_graph(tmp_path / f"none{suffix}")


def test_errors_are_value_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such file; needed: an existing file"):
        read_graph(str(tmp_path / "none.csv"))


def test_directory_instead_of_file(tmp_path: Path) -> None:
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(CothermError, match="a directory; needed: a file to read"):
        read_graph(folder)
    for overwrite in (False, True):
        with pytest.raises(CothermError, match="a directory; needed: the name of a file"):
            write_graph(triangle(), folder, overwrite=overwrite)
    assert folder.is_dir()


@pytest.mark.parametrize("name", ["g", "g.txt", "g.csv.gz", ".csv", "", "g.pickle"])
def test_unknown_suffix(name: str, tmp_path: Path) -> None:
    needed = "needed: one of .csv, .graphml, .mtx, .npz"
    with pytest.raises(CothermError, match=needed):
        read_graph(f"{tmp_path}/{name}")
    with pytest.raises(CothermError, match=needed):
        write_graph(triangle(), f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_mesh_suffix_points_to_read_mesh(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match="read_mesh"):
        read_graph(tmp_path / "shape.off")


@pytest.mark.parametrize("path", [None, 5, b"g.csv", "a\0.csv", "\ud800.csv", "x" * 300 + ".csv"])
def test_impossible_paths(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CothermError):
        read_graph(path)
    with pytest.raises(CothermError):
        write_graph(triangle(), path)
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "null.csv").symlink_to("/dev/null")
    with pytest.raises(CothermError, match="not a plain file"):
        read_graph(tmp_path / "null.csv")


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    # Never a real device: a broken check would put a file in its place.
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with pytest.raises(CothermError, match="not a plain file"):
        write_graph(triangle(), pipe, overwrite=True)
    assert pipe.is_fifo()


def test_only_graphs_are_written(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match=r"graph: .*needed: a Graph"):
        write_graph("graph", tmp_path / "g.csv")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# Writing, complete or not at all


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_existing_file_is_kept_unless_told(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"g{suffix}"
    write_graph(triangle(), path)
    before = path.read_bytes()
    with pytest.raises(CothermError, match=r"the file exists.*overwrite=True"):
        write_graph(triangle(name="other"), path)
    assert path.read_bytes() == before
    write_graph(triangle(name="other"), path, overwrite=True)
    assert read_graph(path).name == "other"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("method", ["open", "replace"])
def test_failed_writing_leaves_everything_as_it_was(
    failure: BaseException, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g.csv"
    write_graph(triangle(), path)
    before = path.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(Path, method, fail)
        kind = CothermError if isinstance(failure, OSError) else type(failure)
        with pytest.raises(kind, match="no space left" if isinstance(failure, OSError) else None):
            write_graph(triangle(name="other"), path, overwrite=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match="no directory"):
        write_graph(triangle(), tmp_path / "none" / "g.csv")
    (tmp_path / "file").write_text("kept")
    with pytest.raises(CothermError, match="no directory"):
        write_graph(triangle(), tmp_path / "file" / "g.csv")
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc, where nobody may create a file")
def test_unwritable_directory() -> None:
    with pytest.raises(CothermError, match="needed: a place that can be written to"):
        write_graph(triangle(), "/proc/self/g.csv")


def test_links_and_permissions_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "g.csv", tmp_path / "link.csv"
    write_graph(triangle(), path)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o600)
    link.symlink_to(path)
    write_graph(triangle(name="other"), link, overwrite=True)
    assert link.is_symlink()
    assert read_graph(path).name == "other"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("overwrite", [1, "yes", None, [True]])
def test_overwrite_is_true_or_false(tmp_path: Path, overwrite: Any) -> None:
    path = tmp_path / "graph.csv"
    write_graph(triangle(), path)
    before = path.read_bytes()
    with pytest.raises(CothermError, match=r"overwrite: .*True or False"):
        write_graph(triangle(), path, overwrite=overwrite)
    assert path.read_bytes() == before


def test_titles_that_are_not_known_are_told_those_that_are(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text("from,to,length\n0,1,2.5\n")
    with pytest.raises(CothermError, match="line 1: 'from,to,length'; needed: titles i,j,w, i,j, source,target,weight"):
        read_graph(path)


def test_formats_that_hold_less_say_how_to_give_less(tmp_path: Path) -> None:
    with pytest.raises(CothermError, match=r"graph\.bare\(\)"):
        write_graph(Graph(2, [0], [1], [1.0], labels=[1, 2]), tmp_path / "graph.mtx")
