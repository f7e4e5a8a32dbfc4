"""Files in and out of the file system: complete or not at all, unpacked within limits, or a CothermError says why."""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cotherm import limits, memory, validation
from cotherm.errors import CothermError

# Bytes of a path and of a name in it, as on Linux and nearly everywhere.
_LONGEST_PATH, _LONGEST_NAME = 4_095, 255
# Characters of what a library says about a file, and bytes that are unpacked at a time.
_LONGEST_REASON, _PIECE = 120, 2**20
_ADVICE = "Pass overwrite=True to replace the file."
# Errors of file systems without hard links, and of those without fsync.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)
_NO_FSYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def as_path(value: object) -> Path:
    """A path from a string or a path-like object."""
    if not isinstance(value, str | os.PathLike):
        raise CothermError("path", validation.describe(value), "a path: a string or a pathlib.Path")
    name = os.fspath(value)
    try:
        whole, *parts = [len(os.fsencode(one)) for one in (name, *Path(name).parts)]
    except (UnicodeEncodeError, TypeError):
        name = "\0"
    if not isinstance(name, str) or "\0" in name:
        raise CothermError("path", validation.describe(os.fspath(value)), "text that can name a file")
    # Asking whether it exists would raise.
    if whole > _LONGEST_PATH or max(parts, default=0) > _LONGEST_NAME:
        needed = f"at most {_LONGEST_PATH:,} bytes, with names of at most {_LONGEST_NAME} between slashes"
        raise CothermError("path", f"a file name too long, {validation.describe(name)}", needed)
    return Path(name)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """A file to read bytes from; errors of the system name it."""
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise CothermError(str(path), "no such file", "an existing file") from None
    except OSError as error:
        raise CothermError(str(path), _reason(error), "a file that can be read") from None
    except MemoryError:
        raise CothermError(str(path), "more data than memory holds", "a smaller file") from None


def load(path: Path, *, most: int = -1) -> bytes:
    """The content of a file, which must not be empty; with ``most``, at most its first ``most`` bytes."""
    with suppress(OSError):  # said below
        if path.exists() and not path.is_file():
            given = "a directory" if path.is_dir() else "not a plain file"
            raise CothermError(str(path), given, "a file to read")
    with opened(path) as file:
        if most < 0:
            _require_memory(path)
        data: bytes = file.read(most)
    if not data:
        raise CothermError(str(path), "an empty file", "a file with content")
    return data


def require_content(path: Path) -> None:
    """Refuse what ``load`` would refuse: for files that another library opens."""
    load(path, most=1)
    _require_memory(path)


def save(path: Path, data: bytes | Sequence[Any], *, overwrite: bool, advice: str = _ADVICE) -> None:
    """Write a file in one step: another process sees the old content or the new, never a part.

    ``data`` are bytes, or buffers one after the other. They go to a temporary file beside the target, which then takes
    the target's name. Without ``overwrite`` it takes the name only if it is free at that moment: of several processes
    one succeeds. A symbolic link is followed. The file is on the disk when this returns. On any error the temporary
    file is removed and the target is as it was.
    """
    try:
        target = require_free(path, overwrite=overwrite, advice=advice)
        _put(target, data, overwrite=overwrite)
    except FileExistsError:
        raise _occupied(path, advice) from None
    except OSError as error:
        raise _unwritable(path, error) from None


def require_free(path: Path, *, overwrite: bool, advice: str = _ADVICE) -> Path:
    """The path where a file of this name would be, links followed; refuses paths that cannot be written.

    ``advice`` is what to do about a file that exists.
    """
    overwrite = validation.boolean("overwrite", overwrite)
    try:
        target = real_path(path)
        if target.is_symlink():  # an unresolved link remains
            raise CothermError(str(path), "a symbolic link that leads back to itself", "the name of a file to write")
        if target.is_dir():
            raise CothermError(str(path), "a directory", "the name of a file to write")
        if not target.parent.is_dir():
            raise CothermError(str(path), f"no directory {target.parent}", "an existing directory", "Create it first.")
        if target.exists() and not target.is_file():
            raise CothermError(str(path), "not a plain file", "the name of a file to write")
        if target.exists() and not overwrite:
            raise _occupied(path, advice)
    except OSError as error:
        raise _unwritable(path, error) from None
    return target


def real_path(path: Path) -> Path:
    """The path with links followed as far as possible; unlike ``Path.resolve``, this never raises."""
    return Path(os.path.realpath(path))


def same_place(first: str | Path, second: str | Path) -> bool:
    """Whether two paths are one file, or will be: links are followed."""
    with suppress(OSError, ValueError):  # one of them does not exist yet, or cannot name a file
        return Path(first).samefile(second)
    with suppress(ValueError):
        return real_path(Path(first)) == real_path(Path(second))
    return False


def require_writable(directory: Path) -> None:
    """Refuse a directory in which a file cannot be made, by trying: permissions alone do not tell."""
    probe = _temporary(directory)
    try:
        probe.touch(exist_ok=False)
    except OSError as error:
        raise _unwritable(directory, error) from None
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


def require_room(directory: Path, size: int) -> None:
    """Refuse a directory on a file system without space for a file of ``size`` bytes."""
    try:
        free = shutil.disk_usage(directory).free
    except OSError:  # some file systems do not tell
        return
    if free < size:
        given, needed = f"{memory.words(free)} of free space", f"{memory.words(size)} for the result"
        raise CothermError(str(directory), given, needed)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's errors on writing, such as a full disk, into errors that name the path."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from None


def _require_memory(path: Path) -> None:
    """Refuse a file that memory cannot hold: the system may end the process instead of saying so."""
    size, free = path.stat().st_size, memory.available()
    if free is not None and size > free:
        given = f"{memory.words(size)}, more data than memory holds"
        raise CothermError(str(path), given, f"a smaller file, at most {memory.words(free)}")


def _put(target: Path, data: bytes | Sequence[Any], *, overwrite: bool) -> None:
    temporary = _temporary(target.parent)
    try:
        with temporary.open("xb") as file:
            pieces: Sequence[Any] = [data] if isinstance(data, bytes) else data
            for piece in pieces:
                file.write(piece)
            file.flush()
            synchronize(file.fileno())
        if overwrite:
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        else:
            _take_name(temporary, target)
        synchronize_directory(target.parent)
    finally:  # an interrupt from the keyboard, too, must leave nothing behind
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _temporary(directory: Path) -> Path:
    # Not tempfile: its files are private to the user, and the written file keeps their permissions. The short
    # name fits wherever the target's own does.
    return directory / f".cotherm-{secrets.token_hex(8)}.tmp"


def _take_name(temporary: Path, target: Path) -> None:
    """Give a file a second name, which must be free: the system lets only one of several processes succeed."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Where files have one name only: whoever makes the file may then replace it. Others may see it empty.
        target.open("xb").close()
        try:
            temporary.replace(target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise


def synchronize(descriptor: int) -> None:
    """Wait until the data are on the disk, so that a power failure leaves no name without content."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FSYNC:
            raise


def synchronize_directory(directory: Path) -> None:
    """The same for a new name, which its directory holds; some systems do not open directories."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        synchronize(descriptor)
    finally:
        os.close(descriptor)


def _occupied(path: Path, advice: str) -> CothermError:
    return CothermError(str(path), "the file exists", "a new name", advice)


def _unwritable(path: Path, error: OSError) -> CothermError:
    return CothermError(str(path), _reason(error), "a place that can be written to")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()


@contextmanager
def readable(path: Path, needed: str, library: str = "", advice: str = "The file may be damaged.") -> Iterator[None]:
    """Turn whatever a library raises about a damaged file into an error that the file is not what is needed."""
    try:
        yield
    except (CothermError, MemoryError):
        raise
    except Exception as error:
        reason = _short_reason(error)
        given = f"unreadable for {library} ({reason})" if library else f"unreadable ({reason})"
        raise CothermError(str(path), given, needed, advice) from None


def unpack(path: Path, *, most: int = -1) -> bytes:
    """The content of a ``.gz`` file, which must fit into memory; with ``most``, at most its first ``most`` bytes."""
    require_content(path)
    text, packed = io.BytesIO(), path.stat().st_size
    with opened(path) as file, gzip.GzipFile(fileobj=file) as source:
        try:
            while (piece := source.read(_PIECE)) and not 0 <= most <= text.tell():
                text.write(piece)
                require_proportion(path, text.tell(), packed)
        except (OSError, EOFError, zlib.error) as error:
            given = f"no complete gzip file ({_short_reason(error)})"
            raise CothermError(str(path), given, "a .gz file", "The file may have been cut short.") from None
    if not text.tell():
        raise CothermError(str(path), "an empty file, compressed", "a file with content")
    return text.getvalue() if most < 0 else text.getvalue()[:most]


def require_proportion(path: Path, size: int, packed: int, advice: str = "Unpack it first if you trust it.") -> None:
    """Refuse a file whose content takes ``size`` bytes, if that is more than memory holds or than files unpack to."""
    free = memory.available()
    if free is not None and size > free:
        given = f"more data than memory holds, {memory.words(free)}"
        raise CothermError(str(path), given, "a smaller file")
    if size > limits.UNPACKED_BYTES and size > limits.UNPACKED_RATIO * packed:
        given = f"at least {memory.words(size)} of data in {memory.words(packed)}"
        needed = f"at most {limits.UNPACKED_RATIO} times the size of the file"
        raise CothermError(str(path), given, needed, advice)


def _short_reason(error: Exception) -> str:
    return " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
