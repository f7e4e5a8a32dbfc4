"""What makes Graph and Mesh immutable."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

# A frozen class refuses assignment; its constructor uses this instead.
assign = object.__setattr__


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, made read-only."""
    array.flags.writeable = False
    return array
