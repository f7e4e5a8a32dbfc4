"""What interactive sessions show of a result: a line in place of its arrays, and a small table in notebooks."""

from __future__ import annotations

import base64
import dataclasses
import html
from collections.abc import Mapping, Sequence

import numpy as np

from cotherm.errors import visible

# Titles and rows; the first column holds names.
Table = tuple[Sequence[str], Sequence[Sequence[object]]]

# Longer values are cut.
_LONGEST = 60
_CELL = "text-align: right; padding: 0 0.8em"


class Shown:
    """Base class of results that print a report: a line of it stands for them, with a table in notebooks."""

    def _headline(self) -> str:
        """What it is, its sizes and status."""
        raise NotImplementedError

    def _tables(self) -> Sequence[Table]:
        """Tables for notebooks."""
        return ()

    def _remarks(self) -> Sequence[str]:
        """Sentences below the table."""
        return ()

    def _picture(self) -> bytes | None:
        """A small PNG, if there is one."""
        return None

    def __repr__(self) -> str:
        return f"<{visible(self._headline())}>"

    def _repr_html_(self) -> str:
        return page(self._headline(), self._tables(), self._remarks(), self._picture())


class ArraysInShort:
    """Base class of records that hold arrays: their shapes stand for them."""

    def __repr__(self) -> str:
        names = getattr(self, "_fields", None) or [one.name for one in dataclasses.fields(self)]  # type: ignore[arg-type]
        fields = [f"{name}={_value(getattr(self, name))}" for name in names]
        return f"{type(self).__name__}({', '.join(fields)})"


def _value(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"<array {value.shape}>"
    if isinstance(value, Mapping):
        return f"<{len(value)} entries>"
    if isinstance(value, tuple | list) and any(isinstance(one, np.ndarray) for one in value):
        text = ", ".join(map(_value, value))
        return f"({text})" if len(text) <= _LONGEST else f"<{len(value)} arrays>"
    text = repr(value)
    if len(text) <= _LONGEST:
        return text
    return f"<{len(value)} entries>" if isinstance(value, tuple | list) else text[: _LONGEST - 1] + "…"


def page(title: str, tables: Sequence[Table], remarks: Sequence[str] = (), picture: bytes | None = None) -> str:
    """HTML for a notebook: a title, tables, remarks and a picture; names come from files and are escaped."""
    parts = [f"<p><b>{escaped(title)}</b></p>", *(_table(*one) for one in tables)]
    parts += [f"<p>{escaped(remark)}</p>" for remark in remarks]
    if picture is not None:
        data = base64.b64encode(picture).decode("ascii")
        parts.append(f'<img alt="{escaped(title)}" src="data:image/png;base64,{data}">')
    return f"<div>{''.join(parts)}</div>"


def _table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(_cell("th", name, left=c == 0) for c, name in enumerate(titles))
    body = "".join(f"<tr>{''.join(_cell('td', one, left=c == 0) for c, one in enumerate(row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag: str, value: object, *, left: bool) -> str:
    style = _CELL.replace("right", "left") if left else _CELL
    return f'<{tag} style="{style}">{escaped(value)}</{tag}>'


def escaped(value: object) -> str:
    """A value as text that HTML does not interpret; counts with separators."""
    counted = isinstance(value, int) and not isinstance(value, bool)
    return html.escape(visible(f"{value:,}" if counted else str(value)))
