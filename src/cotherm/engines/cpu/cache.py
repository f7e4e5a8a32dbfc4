"""Compiled kernels kept in files, as Numba keeps them, with two differences.

A file that is damaged or cannot be read is as good as none: the kernel is compiled anew, and where it cannot be kept (a
full disk) it is compiled for this process alone. And every file begins with a digest of what follows: machine code in
which a few bytes have changed would otherwise be run. Numba's own index may for a moment name a file of an older
version of a kernel; so what is kept says which kernel it is.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

log = logging.getLogger("cotherm")

_DIGEST = hashlib.sha256
_LENGTH = _DIGEST().digest_size


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The compiled forms of one function; looked up once for every combination of types, not at every call."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        # A separate name, so that releases without digests find their files unchanged.
        name, stamp = f"{self._impl.filename_base}-digest", self._impl.locator.get_source_stamp()
        self._cache_file = _DigestedFiles(self._cache_path, name, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # any error: the entry does not fit this Numba, or the file cannot be read
            log.info("compiled code of %s is not used: %r", self._name, error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # any error: the disk is full, the folder is gone, the code cannot be serialized
            log.info("compiled code of %s is not kept: %r", self._name, error)


class _DigestedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """An index and the files it names. A damaged one counts as empty and is rewritten by the next save."""

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (self._kernel(key), data))

    def load(self, key: Any) -> Any:
        found = super().load(key)
        if found is None or found[0] != self._kernel(key):
            return None
        return found[1]

    def _kernel(self, key: Any) -> str:
        return repr((self._version, self._index_name, self._source_stamp, key))

    def _load_index(self) -> dict[Any, str]:
        try:
            stamp, overloads = self._read(self._index_path)
        except (OSError, ValueError):
            return {}
        return overloads if stamp == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, ((self._version, self._source_stamp), overloads))

    def _load_data(self, name: str) -> Any:
        try:
            return self._read(self._data_path(name))
        except ValueError:
            return None

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        content = Path(path).read_bytes()
        if _DIGEST(content[_LENGTH:]).digest() != content[:_LENGTH]:
            raise ValueError(f"{path}: damaged")
        return pickle.loads(content[_LENGTH:])

    def _write(self, path: str, value: Any) -> None:
        content = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(_DIGEST(content).digest() + content)
