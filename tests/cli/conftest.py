"""Tables of sixty items in two views, which fewer files of couplings are made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from cotherm import cli


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Answer]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command: its exit code and what it printed."""

    def go(*arguments: object) -> Answer:
        capsys.readouterr()
        try:
            cli.main([str(argument) for argument in arguments])
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capsys.readouterr()
        return Answer(code, printed.out, printed.err)

    return go


def write_tables(directory: Path) -> None:
    """Three classes of twenty: the first view confuses two of them, the second view two others."""
    random = np.random.default_rng(0)
    classes = random.permutation(np.repeat([0, 1, 2], 20))
    first = np.array([[0.0, 0.0], [1.2, 0.0], [6.0, 0.0]])[classes] + 0.6 * random.standard_normal((60, 2))
    second = np.array([[0.0, 0, 0], [6.0, 0, 0], [6.0, 1.2, 0]])[classes] + 0.6 * random.standard_normal((60, 3))
    names = [f"item-{k}" for k in range(60)]
    _write(directory / "first.csv", ["id", "x", "y"], names, first.tolist())
    _write(directory / "second.csv", ["id", "u", "v", "w"], names, second.tolist())
    _write(directory / "labels.csv", ["id", "kind"], names, [["red", "green", "blue"][c] for c in classes])


def _write(place: Path, titles: list[str], names: list[str], rows: list[object]) -> None:
    lines = [",".join(titles)]
    for name, row in zip(names, rows, strict=True):
        lines.append(",".join([name, *map(str, row if isinstance(row, list) else [row])]))
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def coupled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the tables and coupled.npz."""
    directory = tmp_path_factory.mktemp("tables")
    write_tables(directory)
    files = [str(directory / name) for name in ("first.csv", "second.csv")]
    out = [
        "--by",
        "labels",
        "--labels",
        str(directory / "labels.csv"),
        "--out",
        str(directory / "coupled.npz"),
        "--json",
    ]
    cli.main(["couple", *files, *out])
    return directory


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    write_tables(tmp_path)
    return tmp_path
