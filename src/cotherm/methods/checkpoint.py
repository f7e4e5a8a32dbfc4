"""Checkpoints of long runs: a file holds the state, from which the same call goes on to the same result.

A run is a sequence of descents. The file holds the answers of those that have ended, the state of the one under way
after some step, and the result once there is one. A call that finds it makes its preparations again, takes the answers
from it, and goes on within the descent. What the run was given is in it by argument; anything else is refused.

The file is replaced as a whole, every few seconds at most, and so seldom that writing takes at most a hundredth of the
run. Copies of states in memory take no more than that either.

Of several ranks each writes its part. The parts of two generations alternate, and the file of rank 0, which names the
generation, is written when all parts are there: whenever the ranks end, one generation is whole.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from cotherm.engines import Engine
from cotherm.errors import CothermError, known_as
from cotherm.graphs.graph import Graph
from cotherm.io import atomic, state_file
from cotherm.io.state_file import State
from cotherm.methods.validation import versions
from cotherm.ranks import ONE, Ranks, together

log = logging.getLogger("cotherm")

VERSION = 1
# Statuses after which the same call resumes from a checkpoint.
UNFINISHED = ("interrupted", "time limit")
# The least time between two files: in seconds, and in multiples of the time it takes to write one.
EVERY = 5.0
_RATIO = 100.0
# Bytes a second, as slow disks write them.
_SPEED = 2e8
# Seconds until writing is tried again after it failed.
_AGAIN = 60.0
# A state of at most this many bytes is also copied between two files, in case the run is asked to end: after every
# step, unless copying would take a larger share of the time than writing files may.
_CHEAP = 2**25
_ADVICE = "Delete the file to start again, or give another name."
_HASHED = "sha256:"


def fingerprint_of_graphs(graphs: Sequence[Graph]) -> dict[str, str]:
    """Edges and weights of every graph."""
    found = {}
    for k, graph in enumerate(graphs):
        ends = hashed(np.asarray(graph.i), np.asarray(graph.j))
        found[f"edges of graphs[{k}]"] = f"{graph.n} vertices, {graph.m} edges, {ends}"
        found[f"weights of graphs[{k}]"] = hashed(graph.w)
    return found


def checked_place(checkpoint: object) -> Path:
    """The path of a checkpoint; refuses paths that cannot be one."""
    with known_as("path", "checkpoint"):
        return atomic.as_path(checkpoint)


def hashed(*arrays: Any) -> str:
    """A digest of arrays and their shapes."""
    digest = hashlib.sha256()
    for array in arrays:
        whole = np.ascontiguousarray(array)
        digest.update(f"{whole.dtype.str}{whole.shape}".encode())
        digest.update(whole.reshape(-1).view(np.uint8).data if whole.size else b"")
    return _HASHED + digest.hexdigest()


class Checkpoint:
    """The file of one run."""

    def __init__(self, path: Path, given: Mapping[str, str], engine: Engine, world: Ranks = ONE) -> None:
        """``given`` says what the run was given, argument by argument."""
        self._path, self._engine, self._world = path, engine, world
        self._given = {**given, **{f"version of {name}": one for name, one in versions().items() if name != "python"}}
        self._given["processes"] = str(world.size)
        self._answers: list[State] = []
        self._next = 0
        self._begun: State | None = None
        self.result: State | None = None
        # What would be written now, if anything is new, and what became of the file.
        self._latest: State | None = None
        self._generation, self._run = 0, engine.ranks.most(float(time.time_ns() % 2**53))
        self._started = self._last = time.perf_counter()
        self._copying, self._took, self._failed = 0.0, 0.0, False
        self._load()

    # Taking up

    def answer(self, name: str) -> State | None:
        """The answer of the next descent, if it ended before; otherwise see :meth:`begun`."""
        if self.is_caught_up:
            return None
        self._next += 1
        return self._named(name, self._answers[self._next - 1])

    @property
    def is_caught_up(self) -> bool:
        """Whether all answers have been given."""
        return self._next == len(self._answers)

    def begun(self, name: str) -> State | None:
        """The state of the next descent, if it was under way; returned once."""
        begun, self._begun = self._begun, None
        return None if begun is None else self._named(name, begun)

    def _named(self, name: str, state: State) -> State:
        """Require descents in the same order as before: otherwise one would resume from the state of another."""
        if state["name"] != name:
            given = f"the state of {state['name']!r}, where {name!r} comes next"
            raise CothermError(str(self._path), given, "a run that decides as the one did that wrote it", _ADVICE)
        return {key: value for key, value in state.items() if key != "name"}

    def _load(self) -> None:
        with together(self._world):
            target = atomic.require_free(self._path, overwrite=True)
            state = self._read(self._path) if target.exists() else None
            atomic.require_writable(target.parent)
            if state is not None:
                self._require_same(state)
                if self._world.rank:
                    state = self._read_part(state)
        self.common: State = {}  # what was stored beside the descents
        if state is None:
            return
        self._generation, self._run = state["generation"], state["run"]
        self._answers, self._begun, self.result = state["answers"], state["begun"], state["result"]
        self.common = state["common"]
        steps = len(self.common.get("history", ()))
        log.info("checkpoint %s: going on after %d descents and %d steps", self._path, len(self._answers), steps)

    def _read(self, path: Path) -> State:
        data = atomic.load(path)
        if not state_file.is_state(data):
            raise CothermError(str(path), "a file that is not a checkpoint", "a new name, or a checkpoint of this run")
        try:
            state = state_file.parse(data)
        except CothermError as error:
            raise CothermError(str(path), f"a checkpoint with {error.given}", error.needed, _ADVICE) from None
        if state.get("version") != VERSION:
            given = f"a checkpoint of version {state.get('version')}"
            raise CothermError(str(path), given, f"one of version {VERSION}", _ADVICE)
        return state

    def _require_same(self, state: State) -> None:
        before, now = state["given"], self._given
        different = [_difference(name, before.get(name), now.get(name)) for name in {**before, **now}]
        found = [one for one in different if one]
        if found:
            raise CothermError(
                "checkpoint",
                f"{self._path} is of another run: {'; '.join(found)}",
                "what the run that wrote it was given",
                _ADVICE,
            )

    def _read_part(self, state: State) -> State:
        place = _part(self._path, self._world.rank, state["generation"])
        part = self._read(place)
        if (part["run"], part["generation"]) != (state["run"], state["generation"]):
            raise CothermError(
                str(place), f"not the part of {self._path}", "the part that was written with it", _ADVICE
            )
        return part

    # Keeping

    def step(
        self, name: str, state: Callable[[], State | None], common: Callable[[], State], copied: float = 0.0
    ) -> None:
        """After a step: ``state`` copies the descent, ``common`` all else; ``copied`` is the size in bytes."""
        due = bool(self._engine.ranks.most(self._is_due()))
        if due or (copied <= _CHEAP and not self._engine.is_distributed and self._may_copy()):
            began = time.perf_counter()
            inside = state()
            if inside is None:  # it can only start again
                return
            self._latest = self._whole({**inside, "name": name}, common())
            self._copying += time.perf_counter() - began
            if due and self._is_worth_it():
                self._write()

    def ended(self, name: str, answer: State, common: State) -> None:
        """Record that a descent ended with this answer."""
        self._answers.append({**answer, "name": name})
        self._next += 1
        self._begun = None
        self._latest = self._whole(None, common)

    def finished(self, result: State, common: State) -> None:
        """Record that the run has ended: the same call will find its result."""
        self.result, self._answers = result, []
        self._latest = self._whole(None, common)
        self._write()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Write the latest state whatever ends the run; not with several ranks, which end at different places."""
        try:
            yield
        except BaseException:
            self.flush()
            raise

    def flush(self, *, agreed: bool = False) -> None:
        """Write the new state; with several ranks, only if they agreed to."""
        if self._latest is not None and (agreed or not self._engine.is_distributed):
            self._write()

    def _is_worth_it(self) -> bool:
        """Whether a file is worth its time, which is estimated from its size before the first one is written."""
        if not self._took:
            self._took = float(self._engine.ranks.most(_size(self._latest) / _SPEED))
        return bool(self._engine.ranks.most(self._is_due()))

    def _may_copy(self) -> bool:
        return _RATIO * self._copying <= time.perf_counter() - self._started

    def _is_due(self) -> bool:
        wait = _AGAIN if self._failed else max(EVERY, _RATIO * self._took)
        return time.perf_counter() - self._last >= wait

    def _whole(self, inside: State | None, common: State) -> State:
        return {
            "version": VERSION,
            "run": self._run,
            "given": self._given,
            "answers": list(self._answers),
            "begun": inside,
            "result": self.result,
            "common": common,
        }

    def _write(self) -> None:
        """Write the file. Failure does not end the run: the previous file is still there."""
        assert self._latest is not None
        began, generation = time.perf_counter(), self._generation + 1
        state = {**self._latest, "generation": generation}
        wrong = None
        try:
            if self._world.rank:
                place = _part(self._path, self._world.rank, generation)
                atomic.save(place, state_file.pieces(state), overwrite=True)
        except CothermError as error:
            wrong = error
        # All parts are there before the file that names them.
        if not self._engine.ranks.most(wrong is not None) and not self._world.rank:
            try:
                atomic.save(self._path, state_file.pieces(state), overwrite=True)
            except CothermError as error:
                wrong = error
        self._failed = bool(self._engine.ranks.most(wrong is not None))
        if wrong is not None:
            log.warning("checkpoint: %s The run goes on; the checkpoint before it is kept.", wrong)
        if not self._failed:
            self._latest, self._generation = None, generation
        self._last = time.perf_counter()
        self._took = float(self._engine.ranks.most(self._last - began))


def remove(path: Path, world: Ranks = ONE) -> None:
    """Delete a checkpoint that is no longer needed, if the system allows; each rank deletes its part."""
    places = [path] if not world.rank else [_part(path, world.rank, generation) for generation in (0, 1)]
    for place in places:
        with suppress(OSError):
            place.unlink(missing_ok=True)


def _part(path: Path, rank: int, generation: int) -> Path:
    """The file of a rank other than 0; generations alternate."""
    return path.with_name(f"{path.name}.{rank}-{generation % 2}")


def _size(value: Any) -> int:
    """Bytes of all arrays."""
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0


def _difference(name: str, before: str | None, now: str | None) -> str:
    """Say in words what differs; empty if nothing does."""
    if before == now:
        return ""
    if before is None or now is None:
        return f"{name} {'not given' if before is None else before} there, {'not given' if now is None else now} here"
    if before.startswith(_HASHED) or now.startswith(_HASHED):
        return f"other {name}"
    there, here = (text.split(f", {_HASHED}")[0] for text in (before, now))
    return f"other {name}" if there == here else f"{name}: {there} there, {here} here"
