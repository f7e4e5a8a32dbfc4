"""The report for people: a table for every family."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

Line = list[str]


def table(report: dict[str, Any]) -> str:
    """The report for the terminal."""
    lines = [headline(report), ""]
    for family in report["families"]:
        header, problems = cells(report, family)
        rows = [line for _, group in problems for line in group]
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines += [family["name"], f"{'':4}{_aligned(header, widths)}"]
        for problem, group in problems:
            lines += [f"  {problem}", *(f"{'':4}{_aligned(line, widths)}" for line in group)]
        lines.append("")
    return "\n".join(lines).rstrip()


def headline(report: dict[str, Any]) -> str:
    """The machine in a line."""
    m = report["machine"]
    return (
        f"{m['processors']} processors, {m['memory'] / 2**30:.0f} GiB of memory, which copies "
        f"{m['bandwidth'] / 1e9:.1f} GB/s read and written; at most {report['memory_limit'] / 2**30:.1f} GiB for each"
    )


def cells(report: dict[str, Any], family: dict[str, Any]) -> tuple[Line, list[tuple[str, list[Line]]]]:
    """The header, and for every problem a line for every contestant."""
    rows = [row for row in report["rows"] if row["family"] == family["name"]]
    least = any(row["times_least"] is not None for row in rows)
    header = ["contestant", "seconds", "MB", *(one["name"] for one in family["figures"])]
    problems = [
        (name, [_line(row, family, least) for row in group])
        for name, group in groupby(rows, key=lambda row: str(row["problem"]))
    ]
    return [*header, *(["times the least"] if least else []), "status"], problems


def _line(row: dict[str, Any], family: dict[str, Any], least: bool) -> Line:
    figures = [_number(row["figures"].get(one["name"]), one["format"]) for one in family["figures"]]
    memory = None if row["memory"] is None else row["memory"] / 1e6
    status = f"{row['status']}: {row['reason']}" if row["reason"] else row["status"]
    return [
        row["contestant"],
        _number(row["seconds"], ".3g"),
        _number(memory, ",.0f"),
        *figures,
        *([_number(row["times_least"], ".1f")] if least else []),
        status,
    ]


def _number(value: float | None, spec: str) -> str:
    return "" if value is None else format(value, spec)


def _aligned(line: Line, widths: list[int]) -> str:
    """Words to the left, numbers to the right."""

    def parts() -> Iterator[str]:
        last = len(line) - 1
        for k, (text, width) in enumerate(zip(line, widths, strict=True)):
            yield text.ljust(width) if k in (0, last) else text.rjust(width)

    return "  ".join(parts()).rstrip()
