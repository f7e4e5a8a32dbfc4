"""States of computations in files: nested objects of numbers, texts and arrays, under one checksum, without pickle.

A line that says what the file is, the length of a JSON text, the text, the bytes of all arrays one after the other, and
a SHA-256 of everything before it. In the text an array is an object with its type, its shape and where it begins.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotherm.errors import CothermError

State = dict[str, Any]

_MARK = b"cotherm state\n"
_LENGTH = struct.Struct("<Q")
_ARRAY = "array"
# Masks are stored as bits.
_BITS = "bits"
_TYPES = ("<f8", "<f4", "<i8", "<i4", "|u1", _BITS)
_DAMAGED = "The file is damaged."


def is_state(data: bytes) -> bool:
    """Whether a file that begins like this is one of these."""
    return data.startswith(_MARK)


def pieces(state: Mapping[str, Any]) -> list[Any]:
    """The file as buffers one after the other; arrays are not copied where their memory is in order."""
    arrays: list[NDArray[Any]] = []
    text = json.dumps(_described(state, arrays, [0])).encode()
    parts: list[Any] = [
        _MARK,
        _LENGTH.pack(len(text)),
        text,
        *(one.reshape(-1).view(np.uint8).data for one in arrays if one.size),
    ]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return [*parts, digest.digest()]


def parse(data: bytes) -> State:
    """The state of a file."""
    head, tail = len(_MARK) + _LENGTH.size, hashlib.sha256().digest_size
    if not is_state(data):
        raise CothermError("file", "something else", "a file that begins with 'cotherm state'")
    if len(data) < head + tail or hashlib.sha256(memoryview(data)[:-tail]).digest() != data[-tail:]:
        raise CothermError("file", "another checksum than its content", "a file as it was written", _DAMAGED)
    (length,) = _LENGTH.unpack_from(data, len(_MARK))
    body = memoryview(data)[head + length : -tail]
    try:
        state = _restored(json.loads(data[head : head + length]), body)
    except (ValueError, TypeError, KeyError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise CothermError("file", "no state that can be read", "a file that this version of cotherm wrote", _DAMAGED)
    return state


def _described(value: Any, arrays: list[NDArray[Any]], used: list[int]) -> Any:
    """Convert a value to JSON; arrays go to the list ``arrays``, whose size so far is ``used`` bytes."""
    if isinstance(value, Mapping):
        return {key: _described(item, arrays, used) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_described(item, arrays, used) for item in value]
    if isinstance(value, np.ndarray):
        stored = np.packbits(value) if value.dtype == np.bool_ else np.ascontiguousarray(value)
        kind = _BITS if value.dtype == np.bool_ else stored.dtype.newbyteorder("<").str
        if kind not in _TYPES:
            raise TypeError(f"no place for numbers of type {value.dtype}")
        arrays.append(stored.astype(stored.dtype.newbyteorder("<"), copy=False))
        used[0], first = used[0] + stored.nbytes, used[0]
        return {_ARRAY: kind, "shape": list(value.shape), "first": first}
    return value.item() if isinstance(value, np.generic) else value


def _restored(value: Any, body: memoryview) -> Any:
    if isinstance(value, list):
        return [_restored(item, body) for item in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY not in value:
        return {key: _restored(item, body) for key, item in value.items()}
    kind, shape, first = value[_ARRAY], tuple(map(int, value["shape"])), int(value["first"])
    count = math.prod(shape)
    if kind not in _TYPES or first < 0 or any(size < 0 for size in shape):
        raise ValueError("no array")
    if kind == _BITS:
        packed = np.frombuffer(body, np.uint8, (count + 7) // 8, first)
        return np.unpackbits(packed, count=count).astype(bool).reshape(shape)
    dtype = np.dtype(kind)
    return np.frombuffer(body, dtype, count, first).astype(dtype.newbyteorder("="), copy=True).reshape(shape)
