"""Checks of arguments: plain values and arrays in, clean arrays out, or a CothermError.

Public functions call these once; everything inside then trusts its arguments.
"""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cotherm.arrays import Floats, Ints
from cotherm.errors import CothermError
from cotherm.indexed import rows_in_order

# Above this an integer may change when it becomes a float64.
_EXACT_INTEGERS = 2**53


def integer(argument: str, value: object, *, least: int, most: int | None = None) -> int:
    """A whole number within [least, most]; True and 3.0 are not whole numbers here."""
    needed = f"a whole number of at least {least}" + ("" if most is None else f" and at most {most}")
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise CothermError(argument, describe(value), needed)
    number = int(value)
    if number < least or (most is not None and number > most):
        raise CothermError(argument, _digits(number), needed)
    return number


def real(argument: str, value: object, *, positive: bool = False) -> float:
    """A finite number that is ≥ 0, or > 0 where asked."""
    needed = "a finite number " + ("> 0" if positive else ">= 0")
    found = number(argument, value, needed)
    if found < 0 or (positive and found == 0):
        raise CothermError(argument, str(found), needed)
    return found


def number(argument: str, value: object, needed: str = "a finite number") -> float:
    """A finite number of either sign."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise CothermError(argument, describe(value), needed)
    try:
        found = float(value)
    except OverflowError:  # an integer past the largest float
        raise CothermError(argument, describe(value), needed) from None
    if not math.isfinite(found):
        raise CothermError(argument, str(found), needed)
    return found


def boolean(argument: str, value: object) -> bool:
    """True or False, not merely something that counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise CothermError(argument, describe(value), "True or False")
    return bool(value)


def choice(argument: str, value: object, options: Iterable[str]) -> str:
    """One of a few words."""
    words = list(options)
    if not isinstance(value, str) or value not in words:
        raise CothermError(argument, describe(value), "one of " + ", ".join(map(repr, words)))
    return value


def options_of(options: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults with what ``options`` says instead; refuses names that are not among them."""
    needed = "a dict whose keys are among " + ", ".join(sorted(defaults))
    if options is None:
        return dict(defaults)
    if not isinstance(options, Mapping):
        raise CothermError("options", describe(options), needed)
    for key in options:
        if key not in defaults:
            raise CothermError("options", f"the key {key!r}", needed, did_you_mean(key, defaults))
    return {**defaults, **options}


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Advice for a misspelled name; empty if nothing known is near it."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"Did you mean {close[0]!r}?" if close else ""


def items(argument: str, value: object, count: int | None = None, *, least: int = 1, each: str = "") -> list[Any]:
    """What a list, a tuple or an array holds: ``count``, one for each of something, or else at least ``least``."""
    needed = f"a sequence of {f'at least {least}' if count is None else count}"
    if each:
        needed = f"a sequence, one for each of {count} {each}"
    listed = value.ndim > 0 if isinstance(value, np.ndarray) else isinstance(value, Sequence)
    if not listed or isinstance(value, str | bytes):
        raise CothermError(argument, describe(value), needed)
    found = list(value)  # type: ignore[call-overload]
    if len(found) < least if count is None else len(found) != count:
        raise CothermError(argument, f"{len(found)} of them", needed)
    return found


def labels(argument: str, value: ArrayLike, *named: Any) -> NDArray[Any]:
    """Integers, or strings, or booleans, in an array of any shape; never a mixture, which NumPy would turn into one.

    An index is matched with ``named``, the names of the items that the labels belong to.
    """
    value = rows_in_order(argument, value, *named)
    array = as_array(argument, value)
    if not isinstance(value, np.ndarray) or array.dtype.kind == "O":
        kinds = {_kind(item) for item in np.asarray(value, dtype=object).flat}
        if len(kinds) > 1:
            given = "labels of several kinds, " + " and ".join(sorted(kinds))
            raise CothermError(argument, given, "all integers or all strings", "Make strings of them all.")
        kind = {"str": np.str_, "int": np.int64, "bool": np.bool_}.get(min(kinds, default=""))
        if array.dtype.kind == "O" and kind is not None:
            with suppress(OverflowError):  # integers past those of NumPy
                array = array.astype(kind)
    if array.size and array.dtype.kind not in "biuU":
        raise CothermError(argument, f"dtype {array.dtype}", "integers or strings")
    return array


def _kind(label: object) -> str:
    if isinstance(label, bool | np.bool_):
        return "bool"
    if isinstance(label, numbers.Integral):
        return "int"
    return "str" if isinstance(label, str) else type(label).__name__


def numeric(argument: str, value: ArrayLike, *, ndim: tuple[int, ...]) -> Floats:
    """A finite float64 array of one of the given dimensions; never a lossy or surprising conversion."""
    return numeric_array(argument, as_array(argument, value), ndim=ndim)


def numeric_array(argument: str, array: Any, *, ndim: tuple[int, ...]) -> Any:
    """The same for what is an array already, wherever it lives, and stays there."""
    if array.ndim not in ndim:
        dimensions = " or ".join(str(d) for d in ndim)
        raise CothermError(argument, f"an array of shape {array.shape}", f"an array with {dimensions} dimension(s)")
    return finite(argument, as_float64(argument, array))


def as_float64(argument: str, array: NDArray[Any]) -> Floats:
    """The same numbers as float64, refusing dtypes and values that float64 cannot hold exactly."""
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise CothermError(argument, f"dtype {array.dtype}", "real numbers (float, integer or bool)")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        low, high = array.min(), array.max()
        if int(low) < -_EXACT_INTEGERS or int(high) > _EXACT_INTEGERS:
            raise CothermError(argument, f"integers up to {max(abs(int(low)), abs(int(high)))}", "integers up to 2**53")
    with np.errstate(invalid="ignore"):  # some NaN of smaller floats are signals; those who want none look for them
        return array.astype(np.float64, copy=False)


def finite(argument: str, array: Floats, advice: str = "Remove or impute the missing values first.") -> Floats:
    """The array itself, if it holds no NaN and no infinity."""
    # The sum is finite unless some entry is not (or the sum overflows): one fast pass decides most calls.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(array.sum())
    if suspicious:
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            where = tuple(int(x) for x in bad[0])
            place = where[0] if len(where) == 1 else where
            raise CothermError(
                argument,
                f"{float(array[where])} at position {place} ({len(bad)} such value(s))",
                "finite numbers",
                advice,
            )
    return array


def indices(argument: str, value: ArrayLike, *, below: int) -> Ints:
    """A vector of integers within [0, below)."""
    array = as_array(argument, value)
    if array.ndim != 1:
        raise CothermError(argument, f"an array of shape {array.shape}", "a vector of indices")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise CothermError(argument, f"dtype {array.dtype}", "integer indices")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= below:
        worst = low if low < 0 else high
        where = int(np.argmax(array == worst))
        raise CothermError(argument, f"{worst} at position {where}", f"indices from 0 to {below - 1}")
    return array.astype(np.int64)


def times(argument: str, value: ArrayLike) -> Floats:
    """A non-empty vector of finite times ≥ 0; one number counts as a vector of one."""
    given = as_array(argument, value)
    if given.ndim > 1 or given.dtype.kind == "b":
        raise CothermError(argument, describe(value), "a time or a vector of times")
    array = np.atleast_1d(finite(argument, as_float64(argument, given), advice=""))
    if array.size == 0:
        raise CothermError(argument, "no times", "at least one time")
    if array.min() < 0:
        where = int(np.argmin(array))
        raise CothermError(argument, f"{array[where]} at position {where}", "times >= 0")
    return array


def functions(argument: str, value: ArrayLike, n: int, *named: Any) -> Floats:
    """Functions on n vertices as the columns of an (n, q) array; a vector counts as one column.

    An index is matched with ``named``, the names of the vertices.
    """
    return functions_array(argument, as_array(argument, rows_in_order(argument, value, *named)), n)


def functions_array(argument: str, given: Any, n: int) -> Any:
    """The same for what is an array already, wherever it lives, and stays there."""
    array = numeric_array(argument, given, ndim=(1, 2))
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.shape[0] != n:
        raise CothermError(
            argument,
            f"{array.shape[0]} rows",
            f"one row per vertex, {n}",
            "Transpose it if the functions are its rows." if array.shape[1] == n else "",
        )
    return array


def describe(value: object) -> str:
    """A short account of a value for an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    try:
        text = _digits(value) if isinstance(value, int) else repr(value)
    except Exception:  # it holds an integer too long to be written out, or cannot be written out at all
        return f"a {type(value).__name__}"
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def _digits(number: int) -> str:
    """A whole number in digits, or their number where Python itself refuses to write them out."""
    try:
        return repr(number)
    except ValueError:
        return f"a number of some {int(number.bit_length() * math.log10(2)) + 1} digits"


def lives_on_gpu(value: object) -> bool:
    """Whether it is an array on an NVIDIA GPU, by CuPy, PyTorch or Numba."""
    try:
        # A tensor of PyTorch that has derivatives refuses to say where it is, but not that it is on a GPU.
        return getattr(value, "is_cuda", None) is True or hasattr(value, "__cuda_array_interface__")
    except Exception:  # an object's own way to look for attributes may fail in any way
        return False


def _on_host(value: Any) -> Any:
    """A copy of what lives on a GPU, by the method that its library has for it: CuPy, PyTorch or Numba; else itself."""
    if not lives_on_gpu(value):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    for copy in ("get", "copy_to_host"):
        if hasattr(value, copy):
            return getattr(value, copy)()
    return value


def refuse_cells(argument: str, value: object) -> None:
    """Refuse AnnData and MuData, which hold many arrays."""
    if not hasattr(value, "obs_names"):
        return
    advice = "cotherm.interop.from_anndata(adata) makes a graph of its cells."
    if hasattr(value, "mod"):
        advice = "cotherm.interop.anndata_graphs(mdata) makes a graph of each modality."
    raise CothermError(argument, f"{type(value).__name__}", "an array, such as one of its obsm", advice)


def as_array(argument: str, value: ArrayLike) -> NDArray[Any]:
    """A plain array; sparse, masked and ragged data are refused, arrays on a GPU are copied."""
    if hasattr(value, "tocsr"):
        raise CothermError(argument, "a sparse matrix", "a dense array", "Call .toarray() on it.")
    refuse_cells(argument, value)
    if isinstance(value, np.ma.MaskedArray):
        raise CothermError(
            argument,
            "a masked array",
            "an array without missing values",
            "Call .filled(value) or .compressed().",
        )
    try:
        array: NDArray[Any] = np.asarray(_on_host(value))
    except (ValueError, TypeError) as error:
        raise CothermError(argument, f"nested data of uneven shape ({error})", "a rectangular array") from None
    except Exception as error:  # an object's own way to become an array may fail in any way
        given = f"{describe(value)}, of which no array can be made ({type(error).__name__}: {error})"
        raise CothermError(argument, given, "an array") from error
    return array
