"""How much memory is free, how much this process uses, and amounts of memory in words."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from numbers import Real
from pathlib import Path
from typing import Any

from cotherm.errors import CothermError

resource: Any = None
with suppress(ImportError):  # not on every system
    import resource

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([KMGT]I?)?B?", re.IGNORECASE)
_NEEDED = 'an amount of memory, such as "8GiB", "500 MB" or a number of bytes'


def amount(argument: str, value: object) -> int:
    """Bytes from a number of them, NumPy's included, or from words like "8GiB"."""
    found = _AMOUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    number: Any = 0 if isinstance(value, bool) or not isinstance(value, Real) else value
    if found:
        number = float(found[1]) * _UNITS[(found[2] or "").upper()]
    with suppress(OverflowError):  # a whole number past the largest float
        if 0.0 < float(number) < 2.0**63:
            return int(number)
    try:
        given = repr(value)
    except Exception:  # too long a number, or an object that cannot be written out
        given = f"a {type(value).__name__}"
    raise CothermError(argument, given, _NEEDED)


def words(size: float) -> str:
    """An amount to two or three digits: "850 MB", "7.5 GB"."""
    unit, name = next((one for one in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")) if size >= one[0]), (1e3, "kB"))
    return f"{size / unit:.3g} {name}"


def available(processes: int = 1) -> int:
    """Free bytes, within the limits of a container and of this process.

    ``processes`` processes share what is free on the machine.
    """
    import psutil

    machine, group, own = int(psutil.virtual_memory().available), _free_of_group(), _free_of_process()
    shared = machine if group is None else min(machine, group)
    return shared // processes if own is None else min(shared // processes, own)


def in_use() -> int:
    """Bytes of memory this process uses now."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def peak() -> int | None:
    """The most bytes this process has used so far; None if unknown."""
    with suppress(OSError, ValueError, StopIteration):
        # What getrusage says is not less than what the parent used when it started this process.
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    if resource is None:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _free_of_process() -> int | None:
    """What a limit on the addresses of this process (``ulimit -v``) leaves; None without one."""
    import psutil

    if resource is None:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else max(0, limit - int(psutil.Process().memory_info().vms))


def _free_of_group() -> int | None:
    """What a container's limit (cgroup, version 2 or 1) leaves; files it holds in memory give way.

    psutil knows the machine and the process, not their container.
    """
    for folder, limit, used, files in (
        ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        try:
            most, taken = (int(Path(folder, name).read_text()) for name in (limit, used))
            stat = Path(folder, "memory.stat").read_text().splitlines()
            spare = next((int(line.split()[1]) for line in stat if line.split()[0] == files), 0)
            return max(0, most - taken + spare)
        except (OSError, ValueError, IndexError):  # no such group, or "max"
            continue
    return None
