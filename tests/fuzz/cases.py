"""Every kind of case: a number is one case, the same for the same seed, and its judge says what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import cotherm as ct
from cotherm import CothermError
from cotherm.cli.correspondence import read_labels
from cotherm.cli.inputs import View, is_edge_list, read_points, read_result
from cotherm.errors import visible
from cotherm.graphs.graph import Graph
from tests.fuzz import seeds
from tests.fuzz.commands import FILES, judge_command
from tests.fuzz.mutations import mutate, splice
from tests.fuzz.shards import judge_shards
from tests.fuzz.tables import judge_labels, judge_numbers, numbers_table

Judge = Callable[[Random, Path], str | None]

_READERS: dict[str, Callable[[Path], object]] = {
    "graphs": ct.read_graph,
    "meshes": ct.read_mesh,
    "arrays": read_points,
    "couplings": ct.Coupling.load,
    "matches": ct.Match.load,
}
_SEEDS = {kind: make() for kind, make in seeds.ALL.items()}
_TABLES = [name for name in FILES if name.endswith((".csv", ".tsv"))]


def damaged_file(random: Random, directory: Path) -> str | None:
    """A reader of our own formats, given a damaged file: an answer or a CothermError."""
    kind = random.choice(sorted(_READERS))
    name = random.choice(sorted(_SEEDS[kind]))
    data = mutate(random, name, _SEEDS[kind][name])
    if random.random() < 0.05:
        data = splice(random, data, random.choice(list(FILES.values())))
    place = directory / name
    place.write_bytes(data)
    if random.random() < 0.3:
        return _refused_or_read(lambda: read_result(str(place)))
    return _refused_or_read(lambda: _READERS[kind](place))


def damaged_table(random: Random, directory: Path) -> str | None:
    """Readers of tables, given a damaged one."""
    name = random.choice(_TABLES)
    data = FILES[name] if random.random() < 0.5 else numbers_table(random).data
    place = directory / name
    place.write_bytes(mutate(random, name, data))
    names = [f"item-{k}" for k in range(14)] if random.random() < 0.5 else None
    view = View(Graph(14, range(13), range(1, 14), [1.0] * 13, vertex_names=names))
    reader = random.randrange(3)
    if reader == 0:
        return _refused_or_read(lambda: is_edge_list(place))
    if reader == 1:
        return _refused_or_read(lambda: read_labels([view, view], [str(place)], None))
    return _refused_or_read(lambda: read_points(place))


def _refused_or_read(read: Callable[[], object]) -> str | None:
    try:
        read()
    except CothermError as error:
        text = str(error)
        return None if text == visible(text) else f"a message that a terminal would obey: {text!r}"
    return None


# How often each is taken.
_KINDS: tuple[tuple[Judge, int], ...] = (
    (damaged_file, 9),
    (damaged_table, 4),
    (judge_numbers, 3),
    (judge_labels, 2),
    (judge_command, 2),
    (judge_shards, 2),
)
_ORDER = [judge for judge, share in _KINDS for _ in range(share)]


def kind_of(number: int) -> str:
    return _ORDER[number % len(_ORDER)].__name__


def judge(seed: int, number: int, directory: Path) -> str | None:
    """What is wrong with case ``number``; an exception is for the caller to note."""
    random = Random(f"{seed} {number}")
    return _ORDER[number % len(_ORDER)](random, directory)
