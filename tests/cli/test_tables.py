"""Real tables on the command line: options, files of other programs, hints, and one line where they cannot be read."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from tests.cli.conftest import Run
from tests.cli.test_refusals import refused

KINDS = ["red", "green", "blue"]


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """A table with names, numbers, classes, words and a number that is missing."""
    random = np.random.default_rng(0)
    lines = ["id;length;width;kind;place"]
    for k in range(30):
        numbers = [f"{x:.3f}".replace(".", ",") for x in random.random(2)]
        lines.append(";".join([f"f{k}", *numbers, KINDS[k % 3], "Rome"]))
    lines[5] = lines[5].replace(lines[5].split(";")[1], "NA")
    place = tmp_path / "flowers.csv"
    place.write_text("\n".join(lines))
    return place


OPTIONS = ("--label-column", "kind", "--drop-columns", "place")


def made(run: Run, *arguments: object) -> tuple[ct.Graph, str]:
    """The graph that the command writes, and what it says."""
    out = Path(str(arguments[0])).with_name("graph.npz")
    answer = run("graph", *arguments, "--out", out, "--force")
    assert answer.code == 0, answer.err
    return ct.read_graph(out), answer.out


def test_a_table_as_people_have_it(run: Run, flowers: Path) -> None:
    graph, said = made(run, flowers, *OPTIONS, "--missing", "drop")
    assert graph.n == 29
    assert graph.labels is not None
    assert graph.labels.tolist() == [KINDS[k % 3] for k in range(30) if k != 4]
    assert graph.vertex_names is not None
    assert graph.vertex_names.tolist() == [f"f{k}" for k in range(30) if k != 4]
    for words in ("decimal commas", "labels from the column 'kind'", "1 column left out", "less 1 row with"):
        assert words in said
    graph, said = made(run, flowers, *OPTIONS, "--missing", "median")
    assert graph.n == 30
    assert "1 missing value replaced by the median (1 in length)" in said
    graph, _ = made(run, flowers, "--columns", "width")
    assert graph.coordinates is not None
    assert graph.coordinates.shape == (30, 1)


def test_it_says_what_to_do(run: Run, flowers: Path) -> None:
    out = ("--out", flowers.with_name("x.npz"))
    said = refused(run, flowers.parent, "graph", flowers, *out)
    assert "text in 2 columns: kind ('red'), place ('Rome')" in said
    assert all(option in said for option in ("--columns", "--drop-columns", "--label-column"))
    said = refused(run, flowers.parent, "graph", flowers, *OPTIONS, *out)
    assert "line 6, column 2 (length): 'NA', the only missing value" in said
    assert "--missing drop leaves out such rows, --missing median fills in" in said
    said = refused(run, flowers.parent, "graph", flowers, "--drop-columns", "city", *out)
    assert "no column 'city'; needed: some of its columns: length, width, kind, place" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--missing", "mean"], "invalid choice"),
        (["--decimal", ";"], "invalid choice"),
        (["--columns", ","], "needed: names separated by commas"),
        ([*OPTIONS, "--missing", "drop", "--sheet", "s"], "--sheet: s, and no file that has it; needed: a .xlsx file"),
        ([*OPTIONS, "--missing", "drop", "--rep", "X"], "--rep: X, and no file that has it"),
        ([*OPTIONS, "--missing", "drop", "--modality", "rna"], "--modality: rna"),
        ([*OPTIONS, "--missing", "drop", "--decimal", "."], "If commas mark decimals: --decimal ,."),
    ],
)
def test_options_that_make_no_sense(options: list[str], message: str, run: Run, flowers: Path) -> None:
    said = refused(run, flowers.parent, "graph", flowers, *options, "--out", flowers.with_name("x.npz"))
    assert message in said


def test_views_of_different_columns(run: Run, tables: Path) -> None:
    """What one table lacks another may have; what none has is refused."""
    views, out = (tables / "first.csv", tables / "second.csv"), ("--out", tables / "c.npz")
    answer = run("couple", *views, "--columns", "x,v,w", "--max-iterations", 1, *out, "--json")
    assert answer.code == 0, answer.err
    read = json.loads(answer.out)["read"]
    assert "1 column (x)" in read[0]
    assert "2 columns (v, w)" in read[1]
    answer = run("couple", *views, "--drop-columns", "u", "--max-iterations", 1, *out, "--force", "--json")
    assert "2 columns (v, w)" in json.loads(answer.out)["read"][1]
    said = refused(run, tables, "couple", *views, "--drop-columns", "u,zz", "--force", *out)
    assert "--drop-columns: no column 'zz' in any table; needed: some of x, y, u, v, w" in said
    said = refused(run, tables, "couple", *views, "--columns", "x", "--force", *out)
    assert "second.csv: no column that is left" in said


def test_rows_left_out_of_tables_without_names_stay_apart(run: Run, tmp_path: Path) -> None:
    """Views of which different rows are left out have rows of the same number that are not the same items."""
    random = np.random.default_rng(0)
    for name, hole in (("one", 3), ("two", 7)):
        lines = [f"{a:.3f},{b:.3f}" for a, b in random.random((20, 2))]
        lines[hole] = "," + lines[hole].split(",")[1]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b", *lines]))
    views = (tmp_path / "one.csv", tmp_path / "two.csv")
    out = ("--out", tmp_path / "c.npz")
    answer = run("couple", *views, "--missing", "drop", "--neighbors", 4, "--max-iterations", 1, *out)
    assert answer.code == 0, answer.err
    assert "paired: 18 items by id" in answer.out
    said = refused(run, tmp_path, "average", *views, "--missing", "drop", "--out", tmp_path / "a.npz")
    assert "other items" in said


def test_a_hint_about_scales(run: Run, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    place = tmp_path / "people.csv"
    rows = [f"{30 + 10 * a:.1f},{50_000 + 20_000 * b:.0f}" for a, b in random.standard_normal((40, 2))]
    place.write_text("\n".join(["age,income", *rows]))
    said = made(run, place)[1]
    assert "Hint: its columns differ in scale" in said
    assert "of income and" in said
    assert "--standardize" in said
    assert "Hint" not in made(run, place, "--standardize")[1]
    place.write_text("\n".join(f"{a:.3f},{20 * b:.3f},7" for a, b in random.standard_normal((40, 2))))
    assert "Hint" not in made(run, place)[1]


def test_other_files(run: Run, flowers: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    expected, _ = made(run, flowers, *OPTIONS, "--missing", "drop")
    packed = flowers.with_name("flowers.csv.gz")
    packed.write_bytes(gzip.compress(flowers.read_bytes()))
    frame = pd.read_csv(flowers, sep=";", decimal=",", index_col=0)
    frame.to_excel(flowers.with_suffix(".xlsx"), sheet_name="data")
    frame.to_parquet(flowers.with_suffix(".parquet"))
    for place in (packed, flowers.with_suffix(".xlsx"), flowers.with_suffix(".parquet")):
        graph, _ = made(run, place, *OPTIONS, "--missing", "drop")
        assert graph.name == "flowers"
        np.testing.assert_array_equal(graph.w, expected.w)
        np.testing.assert_array_equal(graph.vertex_names, expected.vertex_names)
        np.testing.assert_array_equal(graph.labels, expected.labels)
        assert run("info", place).code == 0
    assert made(run, flowers.with_suffix(".xlsx"), *OPTIONS, "--missing", "drop", "--sheet", "data")[0].n == 29


def test_an_edge_list_that_is_compressed(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "edges.csv.gz"
    place.write_bytes(gzip.compress(b"source,target,weight\n0,1,2\n1,2,3\n"))
    assert "Unpack it first" in refused(run, tmp_path, "graph", place, "--out", tmp_path / "x.npz")


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    anndata = pytest.importorskip("anndata")
    mudata = pytest.importorskip("mudata")
    random = np.random.default_rng(0)
    views: dict[str, Any] = {}
    for name, columns in (("rna", 4), ("atac", 3)):
        views[name] = anndata.AnnData(random.random((20, columns)))
        views[name].obs_names = [f"c{k}" for k in range(20)]
        views[name].obs["kind"] = [KINDS[k % 3] for k in range(20)]
    place = tmp_path / "cells.h5mu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        views["rna"].write_h5ad(tmp_path / "rna.h5ad")
        mudata.MuData(views).write(place)
    return place


def test_modalities_are_views(run: Run, cells: Path) -> None:
    recipe = ("--neighbors", 4, "--label-column", "kind")
    out = cells.with_name("c.npz")
    answer = run("couple", cells, *recipe, "--max-iterations", 1, "--out", out)
    assert answer.code == 0, answer.err
    result = ct.Coupling.load(out)
    assert [graph.name for graph in result.originals] == ["rna", "atac"]
    assert result.originals[1].labels is not None
    assert "paired: 20 items by id" in answer.out
    graph, _ = made(run, cells, *recipe, "--modality", "atac")
    np.testing.assert_array_equal(graph.w, result.originals[1].w)
    alone, _ = made(run, cells.with_name("rna.h5ad"), *recipe)
    assert alone.name == "rna"
    np.testing.assert_array_equal(alone.w, result.originals[0].w)
    directory = cells.parent
    said = refused(run, directory, "graph", cells, "--out", directory / "x.npz")
    assert "2 modalities, 'rna', 'atac'; needed: one. Choose it with --modality." in said
    said = refused(run, directory, "couple", cells, "--modality", "rna", "--out", directory / "x.npz")
    assert "one view" in said
    assert run("info", cells).out.startswith("Modality rna: 20 cells, 4 columns of X")
    two = [directory / "1.npy", directory / "2.npy"]
    assert run("commute", cells, "--neighbors", 4, "--out", *two).code == 0
    assert "a file of its own for each of 2 views" in refused(
        run, directory, "commute", cells, "--out", directory / "3.npy"
    )
    names = run("couple", cells, directory / "rna.h5ad", *recipe, "--max-iterations", 1, "--out", out, "--force")
    assert names.code == 0, names.err
    assert len({graph.name for graph in ct.Coupling.load(out).originals}) == 3


def test_functions_are_read_as_they_are(run: Run, tables: Path) -> None:
    """The options of tables of points do not concern tables of functions, and advice does not name them."""
    (tables / "f.csv").write_text("\n".join(["f", *map(str, range(1, 60)), "NA"]))
    views = (tables / "first.csv", tables / "second.csv")
    files = (tables / "f.csv", tables / "f.csv")
    said = refused(run, tables, "couple", *views, "--functions", *files, "--out", tables / "c.npz")
    assert "Fill in or leave out missing values first." in said
    assert "--missing" not in said
