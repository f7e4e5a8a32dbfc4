"""What makes Graph and Mesh unchangeable once made."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

# A frozen class refuses to be assigned to; its own constructor goes past that.
assign = object.__setattr__


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, which cannot be written to any more."""
    array.flags.writeable = False
    return array
