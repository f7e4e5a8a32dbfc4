"""Progress for anything over two seconds: one line in a terminal or a notebook, silence elsewhere.

The line is kept up to date by a thread of its own, so that a long call that reports nothing is still seen to go on. Of
work within work only the outermost is shown. What is left is estimated where the parts of the work are alike, and only
there. A line never costs the computation: standard error may be closed, or missing as in a daemon, or break on the way.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")

# Seconds before anything is shown, and between two updates.
_DELAY, _EVERY = 2.0, 0.5
_BAR = 20
# Seconds that the end of the work waits for a line that is just being written, which a terminal may hold up.
_PATIENCE = 1.0


def track(items: Iterable[Item], *, total: int, label: str, alike: bool = True) -> Iterator[Item]:
    """Yield the items, with a bar and an estimate of the time that is left.

    Unless they are alike: they do not take equally long, or there may be fewer of them. Then they are only counted.
    """
    work = _Counted(label, total, alike)
    with _Display(work.text, leaves_with_package=True) as display:
        for item in items:
            yield item
            work.done += 1
            work.latest = display.elapsed()


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show what is being done and for how long, for work that cannot be counted."""
    with _Display(lambda elapsed: f"{label}, {duration(elapsed)}"):
        yield


class Meter:
    """Stages of unknown length with figures that change; the time that is left is not guessed."""

    def __init__(self, *, total: int | None = None, limit: float | None = None) -> None:
        self._total, self._limit = total, limit
        self._stage, self._label = 0, ""
        self._figures: dict[str, float] = {}

    def advance(self, label: str, **figures: float) -> None:
        """A new stage begins with these figures; the one before it is done."""
        self._stage, self._label, self._figures = self._stage + 1, label, figures

    def show(self, **figures: float) -> None:
        """The latest figures; those that were shown before stay."""
        self._figures = {**self._figures, **figures}

    def _text(self, elapsed: float) -> str:
        of = "" if self._total is None else f" ({min(self._stage, self._total)} of {self._total})"
        figures = [f"{name} {_number(value)}" for name, value in self._figures.items()]
        limit = "" if self._limit is None else f" of {duration(self._limit)}"
        return ", ".join([f"{self._label}{of}", duration(elapsed) + limit, *figures])

    def __enter__(self) -> Meter:
        self._display = _Display(self._text).__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._display.close()


_silenced = _asked = 0


@contextmanager
def shown(wanted: bool) -> Iterator[None]:
    """Show nothing while this lasts; or show progress even where nobody seems to watch, as lines in a log."""
    global _silenced, _asked
    _silenced, _asked = _silenced + (not wanted), _asked + wanted
    try:
        yield
    finally:
        _silenced, _asked = _silenced - (not wanted), _asked - wanted


def clear() -> None:
    """Remove the line, before something else is written."""
    if _current is not None:
        _current.close()


def duration(seconds: float) -> str:
    """For people: "12 s", "3 min 20 s", "2 h 5 min"."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


class _Counted:
    """So many of so many parts are done; the latest of them after so many seconds."""

    def __init__(self, label: str, total: int, alike: bool) -> None:
        self._label, self._total, self._alike = label, total, alike
        self.done, self.latest = 0, 0.0

    def text(self, elapsed: float) -> str:
        if not self._alike:
            return f"{self._label}, {min(self.done + 1, self._total)} of up to {self._total}, {duration(elapsed)}"
        part = min(self.done / self._total, 1.0) if self._total else 1.0
        full = int(part * _BAR)
        bar = "#" * full + "-" * (_BAR - full)
        text = f"{self._label} [{bar}] {part:.0%}, {duration(elapsed)}"
        left = self.latest / self.done * self._total - elapsed if self.done else 0.0
        return f"{text}, about {duration(left)} left" if left >= 1.0 else text


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"


_current: _Display | None = None
_forked = False


def _in_child() -> None:
    global _forked  # noqa: PLW0603
    _forked = True  # the thread that writes is not in the child, and its lock may be held for ever


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class _Display:
    """The line on the screen, if there is one to write to and no other work is shown.

    ``leaves_with_package``: a generator is not told of an error in the loop around it. So its line goes as soon as the
    thread that made it has left this package.
    """

    def __init__(self, text: Callable[[float], str], *, leaves_with_package: bool = False) -> None:
        self._text, self._leaves = text, leaves_with_package
        self._began = time.monotonic()
        self._writer: _Writer | None = None

    def __enter__(self) -> _Display:
        global _current
        writer = None if _forked or _silenced or _current is not None else _found_writer()
        if writer is None:
            return self
        self._owner = threading.get_ident()
        self._end = threading.Event()
        # With the context of the caller: notebooks find the cell to write to in it.
        self._thread = threading.Thread(target=copy_context().run, args=(self._run,), daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no more threads; then without a line
            return self
        self._writer, _current = writer, self
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def close(self) -> None:
        global _current  # noqa: PLW0603
        writer, self._writer = self._writer, None
        if writer is None or _forked:
            return
        self._end.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(_PATIENCE)
        if _current is self:
            _current = None
        with suppress(Exception):
            writer.clear()

    def _run(self) -> None:
        ended = self._end.wait(_DELAY)
        while not ended:
            if self._leaves and not _inside_package(self._owner):
                self.close()
                return
            writer = self._writer
            with suppress(Exception):  # whatever a screen does, or figures that change while they are written
                if writer is not None:
                    writer.write(self._text(self.elapsed()), self.elapsed())
            ended = self._end.wait(_EVERY)


def _inside_package(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "cotherm":
            return True
        frame = frame.f_back
    return False


class _Writer(Protocol):
    def write(self, text: str, elapsed: float) -> None:
        """Show a text in place of the one before."""

    def clear(self) -> None:
        """Show nothing any more."""


def _found_writer() -> _Writer | None:
    if in_notebook():
        return _Cell()
    if _watched():
        return _Terminal()
    return _Log() if _asked else None


def _watched() -> bool:
    """Whether standard error is a terminal; what cannot say so is none."""
    try:
        return bool(sys.stderr.isatty())
    except Exception:  # any: it is None, closed, lacks the method, or is someone's object whose method fails
        return False


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    try:
        return getattr(sys.modules["IPython"].get_ipython(), "kernel", None) is not None
    except Exception:  # any: IPython is not loaded, or only in part
        return False


class _Terminal:
    """A line of standard error that is written over."""

    def __init__(self) -> None:
        self._stream, self._length = sys.stderr, 0

    def write(self, text: str, _elapsed: float) -> None:
        width = _columns(self._stream) - 1
        line = text[:width]
        self._put("\r" + line.ljust(min(self._length, width)))
        self._length = len(line)

    def clear(self) -> None:
        if self._length:
            self._put("\r" + " " * self._length + "\r")

    def _put(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _columns(stream: Any) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        return 80


class _Cell:
    """An output of a notebook that is replaced. It needs no widgets."""

    def __init__(self) -> None:
        self._handle: Any = None

    def write(self, text: str, _elapsed: float) -> None:
        data = {"text/plain": text}
        if self._handle is None:
            from IPython.display import display

            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


class _Log:
    """Lines of standard error, each after twice the time of the one before."""

    def __init__(self) -> None:
        self._stream, self._due = sys.stderr, 0.0

    def write(self, text: str, elapsed: float) -> None:
        if elapsed >= self._due:
            self._due = 2.0 * elapsed
            self._stream.write(text + "\n")
            self._stream.flush()

    def clear(self) -> None:
        """What is in a log stays."""
