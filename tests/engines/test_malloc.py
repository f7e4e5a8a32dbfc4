"""Memory that is kept for reuse, and given back afterwards."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import cotherm as ct
from cotherm.engines import malloc
from cotherm.engines.malloc import kept_memory

_plain = not any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ)
on_glibc = pytest.mark.skipif(
    not (sys.platform.startswith("linux") and platform.libc_ver()[0] == "glibc" and _plain),
    reason="the C library is not glibc, or is set up already",
)

# In a process of its own: what others have left free would be used first. Prints new pages of a first block within, of
# a second, and of one after; then what the process holds before, within and after.
_PAGES = """
import resource
import numpy as np
from cotherm.engines.malloc import kept_memory
from cotherm.memory import in_use

def new_pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(12_500_000)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

sizes = [in_use()]
with kept_memory(200e6):
    pages = [new_pages(), new_pages()]
    sizes.append(in_use())
sizes.append(in_use())
print(*pages, new_pages(), *sizes)
"""


@on_glibc
def test_blocks_are_used_again_within_and_given_back_after() -> None:
    assert malloc._glibc() is not None
    done = subprocess.run([sys.executable, "-c", _PAGES], capture_output=True, text=True, check=True)
    first, second, later, before, within, after = map(int, done.stdout.split())
    assert second < 0.2 * first
    assert later > 3 * second
    assert within > before + 90e6
    assert after < before + 20e6


def test_the_last_of_several_gives_back(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Library:
        def mallopt(self, option: int, value: int) -> None:
            if option == malloc._MMAP_MAX:
                calls.append("usual" if value else "keep")

        def malloc_trim(self, _: int) -> None:
            calls.append("trim")

    monkeypatch.setattr(malloc, "_glibc", Library)
    with kept_memory(1e9):
        with pytest.raises(ValueError, match="on the way"), kept_memory(1e9):
            raise ValueError("on the way")
        assert calls == ["keep"]
    assert calls == ["keep", "usual", "trim"]


def test_small_couplings_leave_the_allocator_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(malloc, "_glibc", lambda: pytest.fail("asked"))
    views = ct.datasets.ring()
    ct.couple(views.graphs, views.functions, [1.0], options={"max_iterations": 2})


def test_what_the_environment_sets_up_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GLIBC_TUNABLES", "MALLOC_MMAP_MAX_", "MALLOC_ARENA_MAX"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "glibc.malloc.mmap_max=7")
            assert malloc._glibc() is None


@on_glibc
def test_other_threads_leave_the_allocator_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(malloc, "_glibc", lambda: pytest.fail("asked"))

    def call() -> None:
        with kept_memory(1e9):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(call).result()
