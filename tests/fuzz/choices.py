"""A generator of random numbers that takes its choices from bytes: a fuzzer that changes bytes changes choices."""

from __future__ import annotations

import hashlib
from random import Random


class Choices(Random):
    """Takes what it needs from the bytes; where they end, numbers go on that depend on the bytes alone."""

    def __new__(cls, data: bytes) -> Choices:
        return super().__new__(cls)

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._rest = Random(hashlib.sha256(data).digest())
        super().__init__(0)

    def getrandbits(self, k: int, /) -> int:
        size = (k + 7) // 8
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            return self._rest.getrandbits(k)
        self._at += size
        return int.from_bytes(taken, "little") & ((1 << k) - 1)

    def random(self) -> float:
        """One of 65,536 numbers: two bytes each, so that few bytes are many choices."""
        return self.getrandbits(16) / 65_536.0
