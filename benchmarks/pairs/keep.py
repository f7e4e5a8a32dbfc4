"""Rows of a run in a file of JSON lines, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.suite.parts import NO_DATA, NOT_INSTALLED

Key = tuple[str, str, str]  # experiment, case, contestant


class Kept:
    """The rows of a file, and those of this run, which are added to it; without a file they are only held."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self._rows: dict[Key, dict[str, Any]] = {}
        if place is not None and place.exists():
            self._read(place)

    def get(self, key: Key) -> dict[str, Any] | None:
        """The row, if there is one that another try would not change."""
        row = self._rows.get(key)
        return None if row is None or row["status"] in (NOT_INSTALLED, NO_DATA) else row

    def add(self, row: dict[str, Any]) -> None:
        self._rows[_key(row)] = row
        if self._place is not None:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            with self._place.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _read(self, place: Path) -> None:
        """All whole lines; what a killed process left of one is cut off, or the next row would be added to it."""
        data = place.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            place.write_bytes(whole)
        for line in whole.decode("utf-8").splitlines():
            row = json.loads(line)
            self._rows[_key(row)] = row


def _key(row: dict[str, Any]) -> Key:
    return row["family"], row["problem"], row["contestant"]
