"""The checklist of a release, walked through.

``python tools/release_check.py [PYTHON ...] [--only {newest,oldest}] [--tests PATH ...]``

Nothing is published. Every line says what was looked at, and the first failure ends it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import cotherm

ROOT = Path(__file__).resolve().parents[1]
# A fixed date for everything in the archives: 1 January 2020.
_DATE = "1577836800"
# Names of licenses, as packages say them, that a BSD project may depend on.
_LICENSES = (
    "bsd",
    "mit",
    "apache",
    "psf",
    "python software foundation",
    "isc",
    "mpl",
    "hpnd",
    "zlib",
    "unlicense",
    "0bsd",
)
# What the wheel is tested with in an environment that has nothing else: quick, and over all layers.
_TESTS = (
    "tests/heat",
    "tests/solve",
    "tests/io/test_atomic.py",
    "tests/methods/test_checkpoint.py",
    "tests/estimators/test_estimators.py",
    "tests/estimators/test_sklearn.py",
    "tests/test_robustness.py",
)
_WHICH = ("newest", "oldest")
_NEEDED_BY_TESTS = ("pytest>=8.0", "hypothesis>=6.100", "mpmath>=1.3", "pandas>=2.1")


def main() -> None:
    parser = argparse.ArgumentParser(prog="release_check.py", description=__doc__)
    parser.add_argument("pythons", nargs="*", default=[sys.executable], metavar="PYTHON", help="to install into")
    parser.add_argument("--tests", nargs="+", default=list(_TESTS), metavar="PATH", help="to run from the wheel")
    parser.add_argument("--only", choices=_WHICH, help="versions of what is required; without it, both in turn")
    options = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said("version", cotherm.__version__)
    require(version_is_the_same(cotherm.__version__), "CITATION.cff and CHANGELOG.md have the same version")
    require(only_floors(project), "requirements are floors, without upper limits")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        first, second = build(folder / "first"), build(folder / "second")
        require(digests(first) == digests(second), "two builds are equal, byte for byte")
        for place in first:
            said(place.name, f"{place.stat().st_size:,} bytes, sha256 {digest(place)}")
        (wheel,) = (place for place in first if place.suffix == ".whl")
        for number, python in enumerate(options.pythons):
            for which in [options.only] if options.only else _WHICH:
                place = folder / f"{number}-{which}"
                inside = installed(place, python, wheel, project, which)
                said("from the wheel", tested(inside, place / "work", options.tests))
                refused = unknown_licenses(inside)
                require(not refused, f"licenses of everything installed are among {', '.join(_LICENSES)}")
    said(
        "left",
        "tag the commit, publish the two files above, and set the version in src/cotherm/version.py to the next one",
    )


def said(name: str, what: str) -> None:
    sys.stdout.write(f"{name}: {what}\n")
    sys.stdout.flush()


def require(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"not so: {what}")
    said("checked", what)


def version_is_the_same(version: str) -> bool:
    citation = (ROOT / "CITATION.cff").read_text()
    return f"version: {version}\n" in citation and f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


def only_floors(project: dict[str, object]) -> bool:
    """No upper limits, and no exact versions, of what is required and of the extras for users."""
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    required = project["dependencies"]
    assert isinstance(required, list)
    listed = [*required, *(one for group in extras.values() for one in group)]
    return not [one for one in listed if re.search(r"<|==|~=|!=", one.split(";")[0])]


def build(out: Path) -> list[Path]:
    """An sdist, and the wheel made from it: what is missing in the one cannot hide in the other."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _DATE}
    out.mkdir()
    sdist = "import sys; from hatchling.build import build_sdist; build_sdist(sys.argv[1])"
    if subprocess.run([sys.executable, "-c", "import hatchling"], check=False, capture_output=True).returncode:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "hatchling"], check=True)
    subprocess.run([sys.executable, "-c", sdist, str(out)], check=True, env=environment, cwd=ROOT)
    (source,) = out.iterdir()
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(source)]
    subprocess.run(command, check=True, env=environment)
    return sorted(out.iterdir())


def digest(place: Path) -> str:
    return hashlib.sha256(place.read_bytes()).hexdigest()


def digests(places: list[Path]) -> dict[str, str]:
    return {place.name: digest(place) for place in places}


def installed(folder: Path, python: str, wheel: Path, project: dict[str, object], which: str) -> Path:
    """The Python of a new environment, with the newest of all that is required or with the oldest that is allowed."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    inside = folder / "bin" / "python"
    name = subprocess.run([str(inside), "--version"], check=True, capture_output=True, text=True).stdout.strip()
    for command in installing(inside, wheel, project, which):
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=without_sources())
        if done.returncode:
            sys.exit(f"{name}, {which}: not installed: {done.stderr.strip()[-500:]}")
    said(f"{name}, {which}", ", ".join(versions(inside, project)))
    return inside


def installing(inside: Path, wheel: Path, project: dict[str, object], which: str) -> list[list[str]]:
    """Commands that install the wheel. pip has no word for the oldest, uv has; wheels only, as for most users."""
    pip = [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if which == "newest":
        return [[*pip, str(wheel), *_NEEDED_BY_TESTS]]
    uv = [str(inside), "-m", "uv", "pip", "install", "--quiet", "--python", str(inside), "--only-binary", ":all:"]
    return [
        [*pip, "uv"],
        [*uv, "--resolution", "lowest-direct", str(wheel), *required(project), *_NEEDED_BY_TESTS],
    ]


def required(project: dict[str, object]) -> list[str]:
    found = project["dependencies"]
    assert isinstance(found, list)
    return found


def versions(inside: Path, project: dict[str, object]) -> list[str]:
    """Of what is required, as installed."""
    names = [re.split(r"[<>=!~ ;]", one)[0] for one in required(project)]
    code = f"from importlib.metadata import version as v\nfor n in {names!r}: print(n, v(n))"
    return subprocess.run([str(inside), "-c", code], check=True, capture_output=True, text=True).stdout.splitlines()


def without_sources() -> dict[str, str]:
    """The environment of a process that must not find the sources."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def tested(inside: Path, work: Path, paths: list[str]) -> str:
    """The last line of the tests, run away from the sources on the package as installed."""
    shutil.copytree(ROOT / "tests", work / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", work)
    code = "import cotherm; print(cotherm.__file__)"
    call = {"capture_output": True, "text": True, "cwd": work, "env": without_sources()}
    where = subprocess.run([str(inside), "-c", code], check=False, **call).stdout.strip()  # type: ignore[call-overload]
    require(bool(where) and Path(where).is_relative_to(inside.parents[1]), "the tests find the package of the wheel")
    command = [str(inside), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-rfE", *paths]
    tests = subprocess.run(command, check=False, **call)  # type: ignore[call-overload]
    if tests.returncode:
        sys.exit(f"tests from the wheel: {tests.stdout[-4000:]}{tests.stderr[-1000:]}")
    return str(tests.stdout.strip().splitlines()[-1])


def unknown_licenses(python: Path) -> list[str]:
    """Packages in an environment whose license is none of those known."""
    code = (
        "from importlib.metadata import distributions\n"
        "for d in distributions():\n"
        "    m = d.metadata\n"
        "    kinds = [c for c in m.get_all('Classifier') or [] if c.startswith('License')]\n"
        "    said = m.get('License-Expression') or '; '.join(kinds) or (m.get('License') or '')[:100]\n"
        "    print(m['Name'], '|', ' '.join(said.split()))\n"
    )
    lines = subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in sorted(lines):
        said("license", line)
    return [line for line in lines if not any(name in line.lower() for name in _LICENSES)]


if __name__ == "__main__":
    main()
