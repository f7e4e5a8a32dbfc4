"""Progress for anything over two seconds: a bar in a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def track(items: Iterable[Item], *, total: int, label: str) -> Iterator[Item]:
    """Yield the items, showing a bar after two seconds if a person is watching."""
    if not sys.stderr.isatty():
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, total=total, desc=label, delay=2.0, leave=False)
