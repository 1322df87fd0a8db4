"""The studio in a real browser: Chromium of the system, without a screen. State and pixels count, not frame rates."""

import shutil
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.page import WIDTH, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no Chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api")

ARM = fa.library.two_link_arm(damping=1e-3).with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
PUSH = {"upper": fa.bang_bang(1.0, (0.5, 1.0))}
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PAYLOAD = "links.fore.payload.mass"


@pytest.fixture(scope="module")
def studio() -> Iterator[fa.Studio]:
    found = fa.studio(ARM, browser=False, port=8390, duration=1.0, torque=PUSH, q0={"fore.q": 0.3}, native=False)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=SOFTWARE)
        yield found
        found.close()


class Window:
    """A page in the browser, and what the server has for it."""

    def __init__(self, browser: Any, studio: fa.Studio) -> None:
        before = set(studio.pages)
        self.web = browser.new_page(viewport={"width": 1100, "height": 450})
        self.requests: list[str] = []
        self.web.on("request", lambda request: self.requests.append(request.url))
        self.web.goto(studio.url)
        until(lambda: set(studio.pages) - before)
        self.page: Page = studio.pages[(set(studio.pages) - before).pop()]
        until(lambda: self.page.film is not None)

    def pixels(self) -> Any:
        """The middle of the page, between the panels, where the robot is."""
        from PIL import Image

        middle = {"x": WIDTH + 10, "y": 0, "width": 1080 - 2 * WIDTH, "height": 450}
        return np.asarray(Image.open(BytesIO(self.web.screenshot(clip=middle))))

    def links(self) -> int:
        """Pixels that are as blue as links."""
        image = self.pixels().astype(int)
        return int(((image[..., 2] > image[..., 0] + 40) & (image[..., 2] > 70)).sum())

    def different(self, before: Any) -> bool:
        return int((np.abs(self.pixels().astype(int) - before.astype(int)).max(axis=-1) > 40).sum()) > 20


@pytest.fixture(scope="module")
def window(browser: Any, studio: fa.Studio) -> Window:
    return Window(browser, studio)


def until(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def test_page_asks_nobody_outside(window: Window, studio: fa.Studio) -> None:
    outside = [url for url in window.requests if not url.startswith((studio.url, "data:", "blob:"))]
    assert not outside
    assert window.web.get_by_text("two-link flexible arm").is_visible()
    assert not window.page.error
    until(lambda: window.links() > 50)


def test_knob_turned_by_keyboard_changes_the_arm(window: Window) -> None:
    page = window.page
    page.line.seek(0.8)
    page.do(page.show)
    page.wait()
    time.sleep(0.5)
    before, tip, payload = window.pixels(), page.result.run.array("tip")[-1].copy(), page.case.value(PAYLOAD)
    box = window.web.get_by_label("payload.mass (kg)")
    box.scroll_into_view_if_needed()
    box.focus()
    for _ in range(30):
        box.press("ArrowUp")
    until(lambda: page.case.value(PAYLOAD) > payload + 0.29)
    page.wait()
    assert np.linalg.norm(page.result.run.array("tip")[-1] - tip) > 0.02
    until(lambda: window.different(before))
    box.fill("-1")  # what cannot be is said where it is turned, and changes nothing
    until(lambda: page.error)
    assert "must be zero or positive (kg)" in page.error
    until(lambda: window.web.get_by_text("must be zero or positive (kg)").is_visible())
    assert page.case.value(PAYLOAD) > 0
    box.fill("0.15")
    until(lambda: not page.error and page.case.value(PAYLOAD) == 0.15)


def test_play_moves_it(window: Window) -> None:
    page = window.page
    page.line.seek(0.0)
    page.do(page.show)
    page.wait()
    time.sleep(0.5)
    before = window.pixels()
    window.web.get_by_role("button", name="Play").click()
    until(lambda: page.line.playing and 0.6 < page.line.time < 0.95)
    until(lambda: window.different(before))
    window.web.get_by_role("button", name="Pause").click()
    until(lambda: not page.line.playing)


def test_two_pages_stay_apart(browser: Any, window: Window, studio: fa.Studio) -> None:
    other = Window(browser, studio)
    other.page.turn(PAYLOAD, 0.6)
    other.page.wait()
    window.page.wait()
    assert other.page.case.value(PAYLOAD) == 0.6
    assert window.page.case.value(PAYLOAD) == 0.15
    number = other.page.client.client_id
    other.web.close()
    until(lambda: number not in studio.pages)  # what a page held is let go


def test_bad_file_is_an_error_in_the_page(window: Window) -> None:
    bad = {"name": "arm.yaml", "mimeType": "text/yaml", "buffer": b"links:\n  - {name: a, length: -1}\n"}
    window.web.get_by_role("tab", name="Files").click()
    window.web.locator("input[type=file]").set_input_files(bad)
    until(lambda: "must be positive (m)" in window.page.error)
    until(lambda: window.web.get_by_text("must be positive (m)").is_visible())
    assert "arm.yaml:2" in window.page.error
    good = {"name": "arm.yaml", "mimeType": "text/yaml", "buffer": b"links:\n  - {name: a, length: 1, mass: 1}\n"}
    window.web.locator("input[type=file]").set_input_files(good)
    until(lambda: not window.page.error and window.page.case.robot.links[0].name == "a")
