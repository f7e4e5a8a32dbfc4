"""Limited-memory BFGS with bounds (Byrd, Lu, Nocedal & Zhu 1995), by SciPy: a gradient a step, and no systems.

SciPy's routine works by reverse communication: it returns whenever it needs a cost or has made a step, and everything
it knows is in arrays of the caller. :class:`Resumable` runs it that way, so that the arrays can be stored and the
minimization go on from them in another process, to the same last bit. That interface is not public. Where it is not as
expected, as it was not before SciPy 1.15, minimizations run by the public one, and there is no state to store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from cotherm.arrays import Floats

# Evaluations a step at most; line searches rarely need more than one.
EVALUATIONS = 20
# What SciPy's routine says of its arguments where it is the one that is known here; its tasks, and reasons to stop.
_ARGUMENTS = "setulb(m,x,l,u,nbd,f,g,factr,pgtol,wa,iwa,task,lsave,isave,dsave,maxls,ln_task)"
_NEW_X, _EVALUATE, _STOP = 1, 3, 5
_BY_CALLBACK, _MOST_STEPS, _MOST_EVALUATIONS = 505, 504, 502


class Evaluated(Protocol):
    """A cost at some point, and its gradient there."""

    @property
    def cost(self) -> float: ...

    @property
    def gradient(self) -> Floats: ...


V = TypeVar("V", bound=Evaluated)


class Run(Protocol):
    """A minimization over x ≥ 0 whose state can be stored between two steps."""

    @property
    def is_possible(self) -> bool: ...

    def minimize(
        self,
        evaluate: Callable[[Floats], V],
        x: Floats,
        iterations: int,
        tolerance: float,
        memory: int,
        after_step: Callable[[Floats, V], None],
    ) -> Any: ...


def minimize_bounded(
    evaluate: Callable[[Floats], V],
    x: Floats,
    *,
    iterations: int,
    tolerance: float,
    memory: int,
    after_step: Callable[[Floats, V], None],
    run: Run | None = None,
) -> Any:
    """Minimize over x ≥ 0, until a step brings less than ``tolerance`` of the cost.

    ``memory`` is the number of steps that are remembered, each by two vectors as long as x.
    ``after_step`` is called with every point and what was evaluated there; it may raise StopIteration to end.
    ``run`` is there for its state to be stored after a step; one that was begun goes on, whatever x. It may be one for
    vectors that are spread over ranks (:mod:`cotherm.solve.spread_quasi_newton`).
    """
    if run is not None and run.is_possible:
        return run.minimize(evaluate, x, iterations, tolerance, memory, after_step)
    latest: dict[bytes, V] = {}

    def cost(x: Floats) -> tuple[float, Floats]:
        value = evaluate(x)
        latest[x.tobytes()] = value
        while len(latest) > 2:
            latest.pop(next(iter(latest)))
        return value.cost, value.gradient

    def called(intermediate_result: OptimizeResult) -> None:
        value = latest.get(intermediate_result.x.tobytes())
        after_step(intermediate_result.x, evaluate(intermediate_result.x) if value is None else value)

    return minimize(
        cost,
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(np.zeros(len(x)), np.full(len(x), np.inf)),
        callback=called,
        options={
            "maxiter": iterations,
            "maxfun": EVALUATIONS * iterations,
            "maxcor": memory,
            "ftol": tolerance,
            "gtol": 0.0,
        },
    )


class Resumable:
    """A minimization whose state can be stored: between two steps, and when another one begins that goes on from it."""

    def __init__(self, begun: Mapping[str, Any] | None = None) -> None:
        self._arrays: dict[str, Any] = {} if begun is None else dict(begun)
        self._is_begun = begun is not None

    @property
    def is_possible(self) -> bool:
        """Whether SciPy has the interface that this needs."""
        return _reverse_communication() is not None

    def state(self) -> dict[str, Any] | None:
        """A copy, to be taken while ``after_step`` is called; None where SciPy keeps it to itself."""
        if not self._arrays:
            return None
        return {name: one.copy() if isinstance(one, np.ndarray) else one for name, one in self._arrays.items()}

    @property
    def steps(self) -> int:
        """That had been made before the one after which ``after_step`` is called."""
        return int(self._arrays.get("steps", 0))

    @property
    def size(self) -> int:
        """Bytes of the state."""
        return sum(one.nbytes for one in self._arrays.values() if isinstance(one, np.ndarray))

    def minimize(
        self,
        evaluate: Callable[[Floats], V],
        x: Floats,
        iterations: int,
        tolerance: float,
        memory: int,
        after_step: Callable[[Floats, V], None],
    ) -> OptimizeResult:
        """As SciPy's own loop around the routine does."""
        n, m = len(x), memory
        if not self._is_begun:
            self._arrays = _fresh(np.maximum(x, 0.0), m)
        a = self._arrays
        bounds = np.zeros(n), np.zeros(n), np.ones(n, dtype=np.int32)  # from 0 on, without upper ones
        routine, factor = _reverse_communication(), min(tolerance, 1.0) / np.finfo(float).eps
        value = evaluate(a["x"].copy()) if self._is_begun else None
        while True:
            if not self._is_begun:  # else a step had been made when the state was stored
                routine(
                    m, a["x"], *bounds, a["f"], a["g"], factor, 0.0, a["wa"], a["iwa"], a["task"],
                    a["lsave"], a["isave"], a["dsave"], EVALUATIONS, a["ln_task"],
                )  # fmt: skip
            self._is_begun = False
            if a["task"][0] == _EVALUATE:
                value = evaluate(a["x"].copy())
                a["f"], a["g"] = float(value.cost), np.array(value.gradient, dtype=np.float64)
                a["evaluations"] += 1
            elif a["task"][0] == _NEW_X:
                assert value is not None
                try:
                    after_step(a["x"].copy(), value)
                except StopIteration:
                    a["task"][:] = _STOP, _BY_CALLBACK
                a["steps"] += 1
                if a["steps"] >= iterations:
                    a["task"][:] = _STOP, _MOST_STEPS
                elif a["evaluations"] > EVALUATIONS * iterations:
                    a["task"][:] = _STOP, _MOST_EVALUATIONS
            else:
                found: Any = OptimizeResult()
                found.x, found.nit = a["x"], a["steps"]
                return found


def _fresh(x: Floats, m: int) -> dict[str, Any]:
    """The arrays that the routine works in, of the sizes that it asks for."""
    n = len(x)
    return {
        "x": np.array(x, dtype=np.float64),
        "f": 0.0,
        "g": np.zeros(n),
        "wa": np.zeros(2 * m * n + 5 * n + 11 * m * m + 8 * m),
        "iwa": np.zeros(3 * n, dtype=np.int32),
        "task": np.zeros(2, dtype=np.int32),
        "ln_task": np.zeros(2, dtype=np.int32),
        "lsave": np.zeros(4, dtype=np.int32),
        "isave": np.zeros(44, dtype=np.int32),
        "dsave": np.zeros(29),
        "steps": 0,
        "evaluations": 0,
    }


def _reverse_communication() -> Any:
    """SciPy's routine, if it is the one that is known here: with these arguments, and with integers of 32 bits."""
    try:
        from scipy.linalg.lapack import HAS_ILP64
        from scipy.optimize._lbfgsb import setulb
    except ImportError:
        return None
    said = "".join((setulb.__doc__ or "").split())  # SciPy 1.18 says the same with spaces
    return setulb if said.startswith(_ARGUMENTS) and not HAS_ILP64 else None
