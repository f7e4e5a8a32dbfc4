"""Experiments written down: pictures as files, and a page with every number beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cotherm.io.atomic import save
from paper.report import Experiment, Picture

_HEAD = """# Results

Written by `python -m paper`. Every number and picture below comes from one run. "Paper" is Bronstein &
Glashoff, *Heat kernel coupling for multiple graph analysis* (2013).
"""
# Written by `python -m benchmarks pairs --into docs/results.md`.
_OTHERS = "## Coupling by pairs"


def write_pictures(
    experiment: Experiment, folder: Path, *, kinds: Sequence[str] = ("png", "pdf"), shareable: bool = False
) -> list[Path]:
    """Every picture of an experiment, or only the shareable ones, in every format; returns the first of each."""
    written = []
    for picture in experiment.pictures:
        if shareable and not picture.shareable:
            continue
        figure = picture.make()
        paths = [folder / f"{experiment.name}-{picture.name}.{kind}" for kind in kinds]
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Dates and versions would make two runs differ.
            metadata = {"Software": None} if path.suffix == ".png" else {"CreationDate": None, "Producer": None}
            figure.savefig(path, dpi=110, metadata=metadata)
        written.append(paths[0])
    return written


def write_page(experiments: Sequence[Experiment], path: Path, images: Path, *, all_pictures: bool) -> None:
    """A Markdown page; pictures and tables that are not shareable are left out unless asked for."""
    parts = [_HEAD]
    for experiment in experiments:
        parts += [f"## {experiment.title}", experiment.about]
        parts += [table.markdown() for table in experiment.tables if all_pictures or table.shareable]
        parts += [
            _shown(experiment, picture, path, images)
            for picture in experiment.pictures
            if all_pictures or picture.shareable
        ]
        parts.append("\n".join(f"- {claim}" for claim in experiment.claims))
        parts += list(experiment.notes)
    path.parent.mkdir(parents=True, exist_ok=True)
    parts.append(_written_by_others(path))
    save(path, ("\n\n".join(part for part in parts if part) + "\n").encode(), overwrite=True)


def _written_by_others(path: Path) -> str:
    """The section of the page that another command writes."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    start = text.find(_OTHERS)
    return text[start:].rstrip("\n") if start >= 0 else ""


def _shown(experiment: Experiment, picture: Picture, path: Path, images: Path) -> str:
    place = (images / f"{experiment.name}-{picture.name}.png").resolve().relative_to(path.parent.resolve())
    return f"![{picture.caption}]({place.as_posix()})\n\n*{picture.caption}*"
