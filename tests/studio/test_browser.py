"""The studio in a real browser: Chromium of the system, without a screen. State and pixels count, not frame rates."""

import shutil
import time
import urllib.request
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexarm as fa
from flexarm.studio.case import StudioCase
from flexarm.studio.mesh_frames import light
from flexarm.studio.page import WIDTH, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no Chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api")

ARM = fa.library.two_link_arm(damping=1e-3).with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
PUSH = {"upper": fa.bang_bang(1.0, (0.5, 1.0))}
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
ALERT = '[role="alert"]:has([aria-label="Put this away"])'  # beside what was touched
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

    def __init__(self, browser: Any, studio: fa.Studio, script: str = "") -> None:
        before = set(studio.pages)
        self.web = browser.new_page(viewport={"width": 1100, "height": 450})
        self.web.add_init_script(script)
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
    until(lambda: window.web.get_by_text("two-link flexible arm").is_visible())
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
    until(lambda: window.web.locator(ALERT).get_by_text("must be zero or positive (kg)").is_visible())
    assert page.case.value(PAYLOAD) > 0
    box.fill("")
    box.press_sequentially("2.5e-2")  # as people type it
    until(lambda: not page.error and page.case.value(PAYLOAD) == 0.025)
    box.press("ArrowDown")  # by about a twentieth of what it is now
    until(lambda: page.case.value(PAYLOAD) == 0.024)
    box.fill("0.15")
    until(lambda: not page.error and page.case.value(PAYLOAD) == 0.15)


def test_errors_stand_beside_what_was_touched(browser: Any, studio: fa.Studio) -> None:
    """Wherever the panel is scrolled to."""
    window = Window(browser, studio)
    web = window.web
    said = web.locator(ALERT)
    box = web.get_by_label("payload.mass (kg)")
    box.scroll_into_view_if_needed()
    box.fill("-1")
    until(said.is_visible)
    assert "must be zero or positive (kg)" in said.inner_text()
    top = web.locator('[data-studio="error"]').bounding_box()
    assert top["y"] + top["height"] < 0  # the box of the panel is out of sight
    at, field = said.bounding_box(), box.bounding_box()
    assert at["y"] >= 0
    assert at["y"] + at["height"] <= 450
    assert at["y"] < field["y"] + field["height"]
    assert at["y"] + at["height"] > field["y"]
    assert at["x"] + at["width"] <= 1100 - WIDTH  # it covers no handle
    assert box.get_attribute("data-refused") is not None
    web.get_by_label("Put this away").click()
    until(lambda: not said.is_visible())
    box.fill("-2")  # wrong again
    until(said.is_visible)
    box.fill("0.15")
    until(lambda: not said.is_visible())
    assert box.get_attribute("data-refused") is None
    web.evaluate(DROP, ["arm.exe", "", 0])  # no handle was touched: over the robot
    until(said.is_visible)
    at = said.bounding_box()
    assert WIDTH < at["x"] < 1100 - WIDTH
    assert at["y"] + at["height"] <= 450
    web.close()


# of each frame that is drawn: whether the colours of the arm are those that came with its corners
WATCH = """
window.frames_drawn = [];
window.__THREE_DEVTOOLS__ = new EventTarget();
window.__THREE_DEVTOOLS__.addEventListener("observe", ({ detail: scene }) => {
  if (!scene.isScene) return;
  scene.onAfterRender = () => scene.traverse(({ geometry, material }) => {
    const { position, color } = geometry?.attributes ?? {};
    if (position?.count !== window.corners) return;
    const half = position.array.length / 2;
    const [given, painted] = [position.array.slice(half), color?.array.slice(0, half)];
    const same = material.vertexColors && given.every((each, k) => each === painted[k]);
    const place = position.array.reduce((sum, each) => sum + each);
    window.frames_drawn.push({ same, place, colours: Array.from(given) });
  });
});
"""


def test_arm_is_one_mesh_whose_colours_come_with_its_corners(browser: Any, studio: fa.Studio) -> None:
    """In every frame that is drawn while it plays; no part of it is a frame late."""
    window = Window(browser, studio, WATCH)
    web, page = window.web, window.page
    page.wait()
    assert set(page.scene._meshes) == {"arm", "trace"}
    web.evaluate("count => { window.corners = count }", 2 * len(page.film.triangles.kinds))
    page.view._colouring.value = "strain"
    page.do(page.redraw)
    web.get_by_role("button", name="Play").click()
    until(lambda: web.evaluate("new Set(window.frames_drawn.map((each) => each.place)).size") > 5)
    web.get_by_role("button", name="Pause").click()
    until(lambda: not page.line.playing)
    page.wait()
    assert web.evaluate("window.frames_drawn.every((each) => each.same)")
    expected = light(page.view.still(page.film, page.film.index(page.line.time), playing=False).colours).ravel()
    until(lambda: np.allclose(web.evaluate("window.frames_drawn.at(-1).colours"), expected, atol=1e-6))
    assert len(np.unique(expected.reshape(-1, 3), axis=0)) > 5
    web.close()


def test_saved_picture_is_what_the_page_shows(browser: Any, studio: fa.Studio, tmp_path: Path) -> None:
    """The camera was turned by hand; links are where they are in the page, whoever drew them."""
    from PIL import Image

    window = Window(browser, studio)
    web, page = window.web, window.page
    page.view._thicken.value = 12.0
    page.line.seek(0.8)
    page.do(page.redraw)
    page.wait()
    web.mouse.move(550, 250)
    web.mouse.down()
    web.mouse.move(640, 220, steps=6)
    web.mouse.up()
    time.sleep(2.0)
    web.get_by_role("tab", name="Files").click()
    page.files._kind.value = "PNG"
    with web.expect_download() as coming:
        web.get_by_role("button", name="Save", exact=True).click()
    coming.value.save_as(tmp_path / "view.png")
    web.add_style_tag(content=".mantine-Notification-root { display: none }")  # they hide what is compared
    canvas = web.locator('canvas[data-engine^="three"]').bounding_box()
    time.sleep(1.0)
    shown = np.asarray(Image.open(BytesIO(web.screenshot(clip=canvas))).convert("RGB")).astype(int)
    saved = np.asarray(Image.open(tmp_path / "view.png").convert("RGB")).astype(int)
    height, width = (min(pair) for pair in zip(shown.shape[:2], saved.shape[:2], strict=True))

    def blue(image: Any) -> Any:
        part = image[:height, :width]
        return (part[..., 2] > part[..., 0] + 40) & (part[..., 2] > 70)

    both, either = (blue(shown) & blue(saved)).sum(), (blue(shown) | blue(saved)).sum()
    assert either > 500
    assert both / either > 0.85
    web.close()


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


PLOTS = """() => Object.values(window.__viserTestpoints.uplots).map(({chart}) => ({
  names: [...chart.root.querySelectorAll(".u-legend .u-label")].filter((each) => each.checkVisibility())
    .map((each) => each.textContent),
  range: [chart.scales.y.min, chart.scales.y.max],
  ticks: chart.axes[1]._values,
}))"""


def test_plots_name_all_curves_and_bear_gaps(browser: Any, studio: fa.Studio) -> None:
    window = Window(browser, studio)
    page = window.page
    page.wait()
    page.files.kept.keep()
    page.turn("simulation.duration", 1.3)  # longer than what is kept: its curves end before
    page.wait()
    page.view._beside.value = "run 1"
    first, second, _ = page.plots._plots
    first._choice.value, second._choice.value = "energies", "energy balance"
    page.do(page.redraw)
    page.wait()
    drawn = first._drawn.series
    assert len(drawn) > 8  # time, four energies of each of two runs, the needle
    until(lambda: len(window.web.evaluate(PLOTS)) == 3)
    until(lambda: any(len(each["names"]) == len(drawn) - 1 for each in window.web.evaluate(PLOTS)))
    for plot in window.web.evaluate(PLOTS):
        assert all(isinstance(each, float | int) for each in plot["range"])  # gaps spoil no axis
        assert len(set(plot["ticks"])) == len(plot["ticks"]) > 1  # and small numbers are no zeros
        assert "now" not in plot["names"]
    window.web.close()


def test_two_pages_stay_apart(browser: Any, window: Window, studio: fa.Studio) -> None:
    """One has another robot, is turned a hundred times and diverges; the other one, and the server, do not mind."""
    other = Window(browser, studio)
    for k in range(100):
        other.page.turn(PAYLOAD, 0.501 + 0.001 * k)
    other.page.wait()
    window.page.wait()
    assert other.page.case.value(PAYLOAD) == 0.6
    assert window.page.case.value(PAYLOAD) == 0.15
    bar = fa.Robot("bar", links=[fa.Link("a", 1.0, fa.Revolute(viscous=1e6), mass=1.0)])
    wild = {"duration": 1.0, "method": "rk4", "dt": 0.05, "native": False, "torque": {"a": 1.0}}
    other.page.do(lambda: other.page.open(StudioCase.of_robot(bar, {"duration": 0.1, "native": False})))
    other.page.do(lambda: other.page.open(StudioCase.of_robot(bar, wild)))
    other.page.wait()
    assert other.page.error
    assert other.page.case.robot.name == "bar"
    assert window.page.case.robot == ARM
    window.page.turn(PAYLOAD, 0.15)
    window.page.wait()
    assert not window.page.error
    assert urllib.request.urlopen(studio.url, timeout=10).status == 200
    number = other.page.client.client_id
    other.web.close()
    until(lambda: number not in studio.pages)  # what a page held is let go


def test_what_was_saved_outlives_its_page(browser: Any, studio: fa.Studio, tmp_path: Path) -> None:
    window = Window(browser, studio)
    window.page.turn(PAYLOAD, 0.25)
    window.page.wait()
    window.page.files._kind.value = "NetCDF"
    window.web.get_by_role("tab", name="Files").click()
    with window.web.expect_download() as coming:
        window.web.get_by_role("button", name="Save", exact=True).click()
    coming.value.save_as(tmp_path / "run.nc")
    window.web.close()
    assert fa.Run.load(tmp_path / "run.nc").robot.link("fore").payload.mass == 0.25


DROP = """([name, text, size]) => {
  const data = new DataTransfer();
  const content = text === null ? new Uint8Array(size) : text;
  data.items.add(new File([content], name));
  const canvas = document.querySelector("canvas");
  const how = { bubbles: true, cancelable: true, dataTransfer: data };
  const tell = (kind) => canvas.dispatchEvent(new DragEvent(kind, how));
  const kept = tell("dragover");
  tell("drop");
  return kept;
}"""


def test_files_are_dropped_anywhere(browser: Any, studio: fa.Studio) -> None:
    window = Window(browser, studio)
    page = window.page
    page.wait()
    window.web.get_by_role("tab", name="View").click()  # no need to have files in front
    robot = "links:\n  - {name: dropped, length: 1, mass: 1}\n"
    assert not window.web.evaluate(DROP, ["arm.yaml", robot, 0])  # the browser does not leave the page for it
    until(lambda: page.case is not None and page.case.robot.links[0].name == "dropped")
    assert not page.error
    window.web.evaluate(DROP, ["arm.yaml", "links:\n  - {name: a, length: -1}\n", 0])
    until(lambda: "must be positive (m)" in page.error)
    window.web.evaluate(DROP, ["arm.exe", "", 0])
    until(lambda: "must be a robot (.yaml), or a run or a sweep (.nc)" in page.error)
    until(lambda: window.web.locator(ALERT).get_by_text("must be a robot (.yaml)").is_visible())
    window.web.evaluate(DROP, ["arm.nc", None, 50_000_001])  # refused before it is sent
    until(lambda: "at most 50 are opened here" in page.error)
    page.do(page.forget)
    window.web.get_by_role("tab", name="Files").click()
    large = "size => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(size)], 'b.nc')); "
    large += "const input = [...document.querySelectorAll('input[type=file]')].at(-1); input.files = data.files; "
    large += "input.dispatchEvent(new Event('change', { bubbles: true })); }"
    window.web.evaluate(large, 50_000_001)  # so is what the button takes
    until(lambda: "'b.nc': has 50 MB; at most 50" in page.error)
    window.web.close()


def test_point_of_a_map_opens_as_a_run(browser: Any) -> None:
    bar = fa.Robot("bar", links=[fa.Link("a", 1.0, mass=3.0)])
    options = {"duration": 0.2, "torque": {"a": 1.0}, "native": False}
    over = {"links.a.mass": [2.0, 3.0, 4.0], "torque.a": [0.5, 1.0, 1.5]}
    found = fa.studio(bar, browser=False, port=8395, sweep=fa.sweep(bar, over, **options), **options)
    try:
        window = Window(browser, found)
        page = window.page
        window.web.get_by_role("tab", name="Sweep").click()
        picture = window.web.locator('[data-studio="map"]')
        picture.scroll_into_view_if_needed()
        x, y = page.sweeps._map.place(5)
        box = picture.bounding_box()
        picture.click(position={"x": x * box["width"], "y": y * box["height"]})
        until(lambda: page.case.value("links.a.mass") == 3.0 and page.case.value("simulation.torque:a") == 1.5)
        page.wait()
        assert not page.error
        until(lambda: window.web.get_by_text("member 5 (links.a.mass = 3 kg").is_visible())
        member = window.web.get_by_label("member")  # and by keyboard
        member.focus()
        member.press("ArrowUp")
        until(lambda: window.web.get_by_text("member 6 (links.a.mass = 4 kg").is_visible())
        window.web.get_by_role("button", name="Open this member as a run").press("Enter")
        until(lambda: page.case.value("links.a.mass") == 4.0)
        count = window.web.get_by_label("vary: count")  # counts are typed as people write them, and turned by one
        count.fill("1e1")
        count.press("ArrowUp")
        until(lambda: page.sweeps._ranges[0]._count.value == "11")
        window.web.close()
    finally:
        found.stop()


def test_bad_file_is_an_error_in_the_page(window: Window) -> None:
    bad = {"name": "arm.yaml", "mimeType": "text/yaml", "buffer": b"links:\n  - {name: a, length: -1}\n"}
    window.web.get_by_role("tab", name="Files").click()
    window.web.locator("input[type=file]").last.set_input_files(bad)
    until(lambda: "must be positive (m)" in window.page.error)
    until(lambda: window.web.locator(ALERT).get_by_text("must be positive (m)").is_visible())
    assert "arm.yaml:2" in window.page.error
    good = {"name": "arm.yaml", "mimeType": "text/yaml", "buffer": b"links:\n  - {name: a, length: 1, mass: 1}\n"}
    window.web.locator("input[type=file]").last.set_input_files(good)
    until(lambda: not window.page.error and window.page.case.robot.links[0].name == "a")
