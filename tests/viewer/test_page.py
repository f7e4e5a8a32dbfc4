"""The page as a whole: nothing in the data is obeyed, the policy fits the text, files are written whole."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import cotherm as ct
from cotherm import limits
from cotherm.viewer import page as pages
from cotherm.viewer.page import asset
from tests.viewer.reading import Elements, Read

ATTACKS = {
    "script": "</script><script>alert(1)</script>",
    "comment": "<!--<script>",
    "quotes": "\"'><img src=x onerror=alert(1)>",
    "template": "{{constructor.constructor('alert(1)')()}} ${alert(1)} {page} %s",
    "separators": "a\u2028b\u2029c",
    "direction": "\u202egnp.exe\u2066",
    "zero": "nul\0byte\x1b[31m",
    "surrogate": "half \ud800",
    "entities": "&lt;b&gt; &amp;",
    "link": "javascript:alert(1)",
}


def attacked(ring: ct.Coupling, text: str) -> ct.viewer.Page:
    """The text in every place that takes one."""
    names = [f"{text} {v}" for v in range(70)]
    originals = tuple(graph.replace(name=text) for graph in ring.originals)
    return ct.viewer.make_page(
        replace(ring, originals=originals), names=[names, None], labels=[[text] * 70, [text] * 70], title=text
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_names_are_only_ever_text(ring: ct.Coupling, attack: str) -> None:
    plain, page = ct.viewer.make_page(ring), attacked(ring, ATTACKS[attack])
    elements = Elements(page.html)
    assert [tag for tag, _, _ in elements.found] == [tag for tag, _, _ in Elements(plain.html).found]
    assert elements.texts("script")[2] == asset("viewer.js")
    (meta,) = [own for tag, own, _ in elements.found if tag == "meta" and "http-equiv" in own]
    assert meta in [own for _, own, _ in Elements(plain.html).found]
    header = elements.text_of("cotherm-header")
    assert not set(header) & set("<>&\u2028\u2029")
    read = json.loads(header)
    (title,) = elements.texts("title")
    assert title == read["title"] == read["views"][0]["name"] == read["views"][0]["labels"]["classes"][0]
    assert read["views"][0]["names"][3] == f"{title} 3"
    assert re.sub(r"\\(x|u)[0-9a-f]{2,4}", "", title).isprintable()
    page.html.encode()  # halves of characters are written out


def test_what_is_harmless_stays_as_it_is(ring: ct.Coupling) -> None:
    title = "Größe ≤ 3, 名前 & <b>"
    page = ct.viewer.make_page(ring, title=title)
    assert Read(page.html).header["title"] == title
    assert Elements(page.html).texts("title") == [title]


def test_the_policy_allows_the_embedded_script_and_style_alone(ring: ct.Coupling) -> None:
    elements = Elements(ct.viewer.make_page(ring).html)
    (policy,) = [str(own["content"]) for tag, own, _ in elements.found if tag == "meta" and "http-equiv" in own]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    for rule, text in (("script-src", elements.texts("script")[2]), ("style-src", elements.texts("style")[0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_policy_is_the_first_thing_that_could_load_anything(ring: ct.Coupling) -> None:
    tags = [tag for tag, _, _ in Elements(ct.viewer.make_page(ring).html).found]
    assert tags[:4] == ["html", "head", "meta", "meta"]


@pytest.mark.parametrize("name", ["viewer.js", "viewer.css"])
def test_assets_can_be_embedded(name: str) -> None:
    """Browsers hash what they read: other ends of lines, or an end of the element, would change it."""
    text = asset(name)
    assert not set(text) & set("\r\0")
    assert "</script" not in text.lower()
    assert "</style" not in text.lower()
    assert "<!--" not in text


def test_assets_that_are_missing_are_named(ring: ct.Coupling, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("cotherm.viewer.page._ASSETS", tmp_path)
    with pytest.raises(ct.CothermError, match=r"assets/viewer\.js: missing; .* make frontend"):
        ct.viewer.make_page(ring)


def test_saving(ring: ct.Coupling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "ring.html"
    ring.save_page(place)
    first = place.read_text(encoding="utf-8")
    assert first == ct.viewer.make_page(ring).html
    with pytest.raises(ct.CothermError, match="the file exists"):
        ring.save_page(place, title="second")
    assert place.read_text(encoding="utf-8") == first

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(ct.CothermError, match="no space left"):
        ring.save_page(place, overwrite=True, title="second")
    assert [path.name for path in tmp_path.iterdir()] == ["ring.html"]
    assert place.read_text(encoding="utf-8") == first
    with pytest.raises(ct.CothermError, match=r"the suffix \.txt"):
        ring.save_page(tmp_path / "ring.txt")


def test_view_opens_a_private_file(ring: ct.Coupling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    page = ring.view()
    assert page.place is not None
    assert opened == [page.place.as_uri()]
    assert page.place.read_text(encoding="utf-8") == page.html
    assert page.place.stat().st_mode & 0o077 == 0
    assert str(page.place) in repr(page)


def test_without_a_screen_nothing_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("webbrowser.open", lambda _: pytest.fail("a browser was started"))
    assert not pages.open_file(tmp_path / "page.html")


def test_a_notebook_has_the_page_in_a_frame(ring: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cotherm.methods.coupling.result.in_notebook", lambda: True)
    monkeypatch.setattr("webbrowser.open", lambda _: pytest.fail("a browser was started"))
    page = ring.view(title='"><script>alert(1)</script>')
    (frame,) = Elements(page._repr_html_()).found
    assert frame[0] == "iframe"
    assert frame[1]["srcdoc"] == page.html
    assert frame[1]["sandbox"] == "allow-scripts allow-downloads"
    assert page.place is None
    monkeypatch.setattr(limits, "INLINE_PAGE_BYTES", 100)
    ((tag, _, text),) = Elements(page._repr_html_()).found
    assert tag == "p"
    assert "page.save(path)" in text


def test_in_a_kernel_the_cell_shows_the_page(tmp_path: Path) -> None:
    code = "import cotherm as ct; v = ct.datasets.ring(30); ct.couple(v.graphs, v.functions, [1.0]).view()"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    client = NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env={**os.environ, "PYTHONPATH": str(Path(ct.__file__).parents[1]), "TMPDIR": str(tmp_path)})
    (shown,) = book.cells[0].outputs
    assert Elements(shown.data["text/html"]).found[0][0] == "iframe"
    assert list(tmp_path.glob("*.html")) == []


def test_pages_are_the_same_every_time(paired: ct.Coupling) -> None:
    assert ct.viewer.make_page(paired).html == ct.viewer.make_page(paired).html


def test_a_saved_result_gives_the_same_page(ring: ct.Coupling, tmp_path: Path) -> None:
    ring.save(tmp_path / "ring.npz")
    assert ct.viewer.make_page(ct.Coupling.load(tmp_path / "ring.npz")).html == ct.viewer.make_page(ring).html


def test_names_of_ten_thousand_characters_are_shortened(ring: ct.Coupling) -> None:
    names = [f"{v}" + "x" * 10_000 + f"{v}" for v in range(70)]
    page = ct.viewer.make_page(ring, names=[names, names])
    found = Read(page.html).header["views"][1]["names"]
    assert {len(name) for name in found} == {120}
    assert len(set(found)) == 70
    assert "Names of more than 120 characters are shown by their beginning and end." in page.notes
    assert len(page.html) < 500_000 + len(asset("viewer.js"))


def test_many_names_are_shortened_further(ring: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"item number {v:060}" for v in range(70)]
    monkeypatch.setattr(limits, "PAGE_NAMES", 70 * 50)
    page = ct.viewer.make_page(ring, names=[names, None])
    assert {len(name) for name in Read(page.html).header["views"][0]["names"]} == {40}
    assert any("40 characters" in note for note in page.notes)


def test_sizes(ring: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    """First shorter numbers, then less is shown, and at last an error."""
    whole = len(ct.viewer.make_page(ring).html)
    assert whole < limits.PAGE_BYTES
    monkeypatch.setattr(limits, "PAGE_BYTES", whole - 1_000)
    page = ct.viewer.make_page(ring)
    assert len(page.html) <= limits.PAGE_BYTES
    assert page.notes[0].startswith("Weights are stored in single precision")
    assert Read(page.html).view(0, "before").dtype == np.float32
    monkeypatch.setattr(limits, "PAGE_BYTES", 10_000)
    with pytest.raises(ct.CothermError, match="with next to nothing shown"):
        ct.viewer.make_page(ring)
