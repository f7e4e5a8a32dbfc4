"""Coverage-guided fuzzing without coverage: its targets judge as they should, and what it once found stays mended."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from tests.fuzz import guided, targets
from tests.fuzz.choices import Choices
from tests.fuzz.tables import numbers_of, open_table
from tests.torture.counts import Counts
from tests.torture.guided import count

TARGETS = {name: target for name, target in targets.targets().items() if not target.theirs}


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_some_damage(name: str) -> None:
    target = TARGETS[name]
    random = Random(0)
    for data in target.seeds()[:3]:
        assert guided.judged(target, data) is None
        for _ in range(3):
            assert guided.judged(target, target.mutate(random, data)) is None


def test_readers_are_all_there() -> None:
    """A format that is added is fuzzed."""
    from cotherm.graphs.files import _READABLE_GRAPHS, MESH_SUFFIXES
    from cotherm.io.kinds import TABLES

    known = set(targets.targets())
    read = {"graph": _READABLE_GRAPHS, "mesh": MESH_SUFFIXES, "table": TABLES}
    # Read by the same code as another one that is there.
    same = {"graph .tsv", "table .txt", "table .tsv.gz", "table .txt.gz", "table .npy", "table .h5mu", "table .xlsm"}
    assert not {f"{kind} {suffix}" for kind, suffixes in read.items() for suffix in suffixes} - known - same


def test_choices_come_from_the_bytes() -> None:
    random = Choices(bytes([1, 0, 2, 3, 0, 0, 0, 128]))
    assert random.getrandbits(8) == 1
    assert [random.randrange(4) for _ in range(3)] == [0, 2, 3]
    assert [random.random(), random.random()] == [0.0, 0.5]
    once, again = ([Choices(b"short").random() for _ in range(1)] + [Choices(b"").randint(0, 9**9)] for _ in range(2))
    assert once == again


def test_modules_that_are_compiled_are_not_followed() -> None:
    found = guided.compiled()
    assert "cotherm.engines.cpu.laplacian" in found
    assert "cotherm.io.table" not in found


def test_faults_are_noted_once_each(tmp_path: Path) -> None:
    def judge(data: bytes, _: Path) -> str | None:
        if data == b"raise":
            raise KeyError("foreign")
        return "another graph" if data == b"misread" else None

    noting = guided._Noting(targets.Target(judge, list), tmp_path)
    for data in (b"fine", b"raise", b"misread", b"raise", b"misread"):
        noting(data)
    found = [json.loads(line) for line in (tmp_path / "faults").read_text().splitlines()]
    assert [one["kind"] for one in found] == [guided.FOREIGN, guided.MISREAD]
    assert Path(found[0]["place"]).read_bytes() == b"raise"


def test_counts() -> None:
    kinds = (guided.FOREIGN, guided.MISREAD, guided.HANG, guided.DIED)
    counts = Counts()
    count(counts, guided.Found("x", 7, [guided.Fault("x", kind, "what") for kind in kinds]))
    assert (counts.cases, counts.faults, counts.failures) == (7, 7, 4)
    assert (counts.tracebacks, counts.misreadings, counts.hangs, counts.losses) == (1, 1, 1, 1)
    count(counts, guided.Found("nothing", 0, []))
    assert counts.losses == 2


@pytest.mark.skipif(not guided.installed() or sys.platform != "linux", reason="atheris is not installed")
def test_a_run() -> None:
    (found,) = guided.run(["array .npy"], 50, 60, 0, 1)
    assert found.cases == 50
    assert not found.faults


# What it found.


@pytest.mark.parametrize("text", ["258, 252\n\n200, 211\n106, 211\n", "258 ,252\n200 ,211\n106 ,211\n"])
def test_spaces_beside_commas_are_not_decimals(text: str, tmp_path: Path) -> None:
    """Both numbers of a line were read as one name and one number, or as a fraction."""
    place = tmp_path / "t.csv"
    place.write_text(text)
    assert numbers_of(open_table(place)).tolist() == [[258.0, 252.0], [200.0, 211.0], [106.0, 211.0]]


def test_decimal_commas_between_spaces_still_are(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("1,5 2,5\n3,5 4,25\n")
    assert numbers_of(open_table(place)).tolist() == [[1.5, 2.5], [3.5, 4.25]]


@pytest.mark.parametrize("text", ["\n1,5", "\n\n# words\n0,5", "i,j\n0,1"])
def test_first_lines_without_an_edge_and_a_last_one_without_an_end(text: str, tmp_path: Path) -> None:
    """Read whole, but refused on the way to shards."""
    place = tmp_path / "g.csv"
    place.write_text(text)
    whole, cut = ct.read_graph(place), ct.shard_graph(place, tmp_path / "g.shards", 2).to_graph()
    assert np.array_equal(whole.edges, cut.edges)
    assert whole.n == cut.n


@pytest.mark.parametrize("encoding", ["UTF1e99999999999", "UTF-7", "no such"])
def test_encodings_of_graphml_that_cannot_be_read(encoding: str, tmp_path: Path) -> None:
    place = tmp_path / "g.graphml"
    place.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n<graphml/>')
    with pytest.raises(ct.CothermError, match="encoding"):
        ct.read_graph(place)


# What any value as any argument found, beside tests/test_any_input.py: words that are no yes or no.


@pytest.mark.parametrize("overwrite", ["no", None, 0, 1.0])
def test_only_yes_or_no_overwrites(overwrite: Any, tmp_path: Path) -> None:
    """Any text was a yes."""
    page = ct.viewer.make_page(
        ct.couple(ct.datasets.ring(10).graphs, ct.datasets.ring(10).functions, options={"max_iterations": 1})
    )
    place = tmp_path / "page.html"
    page.save(place)
    with pytest.raises(ct.CothermError, match="overwrite"):
        page.save(place, overwrite=overwrite)
