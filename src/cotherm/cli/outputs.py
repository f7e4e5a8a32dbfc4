"""What a command says and where results go: places are checked before the work, files are written whole or not."""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from cotherm import ranks
from cotherm.arrays import Floats
from cotherm.errors import CothermError, visible, visible_lines
from cotherm.graphs.files import graph_bytes
from cotherm.graphs.formats import edge_list
from cotherm.graphs.graph import Graph
from cotherm.io import atomic
from cotherm.io.text import csv_bytes
from cotherm.methods.checkpoint import UNFINISHED, remove

# Title of a column of names; tables with it are read back by name.
ID = "id"
_ADVICE = "Pass --force to replace it."


def announce(lines: Iterable[str], *, as_json: bool) -> None:
    """Print how a file was read as soon as it is known, since work may be long; with --json the report has it."""
    if as_json:
        return
    for line in lines:
        print(visible(line))
    with suppress(OSError):  # printed at the end, when the result is safe
        sys.stdout.flush()


def tell(message: str) -> None:
    """Print one line on standard error; failures to write it are ignored."""
    with suppress(OSError, ValueError):
        print(f"cotherm: {visible(message)}", file=sys.stderr, flush=True)


@contextmanager
def told_of_checkpoint(place: str | None) -> Iterator[None]:
    """While active, an interrupt or a signal that ends the command says where the same command resumes."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if place is not None and ranks.is_first():
            kept = Path(place).is_file()
            tell(f"ended early: the same command goes on from {place}" if kept else "ended before the first step")
        raise


def drop_checkpoint(place: str | None, status: str, world: ranks.Ranks) -> None:
    """Delete the checkpoint once the result is written, unless the run ran out of time."""
    if place is None:
        return
    if status not in UNFINISHED:
        remove(Path(place), world)
    elif world.rank == 0:
        tell(f"{status}: the same command, with --force, goes on from {place}")


def free_place(path: str, suffixes: Sequence[str], *, force: bool) -> Path:
    """The path of a file to be written later; all that can be known now is refused now."""
    place = atomic.as_path(path)
    if place.suffix.lower() not in suffixes:
        raise CothermError(str(place), f"the suffix {place.suffix or 'none'}", " or ".join(suffixes))
    target = atomic.require_free(place, overwrite=force, advice=_ADVICE)
    atomic.require_writable(target.parent)
    return place


def free_places(paths: Sequence[str], count: int, suffixes: Sequence[str], *, force: bool) -> list[Path]:
    """As many, all different."""
    places = [atomic.as_path(path) for path in paths]
    if len(paths) != count or any(atomic.same_place(a, b) for a, b in combinations(places, 2)):
        raise CothermError("--out", f"{len(paths)} files", f"a file of its own for each of {count} views")
    return [free_place(path, suffixes, force=force) for path in paths]


def require_room(place: Path, size: int) -> None:
    """Refuse a place without space for a result of ``size`` bytes."""
    atomic.require_room(atomic.real_path(place).parent, size)


def require_room_for_matrix(place: Path, rows: int, columns: int) -> None:
    """The same for a matrix, which takes eight bytes a number in .npy, in .csv at least a digit and a comma."""
    require_room(place, rows * columns * (8 if place.suffix.lower() == ".npy" else 2))


def write(place: Path, data: bytes, *, force: bool) -> None:
    """Write a result; if that fails after all, keep it elsewhere and say where in the error."""
    try:
        atomic.save(place, data, overwrite=force, advice=_ADVICE)
    except CothermError as error:
        kept = _kept(place, data)
        where = "It could not be kept elsewhere." if kept is None else f"It is kept in {kept}."
        given = f"the result could not be written ({error.given})"
        raise CothermError(error.argument, given, error.needed, f"{where} {error.advice}".strip()) from None


def write_all(places: Sequence[Path], contents: Sequence[bytes], *, force: bool) -> None:
    """Several results; one that fails does not keep the others from being written."""
    failures = []
    for place, content in zip(places, contents, strict=True):
        try:
            write(place, content, force=force)
        except CothermError as error:
            failures.append(error)
    if failures:
        first, *others = failures
        more = [f"{error.argument}: {error.given}. {error.advice}" for error in others]
        raise CothermError(first.argument, first.given, first.needed, " ".join([first.advice, *more]))


def _kept(place: Path, data: bytes) -> Path | None:
    """Another place for a result that found none where it should go: the work must not be lost."""
    import secrets
    import tempfile

    for directory in (tempfile.gettempdir, Path.cwd, Path.home):
        with suppress(CothermError, OSError, RuntimeError):  # any of them may be missing
            other = Path(directory()) / f"cotherm-{secrets.token_hex(4)}{place.suffix}"
            atomic.save(other, data, overwrite=False)
            other.chmod(0o600)  # others may read that directory too
            return other
    return None


def matrix_bytes(place: Path, matrix: Floats, titles: Iterable[str], names: Sequence[str] | None = None) -> bytes:
    """A matrix as .npy or .csv; in .csv the names of its rows come first."""
    if place.suffix.lower() == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, matrix, allow_pickle=False)
        return buffer.getvalue()
    if names is None:
        return csv_bytes(titles, matrix.tolist())
    return csv_bytes([ID, *titles], ([name, *row] for name, row in zip(names, matrix.tolist(), strict=True)))


def graph_file(place: Path, graph: Graph) -> bytes:
    """The content of a graph file with this suffix; edge lists use names of vertices if there are any."""
    if place.suffix.lower() == ".csv" and graph.vertex_names is not None:
        return edge_list.render_named(graph)
    whole = place.suffix.lower() in (".npz", ".graphml")
    return graph_bytes(graph if whole else graph.bare(), place)


def figure_bytes(place: Path, figure: Any) -> bytes:
    import warnings

    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # Characters that the font lacks are drawn as boxes, which says enough.
        warnings.filterwarnings("ignore", message="Glyph ")
        figure.savefig(buffer, format=place.suffix[1:].lower(), dpi=140)
    return buffer.getvalue()


def say(report: dict[str, Any], text: str, *, as_json: bool) -> None:
    """The report for machines, which may hold arrays, or the text for people."""
    print(json.dumps(_plain(report), indent=2, allow_nan=False) if as_json else visible_lines(text))


def _plain(value: Any) -> Any:
    """The same as JSON knows it: lists for arrays, null for NaN and infinities."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say_written(
    report: dict[str, Any], text: str, places: Sequence[Path], *, reading: Sequence[str] = (), as_json: bool
) -> None:
    """Like :func:`say`, followed by where the result is; machines also get how files were read."""
    written = visible("Written: " + ", ".join(map(str, places)))
    say({"read": list(reading), **report}, f"{text}\n{written}", as_json=as_json)


def deliver(
    options: argparse.Namespace,
    contents: Mapping[Path, bytes],
    report: dict[str, Any],
    text: str,
    reading: Sequence[str] = (),
) -> None:
    """Write files, and say what and where they are."""
    places = list(contents)
    write_all(places, list(contents.values()), force=options.force)
    out = list(map(str, places)) if isinstance(options.out, list) else str(places[0])
    say_written({"out": out, **report}, text, places, reading=reading, as_json=options.json)


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as needed, words aligned left, numbers right."""
    header, rows = list(map(visible, header)), [list(map(visible, row)) for row in rows]
    widths = [max(len(row[c]) for row in (header, *rows)) for c in range(len(header))]
    lines = []
    for row in (header, *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)
