"""The converter: equal to the readers of whole graphs, in bounded memory, and as strict as they are."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import cotherm as ct
from cotherm import memory
from cotherm.graphs.sharded import number_text
from tests.graphs.sharded.test_store import in_order, random_graph


@pytest.fixture(params=[False, True], ids=["whole", "in pieces"])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is done some at a time is done a little at a time."""
    if request.param:
        from cotherm.graphs.sharded import convert, number_text, store, writing

        monkeypatch.setattr(number_text, "_BLOCK", 200)
        monkeypatch.setattr(convert, "_EDGES_AT_ONCE", 17)
        monkeypatch.setattr(store, "_EDGES_AT_ONCE", 13)
        monkeypatch.setattr(writing, "_WAITING", 500)
        monkeypatch.setattr(writing, "_ROWS_TOGETHER", 11)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("suffix", [".npz", ".csv", ".mtx", ".graphml", ".csv.gz", ".tsv", ".txt"])
def test_what_is_read_is_what_read_graph_reads(tmp_path: Path, suffix: str) -> None:
    graph = random_graph(80, 300, extras=suffix in (".npz", ".graphml"))
    plain = {".csv.gz": ".csv", ".tsv": ".csv", ".txt": ".csv"}.get(suffix, suffix)
    ct.write_graph(graph, tmp_path / f"g{plain}")
    source = tmp_path / f"h{suffix}"
    data = (tmp_path / f"g{plain}").read_bytes()
    source.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    sharded = ct.shard_graph(source, tmp_path / "g.shards", 5)
    expected = in_order(ct.read_graph(tmp_path / f"g{plain}"))
    found = sharded.to_graph()
    assert found.replace(name=expected.name) == expected
    assert sharded.name == (graph.name or "h")
    sharded.verify()
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted({f"g{plain}", f"h{suffix}", "g.shards"})


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize(
    "text",
    [
        "0,1\n1,2\n5,2\n",
        "source,target,weight\n0,1,2.5\n\n3,1,1e-3 # a comment\n",
        "# FromNodeId ToNodeId\n0\t1\n0\t4\n",
        "i;j;w\r\n0;1;1\r\n2;1;0.125\r\n",
        "\ufefffrom,to\n0,1\n7,3\n",
        '# cotherm graph {"version": 1, "n": 9, "m": 1, "name": "few", "extras": []}\ni,j,w\n4,2,0.5\n',
        "0,1,.5\r1,2,2\r",
    ],
)
def test_edge_lists_of_others(tmp_path: Path, text: str) -> None:
    source = tmp_path / "g.csv"
    source.write_bytes(text.encode())
    expected = in_order(ct.read_graph(source))
    found = ct.shard_graph(source, tmp_path / "g.shards", 3).to_graph()
    assert found.replace(name=expected.name) == expected


def test_general_matrices_have_both_sides(tmp_path: Path) -> None:
    graph = random_graph(40, 100)
    scipy.io.mmwrite(tmp_path / "g.mtx", sp.coo_array(graph.adjacency()), symmetry="general")
    found = ct.shard_graph(tmp_path / "g.mtx", tmp_path / "g.shards", 4).to_graph()
    assert found.replace(name=None) == in_order(graph)


def test_names_in_edge_lists_are_read_whole(tmp_path: Path) -> None:
    source = tmp_path / "g.csv.gz"
    source.write_bytes(gzip.compress(b"source,target,weight\nrain,sun,1\nsun,snow,2\n"))
    sharded = ct.shard_graph(source, tmp_path / "g.shards", 2)
    assert sharded.part(0, 1).vertex_names.tolist() == ["rain", "sun", "snow"]  # type: ignore[union-attr]


OURS = '# cotherm graph {{"version": 1, "n": 4, "m": {}, "name": null, "extras": []}}\ni,j,w\n'
BAD = {
    "a loop": ("0,1\n2,2\n", "line 2: '2,2'; needed: two different ends"),
    "a negative weight": ("0,1,1\n1,2,-1\n", "line 2: '1,2,-1'; needed: a finite weight >= 0"),
    "NaN": ("0,1,1\n1,2,nan\n", "line 2: '1,2,nan'; needed: a finite weight"),
    "infinity": ("0,1,1\n1,2,inf\n", "line 2: '1,2,inf'; needed: a finite weight"),
    "a repeated edge": ("0,1\n1,2\n3,4\n2,1\n", "vertices 1 and 2 joined more than once"),
    "a fraction": ("0,1\n1.5,2\n", "line 2: '1.5,2'; needed: vertex numbers from 0"),
    "a negative vertex": ("0,1\n-1,2\n", "line 2: '-1,2'; needed: vertex numbers from 0"),
    "a word": ("0,1\n1,two\n", "line 2: '1,two'; needed: an edge"),
    "a missing cell": ("0,1,1\n1,2\n", "line 2: '1,2'; needed: an edge"),
    "out of all proportion": ("0,1\n1,2000000000\n", "2000000001 vertices and 2 edges"),
    "nothing": ("", "an empty file"),
    "no edges": ("i,j,w\n", "no edges"),
    "not text": ("0,1\n\udcff,2\n", "line 2: byte 0xff, which is not text"),
    "a title": ("first,second\n0,1\n", "line 1: 'first,second'; needed: titles"),
    "cut short": (OURS.format(2) + "0,1,1\n", "the file ends after 1 edges"),
    "an end cut off": (OURS.format(1) + "0,1,1", "no line end"),
    "beyond n": (OURS.format(1) + "0,4,1\n", "line 3: '0,4,1'; needed: vertex numbers from 0 to 3"),
    "a newer version": ('# cotherm graph {"version": 2, "n": 4}\n', "version 2 of the format"),
}


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("case", BAD)
def test_bad_edge_lists_are_refused_by_line(tmp_path: Path, case: str) -> None:
    text, message = BAD[case]
    source = tmp_path / "g.csv"
    source.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ct.CothermError) as caught:
        ct.shard_graph(source, tmp_path / "g.shards", 2)
    assert message in str(caught.value)
    assert str(source) in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["g.csv"]


def test_what_is_wrong_in_a_file_larger_than_memory_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.csv").write_text("0,1\n1,2\n3,3\n")
    monkeypatch.setattr(memory, "available", lambda: 5)
    with pytest.raises(ct.CothermError, match=r"g\.csv: row 2, from 3 to 3 of weight 1; needed: .*larger than memory"):
        ct.shard_graph(tmp_path / "g.csv", tmp_path / "g.shards", 1)


def test_compressed_files_cut_short_are_refused(tmp_path: Path) -> None:
    ct.write_graph(random_graph(2_000, 20_000), tmp_path / "g.csv")
    (tmp_path / "g.csv.gz").write_bytes(gzip.compress((tmp_path / "g.csv").read_bytes())[:-2_000])
    with pytest.raises(ct.CothermError, match="no complete gzip file"):
        ct.shard_graph(tmp_path / "g.csv.gz", tmp_path / "g.shards")


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "g.npz"
    ct.write_graph(random_graph(50, 100), source)
    data = bytearray(source.read_bytes())
    at = data.find(b"w.npy") + 400
    data[at] ^= 1
    source.write_bytes(data)
    with pytest.raises(ct.CothermError, match=r"g\.npz: zip archive: unreadable \(Bad CRC-32"):
        ct.shard_graph(source, tmp_path / "g.shards")
    source.write_bytes(data[:500])
    with pytest.raises(ct.CothermError, match=r"g\.npz: zip archive: unreadable"):
        ct.shard_graph(source, tmp_path / "g.shards")
    np.savez(source, a=np.arange(3))
    with pytest.raises(ct.CothermError, match=r"g\.npz: arrays: 'a'"):
        ct.shard_graph(source, tmp_path / "g.shards")


def test_existing_directories(tmp_path: Path) -> None:
    graph = random_graph(30, 40)
    ct.shard_graph(graph, tmp_path / "g.shards", 3)
    with pytest.raises(ct.CothermError, match="the directory exists; needed: a new name"):
        ct.shard_graph(graph, tmp_path / "g.shards", 2)
    (tmp_path / "bad.csv").write_text("0,1,-1\n")
    with pytest.raises(ct.CothermError, match="line 1"):
        ct.shard_graph(tmp_path / "bad.csv", tmp_path / "g.shards", overwrite=True)
    assert ct.ShardedGraph.open(tmp_path / "g.shards").shards == 3
    assert ct.shard_graph(graph, tmp_path / "g.shards", 2, overwrite=True).shards == 2
    other = tmp_path / "photos"
    other.mkdir()
    (other / "rome.jpg").write_text("not ours")
    with pytest.raises(ct.CothermError, match="one that cotherm wrote"):
        ct.shard_graph(graph, other, overwrite=True)
    with pytest.raises(ct.CothermError, match="a file; needed: the name of a directory"):
        ct.shard_graph(graph, tmp_path / "bad.csv", overwrite=True)
    with pytest.raises(ct.CothermError, match="no directory"):
        ct.shard_graph(graph, tmp_path / "no" / "g.shards")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bad.csv", "g.shards", "photos"]


def test_arguments(tmp_path: Path) -> None:
    graph = random_graph(9, 12)
    for more in ({"parts": 0}, {"parts": 1.5}, {"order": "best"}, {"parts": 10**6}):
        with pytest.raises(ct.CothermError):
            ct.shard_graph(graph, tmp_path / "g.shards", **more)
    with pytest.raises(ct.CothermError, match=r"suffix '\.obj'"):
        ct.shard_graph(tmp_path / "g.obj", tmp_path / "g.shards")
    with pytest.raises(ct.CothermError, match="no such file"):
        ct.shard_graph(tmp_path / "g.csv", tmp_path / "g.shards")


def test_a_plain_file_and_an_odd_one_are_parsed_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow gives the same bits as NumPy."""
    graph = random_graph(300, 2_000)
    ct.write_graph(graph, tmp_path / "g.csv")
    quick = ct.shard_graph(tmp_path / "g.csv", tmp_path / "quick.shards", 2).to_graph()
    with (tmp_path / "g.csv").open("a") as file:
        file.write("# the end\n")
    monkeypatch.setattr(number_text, "_HEAD", 10)
    assert ct.shard_graph(tmp_path / "g.csv", tmp_path / "slow.shards", 2).to_graph() == quick
    assert quick.replace(name=None) == in_order(graph)


MEASURED = """
import sys
import cotherm as ct
from cotherm import memory
from cotherm.graphs.sharded import writing
writing._WAITING = 2**21  # reached by both graphs
with open(sys.argv[2] + ".csv", "w") as file:
    file.write("0,1,2\\n")
ct.shard_graph(sys.argv[2] + ".csv", sys.argv[2] + ".small", 2).to_graph()  # loads what is needed
before = memory.peak()
ct.shard_graph(sys.argv[1], sys.argv[2], 32)
print(memory.peak() - before)
"""


def test_memory_does_not_grow_with_the_graph(tmp_path: Path) -> None:
    """Four times the edges: nearly the same peak, and far less than the edges themselves take."""
    peaks = {}
    for m in (1_000_000, 4_000_000):
        n = m // 8
        i = np.repeat(np.arange(n), 8)[:m]
        j = i + 1 + np.tile(np.arange(8), n)[:m]
        inside = j < n
        ct.write_graph(ct.Graph(n, i[inside], j[inside], np.full(int(inside.sum()), 0.5)), tmp_path / f"{m}.csv")
        run = subprocess.run(
            [sys.executable, "-c", MEASURED, tmp_path / f"{m}.csv", tmp_path / f"{m}.shards"],
            check=True,
            capture_output=True,
            text=True,
        )
        peaks[m] = int(run.stdout)
    # The records alone would take 16 bytes an edge, and to sort them all three times as much. A shard of a 32nd is.
    assert peaks[4_000_000] < 24 * 4_000_000
    assert peaks[4_000_000] - peaks[1_000_000] < 5 * 3_000_000
