"""Files of answers: what save writes load reads, and forged headers are refused."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm.draw import draw_coupling, draw_result
from cotherm.io import archive
from cotherm.methods.coupling import file as coupling_file
from cotherm.methods.matching import file as match_file
from tests.fuzz import seeds

ODD = (float("nan"), float("inf"), float("-inf"), -1e-17, 0.0, 5e-324, 1.7976931348623157e308)


def same(a: object, b: object) -> bool:
    """Equal to the last bit, NaN and signs of zero included."""
    return repr(a) == repr(b)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("field", ["cost", "distance", "mismatch", "optimality", "seconds"])
def test_what_a_coupling_found_is_kept_whatever_it_is(field: str, value: float, tmp_path: Path) -> None:
    changed: dict[str, Any] = {field: value}
    coupling = replace(seeds.coupling(), **changed)
    coupling.save(tmp_path / "x.npz")
    again = ct.Coupling.load(tmp_path / "x.npz")
    assert same(getattr(again, field), value)
    assert str(again) == str(coupling)


@pytest.mark.parametrize("value", ODD)
def test_histories_and_errors_are_kept_whatever_they_are(value: float, tmp_path: Path) -> None:
    whole = seeds.coupling()
    history = tuple({**row, "cost": value, "coupling": value, "optimality": value} for row in whole.history)
    coupling = replace(whole, history=history, coupling=np.array([0.5, value]), coupling_before=np.array([value, 0.5]))
    coupling.save(tmp_path / "x.npz")
    again = ct.Coupling.load(tmp_path / "x.npz")
    assert same(again.history, history)
    assert again.coupling.tobytes() == coupling.coupling.tobytes()
    assert again.coupling_before.tobytes() == coupling.coupling_before.tobytes()
    for figure in (
        draw_result(again, "convergence"),
        draw_coupling(again.times, again.coupling_before, again.coupling),
    ):
        figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("value", ODD)
def test_what_a_match_found_is_kept_whatever_it_is(value: float, tmp_path: Path) -> None:
    whole = seeds.match()
    match = replace(whole, seconds=value, round_trip=np.full(5, value), functional_map=np.full((3, 3), value))
    match.save(tmp_path / "x.npz")
    again = ct.Match.load(tmp_path / "x.npz")
    assert same(again.seconds, value)
    assert again.round_trip.tobytes() == match.round_trip.tobytes()
    assert again.functional_map.tobytes() == match.functional_map.tobytes()


def forged(data: bytes, mark: str, change: Callable[[dict[str, Any]], object]) -> bytes:
    arrays = archive.unpack(data, lambda _: None)
    head = json.loads(arrays["header"].item().removeprefix(mark))
    change(head)
    return archive.pack({**arrays, "header": np.array(f"{mark} {json.dumps(head)}")})


ROW = {"route": "direct", "stage": 0, "iteration": 0, "cost": 1.0, "coupling": 1.0, "optimality": 1.0}
HEADERS: dict[str, tuple[str, object]] = {
    "no times": ("times", []),
    "times a number": ("times", 1.0),
    "times a word": ("times", ["one", 2.0]),
    "times negative": ("times", [-1.0, 2.0]),
    "times nan": ("times", [float("nan"), 2.0]),
    "times infinite": ("times", [float("inf"), 2.0]),
    "times true": ("times", [True, 2.0]),
    "times huge": ("times", [10**400, 2.0]),
    "times nested": ("times", [[1.0], [2.0]]),
    "times too few": ("times", [1.0]),
    "errors too many": ("coupling", [1.0, 1.0, 1.0]),
    "errors words": ("coupling", ["a", "b"]),
    "errors none": ("coupling_before", None),
    "alpha zero": ("alpha", 0.0),
    "alpha nan": ("alpha", float("nan")),
    "alpha a word": ("alpha", "1"),
    "cost a word": ("cost", "1"),
    "cost true": ("cost", True),
    "cost huge": ("cost", 10**400),
    "cost a list": ("cost", [1.0]),
    "status unknown": ("status", "fine"),
    "status a list": ("status", ["converged"]),
    "history an object": ("history", {}),
    "history numbers": ("history", [1, 2]),
    "history lists": ("history", [[1, 2]]),
    "history empty rows": ("history", [{}]),
    "history without route": ("history", [{key: value for key, value in ROW.items() if key != "route"}]),
    "history with more": ("history", [{**ROW, "more": 1}]),
    "history cost a word": ("history", [ROW, {**ROW, "cost": "1"}]),
    "history cost none": ("history", [ROW, {**ROW, "cost": None}]),
    "history route a number": ("history", [{**ROW, "route": 1}]),
    "history stage negative": ("history", [{**ROW, "stage": -1}]),
    "history iteration half": ("history", [{**ROW, "iteration": 0.5}]),
    "versions numbers": ("versions", {"numpy": 2}),
    "versions a list": ("versions", ["numpy"]),
    "settings a list": ("settings", []),
    "graphs none": ("graphs", []),
    "graphs more": ("graphs", [{"n": 1, "name": None}] * 5),
    "graphs n huge": ("graphs", [{"n": 10**30, "name": None}, {"n": 4, "name": None}]),
    "graphs name a list": ("graphs", [{"n": 9, "name": []}, {"n": 4, "name": None}]),
    "version nan": ("version", float("nan")),
    "version huge": ("version", 10**400),
}


@pytest.mark.parametrize(("field", "value"), HEADERS.values(), ids=HEADERS)
def test_forged_couplings(field: str, value: object) -> None:
    data = forged(seeds.couplings()["coupling.npz"], "cotherm coupling", lambda head: head.update({field: value}))
    with pytest.raises(ct.CothermError):
        coupling_file.parse(data)


FORGED: dict[str, list[object]] = {
    "source": [-1, 0.5, "0", None, True],
    "status": ["fine", 1, None],
    "seconds": ["1", None, True, 10**400, []],
    "versions": [[], {"a": 1}],
    "settings": [[], None],
    "version": [2, 0, "1", None],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in FORGED.items() for value in values])
def test_forged_matches(field: str, value: object) -> None:
    data = forged(seeds.matches()["match.npz"], "cotherm match", lambda head: head.update({field: value}))
    with pytest.raises(ct.CothermError):
        match_file.parse(data)


def test_shares_of_any_order_of_bytes_are_read() -> None:
    arrays = archive.unpack(seeds.matches()["match.npz"], lambda _: None)
    for name in ("soft.indices", "soft.indptr", "soft.data", "hard", "0.vectors"):
        arrays[name] = arrays[name].astype(arrays[name].dtype.newbyteorder(">"))
    assert str(match_file.parse(archive.pack(arrays))) == str(seeds.match())


@pytest.mark.parametrize("name", ["0.k", "x", "00.i", "../0.i", "0.u.npy", "9999999999.i"])
def test_unknown_arrays_are_refused(name: str) -> None:
    arrays = archive.unpack(seeds.couplings()["coupling.npz"], lambda _: None)
    with pytest.raises(ct.CothermError, match="arrays"):
        coupling_file.parse(archive.pack({**arrays, name: np.ones(3)}))


def test_headers_nested_without_end_take_no_memory() -> None:
    arrays = archive.unpack(seeds.couplings()["coupling.npz"], lambda _: None)
    for text in (
        "[" * 10**5,
        "[[]]," * 3 * 10**5,
        '{"a":' * 10**4,
        '{"version": 2, "graphs": [' + "{}," * 10**6 + "{}]}",
    ):
        with pytest.raises(ct.CothermError, match="header"):
            coupling_file.parse(archive.pack({**arrays, "header": np.array(f"cotherm coupling {text}")}))


def test_long_histories_are_read(tmp_path: Path) -> None:
    """However many steps, the header of an answer is not taken for an attack."""
    coupling = replace(seeds.coupling(), history=tuple({**ROW, "iteration": k} for k in range(20_000)))
    coupling.save(tmp_path / "x.npz")
    assert len(ct.Coupling.load(tmp_path / "x.npz").history) == 20_000


def test_the_size_is_known_beforehand() -> None:
    coupling = seeds.coupling()
    size = coupling_file.least_size(coupling.originals, coupling.functions)
    assert 500 < size < len(coupling_file.render(coupling))
