"""Bad input: one clear error for each, or a clean page."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import cotherm as ct
from cotherm import limits
from tests.viewer.reading import Read


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 8)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, "red").save(buffer, format=kind)
    return buffer.getvalue()


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'

REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "labels for one view": ({"labels": [["a"] * 70]}, "labels: .*one for each of 2 graphs"),
    "labels of wrong length": ({"labels": [["a"] * 70, ["a"] * 69]}, r"labels\[1\]: shape \(69,\)"),
    "labels of two kinds": ({"labels": [["a", 1] * 35, None]}, r"labels\[0\]: labels of several kinds"),
    "labels in a table": ({"labels": [[["a"]] * 70, None]}, r"labels\[0\]: shape \(70, 1\)"),
    "names of wrong length": ({"names": [None, ["a"]]}, r"names\[1\]: shape \(1,\)"),
    "a string for names": ({"names": "ab"}, "names: 'ab'"),
    "positions with NaN": ({"positions": [np.full((70, 2), np.nan), None]}, r"positions\[0\]: .*nan"),
    "positions on a line": ({"positions": [np.zeros((70, 1)), None]}, r"positions\[0\]: shape \(70, 1\)"),
    "too few positions": ({"positions": [np.zeros((7, 2)), None]}, r"positions\[0\]: shape \(7, 2\)"),
    "faces past the last": ({"faces": [[[0, 1, 70]], None]}, r"faces\[0\]"),
    "faces of four": ({"faces": [[[0, 1, 2, 3]], None]}, r"faces\[0\]: int64 of shape \(1, 4\)"),
    "faces with fractions": ({"faces": [[[0.5, 1, 2]], None]}, r"faces\[0\]: float64"),
    "an unknown word": ({"faces": "all"}, "faces: 'all'"),
    "a title that is none": ({"title": 3}, "title: a int"),
    "too few thumbnails": ({"thumbnails": [[picture()], None]}, r"thumbnails\[0\]: .*a list of 70"),
    "svg": ({"thumbnails": [[SVG] * 70, None]}, r"thumbnails\[0\]\[0\]: data that begin with b'<svg"),
    "gif": ({"thumbnails": [[picture("GIF")] * 70, None]}, r"thumbnails\[0\]\[0\]: data that begin with b'GIF"),
    "a damaged png": ({"thumbnails": [[picture()[:20]] * 70, None]}, r"thumbnails\[0\]\[0\]: data that begin"),
    "a wide picture": ({"thumbnails": [[picture(size=(4_000, 1))] * 70, None]}, "4000 x 1 pixels"),
    "a long picture": ({"thumbnails": [[picture() + bytes(70_000)] * 70, None]}, "a picture of 70,"),
    "numbers for pictures": ({"thumbnails": [[3] * 70, None]}, r"thumbnails\[0\]\[0\]: 3"),
    "pairs past the last": ({"pairs": [[0, 70], [0, 1]]}, r"pairs\[0\]: vertex 70"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(ring: ct.Coupling, case: str) -> None:
    given, message = REFUSALS[case]
    with pytest.raises(ct.CothermError, match=message):
        ct.viewer.make_page(ring, **given)


def test_results_that_cannot_be_shown() -> None:
    views = ct.datasets.ring()
    with pytest.raises(ct.CothermError, match=r"result: .*needed: a Coupling"):
        ct.viewer.make_page(ct.average(views.graphs))  # type: ignore[arg-type]


def test_thumbnails(ring: ct.Coupling, tmp_path: Path) -> None:
    (tmp_path / "red.webp").write_bytes(picture("WEBP"))
    given = [picture(), tmp_path / "red.webp", picture("JPEG"), None] + [None] * 66
    found = Read(ct.viewer.make_page(ring, thumbnails=[given, None]).html).header["views"]
    kinds = [None if one is None else one.split(";")[0] for one in found[0]["thumbnails"][:4]]
    assert kinds == ["data:image/png", "data:image/webp", "data:image/jpeg", None]
    assert base64.b64decode(found[0]["thumbnails"][0].split(",")[1]) == picture()
    assert found[1]["thumbnails"] is None


def test_pictures_from_others_are_read_to_the_limit_only(ring: ct.Coupling, tmp_path: Path) -> None:
    with (tmp_path / "huge.png").open("wb") as file:
        file.write(picture())
        file.truncate(10**12)  # which the disk does not hold
    with pytest.raises(ct.CothermError, match=f"a picture of {limits.THUMBNAIL_BYTES + 1:,} bytes"):
        ct.viewer.make_page(ring, thumbnails=[[tmp_path / "huge.png"] * 70, None])
