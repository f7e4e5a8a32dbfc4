"""``cotherm COMMAND``: finds the command, runs it, and turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO

from cotherm import ranks
from cotherm.cli.options import JSON, Command, Parser, add
from cotherm.cli.signals import ended_in_order
from cotherm.errors import CothermError, visible
from cotherm.io.atomic import same_place
from cotherm.progress import clear as clear_progress

# The commands by the modules in cotherm.cli.commands that hold them, in the order users need them.
GROUPS = {
    "make": {
        "graph": ("short", "make a graph file from points or a mesh"),
        "functions": ("short", "make corresponding functions from labels, landmarks or common features"),
        "shard": ("shard", "cut a graph of any size into shards, or make one from points, for many processes"),
    },
    "bring together": {
        "couple": ("couple", "change edge weights so that heat diffuses alike on all views"),
        "average": ("methods", "the mean of several graphs on the same vertices"),
        "diagonalize": ("methods", "one basis of modes for several graphs on the same vertices"),
        "commute": ("methods", "the closest matrices to the Laplacians that commute"),
    },
    "use": {
        "common": ("common", "one graph, embedding and clustering for all items of a coupling by pairs"),
        "distances": ("short", "diffusion distances: all pairs, from some vertices, or nearest neighbors"),
        "retrieve": ("scores", "find the items nearest to a query; score retrieval against labels"),
        "cluster": ("scores", "spectral clustering of a graph, a coupling, or several graphs together"),
        "match": ("methods", "find corresponding vertices of two coupled graphs"),
    },
    "look": {
        "view": ("pictures", "look at heat and at what changed in a browser"),
        "show": ("pictures", "draw a graph or a coupling"),
        "changes": ("short", "list the edges that a coupling cut, weakened or strengthened"),
        "info": ("short", "describe a file: graph, coupling, mesh or table; or a directory of shards"),
    },
    "about cotherm": {
        "demo": ("demo", "couple two built-in graphs, or write example tables"),
        "reproduce": ("demo", "rerun the paper's experiments, in a clone of the repository"),
    },
}
# Commands that read no files.
_ALONE = ("demo", "reproduce")
# Options that name files to be written.
_OUTPUTS = ("out", "graph", "neighbors", "checkpoint")

DESCRIPTION = """\
Several views of the same items give several graphs: images and their tags, one body in two poses,
RNA and chromatin of cells. `couple` changes the edge weights so that heat diffuses alike on all
graphs. Distances, clusters and retrieval then agree.

Exit codes: 0 success; 2 bad input or an output that cannot be written (one line says which);
130 interrupted; 141 the output pipe was closed.
"""

EXAMPLES = """\
First steps, with two tables of features whose ids say which rows are the same item (`cotherm demo
--tables .` writes such tables):

  cotherm couple images.csv words.csv --out coupled.npz
  cotherm common coupled.npz --clusters 7 --out items.csv
  cotherm show coupled.npz --out coupled.png
  cotherm view coupled.npz --out coupled.html --no-open

Each command has its own examples: cotherm couple --help
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; exit with 2 and one line on bad input."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    run_program("cotherm", lambda: _run(given))


def run_program(name: str, task: Callable[[], None]) -> None:
    """Run a task; turn an error or a signal into one line that begins with ``name``, and an exit code."""
    _prepare_streams()
    try:
        with ended_in_order():
            _flushed(task)
    except CothermError as error:
        _stop(name, 2, f"error: {ranks.who(error)}{error}", error)
    except BrokenPipeError as error:  # the reader of our output has gone, as in `cotherm info x | head -1`
        _stop(name, 128 + 13, None, error)  # as if by SIGPIPE, which ends other tools
    except OSError as error:
        _stop(name, 2, f"error: {ranks.who(error)}{error.filename or 'system'}: {error.strerror or error}", error)
    except MemoryError as error:
        _stop(name, 2, "error: out of memory; needed: a smaller problem or a larger machine.", error)
    except KeyboardInterrupt as error:
        _stop(name, 130, "interrupted", error)
    except SystemExit as error:
        if error.code:
            ranks.end(error, 1)
        raise
    except BaseException as error:
        if ranks.launched():  # the other ranks would wait for this one: all end here
            traceback.print_exc()
            ranks.end(error, 1)
        raise


def _run(given: Sequence[str]) -> None:
    options = _parser(given).parse_args(given)
    _refuse_same_files(options)
    options.run(options)


def _flushed(task: Callable[[], None]) -> None:
    try:
        task()
    except SystemExit:  # help or a version was printed
        sys.stdout.flush()
        raise
    sys.stdout.flush()  # a failure can still be reported here


class _ClosedOutput(io.TextIOBase):
    """Stands for a closed standard output: flushing fails once something was written."""

    _lost = False

    def write(self, text: str) -> int:
        self._lost = self._lost or bool(text)
        return len(text)

    def flush(self) -> None:
        lost, self._lost = self._lost, False
        if lost:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


def _prepare_streams() -> None:
    """Replace closed streams (`>&-`), for which Python has None: print(file=None) would print to the other stream."""
    if sys.stdout is None or sys.stderr is None:
        # Otherwise the next file opened would get the stream's number, and with it what libraries write to the stream.
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
    sys.stdout = sys.stdout or _ClosedOutput()
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 (until the process ends)
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot encode a symbol gets question marks, not a traceback.
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")


def _refuse_same_files(options: argparse.Namespace) -> None:
    """Refuse outputs that would replace, even with --force, an input or another output of the command."""
    read = [given for name, value in vars(options).items() if name not in _OUTPUTS for given in _listed(value)]
    existing = list(filter(os.path.exists, read))  # other words name no file; invalid names are refused elsewhere
    written: list[tuple[str, str]] = []
    for name in _OUTPUTS:
        for place in _listed(getattr(options, name, None)):
            if any(same_place(given, place) for given in existing):
                raise CothermError(f"--{name} {place}", "a file this command reads", "another name")
            other = next((before for before, path in written if before != name and same_place(path, place)), None)
            if other is not None:
                raise CothermError(f"--{name} {place}", f"the same file as --{other}", "another name")
            written.append((name, place))


def _listed(value: object) -> list[str]:
    """The words of an option that takes one or several."""
    return [str(one) for one in (value if isinstance(value, list) else [value]) if isinstance(one, str | Path)]


def _stop(name: str, code: int, message: str | None, error: BaseException) -> None:
    clear_progress()
    with suppress(OSError, ValueError):  # nobody reads it, and the exit code says it too
        if message is not None and ranks.speaks(error):
            print(f"{name}: " + visible(" ".join(message.split())), file=sys.stderr, flush=True)
    for stream in (sys.stdout, sys.stderr):
        _give_up_unwritten(stream)
    ranks.end(error, code)
    sys.exit(code)


def _give_up_unwritten(stream: IO[str]) -> None:
    """Drop output that cannot be written: Python would try again at exit, and complain."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def command_of(name: str) -> Command:
    """A command by its name; its module is imported now."""
    homes = {name: home for names in GROUPS.values() for name, (home, _) in names.items()}
    found: Command = import_module(f"cotherm.cli.commands.{homes[name]}").COMMANDS[name]
    return found


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """All commands by name; only the chosen one is imported, so that little is loaded."""
    import cotherm

    parser = Parser(prog="cotherm", usage="cotherm COMMAND ...", description=DESCRIPTION, epilog=EXAMPLES)
    parser.add_argument("--version", action="version", version=f"cotherm {cotherm.__version__}")
    commands = parser.add_subparsers(
        required=True, prog="cotherm", metavar="COMMAND", parser_class=Parser, help=argparse.SUPPRESS
    )
    lines = []
    for group, names in GROUPS.items():
        lines += [f"{group}:", *(f"  {name:<12}{text}" for name, (_, text) in names.items()), ""]
        for name in names:
            if name not in given:
                commands.add_parser(name)
                continue
            about, examples, options, run = command_of(name)
            where = "" if name in _ALONE else ", on the tables that `cotherm demo --tables .` writes"
            command = commands.add_parser(name, description=about, epilog=f"examples{where}:\n{examples}")
            for some in (*options, *([] if name in _ALONE else [JSON])):
                some(command) if callable(some) else add(command, some)
            command.set_defaults(run=run)
    parser.description = DESCRIPTION + "\n" + "\n".join(lines).rstrip()
    return parser
