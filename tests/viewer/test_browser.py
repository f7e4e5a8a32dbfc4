"""Pages in a real browser: heat flows, is conserved and is the library's; keys suffice; nothing in the data runs.

Without Chromium these tests are skipped; with COTHERM_BROWSER=1, as in continuous integration, they fail instead.
"""

from __future__ import annotations

import html
import io
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import cotherm as ct
from cotherm import limits
from tests.viewer.test_page import ATTACKS, attacked
from tools.chromium import Chromium, Tab, executable

# In the page heat may be off by this part of the norm of what it starts from, as it says itself.
TOLERANCE = 1e-6
Open = Callable[..., Tab]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    if executable() is None:
        if os.environ.get("COTHERM_BROWSER"):
            pytest.fail("COTHERM_BROWSER is set, but chromium is not installed")
        pytest.skip("chromium is not installed")
    with Chromium() as browser:
        yield browser


@pytest.fixture
def show(chromium: Chromium, tmp_path: Path) -> Iterator[Open]:
    """Open the page of a result; afterwards nothing may have gone wrong in it."""
    tabs: list[Tab] = []

    def go(result: ct.Coupling, hash: str = "", **given: Any) -> Tab:
        result.save_page(tmp_path / "page.html", overwrite=True, **given)
        return opened(tmp_path / "page.html", hash)

    def opened(place: Path, hash: str = "") -> Tab:
        tab = chromium.open(place, hash=hash)
        tabs.append(tab)
        tab.evaluate("cotherm.ready")
        return tab

    yield go
    for tab in tabs:
        assert tab.complaints == []
        assert tab.evaluate("cotherm.errors") == []
        assert {url.split(":")[0] for url in tab.requests} <= {"file", "blob", "data"}
        tab.close()


def all_heat(tab: Tab, view: int = 0, state: str = "before") -> np.ndarray[Any, Any]:
    """At the present stop, once it has been computed."""
    tab.wait_for("cotherm.state().progress === 1")
    return np.array(tab.evaluate(f"Array.from(cotherm.heat({view}, {state!r}))"), dtype=float)


def stop_times(tab: Tab) -> list[float]:
    """Of all stops, as the page has them."""
    return [time_at(tab, stop) for stop in range(49)]


def time_at(tab: Tab, stop: int) -> float:
    tab.evaluate(f"cotherm.setTime({stop})")
    return float(tab.evaluate("cotherm.state().time"))


def test_heat_is_that_of_the_library(show: Open, ring: ct.Coupling, paired: ct.Coupling) -> None:
    """At ten random times and vertices, from a function and from a vertex, on every view before and after."""
    rng = np.random.default_rng(0)
    for result in (ring, paired):
        tab = show(result)
        for source in ("f:1", f"v:1:{rng.integers(70)}"):
            tab.evaluate(f"cotherm.setSource({source!r})")
            for stop in rng.integers(1, 49, 10).tolist():
                time = time_at(tab, stop)
                view, state = int(rng.integers(2)), str(rng.choice(["before", "after"]))
                if source.startswith("v") and view == 0:
                    continue  # heat starts in one view; what its partners do is looked at below
                graph = (result.originals if state == "before" else result.graphs)[view]
                start = result.functions[view][:, 1] if source == "f:1" else np.eye(graph.n)[int(source.split(":")[2])]
                exact = ct.heat_flow(graph, start, [time], tolerance=1e-10)[0, :, 0]
                found = all_heat(tab, view, state)
                at = rng.integers(0, graph.n, 10)
                assert np.abs(found - exact)[at].max() <= TOLERANCE * np.linalg.norm(start)


def test_heat_is_conserved_at_every_stop(show: Open, ring: ct.Coupling) -> None:
    tab = show(ring)
    for source in ("f:0", "v:0:12"):
        tab.evaluate(f"cotherm.setSource({source!r})")
        start = ring.functions[0][:, 0].sum() if source == "f:0" else 1.0
        for state in ("before", "after"):
            sums = []
            for stop in range(49):
                tab.evaluate(f"cotherm.setTime({stop})")
                sums.append(all_heat(tab, 0, state).sum())
            np.testing.assert_allclose(sums, start, rtol=1e-6)


def test_stops_are_those_of_the_header(show: Open, ring: ct.Coupling) -> None:
    times = stop_times(show(ring))
    assert times[0] == 0.0
    ratios = np.diff(np.log(times[1:]))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-6)


def test_cut_edges_are_those_of_changes(show: Open, ring: ct.Coupling, paired: ct.Coupling) -> None:
    codes = {"cut": 1, "weakened": 2, "strengthened": 3, "switched on": 4}
    for result in (ring, paired):
        tab = show(result)
        for k, changes in enumerate(result.changes()):
            expected = {(int(i), int(j), code) for word, code in codes.items() for i, j in changes.edges(word).tolist()}
            assert {tuple(row) for row in tab.evaluate(f"cotherm.changed({k})")} == expected


def test_the_slider_moves_heat(show: Open, ring: ct.Coupling) -> None:
    """With the mouse on the slider itself."""
    tab = show(ring)
    tab.evaluate("cotherm.setTime(2)")
    before = all_heat(tab)
    box = tab.evaluate(
        "(() => { const r = document.querySelector('input[type=range]').getBoundingClientRect();"
        " return [r.left, r.top, r.width, r.height]; })()"
    )
    tab.click(box[0] + 0.8 * box[2], box[1] + 0.5 * box[3])
    tab.wait_for("cotherm.state().stop > 30")
    after = all_heat(tab)
    assert np.abs(after - before).max() > 0.1 * before.max()
    assert after.max() < before.max()


def test_play_lets_time_run(show: Open, ring: ct.Coupling) -> None:
    tab = show(ring)
    tab.evaluate("cotherm.setTime(0)")
    all_heat(tab)
    tab.evaluate("document.body.focus()")
    tab.press(" ")
    tab.wait_for("cotherm.state().stop > 3")
    tab.press(" ")
    tab.wait_for("!cotherm.state().playing")


def test_a_click_starts_heat_there(show: Open, ring: ct.Coupling) -> None:
    """On the first panel, on the circle of the ring: wherever it hits, heat starts from a vertex of that place."""
    tab = show(ring)
    tab.evaluate("cotherm.setTime(0)")
    box = tab.evaluate(
        "(() => { const r = document.querySelector('.panel').getBoundingClientRect();"
        " return [r.left, r.top, r.width, r.height]; })()"
    )
    for dx in np.linspace(0.02, 0.5, 60):  # from the left edge of the panel inwards, at half its height
        tab.click(box[0] + dx * box[2], box[1] + 0.5 * box[3])
        if tab.evaluate("cotherm.state().source.type") == "vertex":
            break
    source = tab.evaluate("cotherm.state().source")
    assert (source["type"], source["view"]) == ("vertex", 0)
    heat = all_heat(tab)
    assert heat[source["vertex"]] == pytest.approx(1.0)
    assert np.count_nonzero(heat) == 1
    points = np.asarray(ring.originals[0].coordinates)
    leftmost = np.argmin(points[:, 0])
    assert np.linalg.norm(points[source["vertex"]] - points[leftmost]) < 0.5 * np.ptp(points[:, 0])


def test_keys_suffice(show: Open, ring: ct.Coupling) -> None:
    """Time, source, what is shown and the search, without a mouse."""
    tab = show(ring, names=[[f"alpha {v}" for v in range(70)], None])
    tab.evaluate("cotherm.setTime(10)")
    tab.evaluate("document.body.focus()")
    tab.press("ArrowRight")
    assert tab.evaluate("cotherm.state().stop") == 11
    tab.press("Home")
    assert tab.evaluate("cotherm.state().stop") == 0
    tab.press("End")
    assert tab.evaluate("cotherm.state().stop") == 48
    tab.press("f")
    assert tab.evaluate("cotherm.state().source.index") == 1
    tab.press("3")
    assert tab.evaluate("cotherm.state().shown") == "after"
    tab.press("/")
    for letter in "alpha 33":
        tab.press(letter)
    tab.press("ArrowDown")
    tab.press("Enter")
    tab.wait_for("cotherm.state().source.type === 'vertex'")
    assert tab.evaluate("cotherm.state().source.vertex") == 33


def test_every_control_can_be_reached_by_tab(show: Open, ring: ct.Coupling) -> None:
    tab = show(ring)
    visible = (
        "[...document.querySelectorAll('button, input, select, a[href], [tabindex=\"0\"]')]"
        ".filter(e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility())"
    )
    count = tab.evaluate(f"{visible}.length")
    seen = set()
    tab.evaluate(f"{visible}.forEach((e, k) => e.dataset.number = k)")
    for _ in range(2 * count):
        tab.press("Tab")
        seen.add(tab.evaluate("document.activeElement.dataset.number"))
    assert len(seen - {None}) >= count - 3  # of a group of radio buttons or tabs one is reached
    unnamed = (
        f"{visible}.filter(e => !(e.ariaLabel || e.textContent.trim() || e.title || e.labels?.length"
        " || e.getAttribute('aria-labelledby'))).map(e => e.outerHTML.slice(0, 80))"
    )
    assert tab.evaluate(unnamed) == []


def test_the_link_keeps_the_state(show: Open, ring: ct.Coupling) -> None:
    tab = show(ring, hash="#time=7&source=v:1:5&shown=after")
    state = tab.evaluate("cotherm.state()")
    assert (state["stop"], state["shown"]) == (7, "after")
    assert (state["source"]["view"], state["source"]["vertex"]) == (1, 5)


@pytest.mark.parametrize(
    "hash", ["#time=1e9&source=v:9:9", "#source=<script>", "#time=NaN&shown=x&view=-1", "#%E0%A4%A"]
)
def test_hostile_links_are_ignored(show: Open, ring: ct.Coupling, hash: str) -> None:
    state = show(ring, hash=hash).evaluate("cotherm.state()")
    assert 0 <= state["stop"] <= 48
    assert state["source"]["type"] == "function"


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_are_shown_as_text(
    show: Open, chromium: Chromium, ring: ct.Coupling, attack: str, tmp_path: Path
) -> None:
    page = attacked(ring, ATTACKS[attack])
    page.save(tmp_path / "attack.html")
    tab = chromium.open(tmp_path / "attack.html")
    tab.evaluate("window.alerts = 0; window.alert = () => { window.alerts += 1; }; cotherm.ready")
    tab.evaluate("cotherm.setSource('v:0:3')")
    all_heat(tab)
    assert page.title in tab.evaluate("document.body.innerText")
    assert tab.evaluate("window.alerts") == 0
    assert (
        tab.evaluate("document.querySelectorAll('#app script, #app iframe, #app img:not([src^=\"data:\"])').length")
        == 0
    )
    assert tab.complaints == []
    tab.close()


def test_the_policy_stops_what_the_page_does_not_bring(chromium: Chromium, ring: ct.Coupling, tmp_path: Path) -> None:
    """A script that somehow got into the page does not run, and nothing is loaded from elsewhere."""
    page = ct.viewer.make_page(ring).html
    place = tmp_path / "page.html"
    place.write_text(page.replace("</body>", "<script>window.ran = true</script></body>"), encoding="utf-8")
    tab = chromium.open(place)
    tab.evaluate("cotherm.ready")
    assert tab.evaluate("window.ran") is None
    assert any("Content Security Policy" in complaint for complaint in tab.complaints)
    for code in ("fetch('https://example.org')", "import('https://example.org/x.js')"):
        assert tab.evaluate(f"{code}.then(() => 'loaded', () => 'stopped')") == "stopped"
    late = "new Promise((done, fail) => setTimeout(() => { try { done(eval('1')) } catch (error) { fail(error) } }))"
    with pytest.raises(RuntimeError, match="unsafe-eval"):  # what playwright runs at once may do anything
        tab.evaluate(late)
    tab.close()


def test_graphs_shown_in_part(show: Open, large: ct.Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heat from a function is that of the whole graph, and the page says what is left out."""
    monkeypatch.setattr(limits, "VIEWER_VERTICES", 600)
    tab = show(large)
    text = tab.evaluate("document.body.innerText")
    assert "600 of 2,000 vertices" in text
    tab.evaluate("cotherm.setSource('f:2')")
    names = tab.evaluate("JSON.parse(document.getElementById('cotherm-header').textContent).views[0].names")
    for stop in (0, 5, 16):
        time = time_at(tab, stop)
        exact = ct.heat_flow(large.graphs[0], large.functions[0][:, 2], [time])[0, :, 0][np.array(names).astype(int)]
        found = all_heat(tab, 0, "after")
        assert np.abs(found - exact).max() <= np.ptp(exact) / 8_000 + TOLERANCE


def test_graphs_without_edges_or_functions(show: Open, ring: ct.Coupling) -> None:
    empty = ct.Graph(5, [], [], [])
    F = np.eye(5)[:, :1]
    tab = show(replace(ring, graphs=(empty,) * 2, originals=(empty,) * 2, functions=(F, F)))
    tab.evaluate("cotherm.setTime(48)")
    np.testing.assert_allclose(all_heat(tab), F[:, 0], atol=1e-9)
    none = np.empty((70, 0))
    show(replace(ring, functions=(none, none)))


def test_meshes_are_drawn(show: Open) -> None:
    views = ct.datasets.human(200)
    made = ct.couple(views.graphs, views.functions, views.times, options={"max_iterations": 2})
    tab = show(made, faces="surface")
    all_heat(tab)
    assert len(tab.screenshot()) > 30_000


def test_a_notebook_shows_the_page_in_its_frame(chromium: Chromium, ring: ct.Coupling, tmp_path: Path) -> None:
    shown = ct.viewer.make_page(ring)._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><body>{shown}</body>", encoding="utf-8")
    tab = chromium.open(tmp_path / "notebook.html", height=900)
    assert html.escape("<script") in shown
    end = time.monotonic() + 20.0
    while len(picture := tab.screenshot()) < 40_000:  # an empty frame takes a few thousand bytes
        assert time.monotonic() < end
        time.sleep(0.1)
    assert tab.complaints == []
    assert np.ptp(np.asarray(Image.open(io.BytesIO(picture)).convert("L"))[200:600]) > 100
    tab.close()


def test_what_is_seen_is_the_heat_of_the_stop(show: Open, ring: ct.Coupling) -> None:
    """Right after the page opens, and after time went there and back: the same picture."""
    tab = show(ring, hash="#time=36&source=f:0")
    all_heat(tab)
    first = settled(tab)
    tab.evaluate("cotherm.setTime(0)")
    start = settled(tab)
    tab.evaluate("cotherm.setTime(36)")
    again = settled(tab)
    assert differing(first, again) < 0.002
    assert differing(first, start) > 0.005


def settled(tab: Tab) -> np.ndarray[Any, Any]:
    """What is seen, once two pictures in a row are the same."""
    last = pixels(tab)
    for _ in range(50):
        time.sleep(0.1)
        now = pixels(tab)
        if differing(last, now) == 0.0:
            break
        last = now
    return now


def pixels(tab: Tab) -> np.ndarray[Any, Any]:
    """The panels, without what is beside and below them."""
    return np.asarray(Image.open(io.BytesIO(tab.screenshot())).convert("RGB"), dtype=int)[120:690, :920]


def differing(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """The share of pixels that are seen to differ."""
    return float(np.mean(np.abs(a - b).max(axis=2) > 24))
