"""The checklist of a release, walked through: ``python tools/release_check.py [PYTHON ...]``; see `make release-check`.

Nothing is published. Every line says what was looked at, and the first failure ends it.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

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
_TESTS = ("tests/heat", "tests/solve", "tests/io/test_atomic.py", "tests/methods/test_checkpoint.py")
_NEEDED_BY_TESTS = ("pytest", "hypothesis", "mpmath")


def main() -> None:
    pythons = sys.argv[1:] or [sys.executable]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said("version", project["version"])
    require(version_is_the_same(project["version"]), "CITATION.cff and CHANGELOG.md have the same version")
    require(only_floors(project), "requirements are floors, without upper limits")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        first, second = build(folder / "first"), build(folder / "second")
        require(digests(first) == digests(second), "two builds are equal, byte for byte")
        for place in first:
            said(place.name, f"{place.stat().st_size:,} bytes, sha256 {digest(place)}")
        (wheel,) = (place for place in first if place.suffix == ".whl")
        for number, python in enumerate(pythons):
            for lowest in (False, True):
                installed_and_tested(folder / f"{number}-{lowest}", python, wheel, project, lowest=lowest)
    said("left", "tag the commit, publish the two files above, and set the version in pyproject.toml to the next one")


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
    """An sdist and the wheel made from it."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _DATE}
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(ROOT)]
    subprocess.run(command, check=True, env=environment)
    sdist = "import sys; from hatchling.build import build_sdist; build_sdist(sys.argv[1])"
    if subprocess.run([sys.executable, "-c", "import hatchling"], check=False, capture_output=True).returncode:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "hatchling"], check=True)
    subprocess.run([sys.executable, "-c", sdist, str(out)], check=True, env=environment, cwd=ROOT)
    return sorted(out.iterdir())


def digest(place: Path) -> str:
    return hashlib.sha256(place.read_bytes()).hexdigest()


def digests(places: list[Path]) -> dict[str, str]:
    return {place.name: digest(place) for place in places}


def installed_and_tested(folder: Path, python: str, wheel: Path, project: dict[str, object], *, lowest: bool) -> None:
    """In a new environment, with the newest of everything or with the lowest NumPy and SciPy that are allowed."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    inside = folder / "bin" / "python"
    pip = [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pinned = [one.replace(">=", "==") + ".*" for one in _floors(project)] if lowest else []
    done = subprocess.run([*pip, str(wheel), *_NEEDED_BY_TESTS, *pinned], check=False, capture_output=True, text=True)
    name = subprocess.run([str(inside), "--version"], check=True, capture_output=True, text=True).stdout.strip()
    how = "lowest NumPy and SciPy" if lowest else "newest"
    if done.returncode:
        said(f"{name}, {how}", f"NOT INSTALLED: {done.stderr.strip().splitlines()[-1][:200]}")
        return
    listed = subprocess.run([*pip[:3], "list", "--format=freeze"], check=True, capture_output=True, text=True).stdout
    versions = [line for line in listed.splitlines() if line.split("==")[0] in ("numpy", "scipy", "numba")]
    # Away from the sources, so that the installed package is what is tested.
    (folder / "work").mkdir()
    for one in ("tests", "pyproject.toml", "benchmarks"):
        (folder / "work" / one).symlink_to(ROOT / one)
    tests = subprocess.run(
        [str(inside), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *_TESTS], check=False, capture_output=True,
        text=True, cwd=folder / "work",
    )  # fmt: skip
    last = tests.stdout.strip().splitlines()[-1] if tests.stdout.strip() else tests.stderr.strip()[-200:]
    if tests.returncode:
        sys.exit(f"{name}, {how} ({', '.join(versions)}): {tests.stdout[-2000:]}")
    said(f"{name}, {how}", f"{', '.join(versions)}: {last}")
    require(not unknown_licenses(inside), f"licenses of everything installed are among {', '.join(_LICENSES)}")


def _floors(project: dict[str, object]) -> list[str]:
    required = project["dependencies"]
    assert isinstance(required, list)
    return [one for one in required if one.startswith(("numpy", "scipy"))]


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
