"""Settings of other libraries in the environment: they change nothing of ours, and end nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct

_COUPLED = """
import sys
import cotherm as ct

views = ct.datasets.ring()
result = ct.couple_pairs(views.graphs, "same", options={"max_iterations": 3})
heat = ct.heat_flow(views.graphs[0], views.functions[0], 1.0, method="chebyshev")  # instructions Python lacks
result.save(sys.argv[1])
print(heat.tobytes().hex())
"""
_SEARCHED = """
import numpy, cotherm
cotherm.nearest_neighbors(numpy.random.default_rng(0).random((100, 20)), 3, search="approximate")
"""
_DRAWN = """
import sys
import cotherm as ct

views = ct.datasets.ring()
result = ct.couple(views.graphs, views.functions, options={"max_iterations": 2})
result.plot().savefig(sys.argv[1])
"""


def run(*arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own; warnings of NumPy and SciPy are errors."""
    command = [sys.executable, "-W", "error::RuntimeWarning", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **settings})


def test_numba_that_is_switched_off(tmp_path: Path) -> None:
    """Kernels have instructions that Python lacks, so they are compiled even so: from an empty cache, the same bits."""
    found = []
    for name, settings in (("on", {}), ("off", {"NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(tmp_path)})):
        done = run("-c", _COUPLED, tmp_path / f"{name}.npz", **settings)
        assert (done.returncode, done.stderr) == (0, "")
        found.append((done.stdout, ct.Coupling.load(tmp_path / f"{name}.npz")))
    (heat, one), (same_heat, other) = found
    assert heat == same_heat
    for graph, same in zip(one.graphs, other.graphs, strict=True):
        np.testing.assert_array_equal(graph.w, same.w)


def test_pynndescent_without_numba_is_refused_in_one_line() -> None:
    pytest.importorskip("pynndescent")
    done = run("-c", _SEARCHED, NUMBA_DISABLE_JIT="1")
    assert done.stderr.splitlines()[-1].startswith("cotherm.errors.CothermError: search: ")
    assert done.stderr.splitlines()[-1].endswith("Unset NUMBA_DISABLE_JIT: pynndescent must be compiled.")


@pytest.mark.parametrize("backend", ["nonsense", "module://nowhere.at.all"])
def test_pictures_need_no_backend(backend: str, tmp_path: Path) -> None:
    done = run("-c", _DRAWN, tmp_path / "ring.png", MPLBACKEND=backend)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "ring.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["cotherm demo", "paper ring"])
def test_commands_that_draw_need_no_backend(command: str, tmp_path: Path) -> None:
    done = run("-m", *command.split(), "--out", tmp_path, MPLBACKEND="nonsense")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.glob("*.png"))


def test_the_setting_is_left_as_it_is() -> None:
    code = "import os, cotherm; cotherm.draw.draw_graph; import matplotlib; print(os.environ['MPLBACKEND'], {})"
    known = code.format("matplotlib.get_backend()")
    assert run("-c", code.format(""), MPLBACKEND="nonsense").stdout == "nonsense\n"
    assert run("-c", known, MPLBACKEND="svg").stdout == "svg svg\n"
