"""Files that other libraries read for us: what they raise becomes one error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cotherm.errors import CothermError

_LONGEST_REASON = 120


@contextmanager
def readable(path: Path, needed: str, library: str = "", advice: str = "The file may be damaged.") -> Iterator[None]:
    """Within, whatever a damaged file makes a library raise says that the file is not what is needed."""
    try:
        yield
    except (CothermError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
        given = f"unreadable for {library} ({reason})" if library else f"unreadable ({reason})"
        raise CothermError(str(path), given, needed, advice) from None
