"""Chromium without a window, told what to do through a pipe: for tests of pages and for pictures of them.

Debian's chromium, or whatever COTHERM_CHROMIUM names, is all that is needed: its DevTools protocol is JSON, a message
ended by a zero byte. https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--use-angle=swiftshader",  # WebGL in software: the same pictures on every machine
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--no-default-browser-check",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
)
# Where the keys of a keyboard that tests press are: code, and the number that old pages ask for.
_KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    " ": 32,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
_PATIENCE = 60.0


def executable() -> str | None:
    """Where Chromium is; None where it is not installed."""
    named = os.environ.get("COTHERM_CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


class Chromium:
    """A browser; close it, or use it in a ``with`` statement."""

    def __init__(self) -> None:
        program = executable()
        if program is None:
            raise FileNotFoundError("chromium is not installed")
        self._profile = tempfile.mkdtemp(prefix="cotherm-chromium-")
        options = [*_OPTIONS, f"--user-data-dir={self._profile}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # it refuses to run as root with it
        self._replies: dict[int, Any] = {}
        self._tabs: dict[str, Tab] = {}
        self._number = 0
        self._changed = threading.Condition()
        self._gone = False
        self._start(program, options)
        threading.Thread(target=self._read, daemon=True).start()

    def _start(self, program: str, options: list[str]) -> None:
        """With the two ends of pipes as its files 3 and 4, where it expects them."""
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        high = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 20) for number in (theirs_in, theirs_out)]
        nowhere = os.open(os.devnull, os.O_RDWR)
        moves = [(os.POSIX_SPAWN_DUP2, nowhere, stream) for stream in (0, 1, 2)]
        moves += [(os.POSIX_SPAWN_DUP2, number, 3 + k) for k, number in enumerate(high)]
        self._process = os.posix_spawn(
            program, [program, *options, "about:blank"], os.environ, file_actions=moves, setpgroup=0
        )
        for number in (theirs_in, theirs_out, *high, nowhere):
            os.close(number)
        self._out, self._in = os.fdopen(ours_out, "wb", buffering=0), os.fdopen(ours_in, "rb", buffering=0)

    def _read(self) -> None:
        kept = b""
        with contextlib.suppress(OSError, ValueError):
            while data := self._in.read(1 << 16):
                *messages, kept = (kept + data).split(b"\0")
                for message in messages:
                    self._receive(json.loads(message))
        with self._changed:
            self._gone = True
            self._changed.notify_all()

    def _receive(self, message: dict[str, Any]) -> None:
        with self._changed:
            if "id" in message:
                self._replies[message["id"]] = message
            elif message.get("sessionId") in self._tabs:
                self._tabs[message["sessionId"]].take(message["method"], message["params"])
            self._changed.notify_all()

    def call(self, method: str, parameters: dict[str, Any] | None = None, session: str | None = None) -> dict[str, Any]:
        """Send a message and wait for its answer."""
        with self._changed:
            self._number += 1
            number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        with self._changed:
            if not self._changed.wait_for(lambda: number in self._replies or self._gone, _PATIENCE):
                raise TimeoutError(f"chromium did not answer {method}")
            if number not in self._replies:
                raise ConnectionError(f"chromium ended before it answered {method}")
            answer = self._replies.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def open(self, page: str | Path, *, width: int = 1280, height: int = 800, hash: str = "") -> Tab:
        """A new tab with a page, as soon as it has been loaded."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        tab = self._tabs[session] = Tab(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        tab.call("Emulation.setDeviceMetricsOverride", size)
        url = page.resolve().as_uri() if isinstance(page, Path) else page
        tab.began = time.monotonic()
        tab.call("Page.navigate", {"url": url + hash})
        with self._changed:
            if not self._changed.wait_for(lambda: tab.loaded or self._gone, _PATIENCE):
                raise TimeoutError(f"{url} was not loaded")
        return tab

    def close(self) -> None:
        """End the browser and remove what it kept."""
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        with contextlib.suppress(OSError):
            os.killpg(self._process, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self._process, 0)
        for stream in (self._out, self._in):
            with contextlib.suppress(OSError):
                stream.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Tab:
    """A page that is open."""

    def __init__(self, browser: Chromium, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session
        self.loaded, self.began = False, 0.0
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def take(self, method: str, parameters: dict[str, Any]) -> None:
        """What the browser reports of its own accord."""
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(one.get("value", "")) for one in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"a dialog: {parameters['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def call(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a message of the protocol."""
        return self._browser.call(method, parameters, self._session)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, which is waited for where it is a promise."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        asked["allowUnsafeEvalBlockedByCSP"] = False  # the page's policy holds here too
        answer = self.call("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 20.0) -> Any:
        """Until an expression is true; its value."""
        end = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.02)
        return value

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press and release a key: a character, or a name such as "Tab"."""
        code = _KEYS.get(key, ord(key.upper()[0]))
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        event = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        event["code"] = {" ": "Space"}.get(key, key if len(key) > 1 else f"Key{key.upper()}")
        self.call("Input.dispatchKeyEvent", {**event, "type": "keyDown", **({"text": text} if text else {})})
        self.call("Input.dispatchKeyEvent", {**event, "type": "keyUp"})

    def click(self, x: float, y: float) -> None:
        """Press and release the mouse."""
        place = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", {**place, "type": "mouseMoved", "button": "none"})
        self.call("Input.dispatchMouseEvent", {**place, "type": "mousePressed"})
        self.call("Input.dispatchMouseEvent", {**place, "type": "mouseReleased"})

    def screenshot(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", {"format": "png"})["data"])

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", {"targetId": self._target})
        self._browser._tabs.pop(self._session, None)
