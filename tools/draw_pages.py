"""Draw the pictures of docs/viewer.md: python -m tools.draw_pages [NAME ...] [--data DIR] [--keep DIR]

Each page is made from a coupling, opened in Chromium without a window, and drawn to docs/figures. How long it takes to
open is measured: it must be less than three seconds. Pages of data that are not ours to give away are opened and
measured too, where the data are; their pictures, which show single items, go to out/figures. Those of docs/figures are
of made-up stand-ins.
"""

from __future__ import annotations

import argparse
import io
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

import cotherm as ct
import paper.data
from tools.chromium import Chromium

ROOT = Path(__file__).parent.parent
PAGES, OWN = ROOT / "docs" / "figures", ROOT / "out" / "figures"
WIDTH, HEIGHT, COLORS = 1280, 800, 255
# Seconds within which a page must be there, and bytes of a picture.
MOST_SECONDS, MOST_BYTES = 3.0, 300_000


@dataclass(frozen=True)
class Shot:
    """A coupling, what goes into its page beside it, and the state in which it is drawn."""

    result: ct.Coupling
    place: Path
    link: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    tab: str = "Overview"


def ring(_data: str | None) -> list[Shot]:
    """A ring and the same ring with a crack: the page of `make demo`."""
    views = ct.datasets.ring()
    result = ct.couple(views.graphs, views.functions, views.times, alpha=1e6)
    given = {"pairs": "same", "title": "A ring and the same ring with a crack, coupled"}
    return [Shot(result, PAGES / "viewer-ring.png", "#time=34", given)]


def man(data: str | None) -> list[Shot]:
    """One body in two poses: a modeled one, and the scanned one where the data are."""
    found = [_body(ct.datasets.human(), PAGES / "viewer-man.png")]
    try:
        found.append(_body(paper.data.man(data=data), OWN / "viewer-man-scanned.png"))
    except ct.CothermError as error:
        _say(f"man: the scanned body is left out, {error}")
    return found


def _body(views: ct.datasets.Views, place: Path) -> Shot:
    result = ct.couple(views.graphs, views.functions, views.times, alpha=1e6)
    given = {"faces": "surface", "pairs": "same", "title": "One body in two poses: hands joined, hands apart"}
    return Shot(result, place, "#time=30", given)


def nus(data: str | None) -> list[Shot]:
    """Images, their tags and their colors: made-up ones, and those of the paper where the data are."""
    views = ct.datasets.ambiguous()
    names = [[f"image {v:03}" for v in range(len(views.labels))]] * 2
    labels = [["ABCDEFG"[c] for c in views.labels]] * 2
    given = {"names": names, "labels": labels, "title": "Images by their tags and by their colors"}
    query = "#time=19&source=v:1:40&edges=none"
    found = [Shot(ct.couple_pairs(views.graphs), PAGES / "viewer-images.png", query, given, "Nearest")]
    try:
        views = paper.data.nus(recipe="paper", data=data)
        classes = paper.data.nus_class_names(data=data)
    except ct.CothermError as error:
        _say(f"nus: the images of the paper are left out, {error}")
        return found
    labels = [[classes[int(one)] for one in views.labels]] * 2
    given = {"labels": labels, "title": "NUS: images by their tags and by their colors"}
    return [*found, Shot(ct.couple_pairs(views.graphs), OWN / "viewer-nus.png", query, given, "Nearest")]


def digits(data: str | None) -> list[Shot]:
    """Handwritten digits with six views: scikit-learn's, and those of UCI where the data are."""
    query = "#time=19&source=v:1:17&edges=none&shown=after"
    table = load_digits()
    chosen = np.random.default_rng(0).choice(len(table.data), 600, replace=False)
    images, target = table.images[chosen], table.target[chosen]
    graphs = [ct.knn_graph(X, 10, name=name) for name, X in _features(images).items()]
    small = [_thumbnail(image) for image in images]
    labels = [[str(digit) for digit in target]] * len(graphs)
    given = {"labels": labels, "thumbnails": [small] * len(graphs), "title": "Handwritten digits in six views"}
    found = [Shot(ct.couple_pairs(graphs, max_seconds=60), PAGES / "viewer-digits.png", query, given, "Nearest")]
    try:
        views = paper.data.digits(data=data)
    except ct.CothermError as error:
        _say(f"digits: those of UCI are left out, {error}")
        return found
    labels = [[str(int(one) % 10) for one in views.labels]] * len(views.graphs)
    given = {"labels": labels, "title": "2,000 handwritten digits in six views"}
    result = ct.couple_pairs(
        views.graphs, options={"n_modes": 12, "kept_back": 0.0, "max_iterations": 5}
    )  # some minutes
    return [*found, Shot(result, OWN / "viewer-digits-uci.png", query, given, "Nearest")]


def _features(images: Any) -> dict[str, Any]:
    """Six ways to describe small pictures."""
    waves = np.abs(np.fft.fft2(images))
    down, across = np.diff(images, axis=1), np.diff(images, axis=2)
    blocks = images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4))
    flat = {"pixels": images, "waves": waves[:, :5, :5], "edges across": across, "edges down": down, "blocks": blocks}
    sums = np.hstack([images.sum(axis=1), images.sum(axis=2)])
    return {name: X.reshape(len(X), -1) for name, X in flat.items()} | {"sums of rows and columns": sums}


def _thumbnail(image: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray((255 - image * 15.9).astype(np.uint8)).resize((24, 24)).save(buffer, format="PNG")
    return buffer.getvalue()


def cells(data: str | None) -> list[Shot]:
    """Three sets of cells without common cells: made-up ones, and scNMT where the data are."""
    rng = np.random.default_rng(0)
    stages, graphs, labels = ["early", "middle", "late"], [], []
    for name, counts, width in (
        ("RNA", (90, 120, 80), 9),
        ("methylation", (110, 100, 90), 7),
        ("access", (80, 80, 90), 8),
    ):
        along = np.concatenate([k + rng.random(count) for k, count in enumerate(counts)])
        bend = np.column_stack([np.cos(along), np.sin(along), *(np.sin(k * along) for k in range(2, width))])
        graphs.append(ct.knn_graph(bend + 0.25 * rng.standard_normal(bend.shape), 8, name=name))
        labels.append([stages[int(t)] for t in along])
    given = {"labels": labels, "title": "Made-up cells of three experiments, coupled by their stages"}
    functions = ct.shared_label_functions(labels).functions
    found = [Shot(ct.couple(graphs, functions), PAGES / "viewer-cells.png", "#time=24", given)]
    try:
        views = paper.data.scnmt(data=data)
    except ct.CothermError as error:
        _say(f"cells: scNMT is left out, {error}")
        return found
    result = ct.couple(views.graphs, views.functions, views.times)
    return [*found, Shot(result, OWN / "viewer-scnmt.png", "#time=24", {"title": "scNMT: cells in three modalities"})]


def shortcuts(_data: str | None) -> list[Shot]:
    """A rolled-up strip of 100,000 points with fifty wrong edges: shown in part."""
    views = ct.datasets.shortcuts(100_000, surface="roll", wrong=50)
    result = ct.couple(views.graphs, views.functions, views.times, max_seconds=300)
    given = {"pairs": "same", "title": "Planted short cuts across a rolled-up strip of 100,000 points"}
    return [Shot(result, PAGES / "viewer-shortcuts.png", "#time=9&source=f:2", given)]


def million(_data: str | None) -> list[Shot]:
    """The same strip with a million points; the planted edges are taken out by hand. Only where it is asked for."""
    views = ct.datasets.shortcuts(1_000_000, wrong=500)
    graphs = tuple(
        g.with_weights(np.where(wrong, 0.0, g.w)) for g, wrong in zip(views.graphs, views.wrong, strict=True)
    )
    small = ct.datasets.ring()
    solved = ct.couple(small.graphs, small.functions, views.times)
    made = replace(solved, graphs=graphs, originals=views.graphs, functions=views.functions)
    return [Shot(made, OWN / "viewer-million.png", "#time=9", {"title": "A million points"})]


SHOTS: dict[str, Callable[[str | None], list[Shot]]] = {
    "ring": ring,
    "man": man,
    "nus": nus,
    "digits": digits,
    "cells": cells,
    "shortcuts": shortcuts,
    "million": million,
}


def draw(browser: Chromium, shot: Shot, page: Path) -> tuple[float, list[str]]:
    """Open the page and draw it: seconds until it is there, and what it complains about."""
    tab = browser.open(page, width=WIDTH, height=HEIGHT, hash=shot.link)
    tab.evaluate("cotherm.ready")
    # Heat at the chosen stop is there, and has been drawn.
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    seconds = time.monotonic() - tab.began
    tab.wait_for("cotherm.state().progress === 1", 60.0)
    tab.evaluate(
        f"[...document.querySelectorAll('[role=tab]')].find(one => one.textContent.startsWith('{shot.tab}'))?.click()"
    )
    time.sleep(1.0)  # what is compared with the library is told last
    picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    shot.place.parent.mkdir(parents=True, exist_ok=True)
    picture.save(shot.place, optimize=True)
    if shot.place.stat().st_size > MOST_BYTES:
        picture.quantize(COLORS, dither=Image.Dither.NONE).save(shot.place, optimize=True)
    complaints = [*tab.complaints, *tab.evaluate("cotherm.errors")]
    tab.close()
    return seconds, complaints


def _peak() -> float:
    """The most memory this process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Draw what is asked for; 1 if a page took too long, complained, or gave too large a picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(SHOTS)} (all)")
    parser.add_argument("--data", metavar="DIR", help="directory of real data (COTHERM_DATA)")
    parser.add_argument("--keep", type=Path, default=ROOT / "out" / "pages", metavar="DIR", help="pages (out/pages)")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in SHOTS]
    if unknown:
        parser.error(f"{unknown[0]} is no page; there are {', '.join(SHOTS)}")
    options.keep.mkdir(parents=True, exist_ok=True)
    wrong, usual = 0, [name for name in SHOTS if name != "million"]
    with Chromium() as browser:
        started = browser.open("about:blank")  # the first tab, and the first WebGL, wait for the browser itself
        started.evaluate("document.createElement('canvas').getContext('webgl2')?.clear(16384)")
        started.close()
        for shot in (shot for name in options.names or usual for shot in SHOTS[name](options.data)):
            page = options.keep / f"{shot.place.stem}.html"
            began, memory = time.monotonic(), _peak()
            shot.result.save_page(page, overwrite=True, **shot.given)
            made = f"made in {time.monotonic() - began:.1f} s with {_peak() - memory:.1f} GB more"
            seconds, complaints = draw(browser, shot, page)
            size, bytes_ = page.stat().st_size / 1e6, shot.place.stat().st_size
            _say(f"{shot.place.name}: open after {seconds:.2f} s, page {size:.1f} MB, picture {bytes_ // 1000} KB")
            _say(f"  {made}")
            for complaint in complaints:
                _say(f"  {complaint}")
            wrong |= seconds > MOST_SECONDS or bool(complaints) or bytes_ > MOST_BYTES
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
