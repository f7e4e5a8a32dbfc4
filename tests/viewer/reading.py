"""What is in a page, read as the page's own script reads it: slowly and obviously."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZES = {"f4": 4, "f8": 8, "u4": 4, "i4": 4, "u2": 2, "u1": 1}


class Elements(HTMLParser):
    """All elements of a page with their attributes and the text directly in them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self._open: list[int] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))
        if tag != "meta":
            self._open.append(len(self.found) - 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.found[self._open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, attributes, text = self.found[self._open[-1]]
            self.found[self._open[-1]] = tag, attributes, text + data

    def texts(self, tag: str) -> list[str]:
        return [text for name, _, text in self.found if name == tag]

    def text_of(self, identity: str) -> str:
        (text,) = [text for _, attributes, text in self.found if attributes.get("id") == identity]
        return text


class Read:
    """The header, and the arrays by name."""

    def __init__(self, html: str) -> None:
        found = re.search(r'id="cotherm-header">(.*?)</script>', html, re.DOTALL)
        blob = re.search(r'id="cotherm-blocks">(.*?)</script>', html, re.DOTALL)
        assert found is not None
        assert blob is not None
        self.header: dict[str, Any] = json.loads(found.group(1))
        self._blob = base64.b64decode(blob.group(1), validate=True)

    def array(self, name: str) -> NDArray[Any]:
        return unpacked(self.header["blocks"][name], self._blob)

    def view(self, k: int, field: str) -> NDArray[Any]:
        return self.array(self.header["views"][k][field])

    def edges(self, k: int) -> set[tuple[int, int, int]]:
        """Ends and kind of every edge."""
        parts = [self.view(k, field).tolist() for field in ("i", "j", "kind")]
        return set(zip(*parts, strict=True))


def unpacked(about: dict[str, Any], blob: bytes) -> NDArray[Any]:
    data = zlib.decompress(blob[about["offset"] : about["offset"] + about["length"]])
    size = SIZES[about["dtype"]]
    if about["coding"] == "zlib-shuffle":
        count = len(data) // size
        data = bytes(data[byte * count + k] for k in range(count) for byte in range(size))
    array = np.frombuffer(data, dtype=f"<{about['dtype']}")
    if about["coding"] == "zlib-delta":
        array = np.add.accumulate(array, dtype=array.dtype)
    return array.reshape(about["shape"])
