"""What a page holds: arrays, compressed separately and joined, and text in which nothing may be executed.

The page reads arrays with what every browser has (``DecompressionStream("deflate")``). Numbers are little endian, in C
order. Before compression integers may be replaced by their differences ("zlib-delta"), and floats by all their first
bytes, then all their second bytes, and so on ("zlib-shuffle"): both leave longer runs to the compressor.

Names come from files and from others. Strings reach the page in its title, which is HTML, and in the header, which is
JSON inside a script element that is not run. The page itself only ever sets them as text.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.errors import shortened

# Beyond this level zlib takes several times as long for a few percent.
_LEVEL = 6
# Longer names are shown by their beginning and their end.
LONGEST_NAME = 120
# Characters that end a script element or begin markup, and line ends that JSON allows and scripts do not.
_ESCAPES = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


class Blocks:
    """Arrays by name; ``index`` describes them in the header, ``base64()`` holds the arrays themselves."""

    def __init__(self) -> None:
        self.index: dict[str, dict[str, Any]] = {}
        self._parts: list[bytes] = []
        self.size = 0

    def add(self, name: str, values: NDArray[Any], dtype: str) -> str:
        """Store the array as numbers of this type, and return its name."""
        assert name not in self.index
        array = np.ascontiguousarray(values, dtype=f"<{dtype}")
        coding, data = _coded(array)
        packed = zlib.compress(data, _LEVEL)
        self.index[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "offset": self.size,
            "length": len(packed),
            "coding": coding,
        }
        self._parts.append(packed)
        self.size += len(packed)
        return name

    def base64(self) -> bytes:
        """All of them as text that HTML does not interpret."""
        return base64.b64encode(b"".join(self._parts))


def _coded(array: NDArray[Any]) -> tuple[str, bytes]:
    """The arrangement of the bytes, and the bytes."""
    if array.dtype.kind == "f":
        as_bytes = array.reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize)
        return "zlib-shuffle", np.ascontiguousarray(as_bytes.T).tobytes()
    if array.dtype.itemsize == 1:
        return "zlib", array.tobytes()
    flat = array.reshape(-1)
    # Unsigned numbers wrap around, as the page's do when it adds them up again.
    unsigned = flat.view(f"<u{array.dtype.itemsize}")
    return "zlib-delta", np.diff(unsigned, prepend=np.zeros(1, dtype=unsigned.dtype)).tobytes()


def shown_name(name: object, width: int = LONGEST_NAME) -> str:
    """A name in at most ``width`` characters, with control characters written out."""
    return shortened(str(name), width)


def json_text(value: Any) -> str:
    """JSON that can stand in a script element; numbers that are not finite become null."""
    written = json.dumps(_with_nulls(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return written.translate(_ESCAPES)


def _with_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_nulls(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_nulls(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
