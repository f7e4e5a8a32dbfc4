"""``python -m tests.fuzz.guided``: fuzzing that follows coverage, by atheris, of every reader and every verb.

Each target runs in a process of its own, in which the modules of the package count what they execute. Input that
reaches something new is kept and changed further, by libFuzzer and by the damage of ``tests.fuzz.mutations``, which
knows the formats. The same seed and the same number of runs give the same cases. A case that is at fault is written to
a file, and ``--case FILE --target NAME`` judges it again, without atheris.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fuzz.targets import Target

# A case takes no longer, on a machine busy with other things, and a process no more memory.
LONGEST = 20
MOST_MEMORY = 3_000  # MB
LARGEST = 1 << 16  # bytes of an input
# Kinds of faults.
FOREIGN, MISREAD, HANG, DIED = "foreign", "misread", "hang", "died"


@dataclass(frozen=True)
class Fault:
    """What is wrong, of which kind, and the input."""

    target: str
    kind: str
    what: str
    place: str = ""


@dataclass(frozen=True)
class Found:
    """How many cases of a target were judged, and what was wrong."""

    target: str
    cases: int
    faults: list[Fault]


def installed() -> bool:
    return importlib.util.find_spec("atheris") is not None


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("--target", action="append", help="only this one; may be given again")
    parser.add_argument("--runs", type=int, default=20_000, help="of a quick target; slow ones take fewer (20000)")
    parser.add_argument("--seconds", type=int, default=0, help="of a target at most, whatever its runs (0: no limit)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (0)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (one a processor)")
    parser.add_argument("--keep", type=Path, default=Path("out/guided"), help="where faults are written (out/guided)")
    parser.add_argument("--case", type=Path, help="judge this file again")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        sys.exit(_again(options.target[0], options.case))
    if options.inside is not None:
        inside(options.target[0], options.inside, options.runs, options.seconds, options.seed)
    if not installed():
        sys.exit("atheris is not installed: pip install atheris, or make fuzz-guided")
    results = run(options.target, options.runs, options.seconds, options.seed, options.workers, options.keep)
    for one in results:
        sys.stdout.write(f"{one.target}: {one.cases} cases, {len(one.faults)} faults\n")
        for fault in one.faults:
            sys.stdout.write(f"  {fault.kind} ({fault.place}): {fault.what.rstrip()}\n")
    sys.stdout.write(f"{sum(one.cases for one in results)} cases, {sum(len(one.faults) for one in results)} faults\n")
    sys.exit(1 if any(one.faults for one in results) else 0)


def run(
    names: Sequence[str] | None, runs: int, seconds: int, seed: int, workers: int, keep: Path | None = None
) -> list[Found]:
    """All targets of these names, several at once."""
    from tests.fuzz.targets import targets

    known = targets()
    ours = [name for name, target in known.items() if not target.theirs]
    chosen = sorted(names or ours, key=lambda name: -known[name].cost)
    counts = {name: max(runs // known[name].cost, 1) for name in chosen}

    def one(name: str) -> Found:
        return _one(name, counts[name], seconds, seed, keep)

    with ThreadPoolExecutor(workers) as team:
        return sorted(team.map(one, chosen), key=lambda found: found.target)


def _one(name: str, runs: int, seconds: int, seed: int, keep: Path | None) -> Found:
    with tempfile.TemporaryDirectory(prefix="cotherm-guided-") as directory:
        folder = Path(directory)
        command = [sys.executable, "-m", "tests.fuzz.guided", "--target", name, "--inside", str(folder)]
        command += ["--runs", str(runs), "--seconds", str(seconds), "--seed", str(seed)]
        # One thread: processes that share processors, and the same order every time.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
        done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace", env=environment)
        faults = _noted(name, folder)
        ended = re.search(r"stat::number_of_executed_units:\s+(\d+)", done.stderr)
        cases = int(ended[1]) if ended else 0
        if done.returncode:
            faults.append(_death(name, done, folder))
        if keep is not None and faults:
            faults = [_kept(fault, keep) for fault in faults]
        return Found(name, cases, faults)


def _noted(name: str, folder: Path) -> list[Fault]:
    notes = folder / "faults"
    lines = notes.read_text().splitlines() if notes.exists() else []
    return [Fault(name, **json.loads(line)) for line in lines]


def _death(name: str, done: subprocess.CompletedProcess[str], folder: Path) -> Fault:
    """Of the process: libFuzzer says which input it was."""
    kind = HANG if "timeout" in done.stderr or "out-of-memory" in done.stderr else DIED
    inputs = sorted(folder.glob("artifact-*"))
    said = f"exit code {done.returncode}: {done.stderr[-1_500:]}"
    return Fault(name, kind, said, str(inputs[0]) if inputs else "")


def _kept(fault: Fault, keep: Path) -> Fault:
    if not fault.place:
        return fault
    keep.mkdir(parents=True, exist_ok=True)
    place = keep / f"{fault.target.replace(' ', '-')}-{Path(fault.place).name}"
    shutil.copy(fault.place, place)
    return Fault(fault.target, fault.kind, fault.what, str(place))


def _again(name: str, case: Path) -> str | int:
    from tests.fuzz.targets import targets

    return judged(targets()[name], case.read_bytes()) or 0


def judged(target: Target, data: bytes) -> str | None:
    """What a judge says of this input, in a directory of its own; what is raised is for the caller."""
    with tempfile.TemporaryDirectory(prefix="cotherm-case-") as directory:
        return target.judge(data, Path(directory))


# ---------------------------------------------------------------------------------------- in the process of a target


def inside(name: str, folder: Path, runs: int, seconds: int, seed: int) -> None:
    """Fuzz one target; does not return."""
    import atheris

    warnings.simplefilter("error")
    with atheris.instrument_imports(include=["cotherm"], exclude=compiled()):
        from tests.fuzz.targets import targets

        target = targets()[name]
        corpus = folder / "corpus"
        corpus.mkdir()
        for k, data in enumerate(target.seeds()):
            (corpus / f"seed-{k}").write_bytes(data)
            with contextlib.suppress(Exception):  # loads and compiles what it needs; faults come again below
                judged(target, data)
    arguments = [f"-runs={runs}", f"-seed={seed + 1}", f"-timeout={LONGEST}", f"-rss_limit_mb={MOST_MEMORY}"]
    arguments += [f"-max_len={LARGEST}", "-print_final_stats=1", "-verbosity=0", "-reload=0", "-len_control=0"]
    arguments += [f"-artifact_prefix={folder}/artifact-", f"-max_total_time={seconds}", str(corpus)]
    test_one = _Noting(target, folder)
    atheris.Setup(["guided", *arguments], test_one, custom_mutator=_mutator(atheris, target))
    atheris.Fuzz()


def compiled() -> list[str]:
    """Modules that Numba compiles, which therefore cannot count what they execute."""
    spec = importlib.util.find_spec("cotherm")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    files = [place for place in root.rglob("*.py") if "engines" in place.parts or "@compiled" in place.read_text()]
    return sorted(".".join(("cotherm", *place.relative_to(root).with_suffix("").parts)) for place in files)


def _mutator(atheris: Any, target: Target) -> Any:
    """libFuzzer's own changes, or those that know the format, by turns."""

    def change(data: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        if target.name is None or random.random() < 0.4:
            return bytes(atheris.Mutate(data, most))
        return target.mutate(random, data)[:most]

    return change


class _Noting:
    """A judge that writes down faults, one of each kind, and goes on."""

    def __init__(self, target: Target, folder: Path) -> None:
        self._target, self._folder = target, folder
        self._known: set[str] = set()

    def __call__(self, data: bytes) -> None:
        try:
            said = judged(self._target, data)
            if said is not None:
                self._note(data, MISREAD, said, re.sub(r"[^a-z]+", " ", said.lower())[:60])
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__} {frame.filename}:{frame.lineno}"
            self._note(data, FOREIGN, traceback.format_exc(limit=-6), key)

    def _note(self, data: bytes, kind: str, what: str, key: str) -> None:
        if key in self._known:
            return
        self._known.add(key)
        place = self._folder / f"case-{len(self._known)}"
        place.write_bytes(data)
        line = json.dumps({"kind": kind, "what": what[:3_000], "place": str(place)})
        with (self._folder / "faults").open("a") as notes:
            notes.write(line + "\n")


if __name__ == "__main__":
    main()
