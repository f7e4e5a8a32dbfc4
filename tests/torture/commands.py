"""Command lines in processes of their own, with a limit of time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import cotherm as ct
from cotherm.graphs.files import write_graph

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 300.0


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def begin(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """``cotherm ARGUMENTS`` in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "cotherm", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def begin_program(folder: Path, program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], seconds: float = LONGEST) -> tuple[int, str, str] | None:
    """Exit code, output and errors; None, and the process is gone, where it hangs."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    return process.returncode, out, err


def write_problem(folder: Path, n: int = 1_500) -> list[str]:
    """Views and functions of a coupling that takes some seconds, and the command for it, without where it goes."""
    views = ct.datasets.shortcuts(n)
    for k, (graph, F) in enumerate(zip(views.graphs, views.functions, strict=True)):
        write_graph(graph, folder / f"{k}.npz")
        np.save(folder / f"f{k}.npy", F)
    return ["couple", "0.npz", "1.npz", "--functions", "f0.npy", "f1.npy", "--max-iterations", "40"]


def weights(place: Path) -> list[bytes]:
    """Of the graphs of a coupling in a file."""
    return [graph.w.tobytes() for graph in ct.Coupling.load(place).graphs]
