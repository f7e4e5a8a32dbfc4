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
    ct.couple(views.graphs, views.functions, [1.0], max_iterations=2)


def test_what_the_environment_sets_up_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GLIBC_TUNABLES", "MALLOC_MMAP_MAX_", "MALLOC_ARENA_MAX"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "glibc.malloc.mmap_max=7")
            assert malloc._glibc() is None


# Before and after memory has been kept: which blocks are mapped, however many are free already; and how much of 200 MB
# in small blocks stays with the process when they are given back. That tells 0, 64 and 200 MB apart, no more: the
# kernel counts pages a processor at a time, and what it says can be some megabytes off.
_BEHAVIOR = """
import ctypes
from cotherm.engines import malloc
from cotherm.memory import in_use
library = malloc._functions()
{setup}
used = malloc._glibc() is not None

def observed():
    edge = malloc._LARGEST
    sizes = [edge - 8_192, edge - 32, edge + 4_096, edge + 1_000_000, 300_000_000]
    mapped = [malloc._mapped(library, size, 40) for size in sizes]
    library.malloc_trim(0)
    before = in_use()
    blocks = [library.malloc(60_000) for _ in range(3_300)]
    for block in blocks:
        ctypes.memset(block, 1, 60_000)
    for block in reversed(blocks):
        library.free(block)
    return mapped, in_use() - before

observed()
before = observed()
with malloc.kept_memory(1e9):
    within = malloc._mapped(library, 300_000_000)
after = observed()
same = before[0] == after[0] and abs(before[1] - after[1]) < 25e6
print(used, within, same, before, after)
"""


def behavior(setup: str = "") -> list[str]:
    program = _BEHAVIOR.replace("{setup}", setup)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split(maxsplit=3)


@on_glibc
def test_the_allocator_behaves_as_before() -> None:
    used, mapped_within, same, before = behavior()
    assert (used, mapped_within, same) == ("True", "False", "True"), before


@on_glibc
@pytest.mark.parametrize("option", [(-3, 65_536), (-3, 2**24), (-3, 2**25), (-1, 2**17), (-4, 7), (-4, 0), (-2, 2**20)])
def test_what_a_program_has_set_up_is_left_alone(option: tuple[int, int]) -> None:
    used, mapped_within, same, before = behavior(f"library.mallopt{option}")
    assert (used, same) == ("False", "True"), before
    assert mapped_within == str(option != (-4, 0))


@on_glibc
def test_other_threads_leave_the_allocator_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(malloc, "_glibc", lambda: pytest.fail("asked"))

    def call() -> None:
        with kept_memory(1e9):
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(call).result()


_FORK_IN_THREAD = """
import os, threading
from cotherm.engines import malloc
with malloc.kept_memory(1e9):
    def fork():
        child = os.fork()
        if not child:
            os._exit(0 if malloc._glibc() is not None else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), bool(malloc._in_use))
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
"""


@on_glibc
def test_a_child_of_another_thread_gives_back() -> None:
    command = [sys.executable, "-W", "ignore", "-c", _FORK_IN_THREAD]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0 True\n"
