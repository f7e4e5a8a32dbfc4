"""Memory that is kept for reuse, and given back afterwards."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

from cotherm.engines import heap
from cotherm.engines.heap import kept_memory
from cotherm.memory import held

resource = pytest.importorskip("resource")
needs_glibc = pytest.mark.skipif(heap._glibc() is None, reason="the C library is not glibc, or is set up already")
MB = 1_000_000


def _new_pages(task: Callable[[], object]) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    task()
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)


def _fill() -> None:
    np.ones(100 * MB // 8)


@needs_glibc
def test_blocks_are_used_again_within_and_given_back_after() -> None:
    before = held()
    with kept_memory(200 * MB):
        first = _new_pages(_fill)
        assert _new_pages(_fill) < 0.2 * first
        during = held()
    gc.collect()
    after = held()
    assert before is not None
    assert during is not None
    assert after is not None
    assert during > before + 60 * MB
    assert after < before + 30 * MB
    assert _new_pages(_fill) > 0.5 * first


@needs_glibc
def test_the_last_of_several_gives_back(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Library:
        def mallopt(self, option: int, value: int) -> None:
            calls.append("keep" if (option, value) == (heap._MMAP_MAX, 0) else "")
            if (option, value) == (heap._MMAP_MAX, 65_536):
                calls.append("usual")

        def malloc_trim(self, _: int) -> None:
            calls.append("trim")

    monkeypatch.setattr(heap, "_glibc", Library)
    with kept_memory(1e9):
        with pytest.raises(ValueError, match="on the way"), kept_memory(1e9):
            raise ValueError("on the way")
        assert "trim" not in calls
    assert [call for call in calls if call] == ["keep", "usual", "trim"]


def test_small_amounts_and_environments_with_a_will_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(heap, "_glibc", lambda: pytest.fail("asked"))
        with kept_memory(1e6):
            pass
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.mmap_max=7")
    assert heap._glibc() is None
    monkeypatch.delenv("GLIBC_TUNABLES")
    monkeypatch.setenv("MALLOC_MMAP_MAX_", "7")
    assert heap._glibc() is None
