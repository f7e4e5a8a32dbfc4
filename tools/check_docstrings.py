"""Check the docstrings of all public names with numpydoc: python tools/check_docstrings.py

Functions and classes need a summary, parameters that match the signature, with types, Returns, See Also and Examples.
Of results all fields need a type and a description. Methods need neither See Also nor Examples. Private names are not
checked.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import cotherm
from cotherm.lazy import lazy

# Text begins on the first line; an extended summary is not always needed.
IGNORED = {"GL01", "ES01"}
# Methods need no cross-references and examples of their own; the fields of results are attributes, not parameters.
IGNORED_IN_METHODS = {"SA01", "EX01"}
IGNORED_IN_RESULTS = {"PR01", "EX01"}


def public() -> dict[str, Any]:
    """All public functions and classes by the place where they are defined."""
    modules = [cotherm, *(x for x in map(cotherm.__getattr__, cotherm.__all__) if isinstance(x, ModuleType))]
    found = [getattr(module, name) for module in modules for name in module.__all__]
    return {f"{x.__module__}.{x.__qualname__}": x for x in found if not isinstance(x, ModuleType)}


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties, also those inherited within the package; what only overrides one is left out."""
    for owner in cls.__mro__:
        if owner.__module__.startswith("cotherm."):
            for name, member in vars(owner).items():
                function = getattr(member, "__func__", getattr(member, "fn", member))  # classmethods; available_if
                known = inspect.isfunction(function) or isinstance(member, property | lazy)
                if known and not name.startswith("_") and (function.__doc__ or not inspect.getdoc(getattr(cls, name))):
                    yield f"{owner.__module__}.{owner.__qualname__}.{name}", member


def complaints(place: str, member: Any) -> Iterator[str]:
    """What is wrong with the docstring of a public function or class and of its members."""
    given = is_dataclass(member) or hasattr(member, "_fields")  # a result, which users do not make themselves
    yield from _by_numpydoc(place, IGNORED | (IGNORED_IN_RESULTS if given else set()))
    if inspect.isclass(member):
        yield from _fields(place, member)
        for name, one in members(member):
            if isinstance(one, property | lazy):
                yield from _summary(name, one)
            else:
                yield from _by_numpydoc(name, IGNORED | IGNORED_IN_METHODS)


def _by_numpydoc(place: str, ignored: set[str]) -> Iterator[str]:
    for code, text in validate(place)["errors"]:
        if code not in ignored:
            yield f"{place}: {code} {text}"


def _fields(place: str, cls: type) -> Iterator[str]:
    """Every field is documented, with a type and a description."""
    doc = NumpyDocString(inspect.getdoc(cls) or "")
    described = [*doc["Parameters"], *doc["Attributes"]]
    names = {name for entry in described for name in entry.name.split(", ")}
    if is_dataclass(cls):
        declared = [field.name for field in fields(cls)]
    else:
        declared = [*getattr(cls, "_fields", ()), *vars(cls).get("__slots__", ())]
    for name in declared:
        if name not in names:
            yield f"{place}: the attribute {name} is not documented"
    for entry in described:
        if not entry.type or not entry.desc:
            yield f"{place}: {entry.name} has no type or no description"


def _summary(place: str, member: Any) -> Iterator[str]:
    first = (inspect.getdoc(member) or "").partition("\n\n")[0]
    if not first.endswith(".") or "\n" in first:
        yield f"{place}: a property needs a summary of one line that ends with a period"


if __name__ == "__main__":
    found = sorted({text for place, member in public().items() for text in complaints(place, member)})
    sys.exit("\n".join(found) if found else 0)
