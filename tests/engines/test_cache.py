"""Compiled kernels kept in files: what is damaged or cannot be written never stops or spoils a computation."""

from __future__ import annotations

import errno
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from cotherm.engines.cpu import cache

_SOURCE = """
from cotherm.engines.cpu.jit import compiled

@compiled
def doubled(x):
    return 2.0 * x.sum()

@compiled
def tripled(x):
    return 3.0 * x.sum()
"""
_numbers = count()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "kernels.py").write_text(_SOURCE)
    return tmp_path


def called(folder: Path, name: str = "doubled") -> tuple[float, int]:
    """The answer of a kernel as a new process would come to it, and how many of its forms were found in files."""
    spec = importlib.util.spec_from_file_location(f"kernels_{next(_numbers)}", folder / "kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel: Any = getattr(module, name)
    return kernel(np.arange(5.0)), sum(kernel.stats.cache_hits.values())


def files(folder: Path, pattern: str) -> list[Path]:
    return sorted((folder / "kept").rglob(pattern))


def halved(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def scribbled(file: Path) -> None:
    file.write_bytes(bytes(range(256)) * 40)


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def lengthened(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0")


def removed(file: Path) -> None:
    file.unlink()


def of_numba_alone(file: Path) -> None:
    """Without the digest, as Numba itself would write it."""
    file.write_bytes(file.read_bytes()[32:])


def test_kept_and_found(folder: Path) -> None:
    assert called(folder) == (20.0, 0)
    assert called(folder) == (20.0, 1)
    assert called(folder, "tripled") == (30.0, 0)
    assert called(folder, "tripled") == (30.0, 1)


DAMAGES = [halved, emptied, scribbled, flipped, lengthened, removed, of_numba_alone]


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_files_are_made_anew(folder: Path, pattern: str, damage: Callable[[Path], None]) -> None:
    called(folder)
    (file,) = files(folder, pattern)
    damage(file)
    assert called(folder) == (20.0, 0)
    assert called(folder) == (20.0, 1)


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_files_that_can_be_neither_read_nor_replaced(folder: Path, pattern: str) -> None:
    called(folder)
    (file,) = files(folder, pattern)
    file.unlink()
    file.mkdir()
    for _ in range(2):
        assert called(folder) == (20.0, 0)


def test_code_of_another_kernel_is_not_run(folder: Path) -> None:
    called(folder)
    called(folder, "tripled")
    (mine,), (other,) = files(folder, "*doubled*.nbc"), files(folder, "*tripled*.nbc")
    shutil.copy(other, mine)
    assert called(folder) == (20.0, 0)


def test_what_is_kept_but_does_not_load(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called(folder)

    def fail(*_: object) -> None:
        raise KeyError("on purpose")

    monkeypatch.setattr(cache.KernelCache._impl_class, "rebuild", fail)
    assert called(folder) == (20.0, 0)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_what_cannot_be_written_is_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, "on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(cache._DigestedFiles, "_open_for_write", fail)
        for _ in range(2):
            assert called(folder) == (20.0, 0)
    called(folder)
    assert called(folder) == (20.0, 1)


# Files of more than 400 bytes fail, after some of them has been written.
_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
sys.path.insert(0, sys.argv[1])
import numba, numpy
numba.config.CACHE_DIR = sys.argv[1] + "/kept"
import kernels
print(kernels.doubled(numpy.arange(5.0)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits")
def test_a_file_that_grows_too_large(folder: Path) -> None:
    command = [sys.executable, "-B", "-c", _LIMITED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("20.0\n", 0), done.stderr
    assert not files(folder, "*.tmp*")
    called(folder)
    assert called(folder) == (20.0, 1)
