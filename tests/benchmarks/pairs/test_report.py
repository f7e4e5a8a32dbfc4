"""Rows that are kept, a run that goes on, and the tables; nothing here is really measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import cli, pairs
from benchmarks.pairs import joint, joint_tables, runner
from benchmarks.pairs.cases import Case
from benchmarks.pairs.cells import cell, difference, failures, seconds
from benchmarks.pairs.keep import Kept
from benchmarks.pairs.retrieval import METHODS, STEPS, figure_name
from benchmarks.suite.parts import FAILED, NO_DATA, NOT_INSTALLED, OK, OUT_OF_TIME, SKIPPED, Row
from paper.page import write_page
from tests.problems import refused

MOMENT = "1 move"


class Judge:
    """In place of processes: figures that depend on method, part and seed, and some failures."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.status: dict[str, tuple[str, str]] = {}

    def __call__(self, _module: str, family: Any, problem: Any, contestant: Any, *_: Any, **__: Any) -> Row:
        self.asked.append((problem.name, contestant.name))
        status, reason = self.status.get(contestant.name, (OK, ""))
        figures = {}
        if status == OK:
            case = Case.named(problem.name)
            figures = FIGURES[family.name](contestant.name, case)
        found = {"figures": figures, "seconds": 1.5 if status == OK else None}
        return Row.of(family, problem, contestant, status, reason=reason, **found)


def _retrieval(name: str, case: Case) -> dict[str, float | None]:
    gain = 0.1 * list(METHODS).index(name) + 0.01 * case.seed * (name != "as given")
    return {
        figure_name(row, view, MOMENT, who): None
        if who == "unpaired" and case.percent == 100.0
        else worth + gain * (who == "paired")
        for row in METHODS[name].rows
        for view, worth in (("tags", 0.5), ("colors", 0.3))
        for who in ("paired", "unpaired")
    }


def _missing(_: str, case: Case) -> dict[str, float | None]:
    return {"AMI": case.percent / 100.0 - 0.1 * case.seed, "accuracy": 0.5}


def _joint(name: str, case: Case) -> dict[str, float | None]:
    worth = {joint.COMMON: {joint.COMMON: 0.9}, joint.MERGED: {joint.MERGED: 0.95, joint.SPREAD: 0.97}}
    views = {joint.view_name("tags"): 0.8, joint.view_name("colors"): 0.3 + 0.6 * case.seed}
    rows = views if name == joint.SINGLE else worth.get(name, {name: 0.7 if name == "average" else 0.5})
    return {joint.figure_name(row, figure): value for row, value in rows.items() for figure in ("8 moves", "AMI")}


FIGURES = {"retrieval": _retrieval, "missing": _missing, "joint": _joint}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    found = Judge()
    monkeypatch.setattr(runner, "judged", found)
    monkeypatch.delenv("COTHERM_DATA", raising=False)
    return found


def _lines(text: str, *words: str) -> list[list[str]]:
    """The cells of the lines that begin with these."""
    start = "| " + " | ".join(words) + " |"
    return [[one.strip() for one in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith(start)]


def test_cells() -> None:
    assert cell({}, 1) == "–"
    assert cell({0: 50.0}, 1) == "50.0"
    assert cell({0: 50.0, 1: 52.0}, 1) == "51.0 ± 1.4"
    assert cell({0: 50.0, 1: 52.0}, 1, {0: 49.0, 1: 50.0}) == "51.0 ± 1.4 (+1.5)"
    assert cell({0: 50.0, 1: 52.0}, 1, {0: 53.0}) == "51.0 ± 1.4 (-2.0)"
    assert difference({0: 50.0, 1: 52.0, 2: 9.0}, {0: 49.0, 1: 49.0}, 1) == "+2.0 ± 1.4"
    assert difference({0: 50.0}, {0: 50.5}, 1) == "-0.5"
    assert difference({0: 50.0}, {1: 50.0}, 1) == "–"
    rows = [{"contestant": "a", "seconds": value} for value in (20.0, 30.0)]
    assert seconds(rows, "a") == "25"
    assert seconds([{"contestant": "a", "seconds": 1e-5}], "a") == "< 0.01"
    assert seconds(rows, "b") == "–"


def test_tables_of_retrieval(judge: Judge) -> None:
    report = pairs.run(sets=["planted-40"], seeds=2, parts=[100.0, 50.0], experiments=["retrieval"])
    text = pairs.table(report)
    mean, paired, unpaired = _lines(text, "50 %", "paired average")
    gain = 0.1 * list(METHODS).index("paired average")
    assert mean[2:4] == [f"{40 + 100 * gain + 0.5:.1f} ± 0.7 ({100 * gain + 0.5:+.1f})", "40.0 ± 0.0 (+0.0)"]
    assert paired[2] == f"{50 + 100 * gain + 0.5:.1f} ± 0.7 ({100 * gain + 0.5:+.1f})"
    assert unpaired[2:4] == ["50.0 ± 0.0 (+0.0)", "30.0 ± 0.0 (+0.0)"]
    assert _lines(text, "100 %", "best single view")[0][2:4] == ["50.0 (+10.0)", "–"]
    assert _lines(text, "100 %", "best single view")[1][2:4] == ["50.0 (+0.0)", "50.0 (+20.0)"]
    assert len(_lines(text, "100 %", "common graph")) == 2
    assert not _lines(text, "50 %", "similarity fusion")
    # Where all are paired, only what draws pairs to keep back depends on the seed.
    assert [name for case, name in judge.asked if case == "planted-40 100 1"] == [
        "borrowed",
        "coupled without borrowing",
        "coupled",
    ]


def test_what_each_part_adds(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "MOMENT", "8 moves")
    report = pairs.run(sets=["planted-40", "planted-50"], seeds=2, parts=[100.0, 50.0], experiments=["retrieval"])
    text = pairs.table(report)
    header = next(line for line in text.splitlines() if line.startswith("| set | paired |"))
    assert [one.strip() for one in header.split("|")[4:-1]] == [
        *STEPS[: STEPS.index("coupled") + 1],
        "what coupling adds",
        *STEPS[STEPS.index("coupled") + 1 :],
    ]
    (first,), (_,) = (_lines(text, name, "100 %") for name in ("planted-40", "planted-50"))
    assert first[2] == "8 moves"
    assert first[3] == "40.0"
    assert first[8] == "+20.0 ± 0.0"  # two contestants further, with every seed
    assert not _lines(text, "planted-40", "50 %")


def test_tables_of_one_graph_for_all(judge: Judge) -> None:
    judge.status = {"IntegrAO": (NOT_INSTALLED, "pip install integrao"), "concatenation": (FAILED, "ValueError: a")}
    sets = ["planted-40", "planted-50+permuted"]
    report = pairs.run(sets=sets, seeds=2, parts=[100.0, 50.0], experiments=["joint"])
    assert {case for case, _ in judge.asked} == {f"{name} 100 {seed}" for name in sets for seed in (0, 1)}
    text = pairs.table(report)
    moves, ami, first, _ = _lines(text, joint.COMMON)
    assert moves[1:] == ami[1:] == ["90.0 ± 0.0 (+5.0)"] * 2
    assert first[1:] == ["90.0 ± 0.0 (+5.0)"] * 2 + ["1.50"]
    assert _lines(text, joint_tables.BEST)[0][1:] == ["85.0 ± 7.1"] * 2
    assert _lines(text, joint_tables.OTHERS)[0][1] == "85.0 ± 7.1"  # ours without coupling are none of them
    assert _lines(text, joint_tables.LEAD)[0][1] == "+5.0 ± 7.1"
    assert _lines(text, joint.SPREAD)[0][1] == "97.0 ± 0.0 (+12.0)"
    assert _lines(text, "average")[2][1] == "70.0 ± 0.0 (-15.0)"
    assert _lines(text, "view: colors")[0][1] == "60.0 ± 42.4"
    assert _lines(text, "IntegrAO")[0][1] == NOT_INSTALLED
    assert _lines(text, "concatenation")[0][1] == FAILED
    assert "- concatenation, 100 %, 2 runs: failed: ValueError: a" in text


def test_items_that_are_really_missing_have_an_experiment_of_their_own(judge: Judge) -> None:
    rows = pairs.run(sets=["tcga-missing"], seeds=1, parts=[100.0, 50.0])["rows"]
    assert {(row["family"], row["problem"]) for row in rows} == {("missing", "tcga-missing 68.2 0")}
    assert "normalized average" not in [row["contestant"] for row in rows]


def test_a_time_limit_is_told() -> None:
    row = {"family": "missing", "problem": "nus 50 0", "contestant": "NEMO", "reason": ""}
    late = row | {"status": OUT_OF_TIME, "limit_seconds": 300.0}
    assert failures([late, late]) == ["- NEMO, 50 %, 2 runs: out of time (300 s)"]
    assert failures([row | {"status": FAILED, "limit_seconds": 300.0}]) == ["- NEMO, 50 %, 1 run: failed"]


def test_failures_are_rows(judge: Judge) -> None:
    judge.status = {
        "NEMO": (NOT_INSTALLED, "pip install imml"),
        "PIMVC": (OUT_OF_TIME, ""),
        "EEIMVC": (FAILED, "ValueError: a|b"),
    }
    report = pairs.run(sets=["planted-40", "nus"], seeds=3, parts=[100.0, 50.0], experiments=["missing"])
    text = pairs.table(report)
    mine, absent = _lines(text, "coupled, common graph")
    assert mine[1:3] == ["0.900 ± 0.100", "0.400 ± 0.100"]
    assert absent[1:3] == [NO_DATA, NO_DATA]
    assert _lines(text, "NEMO")[0][1] == NOT_INSTALLED
    assert _lines(text, "PIMVC")[0][1:3] == [OUT_OF_TIME, OUT_OF_TIME]
    assert _lines(text, "normalized average")[0][2] == "–"
    assert "- PIMVC, 100 %, 50 %, 4 runs: skipped: out of time with seed 0" in text
    assert "- EEIMVC, 100 %, 50 %, 6 runs: failed: ValueError: a|b" in text
    assert sum(name == "PIMVC" for _, name in judge.asked) == 2
    assert {row["status"] for row in report["rows"] if row["contestant"] == "PIMVC, as published"} == {NO_DATA}
    assert {row["status"] for row in report["rows"]} >= {OK, SKIPPED}
    # Other preparations are tried where they are not the same.
    assert not _lines(text, "PIMVC, as published")[1:]
    assert len(_lines(text, "PIMVC, unit rows")) == 2
    rows = pairs.run(sets=["3sources"], seeds=1, parts=[50.0], experiments=["missing"])["rows"]
    assert "PIMVC, unit rows" not in [row["contestant"] for row in rows]


def test_a_run_goes_on_where_it_stopped(judge: Judge, tmp_path: Path) -> None:
    options: dict[str, Any] = {"sets": ["planted-40"], "seeds": 1, "parts": [50.0], "experiments": ["missing"]}
    judge.status = {"NEMO": (NOT_INSTALLED, "pip install imml")}
    first = pairs.run(**options, out=tmp_path / "page.md")
    kept = tmp_path / "pairs.jsonl"
    lines = kept.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == first["rows"]
    kept.write_text("\n".join([*lines[:-1], lines[-1][:20]]), encoding="utf-8")  # killed while it wrote
    judge.asked.clear()
    judge.status = {}
    again = pairs.run(**options, keep=kept)
    last = first["rows"][-1]["contestant"]
    assert [name for _, name in judge.asked] == ["NEMO", last]
    assert [row["contestant"] for row in again["rows"]] == [row["contestant"] for row in first["rows"]]
    assert Kept(kept).get(("missing", "planted-40 50 0", last)) is not None
    assert "# Coupling by pairs" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_the_command(judge: Judge, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "new" / "page.md"
    words = ["--quick", "--methods", "as given; NEMO, standardized", "--out", str(place), "--memory", "2GiB"]
    cli.main(["pairs", *words])
    printed = capsys.readouterr()
    assert {name for _, name in judge.asked} == {"as given", "NEMO, standardized"}
    assert printed.out.rstrip() == place.read_text(encoding="utf-8").rstrip()
    expected = 'python -m benchmarks pairs --quick --methods "as given;NEMO, standardized" --data DIR --out FILE.md'
    assert f"`{expected}`" in printed.out
    assert len(printed.err.splitlines()) == len(judge.asked)


def _run_with(argument: str, given: Any) -> None:
    options: dict[str, Any] = {argument: given}
    pairs.run(quick=True, **options)


@pytest.mark.usefixtures("judge")
def test_a_section_of_a_page_is_written_anew(judge: Judge, tmp_path: Path) -> None:
    place = tmp_path / "results.md"
    place.write_text("# Results\n\nFirst.\n\n## Coupling by pairs\n\nOld.\n")
    for _ in range(2):
        pairs.run(sets=["planted-40"], seeds=2, parts=[50.0], into=place)
    text = place.read_text()
    assert text.startswith("# Results\n\nFirst.\n\n## Coupling by pairs\n\nWritten by `python -m benchmarks pairs")
    assert text.count("## Coupling by pairs") == 1
    assert "### planted-40: retrieval, 2 seeds" in text
    assert "| paired | method | 1 move, paired items | 1 move, items without a partner |\n" in text  # and no seconds
    assert "Old." not in text
    write_page([], place, tmp_path, all_pictures=False)
    kept = place.read_text()
    assert kept.startswith("# Results\n\nWritten by `python -m paper`")
    assert kept.endswith(text[text.index("## Coupling by pairs") :])


def test_refusals(tmp_path: Path) -> None:
    wrong: tuple[tuple[str, Any], ...] = (
        ("sets", ["unknown"]),
        ("methods", ["unknown"]),
        ("experiments", ["unknown"]),
        ("parts", [0.0]),
        ("parts", [101.0]),
        ("seeds", 0),
        ("out", tmp_path / "page.txt"),
    )
    for argument, given in wrong:
        assert refused(lambda: _run_with(argument, given)) == argument  # noqa: B023


def test_a_row_of_a_real_process() -> None:
    report = pairs.run(sets=["planted-40"], seeds=1, parts=[100.0], methods=["as given"], seconds=60.0)
    (row,) = report["rows"]
    assert (row["status"], row["reason"]) == (OK, "")
    assert all(value is None or np.isfinite(value) for value in row["figures"].values())
