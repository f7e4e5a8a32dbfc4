"""The GPU engine: right first, then how fast beside what the chip can do, and beside stock libraries on the same chip.

Everything is measured in one run: results against the engine for the processor; the two ceilings, copying and
multiplying; one step of the heat recurrence, beside the same recurrence by CuPy's and PyTorch's sparse products and by
kernels in other languages; the gradient of the coupling term, beside PyTorch's automatic derivatives; heat on a graph
that is there already; nearest neighbors, beside the processor; and whole couplings, beside the same on two cores.
Kernels are timed by events on the device, medians of many; couplings by the clock, the first run of each, which
compiles kernels, not counted.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from benchmarks.gpu import correctness, couplings, kernels, neighbors, residence
from benchmarks.gpu.two_cores import TwoCores
from cotherm.engines import get_engine
from cotherm.errors import CothermError
from cotherm.memory import words

# Seconds after which what still runs on two cores is ended, and after which no large coupling is begun: all of it is to
# end within ten minutes.
_LONGEST, _LATEST = 560.0, 470.0


def run(*, quick: bool = False, data: Any = None) -> dict[str, Any]:
    """All of it, or what is missing to do so."""
    try:
        engine: Any = get_engine("gpu")
    except CothermError as error:
        return {"quick": quick, "missing": str(error)}
    began = time.perf_counter()
    beside = TwoCores(*couplings.compared(quick=quick), data)
    report: dict[str, Any] = {"quick": quick, "chip": engine.device.name, **kernels.versions()}

    def part(name: str, run: Callable[[], Any]) -> None:
        """Goes to the report, and to where progress is shown: a run that is ended early is not lost."""
        report[name] = run()
        passed = time.perf_counter() - began
        sys.stderr.write(
            f"{json.dumps({'part': name, 'after': round(passed), 'found': report[name]}, default=float)}\n"
        )

    part("ceilings", lambda: kernels.ceilings(quick=quick))
    # The largest graphs take minutes to make: meanwhile nothing is timed.
    making = [threading.Thread(target=make) for make in couplings.preparations(quick=quick, data=data)]
    for thread in making:
        thread.start()
    part("correctness", lambda: correctness.run(engine, quick=quick, data=data))
    for thread in making:
        thread.join()
    part("steps", lambda: kernels.steps(engine, report["ceilings"], quick=quick))
    part("gradient", lambda: kernels.gradient(engine, quick=quick))
    part("residence", lambda: residence.run(engine, quick=quick))
    part("neighbors", lambda: neighbors.run(engine, quick=quick))
    part("couplings", lambda: couplings.run(engine, quick=quick, data=data, until=began + _LATEST))
    part("two_cores", lambda: beside.results(_LONGEST - (time.perf_counter() - began)))
    report["two_cores_missing"] = beside.missing
    report["seconds"] = time.perf_counter() - began
    return report


def table(report: dict[str, Any]) -> str:
    """The report for people."""
    if "missing" in report:
        return f"The GPU engine cannot be measured here: {report['missing']}"
    ceilings = report["ceilings"]
    lines = [
        f"The GPU engine on {report['chip']}, CuPy {report['cupy']}, PyTorch {report['torch']}",
        f"  a copy moves {ceilings['copy'] / 1e9:,.0f} GB/s; matrix products in float64 {ceilings['dgemm'] / 1e12:.1f} "
        f"TFLOP/s, in float32 {ceilings['sgemm'] / 1e12:.1f}",
        *correctness.lines(report["correctness"]),
        *kernels.lines(report["steps"], report["gradient"]),
        *residence.lines(report["residence"]),
        *neighbors.lines(report["neighbors"]),
        *couplings.lines(report["couplings"], report["two_cores"]),
        f"measured in {report['seconds']:.0f} s; memory of the GPU at the peak: {words(report['couplings']['memory'])}",
    ]
    if report["two_cores_missing"]:
        lines.append(f"not compared with two cores, which takes {report['two_cores_missing']} in all")
    if report["quick"]:
        lines += ["A quick run only shows that all of it works: judge by the full sizes, without --quick."]
    return "\n".join(lines)
