"""The same labeled data give the same coupling, however cotherm is called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm import cli
from cotherm.arrays import Floats

CLASSES = ["left", "middle", "right", "top"]


@pytest.fixture(scope="module")
def views() -> tuple[list[Floats], list[list[str]]]:
    """Two views of different items: different numbers of a class, one class in one view only, some labels unknown."""
    rng = np.random.default_rng(0)
    points, labels = [], []
    for counts, unknown in (((14, 9, 12, 5), 3), ((8, 15, 10, 0), 6)):
        own = np.repeat(np.arange(4), counts)
        points.append(np.array([[0, 0], [3, 0], [6, 0], [3, 4]])[own] + rng.standard_normal((len(own), 2)))
        names = np.array(CLASSES)[own]
        names[rng.choice(len(own) - counts[3], unknown, replace=False)] = ""
        labels.append(names.tolist())
    return points, labels


def python(points: Sequence[Floats], labels: Sequence[Sequence[str]]) -> ct.Coupling:
    with pytest.warns(ct.CothermWarning, match=r"left out: 'top' \(not in labels\[1\]\)"):
        functions, classes = ct.shared_label_functions(labels, unlabeled="")
    assert classes == CLASSES[:3]
    return ct.couple([ct.knn_graph(X) for X in points], functions)


def estimator(points: Sequence[Floats], labels: Sequence[Sequence[str]]) -> ct.Coupling:
    with pytest.warns(ct.CothermWarning, match=r"left out: 'top' \(not in y\[1\]\)"):
        model = ct.HeatKernelCoupling(correspondence="labels", options={"unlabeled": ""}).fit(
            list(points), list(labels)
        )
    assert isinstance(model.result_, ct.Coupling)
    return model.result_


def integers(points: Sequence[Floats], labels: Sequence[Sequence[str]]) -> ct.Coupling:
    """The estimator with scikit-learn's mark for samples without a label."""
    y = [[-1 if one == "" else CLASSES.index(one) for one in own] for own in labels]
    with pytest.warns(ct.CothermWarning, match=r"left out: 3 \(not in y\[1\]\)"):
        model = ct.HeatKernelCoupling(correspondence="labels").fit(list(points), y)
    assert isinstance(model.result_, ct.Coupling)
    return model.result_


def cells(points: Sequence[Floats], labels: Sequence[Sequence[str]]) -> ct.Coupling:
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    adatas = []
    for X, own in zip(points, labels, strict=True):
        obs = pandas.DataFrame({"place": [one or None for one in own]}, index=[f"cell {v}" for v in range(len(own))])
        adatas.append(anndata.AnnData(X=X, obs=obs))
    with pytest.warns(ct.CothermWarning, match=r"left out: 'top' \(not in adatas\[1\]\)"):
        functions, _ = ct.interop.anndata_functions(adatas, "place")
    return ct.couple(ct.interop.anndata_graphs(adatas, rep="X"), functions)


@pytest.mark.parametrize("entry", [estimator, integers, cells])
def test_entry_points_couple_alike(entry: object, views: tuple[list[Floats], list[list[str]]]) -> None:
    expected, found = python(*views), entry(*views)  # type: ignore[operator]
    assert found.cost == pytest.approx(expected.cost, rel=1e-9)
    assert (found.times, found.alpha) == (expected.times, expected.alpha)


def test_the_command_line_couples_alike(
    views: tuple[list[Floats], list[list[str]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = python(*views)
    files: list[str] = []
    for name, X, own in zip(("first", "second"), *views, strict=True):
        np.savetxt(tmp_path / f"{name}.csv", X, delimiter=",", header="x,y", comments="", fmt="%.17g")
        (tmp_path / f"{name}-labels.csv").write_text("\n".join(["place", *own, ""]), encoding="utf-8")
        files.append(str(tmp_path / f"{name}.csv"))
    labels = [file.replace(".csv", "-labels.csv") for file in files]
    cli.main(["couple", *files, "--labels", *labels, "--out", str(tmp_path / "coupled.npz"), "--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["cost"] == pytest.approx(expected.cost, rel=1e-9)
    assert report["read"][-1] == "--labels: classes that some view lacks are left out: 'top' (not in second)"
