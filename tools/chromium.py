"""Chromium without a window, driven by playwright: for tests of pages and for pictures of them.

The browser is Debian's chromium, or what COTHERM_CHROMIUM names: playwright's own download is not needed.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Dialog, Error, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    "--use-angle=swiftshader",  # WebGL in software: the same pictures on every machine
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
)
_PATIENCE = 60.0


def executable() -> str | None:
    """Where Chromium is; None where it is not installed."""
    named = os.environ.get("COTHERM_CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


class Chromium:
    """A browser, in a ``with`` statement."""

    def __enter__(self) -> Chromium:
        program = executable()
        if program is None:
            raise FileNotFoundError("chromium is not installed")
        self._playwright = sync_playwright().start()
        # As root it refuses to run in its sandbox.
        sandbox = not hasattr(os, "geteuid") or os.geteuid() != 0
        try:
            self._browser: Browser = self._playwright.chromium.launch(
                executable_path=program, args=list(_OPTIONS), chromium_sandbox=sandbox
            )
        except BaseException:
            self._playwright.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._browser.close()
        self._playwright.stop()

    def open(self, page: str | Path, *, width: int = 1280, height: int = 800, hash: str = "") -> Tab:
        """A new tab with a page, as soon as it has been loaded."""
        tab = Tab(self._browser.new_page(viewport={"width": width, "height": height}))
        url = page.resolve().as_uri() if isinstance(page, Path) else page
        tab.began = time.monotonic()
        tab.page.goto(url + hash, timeout=1e3 * _PATIENCE)
        return tab


class Tab:
    """A page that is open, what it complained about and what it asked for."""

    def __init__(self, page: Page) -> None:
        self.page, self.began = page, 0.0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.set_default_timeout(1e3 * _PATIENCE)
        page.on("console", lambda one: self._complain(one.text) if one.type in ("error", "warning", "assert") else None)
        page.on("pageerror", lambda error: self._complain(error.message))
        page.on("dialog", self._dismiss)
        page.on("request", lambda request: self.requests.append(request.url))

    def _complain(self, text: str) -> None:
        self.complaints.append(text)

    def _dismiss(self, dialog: Dialog) -> None:
        self._complain(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, which is waited for where it is a promise; RuntimeError where it throws."""
        try:
            return self.page.evaluate(expression)
        except Error as error:
            raise RuntimeError(error.message) from None

    def wait_for(self, expression: str, seconds: float = 20.0) -> None:
        """Until an expression is true; playwright's own way compiles text in the page, which its policy forbids."""
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press and release a key: a character, or a name such as "Tab"."""
        self.page.keyboard.press(key)

    def click(self, x: float, y: float) -> None:
        """Press and release the mouse."""
        self.page.mouse.click(x, y)

    def screenshot(self) -> bytes:
        """What is seen, as PNG."""
        return self.page.screenshot()

    def close(self) -> None:
        """Close the tab."""
        self.page.close()
