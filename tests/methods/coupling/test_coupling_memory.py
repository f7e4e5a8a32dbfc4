"""The peak of memory is known beforehand, and what cannot fit is refused."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import cotherm as ct
from cotherm import memory
from cotherm.engines import default_engine
from cotherm.methods.coupling import memory as plan
from cotherm.solve.filtered_eigenpairs import block_width
from tests.problems import refused

ROOT = Path(__file__).parents[3]


def test_the_peak_is_known_beforehand() -> None:
    views = ct.datasets.shortcuts(31_000, k=10, functions=6)
    times = views.times[1:]
    small = ct.datasets.shortcuts(1_000, functions=6)
    ct.couple(
        small.graphs, small.functions, small.times, "auto", options={"max_iterations": 2}
    )  # compiling is not counted
    # Compiled code and threads take something too, which is not traced.
    predicted = ct.coupling_memory(views.graphs, views.functions, times).added - plan._FIXED
    tracemalloc.start()
    ct.couple(views.graphs, views.functions, times, "auto", options={"continuation": "direct", "tolerance": 0.3})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.75 < predicted / peak < 1.25


def clouds(n: int, q: int, n_graphs: int = 2) -> tuple[list[ct.Graph], list[np.ndarray]]:
    """Graphs of points with noise, and bumps around the same vertices of each."""
    random = np.random.default_rng(0)
    points = random.standard_normal((n, 3))
    graphs = [ct.knn_graph(points + 0.3 * random.standard_normal(points.shape), k=6) for _ in range(n_graphs)]
    vertices = random.choice(n, q, replace=False)
    return graphs, [ct.landmark_functions(graph, vertices) for graph in graphs]


# Many functions on few vertices, with more residuals than edges; few on many; three views of either kind.
SHAPES = [(100, 40, 2), (3_000, 5, 2), (60, 25, 3), (1_000, 6, 3), (600, 20, 2)]


@pytest.mark.parametrize(("n", "q", "n_graphs"), SHAPES)
def test_choosing_times_and_alpha_is_within_the_forecast(n: int, q: int, n_graphs: int) -> None:
    graphs, functions = clouds(n, q, n_graphs)
    ct.couple(*clouds(min(n, 300), 3, n_graphs), options={"max_iterations": 2})  # compiling is not counted
    predicted = ct.coupling_memory(graphs, functions).added
    tracemalloc.start()
    result = ct.couple(graphs, functions, options={"max_iterations": 3})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.settings["times"] == result.settings["alpha"] == "auto"
    assert peak <= predicted


RSS = """
import sys
import numpy as np
import cotherm as ct
from cotherm import memory
from tests.methods.coupling.test_coupling_memory import clouds

n, q, n_graphs = map(int, sys.argv[1:])
ct.couple(*clouds(min(n, 700), 3, n_graphs), options={"max_iterations": 2})
graphs, functions = clouds(n, q, n_graphs)
predicted = ct.coupling_memory(graphs, functions).added
before = memory.in_use()
ct.couple(graphs, functions, options={"max_iterations": 4})
print(memory.peak() - before, predicted)
"""


@pytest.mark.skipif(memory.in_use() is None, reason="needs /proc")
@pytest.mark.parametrize(("n", "q", "n_graphs"), [(3_000, 12, 3), (100, 50, 2)])
def test_the_process_itself_stays_within_the_forecast(n: int, q: int, n_graphs: int) -> None:
    """Freed blocks of one stage must not lie beside larger ones of the next."""
    command = [sys.executable, "-c", RSS, str(n), str(q), str(n_graphs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    grown, predicted = map(float, done.stdout.split())
    assert grown <= predicted


def test_the_limit_holds_where_times_and_alpha_are_chosen() -> None:
    graphs, functions = clouds(100, 40)
    needs = ct.coupling_memory(graphs, functions)
    assert refused(lambda: ct.couple(graphs, functions, options={"memory": 0.8 * needs.peak})) == "memory"


def test_what_fits_the_budget_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = plan.CouplingMemory(added=500, in_use=100)
    assert plan.require_room(needs, 600) == needs
    assert refused(lambda: plan.require_room(needs, 599)) == "memory"
    monkeypatch.setattr(memory, "available", lambda *_: 600)
    assert plan.require_room(needs, None) == needs
    monkeypatch.setattr(memory, "available", lambda *_: 500)
    assert refused(lambda: plan.require_room(needs, None)) == "memory"


def test_what_cannot_fit_is_refused_at_once_with_what_would() -> None:
    views = ct.datasets.shortcuts(5_000)
    with pytest.raises(ct.CothermError) as caught:
        ct.couple(views.graphs, views.functions, options={"memory": "1MB"})
    needs = ct.coupling_memory(views.graphs, views.functions)
    assert caught.value.argument == "memory"
    assert "1 MB" in str(caught.value)
    assert memory.words(needs.peak).split()[0][:2] in str(caught.value)


def test_modes_that_ranks_make_are_within_the_forecast() -> None:
    """The block of the mode iteration is counted, where it is more than the coupling takes afterwards."""
    sizes, engine = [(50_000, 300_000)] * 2, default_engine()
    few, many = (plan.predicted(sizes, 2, 1, engine, choosing=False, modes=k).added for k in (0, 200))
    columns = block_width(200)
    assert columns == 300
    assert many - few > 8 * 50_000 * 5 * columns
    usual = [plan.predicted(sizes, 48, 1, engine, choosing=False, modes=k).added for k in (0, 24)]
    assert usual[0] == usual[1]  # less than derivatives take


def test_bad_words() -> None:
    views = ct.datasets.ring(20)
    assert refused(lambda: ct.couple(views.graphs, views.functions, options={"memory": "lots"})) == "memory"
    assert refused(lambda: ct.coupling_memory(views.graphs, views.functions, "soon")) == "times"


def test_needs_in_words() -> None:
    text = str(plan.CouplingMemory(added=9 * 10**9, in_use=10**8))
    assert "stored" in text
    assert "9 GB" in text
    assert "100 MB" in text
