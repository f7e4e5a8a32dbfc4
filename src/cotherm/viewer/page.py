"""A coupling as one HTML page that opens from disk: heat and surgery to look at, without a server or a network.

The page is put together from parts, never by replacing marks in a text: what is in the data cannot stand for a mark.
Its content security policy allows the one script and the one style sheet that the package brings, by their hashes, and
no connection to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from cotherm import limits, validation
from cotherm.errors import CothermError, visible
from cotherm.io import atomic
from cotherm.methods.coupling.result import Coupling
from cotherm.viewer.blocks import json_text
from cotherm.viewer.given import checked
from cotherm.viewer.payload import payload, plans, source_of

_ASSETS = files("cotherm.viewer") / "assets"
# In a notebook the page has a frame of its own, which may run its script and save files, and cannot reach the notebook.
_FRAME = '<iframe sandbox="allow-scripts allow-downloads" title="{title}" srcdoc="{page}" style="{style}"></iframe>'
_FRAME_STYLE = "width: 100%; height: 720px; border: 1px solid #8884"


@dataclass(eq=False, repr=False)
class Page:
    """A coupling as one self-contained HTML page, made by :func:`make_page` or ``result.view()``.

    Notebooks show it in a frame; :meth:`open` shows it in a browser and :meth:`save` writes it.

    Attributes
    ----------
    title : str
        Title of the page.
    html : str
        The page.
    notes : tuple of str
        What the page says at its top: what was left out or shortened, and remarks of the result.
    place : pathlib.Path or None
        The file that was written last, if any.

    See Also
    --------
    make_page : Make it.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring(30)
    >>> page = ct.viewer.make_page(ct.couple(views.graphs, views.functions))
    >>> page.save("ring.html")  # doctest: +SKIP
    """

    title: str
    html: str
    notes: tuple[str, ...]
    place: Path | None = None

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the page to a file, complete or not at all.

        Parameters
        ----------
        path : str or path-like
            Where to write, a name that ends in ``.html``.
        overwrite : bool, default False
            Whether to replace an existing file.

        Raises
        ------
        CothermError
            If the file cannot be written.
        """
        place = atomic.as_path(path)
        if place.suffix.lower() not in (".html", ".htm"):
            raise CothermError(str(place), f"the suffix {place.suffix or 'none'}", ".html")
        atomic.save(place, self.html.encode(), overwrite=overwrite)
        self.place = place

    def open(self) -> Path:
        """Show the page in a browser, from a temporary file that only the user can read.

        Returns
        -------
        pathlib.Path
            The file, also where no browser could be started.
        """
        if self.place is None:
            self.place = private_file(self.html.encode())
        open_file(self.place)
        return self.place

    def __repr__(self) -> str:
        where = "" if self.place is None else f", in {self.place}"
        return f"<Page {visible(repr(self.title))}: {_size(len(self.html))}{visible(where)}>"

    def _repr_html_(self) -> str:
        if len(self.html) > limits.INLINE_PAGE_BYTES:
            said = f"{self!r}: too large for a cell. Open it with page.open(), or write it with page.save(path)."
            return f"<p>{escape(said)}</p>"
        page = escape(self.html)
        return _FRAME.format(title=escape(self.title), style=_FRAME_STYLE, page=page)


def make_page(
    result: Coupling,
    *,
    labels: Sequence[ArrayLike | None] | None = None,
    names: Sequence[ArrayLike | None] | None = None,
    positions: Sequence[ArrayLike | None] | None = None,
    faces: str | Sequence[ArrayLike | None] = "auto",
    thumbnails: Sequence[Sequence[Any] | None] | None = None,
    pairs: Any = None,
    title: str | None = None,
) -> Page:
    """Make a page that shows a coupling in a browser: heat on all graphs, before and after, and what changed.

    Every view has the same places before and after. Pages stay below 25 MB. Of graphs with more than 50,000 vertices or
    500,000 edges a part is shown, and the page says which.

    Parameters
    ----------
    result : Coupling
        What :func:`cotherm.couple` or :func:`cotherm.couple_pairs` returned, or :meth:`cotherm.Coupling.load` read.
    labels : sequence of array_like of str or int, optional
        For each view the class of every vertex, shown in color; "" is unknown, None stands for a view without. By
        default the labels stored in the graphs.
    names : sequence of array_like of str or int, optional
        For each view the name of every vertex. By default the names stored in the graphs.
    positions : sequence of array_like of shape (n_k, 2) or (n_k, 3), optional
        For each view the places of the vertices. By default the coordinates stored in the graphs, and a layout that
        keeps neighbors near for graphs without.
    faces : "auto", "surface", "none" or sequence of array_like of int of shape (f_k, 3), default "auto"
        Triangles to draw as lit surfaces: "auto" finds those of graphs with the edges of a triangle mesh in space,
        "surface" also lays a surface through other points in space.
    thumbnails : sequence of sequence of bytes, str, path-like or None, optional
        For each view a small picture of every vertex: PNG, JPEG or WebP as bytes or a path.
    pairs : "same", "names", sequence of array_like or array_like of int of shape (items, graphs), optional
        Which vertices are the same item, as for :func:`cotherm.couple_pairs`. By default the pairs that the views were
        coupled by, if they were.
    title : str, optional
        Title of the page. By default the names of the views.

    Returns
    -------
    Page
        The page, to be opened, saved, or shown in a notebook.

    See Also
    --------
    cotherm.Coupling.view : Make it and show it.
    cotherm.draw.draw_result : Pictures for print.

    Examples
    --------
    >>> import cotherm as ct
    >>> views = ct.datasets.ring()
    >>> result = ct.couple(views.graphs, views.functions)
    >>> page = ct.viewer.make_page(result, title="A ring and a cracked ring")
    >>> page.title
    'A ring and a cracked ring'
    """
    if not isinstance(result, Coupling):
        raise CothermError("result", validation.describe(result), "a Coupling, as couple and couple_pairs return")
    if title is not None and not isinstance(title, str):
        raise CothermError("title", f"a {type(title).__name__}", "a string")
    given = checked(
        result, labels=labels, names=names, positions=positions, faces=faces, thumbnails=thumbnails, pairs=pairs
    )
    source = source_of(result, given, title)
    for plan in plans(source):
        header, blocks = payload(source, plan)
        html = _html(source.title, json_text(header), blocks.base64().decode("ascii"))
        if len(html.encode()) <= limits.PAGE_BYTES:
            return Page(source.title, html, tuple(header["notes"]))
    raise CothermError(
        "result",
        f"a page of {_size(len(html))} with next to nothing shown",
        f"at most {_size(limits.PAGE_BYTES)}",
        "Thumbnails, names and labels take the rest: give fewer or smaller ones.",
    )


def _html(title: str, header: str, blocks: str) -> str:
    script, style = asset("viewer.js"), asset("viewer.css")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)}</title>
<style>{style}</style></head>
<body><div id="app"></div>
<noscript>This page draws heat on graphs with a script, which is switched off here.</noscript>
<script type="application/json" id="cotherm-header">{header}</script>
<script type="application/octet-stream" id="cotherm-blocks">{blocks}</script>
<script>{script}</script></body></html>
"""


def policy(script: str, style: str) -> str:
    """What the browser may do for the page: run this script, use this style sheet, show pictures that are in it."""
    own = f"script-src '{_digest(script)}'; style-src '{_digest(style)}'"
    return f"default-src 'none'; {own}; img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def asset(name: str) -> str:
    """A part of the page that was built from ``frontend/`` and comes with the package."""
    try:
        return (_ASSETS / name).read_text(encoding="utf-8")
    except OSError:
        advice = "Install the package again; in a checkout, run: make frontend"
        raise CothermError(f"cotherm/viewer/assets/{name}", "missing", "the page's script and style", advice) from None


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} KB"


def private_file(data: bytes) -> Path:
    """A new temporary file with this content, which only the user can read."""
    try:
        number, name = tempfile.mkstemp(prefix="cotherm-", suffix=".html")
        with os.fdopen(number, "wb") as file:
            file.write(data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CothermError("view", reason.lower(), "a directory for temporary files that can be written to") from None
    return Path(name)


def open_file(place: Path) -> bool:
    """Show the file; return whether that could be tried."""
    # Without a screen, Python would start a browser that takes over the terminal.
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform not in ("darwin", "win32") and not any(os.environ.get(name) for name in screens):
        return False
    try:
        return bool(webbrowser.open(place.resolve().as_uri()))
    except (OSError, webbrowser.Error):
        return False
