"""Single cells: ``.h5ad`` files of anndata, and ``.h5mu`` files of mudata, which hold several modalities.

Of a file only what is asked for is read: a representation of the cells, their names and their labels. anndata reads,
the extra ``cotherm[anndata]``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm import memory, validation
from cotherm.arrays import Floats
from cotherm.errors import CothermError
from cotherm.io import atomic
from cotherm.io.atomic import readable, require_proportion
from cotherm.io.cells import is_missing, shown
from cotherm.io.columns import Numbers, Request, choose, require_all
from cotherm.io.kinds import MUDATA, suffix_of
from cotherm.optional import require
from cotherm.progress import working

_X = "X"


def read_modalities(path: Path, request: Request) -> list[Numbers]:
    """Every modality of a file, or the one of a name, in the representation asked for: X or a key of obsm."""
    with _opened(path) as file, working(f"reading {path.name}"):
        if suffix_of(path) != MUDATA:
            return [_numbers(path, file, None, request, file)]
        return [_numbers(path, file["mod"][name], name, request, file) for name in _chosen(path, file, request)]


def count_modalities(path: Path, modality: str | None = None) -> int:
    """How many modalities are read from a file."""
    if suffix_of(path) != MUDATA:
        return 1
    with _opened(path) as file:
        return len(_chosen(path, file, Request(modality=modality)))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    atomic.require_content(path)
    require("anndata", "anndata")
    import h5py

    with readable(path, f"a {path.suffix} file", "anndata"), h5py.File(path, "r") as file:
        yield file


def _chosen(path: Path, file: Any, request: Request) -> list[str]:
    """The names of the modalities to read."""
    if not len(file.get("mod", ())):
        raise CothermError(str(path), "no modalities", "a file that mudata wrote")
    order = [str(name) for name in file["mod"].attrs.get("mod-order", ())]
    names = order if set(order) == set(file["mod"]) else list(file["mod"])
    if request.modality is None:
        return names
    if request.modality not in names:
        raise CothermError(str(path), f"no modality {request.modality!r}", f"one of {', '.join(map(repr, names))}")
    return [request.modality]


def _numbers(path: Path, cells: Any, name: str | None, request: Request, whole: Any) -> Numbers:
    rep = request.rep
    place = str(path) if name is None else f"{path}: modality {name!r}"
    for group in ("obs", "var"):
        if group not in cells:
            raise CothermError(place, f"no {group}", "a file that anndata wrote")
    names = _index(path, cells["obs"])
    titles = _index(path, cells["var"]) if rep in (None, _X) else None
    choice = choose(place, titles, 0 if titles is None else len(titles), replace(request, label=None, ids=None))
    found = _representation(path, place, cells, rep)
    if titles is not None and len(choice.features) < found.shape[1]:
        found = found[:, list(choice.features)]
    if found.shape[0] != len(names) or not found.shape[1]:
        given = f"{found.shape[0]} x {found.shape[1]} numbers for {len(names)} cells"
        raise CothermError(place, given, "a row of numbers for each")
    values = _dense(place, found)
    features = choice.titles
    labels, absent = _labels(path, cells, whole, names, request)
    columns = [key for key in cells["obs"] if key != cells["obs"].attrs.get("_index")]
    require_all(f"{place}: obs", columns, request, absent)
    unique = len(set(names)) == len(names) and all(names)
    reading = _reading(cells, rep, values, features, request.label if labels is not None else None)
    reading += ", names from obs_names" if unique else ", without names: some of obs_names are given twice"

    def where(k: int, c: int) -> tuple[str, str]:
        column = f"column {c} (from 0)" if features is None else repr(features[c])
        value = values[k, c]
        return f"{place}: {names[k]!r}, {column}", "a missing value" if math.isnan(value) else str(value)

    known = tuple(names) if unique else None
    known_titles = (*(titles or ()), *columns)
    nowhere = (*choice.absent, *absent, *(request.ids or ()))
    return Numbers(path, values, known, features, labels, reading, where, nowhere, known_titles, modality=name)


def _reading(cells: Any, rep: str | None, values: Floats, titles: tuple[str, ...] | None, label: str | None) -> str:
    text = f"{len(values)} cells, {values.shape[1]} columns of {rep or _X}"
    text += f" ({shown(titles)})" if titles is not None else ""
    others = list(cells.get("obsm", ()))
    if rep is None and others:
        text += f" (there are also {shown(others)})"
    return text + (f", labels from obs[{label!r}]" if label is not None else "")


def _representation(path: Path, place: str, cells: Any, rep: str | None) -> Any:
    """A matrix, dense or sparse."""
    known = [*([_X] if _X in cells else []), *cells.get("obsm", ())]
    key = rep or _X
    if key not in known:
        advice, code = ("Choose one with rep=.", "representation") if rep is None else ("", "")
        raise CothermError(place, f"no {key}", f"one of {', '.join(known) or 'none'}", advice, code=code)
    found = _element(path, cells[_X] if key == _X else cells["obsm"][key])
    found = found.to_numpy() if hasattr(found, "to_numpy") else found
    if getattr(found, "ndim", 0) != 2:
        raise CothermError(place, f"{key}, which is not a matrix", "a matrix of numbers (cells, features)")
    if hasattr(found, "check_format"):
        found.check_format(full_check=True)  # indices past the end would be written to
    return found


def _dense(place: str, found: Any) -> Floats:
    size, free = 8 * math.prod(found.shape), memory.available()
    if free is not None and 2 * size > free:
        given = f"{found.shape[0]:,} x {found.shape[1]:,} numbers, {memory.words(size)}"
        needed = f"numbers that memory holds twice, {memory.words(free)}"
        advice = "Choose a smaller representation with rep=, such as X_pca."
        raise CothermError(place, given, needed, advice, code="large-representation")
    array = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    return np.array(validation.as_float64(place, array), order="C")


def _labels(
    path: Path, cells: Any, whole: Any, names: list[str], request: Request
) -> tuple[NDArray[np.str_] | None, tuple[str, ...]]:
    """The labels of the cells, from obs of the modality or else of the whole file, and what is not there."""
    key = request.label
    if key is None:
        return None, ()
    if key in cells["obs"]:
        found = _words(path, cells["obs"][key])
        return np.array(found), ()
    if whole is cells or "obs" not in whole or key not in whole["obs"]:
        return None, (key,)
    known = dict(zip(_index(path, whole["obs"]), _words(path, whole["obs"][key]), strict=True))
    return np.array([known.get(name, "") for name in names]), ()


def _index(path: Path, frame: Any) -> list[str]:
    key = frame.attrs.get("_index", "_index")
    if key not in frame:
        raise CothermError(str(path), f"no {frame.name}/{key}", "a file that anndata wrote")
    return [str(name) for name in _element(path, frame[key])]


def _words(path: Path, element: Any) -> list[str]:
    values = list(_element(path, element))
    return ["" if value is None or is_missing(str(value)) else str(value) for value in values]


def _element(path: Path, element: Any) -> Any:
    from anndata.io import read_elem

    require_proportion(path, _size(element), path.stat().st_size, "Write it again with anndata.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other versions of anndata
        return read_elem(element)


def _size(element: Any) -> int:
    """Bytes of all arrays in an element."""
    if hasattr(element, "nbytes"):
        return int(element.nbytes)
    return sum(_size(child) for child in element.values())
