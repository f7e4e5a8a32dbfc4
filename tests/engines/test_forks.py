"""A process that is forked while another thread of it compiles: the child must not wait for the compiler's lock."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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


def test_children_end() -> None:
    program = _FORKS.replace("{work}", _COMPILE)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout == "20 0\n", done.stderr
