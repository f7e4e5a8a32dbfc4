"""The loaders of real multimodal data: what is in the files, and what is said when they are not as published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import cotherm as ct
from paper.data import man, nus, scgem, scnmt, sources

Loader = Callable[..., ct.datasets.Views]


def test_man(data_file: Callable[[str], Path]) -> None:
    data = data_file("tosca/michael7.off").parents[1]
    views = man(data=data)
    assert [g.n for g in views.graphs] == [500, 500]
    assert views.wrong is not None
    assert views.wrong[0].sum() > 20
    assert not views.wrong[1].any()
    # A bump on each hand.
    X = views.graphs[1].coordinates
    assert X is not None
    left, right = X[views.functions[0].argmax(axis=0)]
    assert np.linalg.norm(left - right) > 40


def test_nus(data_file: Callable[[str], Path]) -> None:
    views = nus(data=data_file("nus/NUS_results.mat").parents[1])
    assert [g.n for g in views.graphs] == [145, 145]
    assert views.functions[0].sum(axis=0).tolist() == [33, 30, 17, 19, 15, 15, 16]


def test_sources(data_file: Callable[[str], Path]) -> None:
    views = sources(data=data_file("3sources/3Sources.mat").parents[1])
    assert [g.n for g in views.graphs] == [169, 169, 169]
    assert [g.component_count for g in views.graphs] == [1, 1, 1]
    assert views.aligned
    for F in views.functions:
        assert F.sum(axis=0).tolist() == [56, 21, 11, 18, 51, 12]


def test_scgem(data_file: Callable[[str], Path]) -> None:
    views = scgem(data=data_file("scgem/expression.txt").parents[1])
    assert [(g.n, g.name) for g in views.graphs] == [(177, "expression"), (177, "methylation")]
    assert views.aligned
    for F in views.functions:
        assert F.sum(axis=0).tolist() == [35, 40, 32, 36, 34]


def test_scnmt(data_file: Callable[[str], Path]) -> None:
    views = scnmt(data=data_file("scnmt/rna_30.txt").parents[1])
    assert [(g.n, g.name) for g in views.graphs] == [(597, "expression"), (725, "methylation"), (647, "accessibility")]
    assert not views.aligned
    assert views.labels is None
    assert views.classes is not None
    counts = [np.bincount(stages).tolist() for stages in views.classes]
    assert counts == [[76, 104, 146, 271], [65, 91, 278, 291], [63, 89, 220, 275]]
    for F, stages in zip(views.functions, views.classes, strict=True):
        np.testing.assert_allclose(F.T @ F, np.eye(4), atol=1e-12)
        np.testing.assert_array_equal(F.argmax(axis=1), stages)


@pytest.mark.parametrize("load", [man, nus, sources, scgem, scnmt])
def test_missing_files(load: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COTHERM_DATA", raising=False)
    with pytest.raises(ct.CothermError, match="COTHERM_DATA"):
        load()
    with pytest.raises(ct.CothermError, match="which has no"):
        load(data=tmp_path)


def test_a_mat_file_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "3sources" / "3Sources.mat"
    path.parent.mkdir()
    path.write_bytes(b"junk" * 100)
    with pytest.raises(ct.CothermError, match=r"3Sources\.mat: unreadable"):
        sources(data=tmp_path)
    scipy.io.savemat(path, {"X": np.eye(4), "y": np.arange(4)})
    with pytest.raises(ct.CothermError, match=r"3Sources\.mat: other arrays"):
        sources(data=tmp_path)


def write_scgem(folder: Path) -> Path:
    """Files of the right shape, with random numbers in them."""
    (folder / "scgem").mkdir()
    rng = np.random.default_rng(0)
    for name, features in (("expression", 34), ("methylation", 27)):
        np.savetxt(folder / "scgem" / f"{name}.txt", rng.random((177, features)))
        np.savetxt(folder / "scgem" / f"{name}_type.txt", np.arange(177) % 5)
    return folder / "scgem"


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("expression.txt", "", "empty"),
        ("expression.txt", " \n", "shape"),
        ("expression.txt", "1 2\n3", "unreadable"),
        ("methylation.txt", "1 2 é", "unreadable"),
        ("methylation.txt", ("nan " * 27 + "\n") * 177, "not finite"),
        ("expression_type.txt", "1\n2\n", "shape"),
        ("expression_type.txt", "0.5\n" * 177, "not whole"),
        ("methylation_type.txt", "1\n" * 177, "other types"),
    ],
)
def test_corrupt_tables(name: str, content: str, complaint: str, tmp_path: Path) -> None:
    folder = write_scgem(tmp_path)
    assert scgem(data=tmp_path).graphs[0].n == 177
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(ct.CothermError, match=complaint) as caught:
        scgem(data=tmp_path)
    assert caught.value.argument == str(folder / name)


def test_stages_that_one_view_lacks(tmp_path: Path) -> None:
    (tmp_path / "scnmt").mkdir()
    for short, n in (("rna", 597), ("met", 725), ("acc", 647)):
        np.savetxt(tmp_path / "scnmt" / f"{short}_30.txt", np.random.default_rng(0).random((n, 30)))
        np.savetxt(tmp_path / "scnmt" / f"{short}_stage.txt", np.arange(n) % (4 if short == "rna" else 3))
    with pytest.raises(ct.CothermError, match=r"met_stage\.txt: the stages \[0, 1, 2\]"):
        scnmt(data=tmp_path)


def test_junk_is_no_data(tmp_path: Path) -> None:
    (tmp_path / "nus").mkdir()
    (tmp_path / "nus" / "NUS_results.mat").write_bytes(b"junk" * 100)
    with pytest.raises(ct.CothermError, match="unreadable"):
        nus(data=tmp_path)
