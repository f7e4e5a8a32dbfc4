"""Damaged files of every format: nothing but a CothermError comes out, soon, and in memory of the size of the file."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import cotherm as ct
from cotherm.cli.inputs import read_points
from cotherm.errors import visible
from tests.fuzz import mutations, seeds

READERS: dict[str, Callable[[Path], object]] = {
    "graphs": ct.read_graph,
    "meshes": ct.read_mesh,
    "arrays": read_points,
    "couplings": ct.Coupling.load,
    "matches": ct.Match.load,
}
FILES = [(kind, name) for kind, make in seeds.ALL.items() for name in make()]
COUNT = 100
SECONDS = 5.0  # of one file, on a machine busy with other things


def peak_of(read: Callable[[Path], object], place: Path) -> int:
    """The most memory that reading took; a refusal is an answer, everything else a failure."""
    message = str(place)
    tracemalloc.start()
    try:
        read(place)
    except ct.CothermError as error:
        message = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert str(place) in message
    assert visible(message) == message
    return peak


@pytest.mark.parametrize(("kind", "name"), FILES, ids=[name for _, name in FILES])
def test_damaged_files(kind: str, name: str, tmp_path: Path) -> None:
    data = seeds.ALL[kind]()[name]
    place = tmp_path / name
    place.write_bytes(data)
    READERS[kind](place)  # as it is, the file is read
    for mutant in mutations.mutants(0, name, data, COUNT):
        place.write_bytes(mutant)
        began = time.monotonic()
        assert peak_of(READERS[kind], place) <= 10 * len(mutant) + 100e6
        assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize("kind", seeds.ALL)
def test_files_spliced_from_two(kind: str, tmp_path: Path) -> None:
    random = Random(1)
    files = seeds.ALL[kind]()
    for name, first in files.items():
        for second in files.values():
            place = tmp_path / name
            place.write_bytes(mutations.splice(random, first, second))
            peak_of(READERS[kind], place)


def test_the_same_seed_gives_the_same_damage() -> None:
    data = seeds.couplings()["coupling.npz"]
    once, again = (list(mutations.mutants(3, "coupling.npz", data, 30)) for _ in range(2))
    assert once == again
    assert len(set(once)) > 20


MTX = b"%%MatrixMarket matrix coordinate pattern "
PLY = b"ply\nformat %s 1.0\nelement vertex %d\nproperty %s x\nproperty %s y\nproperty %s z\nend_header\n"
SIZE = 1_500_000
LARGE: dict[str, Callable[[], bytes]] = {
    "short edges.csv": lambda: b"0,1\n" * (SIZE // 4),
    "blank lines.csv": lambda: b"\n" * (SIZE // 4),
    "numbers.csv": lambda: b"1\n" * (SIZE // 2),
    "one line.csv": lambda: b"1," * (SIZE // 2),
    "wide characters.csv": lambda: b"0,1\n#" + "😀".encode() * (SIZE // 4),
    "nested header.csv": lambda: b"# cotherm graph " + b"[]," * (SIZE // 3),
    "path.csv": lambda: b"".join(b"%d,%d\n" % (k, k + 1) for k in range(SIZE // 12)),
    "repeated.mtx": lambda: MTX + b"general\n5 5 %d\n" % (SIZE // 4) + b"1 2\n" * (SIZE // 4),
    "points.off": lambda: b"OFF\n%d 0 0\n" % (SIZE // 6) + b"0 0 0\n" * (SIZE // 6),
    "faces.off": lambda: b"OFF\n1 %d 0\n0 0 0\n" % (SIZE // 8) + b"3 0 0 0\n" * (SIZE // 8),
    "points.obj": lambda: b"v 0 0 0\n" * (SIZE // 8),
    "faces.obj": lambda: b"v 0 0 0\n" + b"f 1 1 1\n" * (SIZE // 8),
    "points.ply": lambda: PLY % (b"ascii", SIZE // 6, b"float", b"float", b"float") + b"0 0 0\n" * (SIZE // 6),
    "bytes.ply": lambda: (
        PLY % (b"binary_little_endian", SIZE // 3, b"uchar", b"uchar", b"uchar") + b"000" * (SIZE // 3)
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_reading_takes_is_proportional_to_the_file(name: str, tmp_path: Path) -> None:
    """The 100 MB that small files may take would hide nearly everything here; 25 MB hide little."""
    place = tmp_path / name
    place.write_bytes(data := LARGE[name]())
    read = ct.read_graph if place.suffix in (".csv", ".mtx") else ct.read_mesh
    assert peak_of(read, place) <= 10 * len(data) + 25e6
