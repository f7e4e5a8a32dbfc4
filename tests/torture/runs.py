"""Couplings that children run, to be ended at any moment: each leaves a digest of its result in a file."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np

import cotherm as ct
from cotherm.io import atomic
from cotherm.methods import checkpoint
from cotherm.methods.coupling import couple as _  # noqa: F401, loaded before children are made
from cotherm.methods.pairs import couple_pairs as _pairs  # noqa: F401

# A child that has not ended after so many seconds hangs.
LONGEST = 300.0


def digest(result: ct.Coupling) -> str:
    """Of everything that the search found, to the last bit."""
    told = hashlib.sha256(json.dumps([result.status, result.cost.hex(), len(result.history)]).encode())
    for graph in result.graphs:
        told.update(graph.w.tobytes())
    return told.hexdigest()


def small(place: Path | None) -> ct.Coupling:
    views = ct.datasets.ring()
    return ct.couple(views.graphs, views.functions, checkpoint=place)


def many_functions(place: Path | None) -> ct.Coupling:
    random = np.random.default_rng(0)
    graphs = [ct.knn_graph(np.random.default_rng(s).random((60, 3)), 8, scale="median") for s in (0, 1)]
    functions = [ct.landmark_functions(g, random.choice(g.n, 13, replace=False)) for g in graphs]
    return ct.couple(graphs, functions, times=[1.0, 3.0], options={"continuation": "times"}, checkpoint=place)


def by_pairs(place: Path | None) -> ct.Coupling:
    return ct.couple_pairs(ct.datasets.ambiguous().graphs, checkpoint=place)


def large(place: Path | None) -> ct.Coupling:
    """10⁵ vertices in each graph; the functions are few, as they are there by default."""
    views = ct.datasets.shortcuts(100_000)
    return ct.couple(views.graphs, views.functions, options={"max_iterations": 12}, checkpoint=place)


# Each with the seconds between two checkpoints at least: for small ones after every step.
RUNS: dict[str, tuple[Callable[[Path | None], ct.Coupling], float]] = {
    "small": (small, 0.0),
    "many functions": (many_functions, 0.0),
    "by pairs": (by_pairs, 0.0),
    "10⁵ vertices": (large, 0.5),
}


def child(name: str, place: str | None, out: str) -> None:
    """Run, and write the digest; a file says when the coupling began, once everything it needs had been loaded."""
    run, checkpoint.EVERY = RUNS[name]
    checkpoint._RATIO = 0.0 if checkpoint.EVERY == 0.0 else 10.0
    views = ct.datasets.ring(20)
    ct.couple(views.graphs, views.functions, options={"max_iterations": 3})
    begun(Path(out)).touch()
    result = run(None if place is None else Path(place))
    atomic.save(Path(out), digest(result).encode(), overwrite=True)


def begun(out: Path) -> Path:
    """The file that is there while a run writes to this one."""
    return out.with_suffix(".begun")


def started(*arguments: Any, target: Callable[..., None] = child) -> BaseProcess:
    """A child, made from a process that has loaded the package and nothing else."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.torture.runs"])
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


def ended(process: BaseProcess, seconds: float) -> bool:
    """Whether it has ended by then."""
    process.join(seconds)
    return process.exitcode is not None


def kill(process: BaseProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def expected(name: str, folder: Path) -> tuple[str, float]:
    """The digest of a run that nothing ends, and how long its coupling took."""
    out = folder / "expected"
    process = started(name, None, str(out))
    if not ended(process, LONGEST):
        kill(process)
        raise TimeoutError(name)
    return out.read_text(), out.stat().st_mtime - begun(out).stat().st_mtime


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether it came true by then."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True
