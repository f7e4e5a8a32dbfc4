"""Damaged shards: refused, or read as what was written; and damaged files on their way to shards, as other readers."""

from __future__ import annotations

import tempfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

import cotherm as ct
from cotherm import CothermError
from cotherm.errors import visible
from cotherm.graphs.graph import Graph
from cotherm.graphs.sharded import store
from cotherm.graphs.sharded.store import ShardedGraph
from tests.fuzz import seeds
from tests.fuzz.mutations import mutate

_PARTS = 3
# Of the seeds of graphs, those that are read in a stream.
_STREAMED = (".npz", ".csv", ".tsv", ".txt", ".mtx")


@cache
def _whole() -> tuple[dict[str, bytes], Graph]:
    """The files of a sharded graph, and the graph as they hold it."""
    with tempfile.TemporaryDirectory() as folder:
        sharded = ct.shard_graph(seeds.full_graph(), Path(folder) / "g.shards", _PARTS)
        files = [one for one in sharded.path.rglob("*") if one.is_file()]
        return {one.relative_to(sharded.path).as_posix(): one.read_bytes() for one in files}, sharded.to_graph()


def judge_shards(random: Random, directory: Path) -> str | None:
    """Readers of shards, one file of which is damaged or missing, with checksums that say so or do not."""
    if random.random() < 0.4:
        return _judge_conversion(random, directory)
    files, graph = _whole()
    place = directory / "g.shards"
    place.mkdir()
    damaged = dict(files)
    name = random.choice(sorted(files))
    kind = random.choice(["mutated", "mutated", "missing", "another", "agreeing", "agreeing"])
    if kind == "missing":
        del damaged[name]
    elif kind == "another":
        damaged[name] = files[random.choice(sorted(files))]
    else:
        damaged[name] = mutate(random, name, files[name])
    if kind == "agreeing" and name != store.FILE:
        damaged[store.FILE] = _agreeing(damaged)
    for one, data in damaged.items():
        (place / one).parent.mkdir(exist_ok=True)
        (place / one).write_bytes(data)
    found = _answer(random.choice([_read_whole, _read_parts]), place)
    if isinstance(found, str):
        return None if found == visible(found) else f"a message that a terminal would obey: {found!r}"
    if kind != "agreeing" and found != graph:
        return f"{name} {kind}: read as another graph"
    return None


def _agreeing(files: dict[str, bytes]) -> bytes:
    """A header whose checksums are those of the damaged files."""
    header = store.parse(files[store.FILE])
    told = {name: (len(files[name]), zlib.crc32(files[name])) for name in header.files}
    return store.render(replace(header, files=told))


def _read_whole(place: Path) -> Graph:
    sharded = ShardedGraph.open(place)
    sharded.verify()
    return sharded.to_graph()


def _read_parts(place: Path) -> Graph:
    """As processes read it, put together from their parts."""
    sharded = ShardedGraph.open(place)
    parts = [sharded.part(rank, 2) for rank in range(2)]

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    extras = {name: joined(name) for name in ("coordinates", "labels") if sharded.has(name)}
    return Graph(sharded.n, joined("i"), joined("j"), joined("w"), name=sharded.name, **extras)


def _judge_conversion(random: Random, directory: Path) -> str | None:
    """A damaged file: refused both by the converter and by the reader of whole graphs, or the same graph to both."""
    files = {name: data for name, data in seeds.graphs().items() if name.endswith(_STREAMED)}
    name = random.choice(sorted(files))
    place = directory / name
    place.write_bytes(mutate(random, name, files[name]))
    return judge_conversion(place, directory)


def judge_conversion(place: Path, directory: Path) -> str | None:
    """The same for a file that is there."""
    name = place.name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = _answer(lambda one: _sorted(ct.read_graph(one)), place)
        cut = _answer(lambda one: ct.shard_graph(one, directory / "g.shards", _PARTS).to_graph(), place)
    if isinstance(cut, str):
        if cut != visible(cut):
            return f"a message that a terminal would obey: {cut!r}"
        return None if isinstance(read, str) else f"{name}: read whole, but not into shards: {cut}"
    if isinstance(read, str):
        return f"{name}: read into shards, but not whole: {read}"
    same = cut.replace(name=None) == read.replace(name=None)  # shards are named after the file where it has no name
    return None if same else f"{name}: another graph in shards"


def _sorted(graph: Graph) -> Graph:
    order = np.lexsort((np.maximum(graph.i, graph.j), np.minimum(graph.i, graph.j)))
    i, j = np.minimum(graph.i, graph.j)[order], np.maximum(graph.i, graph.j)[order]
    extras = {name: getattr(graph, name) for name in ("coordinates", "labels", "vertex_names")}
    return Graph(graph.n, i, j, graph.w[order], name=graph.name, **extras)


def _answer(read: Callable[[Path], Graph], place: Path) -> Graph | str:
    try:
        return read(place)
    except CothermError as error:
        return str(error)
