"""Where a coupling spends its time, and how near each part is to what memory allows.

Every compiled kernel is timed, and the bytes it cannot do without are counted:
arrays it reads, once, and arrays it writes, once, or twice if it reads them too. Bytes over seconds, beside what the
machine reaches with a plain copy on all its processors, is how near it is to the limit. Part of what is read may still
be in the caches, so that more than all is possible.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.suite import machine
from cotherm.engines.cpu.thread_pool import ThreadPool

SIZE, QUICK = 1_000_000, 35_000
# A part is at the limit if it reaches this much of the copy's bytes a second.
_AT_LIMIT = 0.5
_NAMES = {
    "step": "heat: Chebyshev step",
    "products": "derivatives: products at every edge",
    "begin": "system: first residual",
    "product": "system: matrix times block",
    "move": "system: step of all columns",
    "turn": "system: new directions",
    "_fill": "weights into the matrix",
    "_signless": "bound on the spectrum",
    "_gather_rows": "functions into their order",
    "_scatter_rows": "heat back into its order",
    "_sum_rows": "sums at vertices",
    "_sum_ends": "sums at edges",
    "_add_rows": "Jacobian summed at vertices",
    "_dot": "Jacobian times few numbers",
    "_transposed_dot": "Jacobian's transpose times edges",
    "_squares": "Jacobian's rows squared",
    "_amounts": "sizes of functions",
    "_map": "vectors of edges: formulas",
    "_sum": "vectors of edges: sums",
    "_fill_rows": "the graph by rows",
    "_count_ends": "the graph's degrees",
    "_relabel_and_sum": "the graph in its order",
}


class KernelTimes:
    """Seconds and bytes of every part."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.bytes: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)

    def add(self, name: str, seconds: float, moved: float) -> None:
        self.seconds[name] += seconds
        self.bytes[name] += moved
        self.calls[name] += 1


def run(*, quick: bool = False) -> dict[str, Any]:
    """Couple planted short cuts and account for the time."""
    from cotherm.datasets.shortcuts import shortcuts
    from cotherm.methods.coupling.couple import couple

    small = shortcuts(1_000)
    couple(small.graphs, small.functions, small.times, "auto", options={"max_iterations": 2})
    bandwidth = machine.bandwidth()
    views = shortcuts(QUICK if quick else SIZE)
    times = KernelTimes()
    with _timed_kernels(times):
        result = couple(views.graphs, views.functions, "auto", "auto")
    return _report(times, result.seconds, bandwidth, views.graphs[0].n, sum(g.m for g in views.graphs))


def table(report: dict[str, Any]) -> str:
    lines = [
        f"coupling of planted short cuts, n = {report['vertices']:,}, {report['edges']:,} edges: "
        f"{report['seconds']:.1f} s; a copy moves {report['bandwidth'] / 1e9:.1f} GB/s here",
        f"  {'part':<42}{'calls':>8}{'seconds':>10}{'share':>8}{'GB/s':>8}{'of copy':>9}",
    ]
    for part in report["parts"]:
        speed, limit = part["speed"], part["of_copy"]
        known = f"{speed / 1e9:>8.1f}{limit:>9.0%}" if speed else f"{'':>17}"
        name, share = part["name"], part["seconds"] / report["seconds"]
        lines.append(f"  {name:<42}{part['calls'] or '':>8}{part['seconds']:>10.2f}{share:>8.1%}{known}")
    lines.append(
        f"  {report['at_limit']:.0%} of the time at more than half of what a copy reaches; "
        f"all these bytes at that speed would take {report['least']:.1f} s"
    )
    return "\n".join(lines)


@contextmanager
def _timed_kernels(times: KernelTimes) -> Iterator[None]:
    """Time every kernel that runs within."""
    untimed = ThreadPool.run

    def timed(pool: ThreadPool, kernel: Callable[..., Any], cuts: Sequence[int], *arguments: Any) -> list[Any]:
        began = time.perf_counter()
        answer = untimed(pool, kernel, cuts, *arguments)
        times.add(kernel.__name__, time.perf_counter() - began, _bytes(kernel.__name__, arguments))
        return answer

    setattr(ThreadPool, "run", timed)  # noqa: B010, for a type checker it is another method
    try:
        yield
    finally:
        setattr(ThreadPool, "run", untimed)  # noqa: B010


def _bytes(name: str, arguments: Sequence[Any]) -> float:
    """What a kernel must read and write: its arrays once, those it reads and writes twice."""
    arrays = [x for x in arguments if isinstance(x, np.ndarray)]
    once = float(sum(x.nbytes for x in arrays))
    if name == "step":
        *_, previous, due, sums = arrays
        return once + previous.nbytes + (sums.nbytes if due.any() else -sums.nbytes)
    if name == "products":  # of the terms and of the columns only those of one time
        return _bytes_of_products(arguments)
    if name == "move":
        return once + arrays[-1].nbytes + arrays[-2].nbytes
    if name == "_add_rows":  # of the sums only those of the block's edges
        return once - arrays[-1].nbytes
    if name == "turn":
        return once + arrays[-1].nbytes
    return once


def _bytes_of_products(arguments: Sequence[Any]) -> float:
    x, _, a, b, i, j, weights, _, places, out = arguments
    height = len(places)
    # Panels of functions are equally wide, or nearly.
    pairs = height * (height + 1) // 2 if a == b else height**2
    ends = x.itemsize * len(x) * len(weights) * (height if a == b else 2 * height)
    return float(ends + i.nbytes + j.nbytes + out.itemsize * len(out) * pairs)


def _report(times: KernelTimes, seconds: float, bandwidth: float, vertices: int, edges: int) -> dict[str, Any]:
    parts = []
    for name in sorted(times.seconds, key=lambda name: -times.seconds[name]):
        speed = times.bytes[name] / times.seconds[name]
        parts.append(
            {
                "name": _NAMES.get(name, name),
                "calls": times.calls[name],
                "seconds": times.seconds[name],
                "speed": speed,
                "of_copy": speed / bandwidth,
            }
        )
    accounted = sum(times.seconds.values())
    fast = [name for name in times.seconds if times.bytes[name] >= _AT_LIMIT * bandwidth * times.seconds[name]]
    at_limit = sum(times.seconds[name] for name in fast)
    rest = {"name": "the rest: other vectors, small systems", "calls": 0, "speed": 0.0, "of_copy": 0.0}
    parts.append({**rest, "seconds": max(0.0, seconds - accounted)})
    return {
        "benchmark": "profile",
        "vertices": vertices,
        "edges": edges,
        "seconds": seconds,
        "bandwidth": bandwidth,
        "parts": parts,
        "at_limit": at_limit / seconds,
        "least": sum(times.bytes.values()) / bandwidth,
    }
