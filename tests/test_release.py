"""What a release needs that can be checked at any time; ``make release-check`` does the rest."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cotherm as ct

ROOT = Path(__file__).resolve().parents[1]


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("release_check", ROOT / "tools" / "release_check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"])


def test_versions_agree_and_requirements_are_floors() -> None:
    assert tool().version_is_the_same(ct.__version__)
    assert tool().only_floors(project())
    pinned = {**project(), "dependencies": ["numpy>=1.26,<3"]}
    assert not tool().only_floors(pinned)


def test_the_oldest_are_asked_for_by_the_floors_and_the_newest_are_not() -> None:
    wheel, python = Path("a.whl"), Path("python")
    (newest,) = tool().installing(python, wheel, project(), "newest")
    *_, oldest = tool().installing(python, wheel, project(), "oldest")
    assert "lowest-direct" in oldest
    assert set(project()["dependencies"]) < set(oldest)
    assert not set(project()["dependencies"]) & set(newest)
    assert "lowest-direct" not in newest


def test_two_builds_are_equal(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    code = (
        "import sys; from hatchling.build import build_sdist, build_wheel; "
        "build_sdist(sys.argv[1]); build_wheel(sys.argv[1])"
    )
    found = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1577836800"}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], cwd=ROOT, env=environment, check=True)
        found.append({place.name: place.read_bytes() for place in (tmp_path / name).iterdir()})
    assert len(found[0]) == 2
    assert found[0] == found[1]
