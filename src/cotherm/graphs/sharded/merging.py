"""How records of the same edge are treated: refused, compared, or merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.errors import CothermError

Records = NDArray[Any]
# Sorted records in, one for each edge out.
Merge = Callable[[Records], Records]


def each_once(place: Callable[[int], str]) -> Merge:
    """Require every edge at most once; ``place`` names a record by its position."""

    def merge(records: Records) -> Records:
        again = np.flatnonzero(_same(records))
        if len(again):
            first, second = sorted(records["position"][again[0] : again[0] + 2].tolist())
            i, j = records["i"][again[0]], records["j"][again[0]]
            raise CothermError(
                place(second),
                f"vertices {i} and {j} again, as in {place(first)} ({len(again)} repeated edge(s) in this shard)",
                "every pair of vertices at most once",
                "Add up or choose among the repeated weights first.",
            )
        return records

    return merge


def both_sides(place: Callable[[int], str]) -> Merge:
    """Require every edge twice with equal weights, above and below a matrix's diagonal (below: ~position)."""

    def merge(records: Records) -> Records:
        if not _paired(records):
            _refuse_sides(records, place)
        return records[records["position"] >= 0]

    return merge


def _paired(records: Records) -> bool:
    """Whether records come in pairs, one from each side with equal weights, and all pairs differ."""
    if len(records) % 2:
        return False
    same, upper = _same(records), records["position"] >= 0
    a, b = records[0::2], records[1::2]
    apart = np.all(same[0::2]) and not np.any(same[1::2]) and np.all(upper[0::2] != upper[1::2])
    return bool(apart and np.all(a["w"] == b["w"]))


def _refuse_sides(records: Records, place: Callable[[int], str]) -> None:
    """Refuse and name the first entry without an equal one on the other side, or that occurs twice."""
    key = _edge_numbers(records)
    for start in np.flatnonzero(np.diff(key, prepend=-1)):
        group = records[start : start + int(np.searchsorted(key, key[start], side="right") - start)]
        sides = (group["position"] >= 0).tolist()
        position = max(one if one >= 0 else ~one for one in group["position"].tolist())
        if len(sides) > len(set(sides)):
            raise CothermError(place(position), "an entry that was there before", "every entry at most once")
        if len(group) < 2 or group["w"][0] != group["w"][1]:
            raise CothermError(
                place(position),
                f"an entry between vertices {group['i'][0]} and {group['j'][0]} on one side only, or unequal",
                "an equal entry on the other side of the diagonal",
                "Choose how to combine the two, e.g. (W + W.T) / 2.",
            )
    raise AssertionError("no entry is wrong")


def symmetrized(how: str) -> Merge:
    """Edges of nearest neighbors, once or twice each: "max", "mean" or "min" of both directions.

    Weights of both directions are the same, so that only their number matters.
    """

    def merge(records: Records) -> Records:
        first = np.flatnonzero(~_same(records, before=True))
        times = np.diff(np.append(first, len(records)))
        merged = records[first]
        if how == "mean":
            merged["w"] = merged["w"] * times / 2
        return merged[times == 2] if how == "min" else merged

    return merge


def in_order(records: Records, n: int) -> Records:
    """The records sorted by (i, j), those of the same edge as they came."""
    key = records["i"].astype(np.int64)
    key *= n
    key += records["j"]
    return records[np.argsort(key, kind="stable")]


def _same(records: Records, *, before: bool = False) -> NDArray[np.bool_]:
    """Whether a record is of the same edge as the next one, or as the one before it."""
    same = (records["i"][1:] == records["i"][:-1]) & (records["j"][1:] == records["j"][:-1])
    if len(records) == 0:
        return np.empty(0, dtype=np.bool_)
    return np.concatenate([[False], same] if before else [same, [False]])


def _edge_numbers(records: Records) -> NDArray[np.int64]:
    return np.asarray(np.cumsum(~_same(records, before=True)))
