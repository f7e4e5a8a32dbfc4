"""The package as a whole: names, import time, command line, demo."""

from __future__ import annotations

import doctest
import importlib.metadata
import inspect
import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import anndata
import numpy as np
import pytest

import cotherm as ct
from cotherm import cli, engines
from cotherm.methods.validation import _installed_versions

ROOT = Path(__file__).parent.parent


def test_public_names_are_there() -> None:
    for name in ct.__all__:
        assert getattr(ct, name) is not None
    assert set(ct.__all__) <= set(dir(ct))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ct.nonsense
    assert ct.__version__ == importlib.metadata.version("cotherm")


def public_members() -> list[Any]:
    rooms = [member for member in map(ct.__getattr__, ct.__all__) if isinstance(member, ModuleType)]
    found = [getattr(room, name) for room in (ct, *rooms) for name in room.__all__]
    return [member for member in found if not isinstance(member, ModuleType)]


def test_types_that_reach_users_are_public() -> None:
    """Whatever a public function or method takes or returns, or a result holds, has a public name."""
    classes = package_classes()
    public = [*public_members(), *(getattr(engines, name) for name in engines.__all__)]
    seen = {name for member in public_members() for name in names_in_annotations(member) if name in classes}
    assert {"Changes", "Failure", "Graph", "Nearest", "Neighbors", "Spectrum", "Step", "Validity"} <= seen
    assert {name for name in seen if classes[name] not in public} == set()


def package_classes() -> dict[str, type]:
    """Every class that the package defines, by its name; names are those in annotations, which are strings."""
    modules = [
        import_module(found.name)
        for found in walk_packages(ct.__path__, "cotherm.")
        if not found.name.startswith("cotherm.cli") and not found.name.endswith("__main__")
    ]
    return {
        value.__name__: value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }


def names_in_annotations(member: Any) -> set[str]:
    """The names in the annotations of a function, or of the fields, methods and properties of a class."""
    owners = [one for one in getattr(member, "__mro__", ()) if one.__module__.startswith("cotherm.")]
    annotated = [member, *owners]
    for owner in owners:
        for name, value in vars(owner).items():
            if not name.startswith("_") or name == "__init__":
                annotated.append(getattr(value, "fget", getattr(value, "_compute", getattr(value, "__func__", value))))
    notes = [note for one in annotated for note in getattr(one, "__annotations__", {}).values()]
    return {name for note in notes for name in re.findall(r"\w+", str(note))}


def test_import_is_lazy() -> None:
    """Nothing heavy comes with ``import cotherm``, nor with a Graph."""
    code = "import sys, cotherm; cotherm.Graph(2, [0], [1], [1.0]).laplacian(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "cotherm.graphs.graph" in loaded
    for heavy in ("numba", "matplotlib", "sklearn", "pyarrow", "scipy.stats", "scipy.spatial"):
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
        (pair,) = names["result" if page == "README.md" else "paired"].pairs.agreement
        assert pair.after > pair.before > pair.chance
    assert (names["result"].coupling < 0.1 * names["result"].coupling_before).all()
    assert ct.Coupling.load("coupling.npz").cost == names["result"].cost
    assert names["x"].shape == (3, 2_000, 1)
    assert names["d"].shape == (2, 2_000)
    assert names["near"].indices.shape == (2_000, 5)
    assert names["Y"].shape == (2_000, 2)
    assert ct.read_graph("graph.npz") == names["g"]
    assert ct.read_graph("graph.csv") == names["g"].bare()


def test_docstring_examples() -> None:
    homes = {member.__module__ for member in public_members()}
    results = [doctest.testmod(import_module(home)) for home in sorted(homes)]
    assert sum(result.attempted for result in results) > 200
    assert not sum(result.failed for result in results)


def test_docstring_checks_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """``make lint`` runs them on all public names; here on one that is made worse in several ways."""
    complaints = runpy.run_path(str(ROOT / "tools" / "check_docstrings.py"))["complaints"]
    place = "cotherm.functions.label_functions"
    good = ct.label_functions.__doc__
    assert good
    assert list(complaints(place, ct.label_functions)) == []
    for part, worse, code in (
        ("classes :", "kinds :", "PR02"),
        ("unlabeled : int or str, optional", "unlabeled", "PR04"),
        ("See Also\n    --------", "", "SA01"),
        (">>> ", "", "EX01"),
        ("Returns\n    -------", "", "RT01"),
        (".\n", "\n", "SS03"),
    ):
        text = good.partition("Examples")[0] if code == "EX01" else good.replace(part, worse)
        monkeypatch.setattr(ct.label_functions, "__doc__", text)
        assert any(code in complaint for complaint in complaints(place, ct.label_functions)), code
    monkeypatch.setattr(ct.Changes, "__doc__", (ct.Changes.__doc__ or "").replace("kind :", "sort :"))
    found = complaints("cotherm.methods.coupling.result.Changes", ct.Changes)
    assert any("the attribute kind is not documented" in complaint for complaint in found)


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in (
        (["--version"], ct.__version__),
        (["--help"], "demo"),
        (["couple", "--help"], "--alpha"),
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 0
        assert expected in capsys.readouterr().out


def test_nothing_needs_the_metadata_of_an_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run from a source tree or packed into one file, every result used to fail at its end, after all the work."""
    expected = {**_installed_versions()}
    found = importlib.metadata.Distribution.from_name

    def none(name: str) -> Any:
        if name in ("cotherm", *expected):
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(importlib.metadata.Distribution, "from_name", none)
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("numpy")
    _installed_versions.cache_clear()
    views = ct.datasets.ring()
    result = ct.couple(views.graphs, views.functions, options={"max_iterations": 3}, checkpoint=tmp_path / "state")
    assert result.versions == expected
    result.save_page(tmp_path / "page.html")
    assert f"cotherm {ct.__version__}" in (tmp_path / "page.html").read_text(encoding="utf-8")
    cells = [anndata.AnnData(np.zeros((g.n, 1))) for g in views.graphs]
    ct.interop.to_anndata(result, cells)
    assert cells[0].uns["cotherm"]["versions"] == expected
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"cotherm {ct.__version__}\n"


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


def test_demo_where_only_ascii_can_be_written(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cotherm", "demo", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert b"?H?f ? H?f?" in done.stdout
    assert done.stderr == b""
