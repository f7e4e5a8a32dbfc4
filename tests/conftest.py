"""What every test shares: the hypothesis profile, the list of slow tests, and real data found through COTHERM_DATA."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no failure: no example has a deadline.
settings.register_profile("cotherm", deadline=None)
settings.load_profile("cotherm")

# Test functions that take more than a second, all their cases together, one on each line. `make test` leaves them to
# `make test-all`; `make slow-list` writes the list anew.
_SLOW = Path(__file__).with_name("slow.txt")
_SECONDS = 1.0
_spent: defaultdict[str, float] = defaultdict(float)


def _function(nodeid: str) -> str:
    return nodeid.split("[", maxsplit=1)[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-slow-list", action="store_true", help=f"write {_SLOW.name} by the times of this run")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = set(_SLOW.read_text().split())
    for item in items:
        if _function(item.nodeid) in slow:
            item.add_marker(pytest.mark.slow)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _spent[_function(report.nodeid)] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the list where it was asked for; with several test processes, in the one that hears of all tests."""
    if session.config.getoption("write_slow_list") and not hasattr(session.config, "workerinput"):
        slow = sorted(name for name, seconds in _spent.items() if seconds > _SECONDS)
        _SLOW.write_text("".join(f"{name}\n" for name in slow))


@pytest.fixture
def data_file() -> Callable[[str], Path]:
    """Find a real data file, e.g. data_file("tosca/michael7.off").

    Without COTHERM_DATA the test is skipped; with it, a missing file is a failure.
    """

    def find(name: str) -> Path:
        root = os.environ.get("COTHERM_DATA")
        if not root:
            pytest.skip("real data: set COTHERM_DATA to the directory that holds it")
        path = Path(root) / name
        if not path.is_file():
            pytest.fail(f"COTHERM_DATA is set, but {path} is missing")
        return path

    return find
