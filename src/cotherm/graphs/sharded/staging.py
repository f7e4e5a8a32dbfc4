"""A directory that several processes write: it gets its name in one step, when all of them have succeeded.

Files go to a hidden directory beside the target. When every rank has written, and the disk has what was written, rank
0 renames it. Where anything fails before, the target is as it was, and what was written is removed.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.graphs.sharded.store import FILE
from cotherm.io import atomic
from cotherm.ranks import Ranks, together

OVERWRITE = "Pass overwrite=True to replace it."
# The file beside coupled graphs.
COUPLED = "coupling.json"
# A directory that holds one of these is ours, and may be replaced.
_MARKS = (FILE, COUPLED)
# A folder within a new directory for what is needed until it is finished.
SCRATCH = "scratch"
_AT_FDCWD, _EXCHANGE = -100, 2


@contextmanager
def staged(ranks: Ranks, path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """A directory to write into, which becomes ``path`` when all ranks leave the block without an error.

    All ranks call this together. An existing ``path`` is replaced only if it holds nothing but a directory of ours.
    The folder SCRATCH within it is for files that are needed until then.
    """
    with together(ranks):
        target = require_free_directory(path, overwrite=overwrite)
    folder = target.parent / f".cotherm-{ranks.share(secrets.token_hex(8))}.tmp"
    with together(ranks), atomic.writing(target):
        if ranks.rank == 0:
            (folder / SCRATCH).mkdir(parents=True)
    try:
        yield folder
        with together(ranks):
            pass  # all ranks have written
        with together(ranks):
            if ranks.rank == 0:
                with atomic.writing(target):
                    shutil.rmtree(folder / SCRATCH)
                    _take_name(folder, target, overwrite=overwrite)
    except BaseException:
        # A rank that fails alone ends all ranks, so that each must be able to clean up.
        shutil.rmtree(folder, ignore_errors=True)
        raise


def require_free_directory(path: str | os.PathLike[str], *, overwrite: bool, advice: str = OVERWRITE) -> Path:
    """The path where a directory of this name would be; refuses paths that cannot be its target."""
    place = atomic.as_path(path)
    overwrite = validation.boolean("overwrite", overwrite)
    target = atomic.real_path(place)
    if not target.parent.is_dir():
        raise CothermError(str(place), f"no directory {target.parent}", "an existing directory", "Create it first.")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise CothermError(str(place), "a file", "the name of a directory to write")
    if target.is_dir():
        if not overwrite:
            raise CothermError(str(place), "the directory exists", "a new name", advice)
        if any(target.iterdir()) and not any((target / mark).is_file() for mark in _MARKS):
            given = f"a directory that holds neither {' nor '.join(_MARKS)}"
            raise CothermError(str(place), given, "one that cotherm wrote, to replace it", "Choose another name.")
    return target


def _take_name(folder: Path, target: Path, *, overwrite: bool) -> None:
    """Rename a finished directory; one that it replaces is removed afterwards."""
    for place in (*(one for one in folder.rglob("*") if one.is_dir()), folder):
        atomic.synchronize_directory(place)
    try:
        folder.rename(target)  # only one of several processes succeeds: a directory that holds files is never replaced
    except OSError:
        if not target.is_dir():
            raise
        if not overwrite:
            raise CothermError(str(target), "the directory exists", "a new name", OVERWRITE) from None
        _exchange(folder, target)
        shutil.rmtree(folder, ignore_errors=True)  # now holds the old directory
    atomic.synchronize_directory(target.parent)


def _exchange(folder: Path, target: Path) -> None:
    """Swap two directories: in one step on Linux, elsewhere in two, the second of which is undone where it fails."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # a C library without it
            first, second = os.fsencode(folder), os.fsencode(target)
            if ctypes.CDLL(None).renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _EXCHANGE) == 0:
                return
    aside = target.with_name(f"{folder.name}.old")
    target.rename(aside)
    try:
        folder.rename(target)
    except BaseException:
        aside.rename(target)
        raise
    aside.rename(folder)
