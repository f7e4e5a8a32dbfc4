"""What notebooks show: a line and a small table of every result, and the quick start as it runs."""

from __future__ import annotations

import base64
import os
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure
from nbclient import NotebookClient

import cotherm as ct
from cotherm import draw as figures
from cotherm import limits
from tests.problems import refused

QUICK_START = Path(__file__).parent.parent / "examples" / "quickstart.ipynb"


@pytest.fixture(scope="module")
def ring() -> ct.Coupling:
    views = ct.datasets.ring()
    return ct.couple(views.graphs, views.functions, [1.0, 5.0], options={"max_iterations": 5})


@pytest.fixture(scope="module")
def paired() -> ct.Coupling:
    views = ct.datasets.ambiguous()
    return ct.couple_pairs(views.graphs, options={"kept_back": 0.0, "max_iterations": 3})


RESULTS: dict[str, Callable[[Any], Any]] = {
    "couple": lambda views: ct.couple(views.graphs, views.functions, [1.0], options={"max_iterations": 2}),
    "changes": lambda views: RESULTS["couple"](views).changes()[0],
    "couple_pairs": lambda views: ct.couple_pairs(views.graphs, options={"kept_back": 0.0, "max_iterations": 2}),
    "pairs": lambda views: RESULTS["couple_pairs"](views).pairs,
    "common": lambda views: ct.common_graph(views.graphs),
    "average": lambda views: ct.average(views.graphs),
    "diagonalize": lambda views: ct.joint_diagonalize(views.graphs, max_iterations=2),
    "commuting": lambda views: ct.closest_commuting(views.graphs, max_iterations=2),
    "bases": lambda views: ct.coupled_bases(views.graphs, views.functions, 4, restarts=1),
    "align": lambda views: ct.align(views.graphs, views.functions, 4),
    "match": lambda views: ct.match(RESULTS["couple"](views)),
}
RECORDS: dict[str, Callable[[Any], Any]] = {
    "views": lambda views: views,
    "graph": lambda views: views.graphs[0],
    "spectrum": lambda views: ct.average(views.graphs).modes(20)[0],
    "modes": lambda views: ct.match(RESULTS["couple"](views)).bases[0],
    "memory": lambda views: ct.coupling_memory(views.graphs, views.functions),
    "validity": lambda views: views.graphs[0].validity(),
}


class Tags(HTMLParser):
    """All tags and their attributes, and that each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def pictures(html: str) -> list[bytes]:
    return [base64.b64decode(one) for one in re.findall(r'src="data:image/png;base64,([^"]+)"', html)]


@pytest.mark.parametrize("name", [*RESULTS, *RECORDS])
def test_every_result_is_short(name: str) -> None:
    shown = repr((RESULTS | RECORDS)[name](ct.datasets.circles()))
    assert len(shown) < 400
    assert shown.count("\n") < 2
    assert "array([" not in shown


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_table(name: str) -> None:
    result = RESULTS[name](ct.datasets.circles())
    found = Tags(result._repr_html_())
    assert found.open == []
    tags = {tag for tag, _ in found.tags}
    assert {"table", "td"} <= tags <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "img"}
    assert result._headline() in found.text


def test_a_coupling_tells_what_changed(paired: ct.Coupling) -> None:
    found = Tags(paired._repr_html_()).text
    words = ("tags", "colors", "145", "coupling error", "agreement as given", paired.status, paired.advice)
    for told in (*words, f"{paired.graphs[0].m:,}"):
        assert told in found
    assert f"{np.linalg.norm(paired.coupling):.4g}" in found
    changed = int(np.sum(paired.changes()[0].kind != "kept"))
    assert f"{changed:,}" in found
    assert f"edges changed: {changed:,} of {paired.graphs[0].m:,}" in repr(paired)


def test_pictures_are_small_and_left_out_of_large_results(
    ring: ct.Coupling, paired: ct.Coupling, monkeypatch: pytest.MonkeyPatch
) -> None:
    for result in (ring, paired):
        html = result._repr_html_()
        (picture,) = pictures(html)
        assert picture.startswith(b"\x89PNG")
        assert len(base64.b64encode(picture)) <= 60_000
    monkeypatch.setattr(limits, "PICTURED_VERTICES", 139)
    views = ct.datasets.ring()
    assert pictures(ct.couple(views.graphs, views.functions, [1.0], options={"max_iterations": 1})._repr_html_()) == []


def test_a_picture_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("cotherm.draw.result.draw_result", fail)
    views = ct.datasets.ring()
    result = ct.couple(views.graphs, views.functions, [1.0], options={"max_iterations": 1})
    assert "<table>" in result._repr_html_()
    assert pictures(result._repr_html_()) == []


def test_names_are_not_interpreted() -> None:
    name = '<script>alert("x")</script>\u202e&'
    graph = ct.Graph(2, [0], [1], [1.0], name=name, vertex_names=["<b>a", "c"])
    for result in (graph, ct.average([graph, graph])):
        html = result._repr_html_()
        assert "script" not in {tag for tag, _ in Tags(html).tags}
        assert "&lt;script&gt;" in html
        assert "\u202e" not in html
    assert "&lt;b&gt;a" in graph._repr_html_()


@pytest.mark.parametrize("kind", ["graphs", "heat", "coupling", "convergence"])
def test_plot_draws_what_show_does(ring: ct.Coupling, kind: str) -> None:
    figure = ring.plot(kind)
    assert isinstance(figure, Figure)
    assert figure.axes


def test_plot_refuses(ring: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(lambda: ring.plot("pie")) == "kind"
    assert refused(lambda: ring.plot("heat", function=99)) == "function"
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for name in [one for one in sys.modules if one.startswith("cotherm.draw")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ct.CothermError, match="pip install matplotlib"):
        ring.plot()


def test_figures_are_shown_unless_others_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    class Formatter:
        def __init__(self) -> None:
            self.type_printers: dict[Any, Any] = {}

        def for_type(self, kind: Any, function: Any) -> None:
            self.type_printers[kind] = function

    formatter = Formatter()
    shell: Any = type("Shell", (), {})()
    shell.display_formatter = type("All", (), {"formatters": {"image/png": formatter}})
    module: Any = type("IPython", (), {"get_ipython": staticmethod(lambda: shell)})
    monkeypatch.setitem(sys.modules, "IPython", module)
    figures.show_figures()
    assert formatter.type_printers[Figure](Figure()).startswith(b"\x89PNG")
    formatter.type_printers[Figure] = "inline"
    figures.show_figures()
    assert formatter.type_printers == {Figure: "inline"}
    monkeypatch.delitem(sys.modules, "IPython")
    figures.show_figures()  # nothing to tell


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    text = (QUICK_START.parent.parent / "docs" / "notebooks.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), names)
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")
    assert names["quick"].settings["max_seconds"] == 30
    assert f"up to {limits.PICTURED_VERTICES}\nvertices" in text


def test_the_quick_start_has_no_outputs_and_is_small() -> None:
    book = nbformat.read(QUICK_START, as_version=4)
    nbformat.validate(book)
    assert all(not cell.outputs and cell.execution_count is None for cell in book.cells if cell.cell_type == "code")
    assert QUICK_START.stat().st_size < 20_000


def test_the_quick_start_runs(tmp_path: Path) -> None:
    book = nbformat.read(QUICK_START, as_version=4)
    client = NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env={**os.environ, "PYTHONPATH": str(Path(ct.__file__).parents[1])})  # this package and no other
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    outputs = [output for cell in code for output in cell.outputs]
    texts = [output.data.get("text/plain", "") for output in outputs if "data" in output]
    assert max(map(len, texts)) < 2_000
    # No warning; on a slow machine a line of progress, which is erased in the end.
    errors = "".join(output.text for output in outputs if output.get("name") == "stderr")
    assert "Warning" not in errors
    assert not errors or errors.endswith("\r")

    def last(start: str) -> Any:
        (found,) = [cell for cell in code if start in cell.source]
        return found.outputs[-1]

    rows = last("to_csv").text.splitlines()
    assert rows[0] == "id;length;width;teeth"
    assert all(re.fullmatch(r"plant-\d{3}(;-?\d,\d{3}){3}", row) for row in rows[1:])
    reading = last("read_table").text
    assert "115 rows" in reading
    assert "112 rows" in reading
    assert "1 missing value" in reading
    coupled = last("ct.couple_pairs").data
    assert coupled["text/plain"].startswith("<Heat kernel coupling of 2 graphs: converged")
    assert len(pictures(coupled["text/html"])) == 1
    assert "borrowed  coupled" in last("print(result)").text
    assert base64.b64decode(last("result.plot").data["image/png"]).startswith(b"\x89PNG")
    counts = np.array([row.split()[1:] for row in last("crosstab").data["text/plain"].splitlines()[2:]], dtype=int)
    assert counts.sum() == 120
    assert counts.max(axis=1).sum() > 110  # clusters are species
    near = re.findall(r"plant-(\d+)", last("nsmallest").data["text/plain"])
    assert len(near) == 5
    assert "003" not in near
    assert all(int(one) < 40 for one in near)  # of the same species
    rows = last("nearest=3").data["text/plain"]
    assert len(re.findall(r"plant-\d+", rows)) == 8
