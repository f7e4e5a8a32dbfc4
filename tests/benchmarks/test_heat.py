"""The benchmark of heat flow judges fairly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks import heat


def test_contestants_are_judged_fairly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contestants agree with the judge, and a wrong one is seen; times are not tested."""
    monkeypatch.setattr(heat, "_SPANS", (100.0, 1000.0))
    graph = heat.problem(1_500)
    comparison = heat._compare(graph, 100.0)
    assert [row["name"] for row in comparison["contestants"]] == [heat.OURS, heat.PLAIN, heat.SCIPY]
    assert all(row["relative_error"] < 1e-8 for row in comparison["contestants"])
    F = heat.functions(graph.n)
    wrong = heat._measure("wrong", lambda g, f, t: f, graph, F, 1.0, heat.ours(graph, F, 1.0), 1)
    assert wrong["relative_error"] > 1e-3
    json.dumps(comparison)


@pytest.mark.parametrize("quick", [True, False])
def test_a_quick_run_is_not_judged(quick: bool) -> None:
    """The targets are for the full size."""
    rows = [{"name": n, "seconds": 1.0, "times_slower": 1.0, "relative_error": 1.0} for n in (heat.OURS, heat.SCIPY)]
    rows.append({**rows[0], "name": heat.PLAIN})
    comparisons = [{"t_lambda": span, "contestants": rows} for span in (10.0, 100.0, 1000.0)]
    scaling = [{"n": 1, "seconds": 1.0}, {"n": 10, "seconds": 100.0}]
    memory = {"peak_bytes": 100, "block_bytes": 1, "graph_bytes": 1}
    report: dict[str, Any] = {
        "quick": quick,
        "graph": {"n": 1, "nonzeros": 1, "columns": 1},
        "machine": {"processors": 1},
        "comparisons": comparisons,
        "scaling": scaling,
        "memory": memory,
        "claims": heat._claims(comparisons, scaling, memory, judged=not quick),
    }
    text = heat.table(report)
    assert ("DOES NOT HOLD" in text) != quick
    assert ("the targets are for the full size" in text) == quick
    assert {c["holds"] for c in report["claims"]} == ({None} if quick else {False})
