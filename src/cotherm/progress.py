"""Progress for anything over two seconds: one line in a terminal or a notebook, silence elsewhere.

tqdm formats the line. A thread of ours writes it twice a second, because most of our long calls report nothing while
they run, and a tqdm bar stands still between reports. Of work within work only the outermost is shown. A line never
costs the computation: standard error may be closed, or missing as in a daemon, or break on the way.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

Item = TypeVar("Item")

# Seconds before anything is shown, and between two updates.
_DELAY, _EVERY = 2.0, 0.5
# Seconds that the end of the work waits for a line being written, which a slow terminal may delay.
_PATIENCE = 1.0
# Forked children show nothing: there may be many, and they lack the thread that writes.
_HOME = os.getpid()


def track(items: Iterable[Item], *, total: int, label: str, alike: bool = True) -> Iterator[Item]:
    """Yield the items, with a bar and an estimate of the time that is left.

    Items that are not ``alike`` take different times, or there may be fewer of them. They are only counted.
    """
    meter = Meter(total=total, bar=alike)
    meter.advance(label)
    with meter:
        for item in items:
            yield item
            meter.advance(label)


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show what is being done and for how long, for work that cannot be counted."""
    meter = Meter()
    meter.advance(label)
    with meter:
        yield


class Meter:
    """Stages with changing figures; the remaining time is estimated only with a ``bar``, for stages of equal length."""

    def __init__(self, *, total: int | None = None, limit: float | None = None, bar: bool = False) -> None:
        self._total, self._limit, self._bar = total, limit, bar
        self._stage, self._label = 0, ""
        self._figures: dict[str, float] = {}
        self._end = threading.Event()

    def advance(self, label: str, **figures: float) -> None:
        """Begin a new stage with these figures; the one before it is finished."""
        self._stage, self._label, self._figures = self._stage + 1, label, figures

    def show(self, **figures: float) -> None:
        """Update figures; the others stay as they are."""
        self._figures = {**self._figures, **figures}

    def __enter__(self) -> Meter:
        global _current  # noqa: PLW0603
        seen = in_notebook() or is_terminal(sys.stderr)
        wanted = (seen or _asked) and not _silenced and sys.stderr is not None
        if wanted and _current is None and os.getpid() == _HOME:
            # With the context of the caller: notebooks find the cell to write to in it.
            run, arguments = copy_context().run, (self._write, sys.stderr, seen, threading.get_ident())
            self._thread = threading.Thread(target=run, args=arguments, daemon=True)
            with suppress(RuntimeError):  # no thread can be started; show nothing
                self._thread.start()
                _current = self
        return self

    def __exit__(self, *_: object) -> None:
        global _current  # noqa: PLW0603
        if _current is self and os.getpid() == _HOME:
            _current = None
            self._end.set()
            self._thread.join(_PATIENCE)

    def _write(self, stream: Any, seen: bool, owner: int) -> None:
        """Until the end, rewrite one line in a terminal or notebook; in a log, add lines at growing intervals.

        A generator is not told of an error in the loop around it: its line goes once its thread has left the package.
        """
        global _current  # noqa: PLW0603
        began, pause, put = time.monotonic(), _DELAY, None
        while not self._end.wait(pause) and _inside_package(owner):
            elapsed = time.monotonic() - began
            with suppress(Exception):  # any error of the screen, or figures that change while being written
                put = put or (_over(stream) if seen else partial(print, file=stream, flush=True))
                put(self._text(elapsed, _columns(stream)))
            pause = _EVERY if seen else max(elapsed, _EVERY)
        if _current is self:
            _current = None
        with suppress(Exception):
            if seen and put is not None:
                put("")
                stream.write("\r")
                stream.flush()

    def _text(self, elapsed: float, columns: int) -> str:
        from tqdm import tqdm

        if self._bar:
            total, layout = self._total or None, "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}]"
            return tqdm.format_meter(self._stage - 1, total, elapsed, columns, self._label, " #", bar_format=layout)
        of = "" if self._total is None else f" ({min(self._stage, self._total)} of up to {self._total})"
        limit = "" if self._limit is None else f" of {tqdm.format_interval(self._limit)}"
        figures = [f"{name} {value:.5g}" for name, value in self._figures.items()]
        text = ", ".join([tqdm.format_interval(elapsed) + limit, *figures])
        return f"{self._label}{of} [{text}]"[:columns]


_current: Meter | None = None
_silenced = _asked = 0


@contextmanager
def shown(wanted: bool) -> Iterator[None]:
    """Within this context, show nothing, or always show progress, as lines in a log if there is no terminal."""
    global _silenced, _asked
    _silenced, _asked = _silenced + (not wanted), _asked + wanted
    try:
        yield
    finally:
        _silenced, _asked = _silenced - (not wanted), _asked - wanted


def clear() -> None:
    """Remove the line, before something else is written."""
    if _current is not None:
        _current.__exit__()


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    try:
        return getattr(sys.modules["IPython"].get_ipython(), "kernel", None) is not None
    except Exception:  # any: IPython is not loaded, or only in part
        return False


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; one that cannot tell does not count as one."""
    try:
        return bool(stream.isatty())
    except Exception:  # it is None, closed, lacks the method, or is a foreign object whose method fails
        return False


def _over(stream: Any) -> Callable[[str], object]:
    """Writes each text over the one before."""
    from tqdm import tqdm

    return tqdm.status_printer(stream)


def _inside_package(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "cotherm":
            return True
        frame = frame.f_back
    return False


def _columns(stream: Any) -> int:
    try:
        return (os.get_terminal_size(stream.fileno()).columns or 80) - 1
    except (OSError, ValueError, AttributeError):
        return 79
