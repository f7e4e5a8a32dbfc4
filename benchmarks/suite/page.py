"""The report as a Markdown page: every figure straight from one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.suite.table import cells, headline

_HEAD = """# Benchmark suite

Written by `{command}`; every number and picture below comes from one run of it.
Each row is a process of its own; memory is what solving added at its peak. *Times the least* is the time over that in
which the machine's memory could move the bytes that must be moved."""


def page(report: dict[str, Any], pictures: Mapping[str, str]) -> str:
    """The page; ``pictures`` are the plots by name, and where the page finds them."""
    parts = [_HEAD.format(command=_command(report)), f"{headline(report)}.", _versions(report)]
    for family in report["families"]:
        parts += [f"## {family['name'].capitalize()}", family["description"], _markdown(report, family)]
        parts += [
            f"![{name}]({place})" for name, place in pictures.items() if name.startswith(f"suite-{family['name']}-")
        ]
    return "\n\n".join(parts) + "\n"


def _command(report: dict[str, Any]) -> str:
    """The command line of the run."""
    options = report["options"]
    words = ["python -m benchmarks suite"]
    words += ["--quick"] if report["quick"] else []
    words += [f"--family {name}" for name in options["families"] or ()]
    words += ["--data DIR"] if options["data"] else []
    words += [f"--{name} {options[name]:g}" for name in ("seconds", "patience") if options[name] is not None]
    words += [f"--largest {options['largest']}"] if options["largest"] is not None else []
    words += [f"--memory {options['memory'] / 2**30:g}GiB"] if options["memory"] is not None else []
    return " ".join([*words, "--page FILE"])


def _versions(report: dict[str, Any]) -> str:
    there = [f"{name} {version}" for name, version in report["versions"].items() if version is not None]
    return f"{report['machine']['system']}, Python {report['machine']['python']}, {', '.join(there)}."


def _markdown(report: dict[str, Any], family: dict[str, Any]) -> str:
    header, problems = cells(report, family)
    lines = [_row(["problem", *header]), "|" + "---|" * (len(header) + 1)]
    for name, group in problems:
        lines += [_row([name if k == 0 else "", *line]) for k, line in enumerate(group)]
    return "\n".join(lines)


def _row(line: list[str]) -> str:
    escaped = (text.replace("|", "\\|") for text in line)
    return "| " + " | ".join(escaped) + " |"
