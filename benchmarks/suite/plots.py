"""Time and memory against size: a picture for every series of problems that grows."""

from __future__ import annotations

import io
import re
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from benchmarks.suite.parts import OK, OUT_OF_MEMORY, OUT_OF_TIME

# Told apart with every kind of color blindness (Okabe & Ito); ours in black, and markers say it again.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_OURS = ("#000000", "#777777", "#555555")
_MARKERS = "osD^vP*"
_MEMORY_FLOOR = 1e5
_RESOLUTION = 120
_ASIDE = 1.04


def plots(report: dict[str, Any]) -> dict[str, bytes]:
    """PNG files by name."""
    pictures = {}
    key = _series
    for (family, series), group in groupby(sorted(report["rows"], key=key), key=key):
        rows = list(group)
        if len({row["size"] for row in rows}) > 1:
            pictures[f"suite-{family}-{_slug(series)}.png"] = _png(_figure(series, rows, report["memory_limit"]))
    return pictures


def _series(row: dict[str, Any]) -> tuple[str, str]:
    return row["family"], row["series"]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _figure(series: str, rows: list[dict[str, Any]], memory_limit: float) -> Figure:
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    time, memory = figure.subplots(1, 2, sharex=True)
    names = list(dict.fromkeys(row["contestant"] for row in rows))
    for k, (name, style) in enumerate(zip(names, _styles(names), strict=True)):
        own = sorted((row for row in rows if row["contestant"] == name), key=lambda row: int(row["size"]))
        _curve(time, name, style, [(row["size"], row["seconds"]) for row in own if row["status"] == OK])
        used = [(row["size"], row["memory"]) for row in own if row["status"] == OK and row["memory"] is not None]
        _curve(memory, None, style, [(size, max(bytes_, _MEMORY_FLOOR) / 1e6) for size, bytes_ in used])
        # Those stopped at the same place stand side by side.
        aside = _ASIDE ** (k - (len(names) - 1) / 2)
        stopped = {status: [row for row in own if row["status"] == status] for status in (OUT_OF_TIME, OUT_OF_MEMORY)}
        _crosses(time, style, [(aside * row["size"], row["limit_seconds"]) for row in stopped[OUT_OF_TIME]])
        _crosses(memory, style, [(aside * row["size"], memory_limit / 1e6) for row in stopped[OUT_OF_MEMORY]])
    sizes = sorted({row["size"] for row in rows})
    for ax, label in ((time, "seconds"), (memory, "memory of solving, MB")):
        ax.set(xscale="log", yscale="log", xlabel="size", ylabel=label)
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(NullLocator())
        ax.grid(alpha=0.3)
    time.plot([], [], "x", color="0.5", markersize=9, markeredgewidth=2, label="stopped at the limit")
    figure.suptitle(series)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure


def _styles(names: list[str]) -> list[dict[str, Any]]:
    styles: list[dict[str, Any]] = []
    ours = others = 0
    for name in names:
        mine = name.startswith("cotherm")
        palette, place = (_OURS, ours) if mine else (_COLORS, others)
        ours, others = ours + mine, others + (not mine)
        styles.append(
            {"color": palette[place % len(palette)], "marker": _MARKERS[len(styles) % len(_MARKERS)], "lw": 1 + mine}
        )
    return styles


def _curve(ax: Axes, name: str | None, style: dict[str, Any], points: list[tuple[int, float]]) -> None:
    ax.plot([x for x, _ in points], [y for _, y in points], label=name, markersize=5, **style)


def _crosses(ax: Axes, style: dict[str, Any], points: list[tuple[float, float]]) -> None:
    ax.plot(
        [x for x, _ in points],
        [y for _, y in points],
        "x",
        color=style["color"],
        markersize=9,
        markeredgewidth=2,
    )


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_RESOLUTION, metadata={"Software": None})
    return buffer.getvalue()
