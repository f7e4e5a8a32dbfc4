"""Small pictures of items: PNG, JPEG or WebP, recognized by their bytes, not by the declared type.

Other kinds are refused. SVG in particular is a document that may hold scripts and links.
"""

from __future__ import annotations

import base64
import binascii
import io
import os
from collections.abc import Sequence
from typing import Any

from cotherm import limits, validation
from cotherm.errors import CothermError
from cotherm.io import atomic

_NEEDED = "a PNG, JPEG or WebP: its bytes, a path, a data URL, or None"
# Pictures with more pixels on a side are refused: they may be made to exhaust the memory of a browser.
_WIDEST = 1_024


def thumbnail_urls(argument: str, pictures: Any, n: int) -> list[str | None]:
    """A data URL for every item, None where there is no picture."""
    if isinstance(pictures, str | bytes) or not isinstance(pictures, Sequence) or len(pictures) != n:
        raise CothermError(argument, validation.describe(pictures), f"a list of {n} pictures, one for each vertex")
    return [None if one is None else _url(f"{argument}[{v}]", one) for v, one in enumerate(pictures)]


def _url(argument: str, picture: Any) -> str:
    data = _bytes(argument, picture)
    if len(data) > limits.THUMBNAIL_BYTES:
        given = f"a picture of {len(data):,} bytes"
        raise CothermError(argument, given, f"at most {limits.THUMBNAIL_BYTES:,} bytes", "Make it smaller.")
    kind = _kind(data)
    if kind is None:
        raise CothermError(argument, f"data that begin with {data[:12]!r}", _NEEDED)
    _require_small(argument, data)
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _bytes(argument: str, picture: Any) -> bytes:
    if isinstance(picture, bytes | bytearray | memoryview):
        return bytes(picture)
    if isinstance(picture, str) and picture.startswith("data:"):
        return _decoded(argument, picture)
    if isinstance(picture, str | os.PathLike):
        return atomic.load(atomic.as_path(picture), most=limits.THUMBNAIL_BYTES + 1)
    raise CothermError(argument, validation.describe(picture), _NEEDED)


def _decoded(argument: str, url: str) -> bytes:
    """The content of a data URL; its declared type is ignored."""
    head, comma, body = url.partition(",")
    if not comma or not head.endswith(";base64"):
        raise CothermError(argument, f"the data URL {url[:40]!r}", _NEEDED)
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise CothermError(argument, "a data URL that is not base64", _NEEDED) from None


def _kind(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    return "webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def _require_small(argument: str, data: bytes) -> None:
    """Check the size that the picture declares, without decoding its pixels."""
    from PIL import Image  # matplotlib needs it, too

    try:
        width, height = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")).size
    except Exception as error:  # a damaged picture may raise anything
        raise CothermError(argument, f"a picture that cannot be read ({type(error).__name__})", _NEEDED) from None
    if max(width, height) > _WIDEST:
        raise CothermError(argument, f"a picture of {width} x {height} pixels", f"at most {_WIDEST} on a side")
