"""Text in a page: names come from files and from others, and nothing in them may be executed.

Strings reach the page in three places: its title, which is HTML; the header, which is JSON inside a script element that
is not run; and the notes, a part of the header. The page itself only ever sets them as text.
"""

from __future__ import annotations

import html
import json
import math
from typing import Any

from cotherm.errors import shortened

# Longer names are shown by their beginning and their end.
LONGEST_NAME = 120
# Characters that end a script element or begin markup, and line ends that JSON allows and scripts do not.
_ESCAPES = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


def shown_name(name: object, width: int = LONGEST_NAME) -> str:
    """A name in at most ``width`` characters, with control characters written out."""
    return shortened(str(name), width)


def html_text(text: str) -> str:
    """Text for HTML, between tags or in quotes."""
    return html.escape(text, quote=True)


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
