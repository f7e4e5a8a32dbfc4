"""The package as a whole: names, import time, command line, demo."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotherm as ct
from cotherm import cli
from cotherm.benchmarks import heat

ROOT = Path(__file__).parent.parent


def test_public_names_are_there() -> None:
    for name in ct.__all__:
        assert getattr(ct, name) is not None
    assert set(ct.__all__) <= set(dir(ct))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ct.nonsense
    assert ct.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_import_is_lazy() -> None:
    """Nothing heavy comes with ``import cotherm``, nor with a Graph."""
    code = "import sys, cotherm; cotherm.Graph(2, [0], [1], [1.0]).laplacian(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "cotherm.graphs.graph" in loaded
    for heavy in ("numba", "matplotlib", "sklearn", "scipy.stats", "scipy.spatial"):
        assert heavy not in loaded


def test_readme_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code a newcomer copies: it must run as it stands and give what its comments say."""
    monkeypatch.chdir(tmp_path)
    for page in ("README.md", "docs/python.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        code = "\n".join(block.split("```")[0] for block in text.split("```python\n")[1:])
        names: dict[str, Any] = {}
        for _ in range(2):  # whoever runs it once runs it again
            exec(code, names)
        assert (names["result"].coupling < 0.1 * names["result"].coupling_before).all()
    assert ct.Coupling.load("coupling.npz").cost == names["result"].cost
    assert names["x"].shape == (3, 2_000, 1)
    assert names["d"].shape == (2, 2_000)
    assert names["near"].indices.shape == (2_000, 5)
    assert names["Y"].shape == (2_000, 2)
    assert ct.read_graph("graph.npz") == names["g"]
    assert ct.read_graph("graph.csv") == names["g"].bare()


def test_docstring_examples() -> None:
    homes = {getattr(ct, name).__module__ for name in ct.__all__ if callable(getattr(ct, name))}
    results = [doctest.testmod(import_module(home)) for home in sorted(homes)]
    assert sum(result.attempted for result in results) > 20
    assert not sum(result.failed for result in results)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["--version"], ct.__version__),
        (["--help"], "demo"),
        (["bench", "--help"], "--quick"),
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 0
        assert expected in capsys.readouterr().out


def test_demo_prints_a_result_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["demo", "--out", str(tmp_path / "new")])
    printed = capsys.readouterr().out
    picture = tmp_path / "new" / "demo.png"
    assert str(picture) in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    last = next(line for line in printed.splitlines() if line.split()[:1] == ["10"])
    before, after = (float(last.split()[k]) for k in (3, 6))
    assert after < 0.05 * before
    assert "0-69, 0-68, 1-69" in printed


def test_demo_into_a_file_is_one_line_and_exit_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(SystemExit) as stop:
        cli.main(["demo", "--out", str(blocked)])
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("cotherm: error: out:")
    assert captured.err.count("\n") == 1
    assert blocked.read_text() == "in the way"


def test_heat_benchmark_judges_fairly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contestants agree with the judge, and a wrong one is seen; times are not tested."""
    monkeypatch.setattr(heat, "_SPANS", (100.0, 1000.0))
    graph = heat.problem(1_500)
    duel = heat._duel(graph, 100.0)
    assert [row["name"] for row in duel["contestants"]] == [heat.OURS, heat.PLAIN, heat.SCIPY]
    assert all(row["relative_error"] < 1e-8 for row in duel["contestants"])
    F = heat.functions(graph.n)
    wrong = heat._measure("wrong", lambda g, f, t: f, graph, F, 1.0, heat.ours(graph, F, 1.0), 1)
    assert wrong["relative_error"] > 1e-3
    json.dumps(duel)


def test_demo_where_only_ascii_can_be_written(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cotherm", "demo", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert b"?H?f ? H?f?" in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize("quick", [True, False])
def test_quick_benchmarks_are_not_judged(quick: bool) -> None:
    """The targets are for the full size."""
    rows = [{"name": n, "seconds": 1.0, "times_slower": 1.0, "relative_error": 1.0} for n in (heat.OURS, heat.SCIPY)]
    rows.append({**rows[0], "name": heat.PLAIN})
    duels = [{"t_lambda": span, "contestants": rows} for span in (10.0, 100.0, 1000.0)]
    scaling = [{"n": 1, "seconds": 1.0}, {"n": 10, "seconds": 100.0}]
    memory = {"peak_bytes": 100, "block_bytes": 1, "graph_bytes": 1}
    report: dict[str, Any] = {
        "quick": quick,
        "graph": {"n": 1, "nonzeros": 1, "columns": 1},
        "machine": {"processors": 1},
        "duels": duels,
        "scaling": scaling,
        "memory": memory,
        "claims": heat._claims(duels, scaling, memory, judged=not quick),
    }
    text = heat.table(report)
    assert ("DOES NOT HOLD" in text) != quick
    assert ("the targets are for the full size" in text) == quick
    assert {c["holds"] for c in report["claims"]} == ({None} if quick else {False})


def test_couple_benchmark_judges_by_weights_alone() -> None:
    """The judge's cost is the cost, and every claim follows from what contestants handed in; times are not tested."""
    from cotherm.benchmarks import couple as benchmark

    views = ct.datasets.ring()
    result = ct.couple(views.graphs, views.functions, views.times, continuation="times")
    weights = np.concatenate([g.w for g in result.graphs])
    assert benchmark.judged_cost(views, weights, 1e6) == pytest.approx(result.cost, rel=1e-6)
    start = np.concatenate([g.w for g in views.graphs])
    verdict = benchmark._verdict("someone", [(1.0, start), (2.0, weights), (3.0, start)], views)
    assert verdict["got_there_after"] == 2.0
    assert verdict["best_cost"] == pytest.approx(result.cost, rel=1e-6)
