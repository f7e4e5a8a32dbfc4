"""The package as it was at an earlier commit, taken from the repository's history, to be measured beside this one."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from benchmarks.child import environment


@contextmanager
def earlier(commit: str) -> Iterator[Path | None]:
    """Where the package is to be imported from; None where the history is not at hand."""
    root = Path(__file__).parents[1]
    command = ["git", "-C", str(root), "archive", commit, "src"]
    try:
        archive = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder, "src")


def measured(call: str, package: Path | None = None) -> dict[str, Any]:
    """What a call such as ``many.measure(...)``, of a module of benchmarks, prints as JSON in a process of its own."""
    variables = environment()
    if package is not None:
        variables["PYTHONPATH"] = os.pathsep.join([str(package), variables["PYTHONPATH"]])
    code = f"from benchmarks import {call.partition('.')[0]}; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=variables)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def rarely_given(couple: Callable[..., Any], **options: Any) -> dict[str, Any]:
    """Options that few need, as this version of ``couple`` takes them: together, or, formerly, each by its name."""
    return {"options": options} if "options" in inspect.signature(couple).parameters else options
