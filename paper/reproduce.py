"""All experiments by name: run, write down, judge."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from cotherm import validation
from cotherm.errors import CothermError
from cotherm.io.atomic import save
from paper.page import write_page, write_pictures
from paper.report import Experiment

NAMES = ("circles", "ring", "man", "nus", "digits", "sources", "scnmt", "scgem")


def reproduce(
    names: Sequence[str] = NAMES,
    *,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "out/results",
    page: str | os.PathLike[str] | None = None,
    say: Callable[[str], Any] = lambda _: None,
) -> list[Experiment]:
    """Run experiments, write figures, numbers and a page into ``out``, and return what was found.

    Parameters
    ----------
    names : some of "circles", "ring", "man", "nus", the paper's, and "digits", "sources", "scnmt", "scgem".
    data : the directory with the real data; else the environment variable COTHERM_DATA; else embedded stand-ins.
    out : where results.md, results.json and the pictures (PNG and PDF) go.
    page : a second page to write, without the pictures that show data which are not ours to share; its pictures go to a
        folder ``images`` beside it.
    say : called with the text of each experiment when it is done.
    """
    if isinstance(names, str) or not isinstance(names, Sequence) or not len(names):
        raise CothermError("names", validation.describe(names), f"a list of some of {', '.join(NAMES)}")
    chosen = [validation.choice("names", name, NAMES) for name in names]
    folder = _writable("out", out)
    if page is not None:
        _writable("page", Path(page).parent / "images")
    experiments = []
    for name in chosen:
        experiment: Experiment = import_module(f"paper.experiments.{name}").run(data)
        write_pictures(experiment, folder)
        experiments.append(experiment)
        say(experiment.text())
    write_page(experiments, folder / "results.md", folder, all_pictures=True)
    if page is not None:
        images = Path(page).parent / "images"
        for experiment in experiments:
            write_pictures(experiment, images, kinds=["png"], shareable=True)
        write_page(experiments, Path(page), images, all_pictures=False)
    numbers = json.dumps([experiment.figures() for experiment in experiments], indent=2, ensure_ascii=False)
    save(folder / "results.json", (numbers + "\n").encode(), overwrite=True)
    return experiments


def _writable(argument: str, given: str | os.PathLike[str]) -> Path:
    """A folder to write into, made where it is not there; known before minutes are spent."""
    folder = Path(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CothermError(argument, f"{folder} ({error.strerror})", "a folder that can be written to") from None
    return folder
