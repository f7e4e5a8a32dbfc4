"""Showing a file in a browser, if there is one."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from pathlib import Path

from cotherm.errors import CothermError


def private_file(data: bytes) -> Path:
    """A new temporary file with this content, which only the user can read."""
    try:
        number, name = tempfile.mkstemp(prefix="cotherm-", suffix=".html")
        with os.fdopen(number, "wb") as file:
            file.write(data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CothermError("view", reason.lower(), "a directory for temporary files that can be written to") from None
    return Path(name)


def can_open() -> bool:
    """Whether there is a screen: without one, Python would start a browser that takes over the terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def open_file(place: Path) -> bool:
    """Show the file; return whether that could be tried."""
    try:
        return can_open() and bool(webbrowser.open(place.resolve().as_uri()))
    except (OSError, webbrowser.Error):
        return False
