"""The GPU engine: right first, then how fast beside what the chip can do, and beside stock libraries on the same chip.

Everything is measured in one run: results against the engine for the processor; the two ceilings, copying and
multiplying; one step of the heat recurrence, beside the same recurrence by CuPy's and PyTorch's sparse products; the
gradient of the coupling term, beside PyTorch's automatic derivatives; and whole couplings. Kernels are timed by events
on the device, medians of many; couplings by the clock, the first run of each, which compiles kernels, not counted.
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.gpu import correctness, couplings, kernels
from cotherm.engines import get_engine
from cotherm.errors import CothermError
from cotherm.memory import words


def run(*, quick: bool = False, data: Any = None) -> dict[str, Any]:
    """All of it, or what is missing to do so."""
    try:
        engine: Any = get_engine("gpu")
    except CothermError as error:
        return {"quick": quick, "missing": str(error)}
    began = time.perf_counter()
    report: dict[str, Any] = {"quick": quick, "chip": engine.device.name, **kernels.versions()}
    report["ceilings"] = kernels.ceilings(quick=quick)
    report["correctness"] = correctness.run(engine, quick=quick, data=data)
    report["steps"] = kernels.steps(engine, report["ceilings"], quick=quick)
    report["gradient"] = kernels.gradient(engine, quick=quick)
    report["couplings"] = couplings.run(engine, quick=quick, data=data)
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
        *couplings.lines(report["couplings"]),
        f"measured in {report['seconds']:.0f} s; memory of the GPU at the peak: {words(report['couplings']['memory'])}",
    ]
    if report["quick"]:
        lines += ["A quick run only shows that all of it works: judge by the full sizes, without --quick."]
    return "\n".join(lines)
