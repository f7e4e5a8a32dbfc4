"""Two files of one command that are one: refused before any work, under whatever names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import cotherm as ct
from cotherm.methods.coupling.shards import refuse_same_places
from tests.cli.conftest import Run, write_tables

VIEWS = ("first.csv", "second.csv")


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("spelled", ["c.npz", "./c.npz", "sub/../c.npz", "link.npz", "linked/c.npz", "absolute"])
def test_a_checkpoint_is_not_the_result(run: Run, there: Path, spelled: str, force: tuple[str, ...]) -> None:
    (there / "sub").mkdir()
    (there / "link.npz").symlink_to("c.npz")
    (there / "linked").symlink_to(there)
    checkpoint = there / "c.npz" if spelled == "absolute" else spelled
    for first, second in (("--out", "--checkpoint"), ("--checkpoint", "--out")):
        answer = run("couple", *VIEWS, first, "c.npz", second, checkpoint, *force)
        assert answer.code == 2
        assert "the same file as --out; needed: another name" in answer.err
        assert answer.out == ""
        assert not (there / "c.npz").exists()


def test_a_checkpoint_of_its_own_goes_when_the_result_is_there(run: Run, there: Path) -> None:
    assert run("couple", *VIEWS, "--out", "c.npz", "--checkpoint", "state").code == 0
    assert (there / "c.npz").is_file()
    assert not (there / "state").exists()


@pytest.mark.parametrize("option", ["--checkpoint", "--out"])
def test_what_is_read_is_not_written(run: Run, there: Path, option: str) -> None:
    os.link(there / "first.csv", there / "again.npz")
    before = (there / "first.csv").read_bytes()
    given = {"--out": "c.npz", option: "again.npz"}
    answer = run("couple", *VIEWS, *(word for pair in given.items() for word in pair), "--force")
    assert answer.code == 2
    assert "a file this command reads" in answer.err
    assert (there / "first.csv").read_bytes() == before


def test_shards_that_are_read_are_not_written(run: Run, there: Path) -> None:
    graph = ct.knn_graph(ct.io.read_table(there / "first.csv").values, 5)
    for name in ("a.shards", "b.shards"):
        ct.shard_graph(graph, there / name)
    answer = run("couple", "a.shards", "b.shards", "--paired", "--out", "./a.shards", "--force")
    assert answer.code == 2
    assert "a file this command reads" in answer.err
    assert ct.ShardedGraph.open(there / "a.shards").n == 60
    graphs = [ct.ShardedGraph.open(there / name) for name in ("a.shards", "b.shards")]
    refused = [("b.shards", None, "out: "), ("c", "c", "checkpoint: "), ("c", "c/state", "checkpoint: ")]
    for out, checkpoint, message in refused:
        with pytest.raises(ct.CothermError, match=message):
            refuse_same_places(out, graphs, None if checkpoint is None else Path(checkpoint))
    refuse_same_places("c", graphs, Path("state"))


def test_outputs_of_common_differ(run: Run, coupled: Path, there: Path) -> None:
    assert run("couple", *VIEWS, "--out", "c.npz").code == 0
    (there / "link.csv").symlink_to("items.csv")
    more = ("--neighbors", "link.csv", "--view", "1", "--all")
    answer = run("common", "c.npz", "--out", "items.csv", *more)
    assert answer.code == 2
    assert "--neighbors link.csv: the same file as --out" in answer.err
    assert not (there / "items.csv").exists()
    assert run("functions", *VIEWS, "--labels", "labels.csv", "--out", "f.csv", "./f.csv").code == 2


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("x.h5mu", "to_anndata"),
        ("x.H5AD", "to_anndata"),
        ("x.csv", "write_graph"),
        ("x.parquet", "write_graph"),
        ("x.html", "save_page"),
        ("x.png", "plot"),
        ("x.pkl", "graphs"),
    ],
)
def test_results_are_not_saved_under_names_of_other_files(
    coupled: Path, tmp_path: Path, name: str, advice: str
) -> None:
    result = ct.Coupling.load(coupled / "coupled.npz")
    with pytest.raises(ct.CothermError, match=f"the suffix .*; needed: .npz.*{advice}"):
        result.save(tmp_path / name, overwrite=True)
    assert not (tmp_path / name).exists()
    for other in ("x.npz", "x", "x.coupling"):
        result.save(tmp_path / other)
        assert ct.Coupling.load(tmp_path / other).cost == result.cost
