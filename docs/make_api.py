"""Writes docs/api.md, a line for every public name, from the docstrings: python docs/make_api.py"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import cotherm as ct

PAGE = Path(__file__).parent / "api.md"
ROOMS = ("datasets", "draw", "evaluate", "io")
GROUPS = {
    "Graphs": ("graphs.", "functions"),
    "Heat": ("heat.",),
    "Methods": ("methods.",),
    "scikit-learn": ("estimators",),
    "Other libraries": ("interop",),
    "Errors": ("errors",),
}


def render() -> str:
    lines = [
        "# All public names",
        "",
        "Written by `python docs/make_api.py` from the docstrings. `import cotherm as ct`.",
    ]
    for group, homes in GROUPS.items():
        names = [name for name in ct.__all__ if name not in ROOMS and _home(getattr(ct, name)).startswith(homes)]
        lines += ["", f"## {group}", "", "| name | |", "|---|---|", *(_row(f"ct.{n}", getattr(ct, n)) for n in names)]
    for room in ROOMS:
        module = getattr(ct, room)
        members = [(name, getattr(module, name)) for name in module.__all__]
        rows = [_row(f"ct.{room}.{name}", member) for name, member in members if callable(member)]
        lines += ["", f"## ct.{room}", "", "| name | |", "|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _home(member: object) -> str:
    return str(getattr(member, "__module__", "")).removeprefix("cotherm.")


def _row(name: str, member: object) -> str:
    summary = (inspect.getdoc(member) or "").partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")
    summary = re.sub(r":\w+:`(?:cotherm\.)?([\w.]+)`", r"`\1`", summary).replace("``", "`")
    arguments = "" if inspect.isclass(member) else "()"
    return f"| `{name}{arguments}` | {summary} |"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
