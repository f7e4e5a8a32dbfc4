"""What coverage-guided fuzzing is aimed at: every reader and every verb, each a judge of bytes.

A judge says what is wrong, or None: an answer and a CothermError are both right, anything else that is raised is for
the caller to note. Wherever there are two ways to the same answer they are compared, so that a misreading is found too.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np

import cotherm as ct
from cotherm import CothermError, limits
from cotherm.cli.inputs import read_points, read_result
from cotherm.errors import visible
from cotherm.graphs.formats import by_meshio, graphml
from cotherm.io import state_file
from cotherm.methods.coupling import file as coupling_file
from cotherm.methods.matching import file as match_file
from tests.fuzz import seeds
from tests.fuzz.cases import damaged_table
from tests.fuzz.choices import Choices
from tests.fuzz.commands import FILES, judge_command
from tests.fuzz.mutations import mutate
from tests.fuzz.shards import judge_conversion, judge_shards
from tests.fuzz.tables import judge_labels, judge_numbers

Judge = Callable[[bytes, Path], str | None]


@dataclass(frozen=True)
class Target:
    """A judge, files to begin with, and the name whose suffix tells what damage suits them; None: any bytes."""

    judge: Judge
    seeds: Callable[[], list[bytes]]
    name: str | None = None
    cost: int = 1  # how many times as long a case takes as one of a small text
    theirs: str = ""  # a fault of the library that reads it, known and not ours to mend; only run when asked for

    def mutate(self, random: Random, data: bytes) -> bytes:
        return mutate(random, self.name or "", data)


def refused_or(check: Callable[[], str | None]) -> str | None:
    """What a check says; a refusal is fine where a terminal can show its words."""
    try:
        return check()
    except CothermError as error:
        text = str(error)
        return None if text == visible(text) else f"a message that a terminal would obey: {text!r}"


# ------------------------------------------------------------------------------------------------------ files


def _file(name: str, check: Callable[[Path], str | None]) -> Judge:
    def judge(data: bytes, directory: Path) -> str | None:
        place = directory / name
        place.write_bytes(data)
        return refused_or(partial(check, place))

    return judge


def _graph(place: Path) -> str | None:
    """Read, written and read again it is the same."""
    found = ct.read_graph(place)
    for suffix in (".npz", ".graphml"):
        copy = place.with_name(f"copy{suffix}")
        ct.write_graph(found, copy, overwrite=True)
        if ct.read_graph(copy) != found:
            return f"written as {suffix} and read again it is another graph"
    return None


def _mesh(place: Path) -> str | None:
    found = ct.read_mesh(place)
    for suffix in (".ply", ".off", ".obj"):
        copy = place.with_name(f"copy{suffix}")
        ct.write_mesh(found, copy, overwrite=True)
        again = ct.read_mesh(copy)
        if not (np.array_equal(again.vertices, found.vertices) and np.array_equal(again.faces, found.faces)):
            return f"written as {suffix} and read again it is another mesh"
    return None


def _foreign_mesh(place: Path) -> str | None:
    ct.read_mesh(place)
    return None


def _array(place: Path) -> str | None:
    """As NumPy reads it."""
    found = read_points(place).values
    expected = np.load(place, allow_pickle=False)
    same = found.shape == expected.shape and np.array_equal(found, expected.astype(np.float64))
    return None if same else "another array than NumPy reads"


def _text_table(place: Path) -> str | None:
    """Both parsers, the one in Python and the compiled one, give the same or refuse."""
    found: list[Any] = []
    for least in (2**62, 1):
        with mock.patch.object(limits, "COMPILED_TABLE_BYTES", least):
            try:
                table = read_points(place)
                found.append((table.values.tolist(), table.names, table.titles))
            except CothermError as error:
                if (text := str(error)) != visible(text):
                    return f"a message that a terminal would obey: {text!r}"
                found.append(None)
    same = found[0] == found[1] or repr(found[0]) == repr(found[1])  # NaN is not NaN
    return None if same else f"in Python {found[0]}, compiled {found[1]}"


def _table(place: Path) -> str | None:
    ct.io.read_table(place)
    return None


def _labels(place: Path) -> str | None:
    ct.io.read_labels(place)
    ct.io.read_labels(place, 14)
    return None


def _coupling(place: Path) -> str | None:
    read_result(str(place), told=False)
    once = coupling_file.render(ct.Coupling.load(place))
    place.write_bytes(once)
    return None if coupling_file.render(ct.Coupling.load(place)) == once else "saved and loaded it is another coupling"


def _match(place: Path) -> str | None:
    once = match_file.render(ct.Match.load(place))
    place.write_bytes(once)
    return None if match_file.render(ct.Match.load(place)) == once else "saved and loaded it is another match"


def _into_shards(place: Path) -> str | None:
    return judge_conversion(place, place.parent)


# ------------------------------------------------------------------------------------------------- checkpoints


def _couple(place: Path) -> ct.Coupling:
    graphs = [ct.Graph(5, range(4), range(1, 5), [1.0, 0.5, 2.0, size]) for size in (1.0, 3.0)]
    return ct.couple(graphs, [np.eye(5)[:, :2]] * 2, [1.0], 10.0, options={"max_iterations": 3}, checkpoint=place)


@cache
def _checkpoint_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run.ckpt"
        _couple(place)
        return place.read_bytes()


def _signed(data: bytes) -> bytes:
    """With the checksum of its content, so that damage gets past it."""
    size = hashlib.sha256().digest_size
    return data[:-size] + hashlib.sha256(data[:-size]).digest() if len(data) > size else data


def _checkpoint(data: bytes, directory: Path) -> str | None:
    """As given: refused, or as written. With a checksum that fits: refused, or taken up."""
    place = directory / "run.ckpt"
    for content in (data, _signed(data)):
        place.write_bytes(content)
        fault = refused_or(lambda: None if _couple(place) else "no coupling")
        if fault is not None:
            return fault
    return refused_or(lambda: _state(_signed(data)))


def _state(data: bytes) -> str | None:
    once = b"".join(bytes(one) for one in state_file.pieces(state_file.parse(data)))
    again = b"".join(bytes(one) for one in state_file.pieces(state_file.parse(once)))
    return None if once == again else "a state that is another one when it is stored again"


# ----------------------------------------------------------------------------------------------------- choices


def _chosen(judge: Callable[[Random, Path], str | None]) -> Judge:
    """A judge of random cases whose randomness is the bytes."""
    return lambda data, directory: judge(Choices(data), directory)


def _verbs(data: bytes, directory: Path) -> str | None:
    """Any value as any argument of a public verb, estimator or converter, by the strategies of hypothesis."""
    from tests.test_any_input import any_argument

    any_argument(data, directory)
    return None


def _any_bytes() -> list[bytes]:
    return [Random(k).randbytes(size) for k, size in enumerate((16, 64, 256, 1_024))]


def _of(kind: str, suffix: str) -> Callable[[], list[bytes]]:
    return lambda: [data for name, data in seeds.ALL[kind]().items() if name.endswith(suffix)]


def _graphml() -> list[bytes]:
    return [graphml.render(seeds.graph()), graphml.render(seeds.full_graph())]


def _text_tables(suffix: str) -> Callable[[], list[bytes]]:
    return lambda: [data for name, data in FILES.items() if name.endswith(suffix)]


def _packed() -> list[bytes]:
    return [gzip.compress(FILES[name], mtime=0) for name in ("first.csv", "column.csv")]


def _frame() -> Any:
    import pandas as pd

    return pd.read_csv(io.BytesIO(FILES["first.csv"]))


def _sheet() -> list[bytes]:
    buffer = io.BytesIO()
    _frame().to_excel(buffer, index=False)
    return [buffer.getvalue()]


def _parquet() -> list[bytes]:
    buffer = io.BytesIO()
    _frame().to_parquet(buffer, index=False)
    return [buffer.getvalue()]


def _cells() -> list[bytes]:
    import anndata

    frame = _frame().set_index("id")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "cells.h5ad"
        anndata.AnnData(frame).write_h5ad(place)
        return [place.read_bytes()]


def _by_meshio(suffix: str) -> list[bytes]:
    import meshio

    mesh, kinds = seeds.mesh(), {".msh": "gmsh", ".mesh": "medit"}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"mesh{suffix}"
        if suffix in by_meshio.WRITTEN:
            ct.write_mesh(mesh, place)
        else:
            meshio.Mesh(mesh.vertices, [("triangle", mesh.faces)]).write(place, kinds.get(suffix, "stl"))
        return [place.read_bytes()]


def _installed(*names: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in names)


def targets() -> dict[str, Target]:
    """All of them by name; those whose library is not installed are left out."""
    found = {
        **{f"graph {s}": Target(_file(f"g{s}", _graph), _of("graphs", s), f"g{s}", 2) for s in (".csv", ".mtx")},
        "graph .npz": Target(_file("g.npz", _graph), _of("graphs", ".npz"), "g.npz", 2),
        "graph .graphml": Target(_file("g.graphml", _graph), _graphml, "g.csv", 2),
        **{f"mesh {s}": Target(_file(f"m{s}", _mesh), _of("meshes", s), f"m{s}", 2) for s in (".off", ".obj", ".ply")},
        "array .npy": Target(_file("a.npy", _array), _of("arrays", ".npy"), "a.npy"),
        "table .csv": Target(_file("t.csv", _text_table), _text_tables(".csv"), "t.csv", 2),
        "table .tsv": Target(_file("t.tsv", _text_table), _text_tables(".tsv"), "t.tsv", 2),
        "table .csv.gz": Target(_file("t.csv.gz", _table), _packed, "t.gz"),
        "labels": Target(_file("l.csv", _labels), _text_tables(".csv"), "l.csv"),
        "coupling": Target(_file("c.npz", _coupling), _of("couplings", ".npz"), "c.npz", 4),
        "match": Target(_file("m.npz", _match), _of("matches", ".npz"), "m.npz", 2),
        "checkpoint": Target(_checkpoint, lambda: [_checkpoint_file()], "run.ckpt", 20),
        "into shards": Target(_file("g.csv", _into_shards), _of("graphs", ".csv"), "g.csv", 20),
        "shards": Target(_chosen(judge_shards), _any_bytes, None, 20),
        "tables as written": Target(_chosen(judge_numbers), _any_bytes, None, 3),
        "labels as written": Target(_chosen(judge_labels), _any_bytes),
        "tables at random": Target(_chosen(damaged_table), _any_bytes),
        "commands": Target(_chosen(judge_command), _any_bytes, None, 50),
        "verbs": Target(_verbs, _any_bytes, None, 10),
    }
    if _installed("openpyxl", "pandas"):
        found["table .xlsx"] = Target(_file("t.xlsx", _table), _sheet, "t.npz", 10)
    if _installed("pyarrow", "pandas"):
        found["table .parquet"] = Target(_file("t.parquet", _table), _parquet, "t.parquet", 2)
    if _installed("anndata"):
        hang = "HDF5 does not end on some damaged files"
        found["table .h5ad"] = Target(_file("t.h5ad", _table), _cells, "t.h5ad", 20, hang)
    if _installed("meshio"):
        for suffix in by_meshio.READ:
            make = partial(_by_meshio, suffix)
            hang = "meshio counts as far as a damaged binary file says" if suffix == ".msh" else ""
            found[f"mesh {suffix}"] = Target(_file(f"m{suffix}", _foreign_mesh), make, "m.csv", 2, hang)
    return found
