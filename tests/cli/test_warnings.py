"""No command prints a warning of NumPy or SciPy: tables with traits that divide by zero elsewhere.

Warnings are errors in all tests, so one of them would end a command in a traceback.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cotherm.arrays import Floats
from tests.cli.conftest import Run

N = 24
Random = np.random.Generator
TRAITS: dict[str, Callable[[Random], Floats]] = {
    "equal rows": lambda r: np.repeat(r.random((4, 3)), N // 4, axis=0),
    "one row": lambda r: np.tile(r.random(3), (N, 1)),
    "constant column": lambda r: np.column_stack([r.random((N, 2)), np.ones(N)]),
    "far pieces": lambda r: r.random((N, 3)) + 1e6 * (np.arange(N) % 6)[:, np.newaxis],
    "huge": lambda r: 1e130 * r.random((N, 3)),
    "tiny": lambda r: 1e-130 * r.random((N, 3)),
    "outlier": lambda r: r.random((N, 3)) * np.where(np.arange(N) == 0, 1e9, 1.0)[:, np.newaxis],
}


@pytest.mark.parametrize("trait", TRAITS)
@pytest.mark.parametrize("how", ["pairs", "labels"])
def test_commands_on_odd_tables(
    trait: str, how: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(sorted(TRAITS).index(trait))
    for name, X in (("a", TRAITS[trait](random)), ("b", random.random((N, 2)))):
        rows = [f"item-{k}," + ",".join(map(repr, row)) for k, row in enumerate(X.tolist())]
        Path(f"{name}.csv").write_text("\n".join(["id," + ",".join("xyz"[: X.shape[1]]), *rows, ""]))
    Path("kinds.csv").write_text("\n".join(["id,kind", *(f"item-{k},{'uvw'[k % 3]}" for k in range(N)), ""]))
    by = [] if how == "pairs" else ["--labels", "kinds.csv"]
    commands: list[list[object]] = [
        ["couple", "a.csv", "b.csv", *by, "-k", 4, "--max-iterations", 20, "--out", "c.npz"],
        ["average", "a.csv", "b.csv", "-k", 4, "--out", "mean.npz"],
        ["diagonalize", "a.csv", "b.csv", "-k", 4, "--out", "modes.csv"],
        ["changes", "c.npz", "--out", "changes.csv"],
        ["distances", "c.npz", "--view", 1, "--time", 1, "--out", "distances.csv"],
        ["cluster", "c.npz", "--clusters", 3, "--out", "clusters.csv"],
        ["show", "c.npz", "--out", "graphs.png"],
        ["show", "c.npz", "--kind", "heat", "--out", "heat.png"],
        ["show", "c.npz", "--kind", "coupling", "--out", "coupling.png"],
        ["view", "c.npz", "--out", "c.html", "--no-open"],
    ]
    for command in commands:
        answer = run(*command)
        assert (answer.code, "Warning" in answer.err) == (0, False), (command, answer)
