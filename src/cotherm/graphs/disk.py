"""Whole files in and out of the file system: complete or not at all, or a CothermError says why."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from cotherm import checks
from cotherm.errors import CothermError


def as_path(value: object) -> Path:
    """A path from a string or a path-like object; the door for every ``path`` argument."""
    if not isinstance(value, str | os.PathLike):
        raise CothermError("path", checks.describe(value), "a path: a string or a pathlib.Path")
    name = os.fspath(value)
    if not isinstance(name, str) or "\0" in name or not _encodable(name):
        raise CothermError("path", checks.describe(name), "text that can name a file")
    return Path(name)


def load(path: Path) -> bytes:
    """Everything in a file, which must hold something."""
    try:
        if path.exists() and not path.is_file():
            given = "a directory" if path.is_dir() else "not a plain file"
            raise CothermError(str(path), given, "a file to read")
        data = path.read_bytes()
    except FileNotFoundError:
        raise CothermError(str(path), "no such file", "an existing file") from None
    except OSError as error:
        raise CothermError(str(path), _reason(error), "a file that can be read") from None
    except MemoryError:
        raise CothermError(str(path), "more data than memory holds", "a smaller file") from None
    if not data:
        raise CothermError(str(path), "an empty file", "a file with content")
    return data


def save(path: Path, data: bytes, *, overwrite: bool) -> None:
    """Write a file in one step: another process sees the old content or the new, never a part.

    The bytes go to a temporary file beside the target, which then takes the target's name. A symbolic link is
    followed. On any error the temporary file is removed and the target is as it was.
    """
    try:
        target = Path(os.path.realpath(path))
        _refuse_occupied(path, target, overwrite=overwrite)
        _replace(target, data)
    except OSError as error:
        raise CothermError(str(path), _reason(error), "a place that can be written to") from None


def require_writable(directory: Path) -> None:
    """Refuse a directory in which no file can be made, by making one: rights alone do not tell."""
    probe = directory / f".cotherm-{secrets.token_hex(8)}.tmp"
    try:
        probe.touch(exist_ok=False)
    except OSError as error:
        raise CothermError(str(directory), _reason(error), "a place that can be written to") from None
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


def _encodable(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _refuse_occupied(path: Path, target: Path, *, overwrite: bool) -> None:
    if target.is_dir():
        raise CothermError(str(path), "a directory", "the name of a file to write")
    if not target.parent.is_dir():
        raise CothermError(str(path), f"no directory {target.parent}", "an existing directory", "Create it first.")
    if target.exists() and not target.is_file():
        raise CothermError(str(path), "not a plain file", "the name of a file to write")
    if target.exists() and not overwrite:
        raise CothermError(str(path), "the file exists", "a new name", "Pass overwrite=True to replace the file.")


def _replace(target: Path, data: bytes) -> None:
    # Not tempfile: its files are private to the user, and the written file keeps their permissions. The short
    # name fits wherever the target's own does.
    temporary = target.parent / f".cotherm-{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(data)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:  # an interrupt from the keyboard, too, must leave nothing behind
        temporary.unlink(missing_ok=True)
        raise


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
