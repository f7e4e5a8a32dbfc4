"""Draw the figures of docs/figures.md: python -m tools.draw_figures [NAME ...] [--data DIR]

Without names all of them: shortcuts, wine, man, nus, digits. The last two, and a part of man, need real data: --data,
or the environment variable COTHERM_DATA. Figures of the pages go to docs/figures. Pictures that show single items of
data that are not ours to give away go to out/figures.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import cotherm as ct
import paper.data

ROOT = Path(__file__).parent.parent
PAGES, OWN = ROOT / "docs" / "figures", ROOT / "out" / "figures"
# Small files that are sharp enough at the width of a page.
DPI, COLORS = 72, 256

Figures = dict[Path, Figure]


def shortcuts(_data: str | None) -> Figures:
    """A strip in two noisy views, ten wrong edges across the first."""
    views = ct.datasets.shortcuts(400, wrong=10)
    result = ct.couple(views.graphs, views.functions, views.times)
    return {
        PAGES / "shortcuts.png": ct.draw.draw_result(result),
        PAGES / "shortcuts-convergence.png": ct.draw.draw_result(result, "convergence"),
    }


def wine(_data: str | None) -> Figures:
    """178 wines: the first seven and the last six of thirteen measurements, coupled by which wine is which."""
    table = load_wine()
    X, cultivars = scale(table.data), [f"cultivar {c + 1}" for c in table.target]
    halves = {"first seven measurements": X[:, :7], "last six measurements": X[:, 7:]}
    graphs = [ct.knn_graph(half, 10, labels=cultivars, name=name) for name, half in halves.items()]
    result = ct.couple_pairs(graphs)
    return {
        PAGES / "wine.png": ct.draw.draw_result(result),
        PAGES / "wine-heat.png": ct.draw.draw_result(result, "heat"),
    }


def man(data: str | None) -> Figures:
    """One body in two poses: a modeled one, and the scanned one where the data are."""
    found = {PAGES / "man.png": _bodies(ct.datasets.human(), azimuth=65.0)}
    try:
        found[OWN / "man-scanned.png"] = _bodies(paper.data.man(data=data))
    except ct.CothermError as error:
        _say(f"man: the scanned body is left out, {error}")
    return found


def _bodies(views: ct.datasets.Views, azimuth: float | None = None) -> Figure:
    result = ct.couple(views.graphs, views.functions, views.times, alpha=1e6)
    states = list(zip(result.originals, result.graphs, result.functions, strict=True))
    return ct.draw.draw_bodies(
        [[old, old, new] for old, new, _ in states],
        [[F[:, 0], *(ct.heat_flow(graph, F[:, 0], [20.0])[0, :, 0] for graph in (old, new))] for old, new, F in states],
        titles=["heat starts here", "at t = 20", "at t = 20, coupled"],
        names=[str(graph.name) for graph in views.graphs],
        marked=[[None, None, change.kind == "cut"] for change in result.changes()],
        up=2,
        azimuth=azimuth,
    )


def nus(data: str | None) -> Figures:
    """145 images, their tags and their colors, coupled by seven classes as in the paper."""
    views = paper.data.nus(recipe="paper", data=data)
    times, alpha, rigidity = (0.05, 0.2, 0.75), 1e6, (4.0, 1.0)
    result = ct.couple(
        views.graphs, views.functions, times, alpha, options={"rigidity": rigidity, "continuation": "times"}
    )
    names = paper.data.nus_class_names(data=data)
    labels = [names[int(one)] for one in views.labels]
    return {
        PAGES / "nus.png": draw_classes(result, labels),
        PAGES / "nus-coupling.png": ct.draw.draw_result(result, "coupling"),
        OWN / "nus-items.png": ct.draw.draw_result(result, labels=[labels, labels]),
    }


def digits(data: str | None) -> Figures:
    """2,000 handwritten digits by two kinds of features, coupled by which digit is which."""
    views = paper.data.digits((1, 3), data=data)
    result = ct.couple_pairs(views.graphs)
    labels = [str(int(one) % 10) for one in views.labels]
    return {
        PAGES / "digits.png": draw_classes(result, labels),
        OWN / "digits-items.png": ct.draw.draw_result(result, labels=[labels, labels]),
    }


def draw_classes(result: ct.Coupling, labels: list[str]) -> Figure:
    """Which part of the weight of each class leads to which, on each view before and after: no item is shown."""
    classes, number = np.unique(labels, return_inverse=True)
    count = len(classes)
    figure = Figure(figsize=(8.4, 7.6), layout="constrained")
    axes = figure.subplots(len(result.graphs), 2, sharex=True, sharey=True, squeeze=False)
    image: Any = None
    for row, states in enumerate(zip(result.originals, result.graphs, strict=True)):
        for column, (graph, state) in enumerate(zip(states, ("before", "coupled"), strict=True)):
            shares = np.zeros((count, count))
            for ends in ((graph.i, graph.j), (graph.j, graph.i)):
                np.add.at(shares, (number[ends[0]], number[ends[1]]), graph.w)
            within = float(np.trace(shares) / shares.sum())
            shares /= shares.sum(axis=1, keepdims=True)
            ax = axes[row, column]
            image = ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
            ax.set_title(f"{graph.name}, {state}: {within:.0%} within classes", fontsize=11)
            ax.set_xticks(range(count), classes, rotation=90 if max(map(len, classes)) > 2 else 0)
            ax.set_yticks(range(count), classes)
    figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, label="share of the weight of a class (row)")
    return figure


FIGURES: dict[str, Callable[[str | None], Figures]] = {
    "shortcuts": shortcuts,
    "wine": wine,
    "man": man,
    "nus": nus,
    "digits": digits,
}


def save(figure: Figure, path: Path) -> None:
    """A small .png: few colors, and nothing in it that differs between two runs."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.open(buffer).convert("RGB").quantize(
        COLORS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    ).save(path, optimize=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: list[str] | None = None) -> int:
    """Draw what is asked for; 1 if something could not be drawn for want of data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(FIGURES)} (all)")
    parser.add_argument("--data", metavar="DIR", help="directory of real data (COTHERM_DATA)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in FIGURES]
    if unknown:
        parser.error(f"{unknown[0]} is no figure; there are {', '.join(FIGURES)}")
    missing = 0
    for name in options.names or FIGURES:
        try:
            found = FIGURES[name](options.data)
        except ct.CothermError as error:
            _say(f"{name}: left out, {error}")
            missing = 1
            continue
        for path, figure in found.items():
            save(figure, path)
            _say(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} KB")
    return missing


if __name__ == "__main__":
    sys.exit(main())
