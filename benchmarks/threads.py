"""The paper's Ring in threads and processes: the same answer, in the same time, and BLAS left as it was.

Each way couples in its own thread or process, first once unmeasured, so that its kernels are loaded, then a few times.
Times are those of the coupling, not of starting threads and processes.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cotherm.arrays import Floats
from cotherm.datasets.synthetic import ring
from cotherm.errors import CothermError
from cotherm.methods.coupling.couple import couple
from cotherm.progress import track

_TIMES = (1.0, 2.0, 5.0, 10.0)
_ALPHA = 1e6
_SAME = 1e-12
_RATIO = 1.5
_AT_ONCE = 4
# A coupling takes less than a second; a process that has not answered by then never will.
_PATIENCE = 300.0


class Measured(NamedTuple):
    """One thread or process: its answer, seconds, and the numbers of BLAS threads before and after."""

    weights: Floats
    seconds: float
    before: tuple[int, ...]
    after: tuple[int, ...]


def run(*, quick: bool = False) -> dict[str, Any]:
    """Every way, one after the other."""
    repeats = 2 if quick else 7
    work = partial(measured, repeats)
    ways = _ways()
    rows: list[dict[str, Any]] = []
    reference = measured(repeats)
    for name in track(ways, total=len(ways), label="ways"):
        before = blas_threads()
        results = ways[name](work)
        rows.append(_row(name, results, reference) | {"blas_here": (before, blas_threads())})
    return {
        "benchmark": "threads",
        "quick": quick,
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "ways": rows,
        "claims": _claims(rows, judged=not quick),
    }


def measured(repeats: int) -> Measured:
    """Couple here; the least time of several."""
    views = ring()
    before = blas_threads()
    seconds = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        answer = couple(views.graphs, views.functions, _TIMES, _ALPHA)
        seconds.append(time.perf_counter() - began)
    weights = np.concatenate([graph.w for graph in answer.graphs])
    return Measured(weights, min(seconds[1:]), before, blas_threads())


def blas_threads() -> tuple[int, ...]:
    from threadpoolctl import threadpool_info

    return tuple(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


Work = Callable[[], Measured]
Way = Callable[[Work], list[Measured]]


def _ways() -> dict[str, Way]:
    ways: dict[str, Way] = {
        "main thread": lambda work: [work()],
        "worker thread": partial(_threads, 1),
        "four threads at once": partial(_threads, _AT_ONCE),
    }
    ways |= {f"joblib, {backend}": partial(_joblib, backend) for backend in ("threading", "loky", "multiprocessing")}
    methods = [method for method in ("fork", "spawn") if method in multiprocessing.get_all_start_methods()]
    ways |= {method: partial(_process, method) for method in methods}
    return ways


def _threads(count: int, work: Work) -> list[Measured]:
    with ThreadPoolExecutor(count) as pool:
        return [future.result(_PATIENCE) for future in [pool.submit(work) for _ in range(count)]]


def _joblib(backend: str, work: Work) -> list[Measured]:
    from joblib import Parallel, delayed

    # Two tasks, of which the second begins when the first has ended: a single one would not leave this process.
    parallel = Parallel(n_jobs=2, backend=backend, timeout=None if backend == "threading" else _PATIENCE)
    return list(parallel([delayed(_nothing)(), delayed(work)()]))[1:]


def _nothing() -> None:
    """A task that leaves the machine to the other."""


def _process(method: str, work: Work) -> list[Measured]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        return [_result(pool, work)]


def _result(pool: ProcessPoolExecutor, work: Work) -> Measured:
    """The process is ended where it hangs, as leaving the pool would wait for it."""
    try:
        return pool.submit(work).result(_PATIENCE)
    except TimeoutError:
        for process in multiprocessing.active_children():
            process.kill()
        raise CothermError("threads", f"no answer within {_PATIENCE:g} seconds", "a process that ends") from None


def _row(name: str, results: list[Measured], reference: Measured) -> dict[str, Any]:
    size = float(np.abs(reference.weights).max())
    return {
        "way": name,
        "alone": name != "four threads at once",
        "difference": max(float(np.abs(a.weights - reference.weights).max()) for a in results) / size,
        "seconds": max(a.seconds for a in results),
        "ratio": max(a.seconds for a in results) / reference.seconds,
        # Threads at once share one number, which is not at rest when one of them begins or ends.
        "blas_there": (results[0].before, results[0].after) if len(results) == 1 else None,
    }


def _claims(rows: list[dict[str, Any]], *, judged: bool) -> list[dict[str, Any]]:
    """Answers and numbers of threads are judged in any run, times in a full one."""
    seconds = [row["seconds"] for row in rows if row["alone"]]
    pairs = [row["blas_here"] for row in rows] + [row["blas_there"] for row in rows if row["blas_there"]]
    changed = sum(before != after for before, after in pairs)
    ratio = max(seconds) / min(seconds)
    return [
        _claim("largest difference of weights, relative", max(row["difference"] for row in rows), _SAME),
        _claim("changes of the number of BLAS threads", changed, 0),
        _claim("one at a time: the slowest way over the fastest", ratio, _RATIO, judged=judged),
    ]


def _claim(text: str, value: float, limit: float, *, judged: bool = True) -> dict[str, Any]:
    holds = bool(value <= limit) if judged else None
    return {"claim": text, "measured": value, "needed": f"<= {limit:g}", "holds": holds}


def _pair(numbers: tuple[tuple[int, ...], tuple[int, ...]]) -> str:
    return " - ".join("/".join(map(str, side)) for side in numbers)


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        f"The Ring in threads and processes, {report['processors']} processors:",
        "",
        f"  {'way':<30}{'difference':>12}{'seconds':>10}{'ratio':>8}  BLAS threads before and after, there and here",
    ]
    for row in report["ways"]:
        numbers = "; ".join(_pair(row[key]) for key in ("blas_there", "blas_here") if row[key])
        lines.append(f"  {row['way']:<30}{row['difference']:12.1e}{row['seconds']:10.3f}{row['ratio']:8.2f}  {numbers}")
    lines.append("")
    verdicts = {True: "holds", False: "DOES NOT HOLD", None: "in a full run"}
    for c in report["claims"]:
        lines.append(f"{c['claim']:<52}{c['measured']:10.3g}  needed {c['needed']:<9} {verdicts[c['holds']]}")
    return "\n".join(lines)
