"""SIGTERM and SIGHUP in the middle of writing leave nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import cotherm as ct
from cotherm.cli.signals import ended_in_order, told_of_interrupts

# The disk takes so long that the signal comes in the middle; cleaning up, too, takes long enough for another signal.
# Tests may run under nohup, where SIGHUP is ignored.
WRITER = """
import os, signal, sys, time
from pathlib import Path
from cotherm.cli.signals import ended_in_order
from cotherm.io import atomic

def slow(_):
    print("writing", flush=True)
    time.sleep(60)

def slow_unlink(path, missing_ok=False, unlink=Path.unlink):
    print("cleaning", flush=True)
    time.sleep(1.0)
    unlink(path, missing_ok=missing_ok)

os.fsync, Path.unlink = slow, slow_unlink
signal.signal(signal.SIGHUP, signal.SIG_DFL)
with ended_in_order():
    atomic.save(Path(sys.argv[1]), b"x" * 1000, overwrite=False)
"""


@pytest.mark.parametrize(("first", "second"), [("SIGTERM", "SIGHUP"), ("SIGHUP", "SIGTERM"), ("SIGTERM", "SIGTERM")])
def test_a_signal_while_writing(first: str, second: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "x.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        assert [place.suffix for place in tmp_path.iterdir()] == [".tmp"]
        writer.send_signal(getattr(signal, first))
        assert writer.stdout.readline() == "cleaning\n"
        writer.send_signal(getattr(signal, second))
        _, err = writer.communicate(timeout=30)
    assert writer.returncode == 128 + getattr(signal, first)
    assert err == ""
    assert list(tmp_path.iterdir()) == []


CALLER = """
import ctypes, time
from cotherm.cli.signals import ended_in_order

@ctypes.CFUNCTYPE(None)
def call_back():
    print("called", flush=True)
    time.sleep(60)

with ended_in_order():
    call_back()
    time.sleep(60)
"""


def test_a_signal_in_code_that_c_calls_is_not_lost() -> None:
    with subprocess.Popen([sys.executable, "-c", CALLER], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"called\n"
        caller.send_signal(signal.SIGTERM)
        _, err = caller.communicate(timeout=30)
    assert (caller.returncode, err) == (143, b"")


DROPPER = """
import time
from cotherm.cli import signals

signals._PATIENCE = 0.5
with signals.ended_in_order():
    try:
        print("called", flush=True)
        time.sleep(60)
    except BaseException:  # as where Python compiles: dropped, and nobody is told
        pass
    time.sleep(60)
"""


def test_a_signal_that_was_dropped_is_sent_again() -> None:
    with subprocess.Popen([sys.executable, "-c", DROPPER], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as dropper:
        assert dropper.stdout is not None
        assert dropper.stdout.readline() == b"called\n"
        dropper.send_signal(signal.SIGTERM)
        _, err = dropper.communicate(timeout=30)
    assert (dropper.returncode, err) == (143, b"")


def test_what_others_decided_stays() -> None:
    before = signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with ended_in_order():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        with pytest.raises(SystemExit) as stop, ended_in_order():
            signal.raise_signal(signal.SIGTERM)
        assert stop.value.code == 143
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.signal(signal.SIGTERM, before[1])


def test_other_threads_are_left_alone() -> None:
    found = []

    def work() -> None:
        with ended_in_order():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]


# Background jobs of shells ignore interrupts; this one is as in a terminal.
COUPLER = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from cotherm import cli
from cotherm.progress import Meter

def show(self, **figures):
    print("step", flush=True)
    time.sleep(0.1)

def slow(_):
    print("writing", flush=True)
    time.sleep(60)

Meter.show = show
if "slow" in sys.argv:
    os.fsync = slow
    sys.argv.remove("slow")
cli.main(sys.argv[1:])
"""


def interrupted(tables: Path, *more: str) -> subprocess.Popen[str]:
    """A coupling in a process of its own, which was interrupted at its third step."""
    files = [str(tables / name) for name in ("first.csv", "second.csv")]
    command = [sys.executable, "-c", COUPLER, "couple", *files, "--out", str(tables / "c.npz"), "--json", *more]
    coupler = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert coupler.stdout is not None
    for _ in range(3):
        assert coupler.stdout.readline() == "step\n"
    coupler.send_signal(signal.SIGINT)
    return coupler


def test_one_interrupt_saves_the_best_so_far(tables: Path) -> None:
    with interrupted(tables) as coupler:
        out, err = coupler.communicate(timeout=120)
    assert coupler.returncode == 130
    assert json.loads(out[out.index("{") :])["status"] == "interrupted"
    assert "Ctrl-C again stops at once" in err
    assert err.splitlines()[-1].startswith("cotherm: interrupted: the best so far is in ")
    assert ct.Coupling.load(tables / "c.npz").status == "interrupted"


def test_a_second_interrupt_stops_at_once_and_leaves_nothing(tables: Path) -> None:
    before = sorted(tables.iterdir())
    with interrupted(tables, "slow") as coupler:
        assert coupler.stdout is not None
        while (line := coupler.stdout.readline()) == "step\n":
            pass
        assert line == "writing\n"
        coupler.send_signal(signal.SIGINT)
        out, err = coupler.communicate(timeout=30)
    assert (coupler.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "cotherm: interrupted"
    assert sorted(tables.iterdir()) == before


def test_handlers_of_interrupts_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt), told_of_interrupts():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a shell
        with told_of_interrupts():
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
