"""Command lines at random, on good and damaged files: each ends in a result or in one line that says what is wrong."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

from cotherm import cli
from tests.cli.test_refusals import only_readings
from tests.fuzz import seeds
from tests.fuzz.mutations import mutate

_ITEMS = 14
_NUMBERS = ("0", "1", "2", "-1", "0.5", "1e300", "1e-300", "nan", "inf", "1_0", "١", "x", "", "9" * 400, "1e5", "3.0")
_LISTS = ("1,1", "1,2", "1", "1,,2", "nan,1", "0,1", "1e300,1", "1,-1", "x", "", ",", "1,1,1", "1e-300,1e300")
_COUNTS = ("0", "1", "2", "3", "5", "13", "14", "15", "-1", "1.5", "x", "999999999999", "")

# Pictures take much longer than anything else.
_PICTURES = 0.03

Pick = Callable[[Random], list[str]]


def _files() -> dict[str, bytes]:
    """Good files of every kind, small."""
    random = np.random.default_rng(0)
    points = {name: random.random((_ITEMS, d)).round(4) for name, d in (("first", 3), ("second", 4), ("third", 2))}
    names = [f"item-{k}" for k in range(_ITEMS)]
    tables = {
        f"{name}.csv": "\n".join(
            [
                ",".join(["id", *(f"f{c}" for c in range(X.shape[1]))]),
                *(",".join([n, *map(str, row)]) for n, row in zip(names, X.tolist(), strict=True)),
            ]
        )
        for name, X in points.items()
    }
    tables["plain.tsv"] = "\n".join("\t".join(map(str, row)) for row in points["first"].tolist())
    tables["labels.csv"] = "id,kind\n" + "\n".join(f"{n},{'abc'[k % 3]}" for k, n in enumerate(names))
    tables["column.csv"] = "kind\n" + "\n".join("abc"[k % 3] for k in range(_ITEMS))
    tables["pairs.csv"] = "first,second\nitem-1,item-1\nitem-5,5\n9,item-9\n"
    tables["f.csv"] = "\n".join(f"{np.sin(k)},{k / 10}" for k in range(_ITEMS))
    files = {name: text.encode() + b"\n" for name, text in tables.items()}
    for kind in ("graphs", "meshes", "arrays", "couplings", "matches"):
        files |= seeds.ALL[kind]()
    return files


FILES = _files()
_VIEWS = ("first.csv", "second.csv", "third.csv", "plain.tsv", "points.npy", "own.npz", "own.off", "own.csv", "own.mtx")
_RESULTS = ("coupling.npz", "coupling.npz", "own.npz", "full.npz", "own.csv", "general.mtx")


def judge_command(random: Random, directory: Path) -> str | None:
    """What is wrong with how a command ends; None where nothing is."""
    arguments = _arguments(random)
    named = [name for name in FILES if any(name == word for word in arguments)]
    contents = {name: FILES[name] for name in named}
    for name in named:
        if random.random() < 0.2:
            contents[name] = mutate(random, name, contents[name])
    for name, data in contents.items():
        (directory / name).write_bytes(data)
    before = _state(directory)
    code, out, err = _run(arguments, directory)
    said = f"cotherm {' '.join(arguments)}: {code} {err[-300:]!r}"
    if code not in (0, 2):
        return said
    after = _state(directory)
    if code == 2 and (not only_readings(out) or err.count("\n") != 1 or after != before):
        return f"{said} {out[:200]!r} {sorted(set(after) ^ set(before))}"
    if any(after.get(name) != data for name, data in before.items() if name != "out.npz"):
        return f"{said}: a file it reads has changed"
    leftovers = [name for name in after if name.startswith(".")]
    return f"{said}: {leftovers} left behind" if leftovers else None


def _run(arguments: list[str], directory: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    here = Path.cwd()
    os.chdir(directory)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main(arguments)
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    finally:
        os.chdir(here)
    return code, out.getvalue(), err.getvalue()


def _state(directory: Path) -> dict[str, bytes]:
    return {place.name: place.read_bytes() for place in directory.iterdir()}


def _arguments(random: Random) -> list[str]:
    command = "show" if random.random() < _PICTURES else random.choice(sorted(set(_COMMANDS) - {"show"}))
    words = [command, *_COMMANDS[command](random)]
    if random.random() < 0.05:
        words.insert(
            random.randint(1, len(words)),
            random.choice(["--json", "--force", "-x", "", "\x1b[31m", "--", "é", "\udcff"]),
        )
    if random.random() < 0.03:
        del words[random.randrange(len(words))]
    return words


def _option(random: Random, name: str, good: tuple[str, ...], bad: tuple[str, ...], often: float = 0.15) -> list[str]:
    """An option, taken so often, with one of the values that make sense or, one time in six, with one that does not."""
    if random.random() > often:
        return []
    return [name, random.choice(bad if random.random() < 1 / 6 else good)]


def _views(random: Random, least: int) -> list[str]:
    if random.random() < 0.8:  # views that can be brought together
        return random.sample(["first.csv", "second.csv", "third.csv"], random.randint(least, max(least, 2)))
    return [random.choice(_VIEWS) for _ in range(random.randint(1, 3))]


def _recipe(random: Random) -> list[str]:
    return [
        *_option(random, "--neighbors", ("3", "4", "10"), _COUNTS, 0.5),
        *_option(random, "--scale", ("median", "none", "self-tuning", "0.5"), _NUMBERS),
        *_option(random, "--metric", ("cosine", "euclidean"), ("taxi",)),
        *_option(random, "--symmetrize", ("mean", "min"), ("other",)),
        *(["--standardize"] if random.random() < 0.1 else []),
        *_option(random, "--columns", ("f0,f1", "f0"), ("zz", ",", ""), 0.05),
        *_option(random, "--drop-columns", ("f1", "f2,f1"), ("zz", '"', "id"), 0.05),
        *_option(random, "--label-column", ("f0",), ("zz", ""), 0.03),
        *_option(random, "--id-column", ("id", "none", "f0"), ("zz", ",", "id,f0"), 0.05),
        *_option(random, "--missing", ("drop", "median"), ("mean",), 0.1),
        *_option(random, "--decimal", (",", "."), (";",), 0.05),
        *_option(random, "--header", ("first.csv", "labels.csv"), ("none.csv",), 0.03),
        *_option(random, "--no-header", ("first.csv", "labels.csv"), ("none.csv",), 0.03),
    ]


def _sources(random: Random, count: int) -> list[str]:
    kind = random.randrange(5)
    if kind == 0 and count == 2:
        return ["--landmarks", "pairs.csv"]
    if kind == 1:
        return ["--functions", *["f.csv"] * count]
    labels = random.choice([["labels.csv"], ["column.csv"], ["labels.csv"] * count])
    if random.random() < 0.05:
        labels = ["first.csv"]
    known = _option(random, "--known", ("0.5", "1"), _NUMBERS)
    return ["--labels", *labels, *known, *_option(random, "--column", ("kind",), ("other",), 0.05)]


def _out(random: Random, *suffixes: str) -> list[str]:
    return ["--out", "out" + (random.choice(suffixes) if random.random() < 0.95 else ".xyz")]


def _couple(random: Random) -> list[str]:
    views = _views(random, 2)
    return [
        *views,
        *_recipe(random),
        *_option(random, "--times", ("1,5", "auto", "0.1"), (*_NUMBERS, *_LISTS)),
        *_option(random, "--alpha", ("auto", "1e3"), _NUMBERS),
        *_option(random, "--rigidity", ("1,1", "1,4"), _LISTS),
        *_option(random, "--graph-weights", ("1,1", "1,4"), _LISTS),
        *_option(random, "--continuation", ("direct", "times"), ("x",)),
        *_option(random, "--tolerance", ("1e-3", "1"), _NUMBERS),
        *_option(random, "--memory", ("1GiB", "auto"), ("1", "x", "-1", "1e30TB")),
        *_option(random, "--by", ("labels", "pairs"), ("landmarks", "features", "functions", "colors")),
        *_option(random, "--checkpoint", ("state",), ("out.npz", "./out.npz", "first.csv"), 0.1),
        *("--max-iterations", random.choice(["1", "2", "3"])),
        *_out(random, ".npz"),
        *_sources(random, len(views)),
    ]


def _functions(random: Random) -> list[str]:
    views = _views(random, 1)
    out = [f"out{k}{random.choice(['.csv', '.npy'])}" for k in range(len(views))]
    return [*views, *_recipe(random), "--out", *out, *_sources(random, len(views))]


def _neighbors(random: Random) -> list[str]:
    return [
        *_option(random, "--neighbors", ("n.csv",), ("n.npz", "out.csv"), 0.95),
        *_option(random, "--view", ("1", "2"), _COUNTS, 0.95),
        *_option(random, "--top", ("1", "2"), _COUNTS, 0.3),
        *(["--all"] if random.random() < 0.2 else []),
    ]


def _shared(*more: Callable[[Random], list[str]]) -> Pick:
    def pick(random: Random) -> list[str]:
        return [*_views(random, 2), *_recipe(random), *(word for one in more for word in one(random))]

    return pick


def _results(random: Random) -> str:
    return random.choice(_RESULTS if random.random() < 0.85 else ("match.npz", "first.csv", "own.off"))


_COMMANDS: dict[str, Pick] = {
    "graph": lambda r: [r.choice(_VIEWS), *_recipe(r), *_out(r, ".npz", ".csv", ".mtx")],
    "functions": _functions,
    "couple": _couple,
    "average": _shared(
        lambda r: _out(r, ".npz", ".csv", ".mtx"), lambda r: _option(r, "--power", ("harmonic", "geometric"), ("x",))
    ),
    "diagonalize": _shared(
        lambda r: _option(r, "--modes", ("3", "14"), _COUNTS, 0.5), lambda r: _out(r, ".csv", ".npy")
    ),
    "common": lambda r: [
        "paired.npz" if r.random() < 0.9 else _results(r),
        *_option(r, "--components", ("1", "3"), _COUNTS, 0.4),
        *_option(r, "--time", ("1", "0", "100"), _NUMBERS, 0.3),
        *_option(r, "--clusters", ("2", "3"), _COUNTS, 0.1),
        *_option(r, "--seed", ("1", "2"), _COUNTS, 0.05),
        *_option(r, "--graph", ("g.npz",), ("g.csv", "nowhere/g.npz", "paired.npz"), 0.3),
        *(_neighbors(r) if r.random() < 0.6 else []),
        *_out(r, ".csv"),
    ],
    "distances": lambda r: [
        _results(r),
        *_option(r, "--view", ("1", "2"), _COUNTS, 0.6),
        *_option(r, "--time", ("1", "0", "100"), _NUMBERS, 0.5),
        *_option(r, "--nearest", ("1", "3"), _COUNTS, 0.2),
        *_option(r, "--sources", ("0", "0,3"), _LISTS, 0.2),
        *_out(r, ".csv", ".npy"),
    ],
    "retrieve": lambda r: [
        _results(r),
        *_option(r, "--view", ("1", "2"), _COUNTS, 0.2),
        *_option(r, "--times", ("1,2", "0.5"), _NUMBERS, 0.4),
        *_option(r, "--query", ("0", "3"), _COUNTS, 0.6),
        *_option(r, "--top", ("1", "3"), _COUNTS, 0.3),
        *_option(r, "--labels", ("column.csv", "labels.csv"), ("first.csv",)),
    ],
    "cluster": lambda r: [
        *([_results(r)] if r.random() < 0.5 else [*_views(r, 1), *("--by", r.choice(["average", "diagonalize"]))]),
        *("--clusters", r.choice(["2", "3", *_COUNTS])),
        *_option(r, "--labels", ("column.csv", "labels.csv"), ("first.csv",)),
        *_out(r, ".csv"),
    ],
    "match": lambda r: [
        "coupling.npz" if r.random() < 0.9 else _results(r),
        *_option(r, "--source", ("1", "2"), _COUNTS),
        *_option(r, "--target", ("1", "2"), _COUNTS),
        *_out(r, ".csv", ".npz"),
    ],
    "info": lambda r: [r.choice(sorted(FILES))],
    "demo": lambda r: ["--tables", r.choice([".", "nowhere", "first.csv"])],
    # Among matrices, not graphs: that search takes seconds however small the graphs.
    "commute": _shared(lambda _: ["--out", "out1.npy", "out2.npy"]),
    "show": lambda r: [
        _results(r),
        *_option(r, "--kind", ("graphs", "heat", "coupling", "convergence"), ("x",), 0.7),
        *_option(r, "--function", ("1", "2"), _COUNTS),
        *_option(r, "--labels", ("column.csv", "labels.csv"), ("first.csv",)),
        *_out(r, ".png", ".svg", ".html"),
    ],
    "view": lambda r: [
        _results(r),
        "--no-open",
        *_option(r, "--labels", ("column.csv", "labels.csv"), ("first.csv",)),
        *_option(r, "--names", ("column.csv", "labels.csv"), ("first.csv",)),
        *_option(r, "--positions", ("first.csv",), ("labels.csv", "nowhere.csv")),
        *_option(r, "--pairs", ("same", "names"), ("x",)),
        *_option(r, "--title", ("A title",), ("\x1b[31m", "")),
        *_out(r, ".html"),
    ],
}
