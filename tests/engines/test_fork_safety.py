"""A process that is forked while another thread of it computes, compiles or imports: the child must not hang."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from types import FunctionType

import pytest

from cotherm.engines import fork_safety

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    # Python 3.12 and later warn of any fork beside threads.
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

# In a process of its own, with a limit of time: another thread works without end, and twenty children work too.
# Prints the children that ended well and those that had to be killed.
_FORKS = """
import os, signal, sys, threading, time
import numpy as np

{work}

once(0)

def without_end():
    k = 1
    while True:
        once(k)
        k += 1

threading.Thread(target=without_end, daemon=True).start()
ended, killed = 0, 0
for k in range(20):
    time.sleep(0.01 * (k % 7))
    child = os.fork()
    if not child:
        once(-k)
        os._exit(0)
    begun = time.monotonic()
    while not (status := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < begun + 60:
        time.sleep(0.005)
    if not status[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        killed += 1
        break
    ended += os.waitstatus_to_exitcode(status[1]) == 0
print(ended, killed, flush=True)
os._exit(0)
"""

_COUPLE = """
import cotherm as ct
views = ct.datasets.ring()

def once(k):
    ct.couple(views.graphs, views.functions, [1.0, 2.0], 1e6, options={"max_iterations": 20})
"""
# A product with several BLAS threads, inside the package as far as anyone can tell.
_PRODUCT = """
import cotherm.heat.spectrum

def once(k):
    for _ in range(5):
        F @ F

once = type(once)(once.__code__, {"__name__": "cotherm.x", "F": np.ones((700, 700)), "range": range})
"""
_COMPILE = """
import numba
import cotherm.engines.cpu.jit

def once(k):
    @numba.njit
    def sums(n):
        total = 0.0
        for i in range(n):
            total += i * k
        return total

    sums(10)
"""


@pytest.mark.parametrize("work", [_COUPLE, _PRODUCT, _COMPILE], ids=["couple", "product", "compile"])
def test_children_end(work: str) -> None:
    program = _FORKS.replace("{work}", work)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout == "20 0\n", done.stderr


def test_waiting_leaves_the_interpreter_as_it_was() -> None:
    """Another thread is inside the package and asleep: the fork waits, and hands back the switch interval."""
    inside, ended = threading.Event(), threading.Event()

    def sleep() -> None:
        inside.set()
        ended.wait(60.0)

    ours = FunctionType(sleep.__code__, {"__name__": "cotherm.x"}, "sleep", None, sleep.__closure__)
    thread = threading.Thread(target=ours)
    thread.start()
    inside.wait(60.0)
    interval = sys.getswitchinterval()
    assert thread.ident in fork_safety._inside()
    child = os.fork()
    if not child:
        os._exit(0 if sys.getswitchinterval() == interval else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sys.getswitchinterval() == interval
    ended.set()
    thread.join()
    assert not fork_safety._inside()


def test_a_long_call_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child then has one BLAS thread for good, and the parent as many as before."""
    from benchmarks.threads import blas_threads

    monkeypatch.setattr(fork_safety, "_come_to_rest", lambda: False)
    before = blas_threads()
    child = os.fork()
    if not child:
        from cotherm.engines.threads import limited_blas

        with limited_blas(10):
            pass
        os._exit(0 if set(blas_threads()) <= {1} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert blas_threads() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says so")
def test_rest_is_known_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_safety, "_CALLS", 0.01)
    ended = threading.Event()
    idle = threading.Thread(target=ended.wait)
    idle.start()
    while not fork_safety._wait_for_sleep([idle.native_id]):
        pass
    assert not fork_safety._wait_for_sleep([idle.native_id, threading.get_native_id()])  # this one runs
    ended.set()
    idle.join()
    assert fork_safety._wait_for_sleep([idle.native_id])
