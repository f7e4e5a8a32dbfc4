"""The answer of a coupling: its table, its changes, and the file it is kept in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import cotherm as ct
from cotherm.methods.coupling import file as coupling_file


@pytest.fixture(scope="module")
def result() -> ct.Coupling:
    views = ct.datasets.ring(n=30)
    return ct.couple(views.graphs, views.functions, views.times, 1e6, options={"continuation": "times"})


def test_changes_are_sorted_by_size(result: ct.Coupling) -> None:
    first = result.changes()[0]
    cut = first.edges("cut")
    assert len(cut)
    moved = {(i, j): abs(b - a) for i, j, a, b in zip(first.i, first.j, first.before, first.after, strict=True)}
    sizes = [moved[i, j] for i, j in cut]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(first.counts().values()) == result.graphs[0].m
    everything = result.changes(cut=1.0, weak=1.0, strong=1.0)[0]
    assert everything.counts()["weakened"] == 0


def test_the_table_says_what_matters(result: ct.Coupling) -> None:
    text = str(result)
    for part in ("converged", f"{result.cost:.6g}", "cracked ring", "strengthened", "before"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("limits", [(0.6, 0.5, 2.0), (0.0, 1.5, 2.0), (0.0, 0.5, 0.9)])
def test_limits_in_the_wrong_order_are_refused(result: ct.Coupling, limits: tuple[float, float, float]) -> None:
    with pytest.raises(ct.CothermError, match="cut"):
        result.changes(cut=limits[0], weak=limits[1], strong=limits[2])


def test_saved_and_loaded_whole(result: ct.Coupling, tmp_path: Path) -> None:
    path = tmp_path / "coupling.npz"
    result.save(path)
    again = ct.Coupling.load(path)
    assert str(again) == str(result)
    for field in ("times", "alpha", "cost", "distance", "mismatch", "status", "optimality", "history", "seconds"):
        assert getattr(again, field) == getattr(result, field)
    assert dict(again.settings) == dict(result.settings)
    assert dict(again.versions) == dict(result.versions)
    for a, b in zip((*again.graphs, *again.originals), (*result.graphs, *result.originals), strict=True):
        assert_array_equal(a.w, b.w)
        assert_array_equal(a.coordinates, b.coordinates)
        assert a.name == b.name
    assert_array_equal(again.coupling, result.coupling)
    with np.load(path, allow_pickle=False) as plain:
        assert_array_equal(plain["0.u"], result.graphs[0].w)


def test_an_existing_file_is_kept(result: ct.Coupling, tmp_path: Path) -> None:
    path = tmp_path / "coupling.npz"
    path.write_text("mine")
    with pytest.raises(ct.CothermError, match="exists"):
        result.save(path)
    assert path.read_text() == "mine"
    result.save(path, overwrite=True)
    assert ct.Coupling.load(path).cost == result.cost


@given(place=st.floats(0, 1), value=st.integers(0, 255))
def test_a_damaged_file_is_refused_or_harmless(result: ct.Coupling, place: float, value: int) -> None:
    """Some bytes of an archive, such as its dates, mean nothing; of all others a change is found."""
    whole = coupling_file.render(result)
    data = bytearray(whole)
    data[int(place * (len(data) - 1))] = value
    try:
        read = coupling_file.parse(bytes(data))
    except ct.CothermError:
        return
    assert coupling_file.render(read) == whole


@given(part=st.floats(0, 0.999))
def test_a_truncated_file_is_refused(result: ct.Coupling, part: float) -> None:
    data = coupling_file.render(result)
    with pytest.raises(ct.CothermError):
        coupling_file.parse(data[: int(part * len(data))])


def test_a_graph_is_no_coupling(result: ct.Coupling, tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    ct.write_graph(result.graphs[0], path)
    with pytest.raises(ct.CothermError, match="coupling"):
        ct.Coupling.load(path)
    with pytest.raises(ct.CothermError, match="no such file"):
        ct.Coupling.load(tmp_path / "nothing.npz")


def test_functions_that_differ_from_the_start_are_said(result: ct.Coupling) -> None:
    assert result.mismatch == 0.0
    graphs = result.originals
    F = np.eye(30)[:, :2]
    other = ct.couple(graphs, [F, 2.0 * F], [1.0], alpha=1.0, options={"continuation": "direct"})
    assert other.mismatch > 0.5
    assert "no weights can mend" in str(other)
