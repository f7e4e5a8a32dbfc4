"""Programs of several ranks, started for real by mpiexec; tests are skipped where MPI is not installed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Open MPI refuses root, and more ranks than cores, unless told; it need not bind ranks to cores for tests.
_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


# Seconds that a launcher has to end its ranks.
_GRACE = 15.0


def mpiexec() -> str | None:
    """The launcher: that of the environment of this Python, which fits its mpi4py, or the system's."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


needs_mpi = pytest.mark.skipif(
    mpiexec() is None or importlib.util.find_spec("mpi4py") is None,
    reason="several ranks: needs mpiexec and mpi4py (pip install 'cotherm[mpi]', and an MPI such as Open MPI)",
)


def run_ranks(size: int, *arguments: str | Path, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Start ``python ARGUMENTS`` on so many ranks, and wait."""
    launcher = mpiexec()
    assert launcher is not None
    environment = {**os.environ, **_ENVIRONMENT}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT), environment.get("PYTHONPATH", "")])
    command = [launcher, "-n", str(size), sys.executable, *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    ) as process:
        try:
            out, error = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def _end(process: subprocess.Popen[str]) -> None:
    """Ask the launcher to end its ranks: one that is killed leaves them behind."""
    process.terminate()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
