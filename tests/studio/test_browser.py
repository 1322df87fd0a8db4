"""Tests of the studio in headless Chromium; they compare state and pixels, not frame rates."""

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
from flexarm.studio.mesh_frames import linear_rgb
from flexarm.studio.page import PANEL_WIDTH_PX, Page
from tests.studio.browserless import value_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("no Chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api")

ARM = fa.library.two_link_arm(damping=1e-3).with_({"links.upper.flexible.bend_y": 1, "links.fore.flexible.bend_y": 1})
PUSH = {"upper": fa.bang_bang(1.0, (0.5, 1.0))}
CHROMIUM_OPTIONS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
ALERT = '[role="alert"]:has([aria-label="Dismiss"])'  # next to the last used field
PAYLOAD = "links.fore.payload.mass"


@pytest.fixture(scope="module")
def studio() -> Iterator[fa.Studio]:
    found = fa.studio(ARM, browser=False, port=8390, duration=1.0, torque=PUSH, q0={"fore.q": 0.3}, native=False)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield found
        found.close()


class Window:
    """A page in the browser and its counterpart on the server."""

    def __init__(self, browser: Any, studio: fa.Studio, script: str = "") -> None:
        before = set(studio.pages)
        self.web = browser.new_page(viewport={"width": 1100, "height": 450})
        self.web.add_init_script(script)
        self.requests: list[str] = []
        self.web.on("request", lambda request: self.requests.append(request.url))
        self.web.goto(studio.url)
        until(lambda: set(studio.pages) - before)
        self.page: Page = studio.pages[(set(studio.pages) - before).pop()]
        until(lambda: self.page.frames is not None)

    def pixels(self) -> Any:
        """Return the image between the panels, where the robot is."""
        from PIL import Image

        middle = {"x": PANEL_WIDTH_PX + 10, "y": 0, "width": 1080 - 2 * PANEL_WIDTH_PX, "height": 450}
        return np.asarray(Image.open(BytesIO(self.web.screenshot(clip=middle))))

    def links(self) -> int:
        """Return the number of pixels in the colour of links."""
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
        assert time.monotonic() < end, "timeout"
        time.sleep(0.05)


def test_page_loads_nothing_from_other_hosts(window: Window, studio: fa.Studio) -> None:
    outside = [url for url in window.requests if not url.startswith((studio.url, "data:", "blob:"))]
    assert not outside
    until(lambda: window.web.get_by_text("two-link flexible arm").is_visible())
    assert not window.page.status.error
    until(lambda: window.links() > 50)
    whole = (
        "[...document.querySelectorAll('[data-dock-tab] span')].every((each) => each.scrollWidth <= each.clientWidth)"
    )
    assert window.web.evaluate(whole)  # the labels of tabs


def test_parameter_changed_by_keyboard_changes_the_arm(window: Window) -> None:
    page = window.page
    page.timeline.seek(0.8)
    page.submit(page.show)
    page.wait()
    time.sleep(0.5)
    before, tip, payload = window.pixels(), page.result.run.array("tip")[-1].copy(), value_of(page.case, PAYLOAD)
    box = window.web.get_by_label("payload.mass (kg)")
    box.scroll_into_view_if_needed()
    box.focus()
    for _ in range(30):
        box.press("ArrowUp")
    until(lambda: value_of(page.case, PAYLOAD) > payload + 0.29)
    page.wait()
    assert np.linalg.norm(page.result.run.array("tip")[-1] - tip) > 0.02
    until(lambda: window.different(before))
    box.fill("-1")  # invalid: an error next to the field, no change
    until(lambda: page.status.error)
    assert "must be zero or positive (kg)" in page.status.error
    until(lambda: window.web.locator(ALERT).get_by_text("must be zero or positive (kg)").is_visible())
    assert value_of(page.case, PAYLOAD) > 0
    box.fill("")
    box.press_sequentially("2.5e-2")  # incomplete texts on the way
    until(lambda: not page.status.error and value_of(page.case, PAYLOAD) == 0.025)
    box.press("ArrowDown")  # by about a twentieth
    until(lambda: value_of(page.case, PAYLOAD) == 0.024)
    box.fill("0.15")
    until(lambda: not page.status.error and value_of(page.case, PAYLOAD) == 0.15)


def test_errors_are_shown_next_to_the_field(browser: Any, studio: fa.Studio) -> None:
    """For any scroll position of the panel."""
    window = Window(browser, studio)
    web = window.web
    alert = web.locator(ALERT)
    box = web.get_by_label("payload.mass (kg)")
    box.scroll_into_view_if_needed()
    box.fill("-1")
    until(alert.is_visible)
    assert "must be zero or positive (kg)" in alert.inner_text()
    top = web.locator('[data-studio="error"]').bounding_box()
    assert top["y"] + top["height"] < 0  # the panel's box is scrolled out of view
    at, field = alert.bounding_box(), box.bounding_box()
    assert at["y"] >= 0
    assert at["y"] + at["height"] <= 450
    assert at["y"] < field["y"] + field["height"]
    assert at["y"] + at["height"] > field["y"]
    assert at["x"] + at["width"] <= 1100 - PANEL_WIDTH_PX  # it covers no field
    assert box.get_attribute("data-rejected") is not None
    web.get_by_label("Dismiss").click()
    until(lambda: not alert.is_visible())
    box.fill("-2")  # invalid again
    until(alert.is_visible)
    box.fill("0.15")
    until(lambda: not alert.is_visible())
    assert box.get_attribute("data-rejected") is None
    web.evaluate(DROP, ["arm.exe", "", 0])  # not from a field: over the robot
    until(alert.is_visible)
    at = alert.bounding_box()
    assert PANEL_WIDTH_PX < at["x"] < 1100 - PANEL_WIDTH_PX
    assert at["y"] + at["height"] <= 450
    web.close()


# for each frame drawn: whether the arm's colours arrived with its corners
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


def test_arm_is_one_mesh_with_synchronous_colours(browser: Any, studio: fa.Studio) -> None:
    """In every frame drawn during playback, no part of the arm is late."""
    window = Window(browser, studio, WATCH)
    web, page = window.web, window.page
    page.wait()
    assert set(page.scene._meshes) == {"arm", "trace"}
    web.evaluate("count => { window.corners = count }", 2 * len(page.frames.mesh.kinds))
    page.view._colouring.value = "strain"
    page.submit(page.redraw)
    web.get_by_role("button", name="Play").click()
    until(lambda: web.evaluate("new Set(window.frames_drawn.map((each) => each.place)).size") > 5)
    web.get_by_role("button", name="Pause").click()
    until(lambda: not page.timeline.playing)
    page.wait()
    assert web.evaluate("window.frames_drawn.every((each) => each.same)")
    expected = linear_rgb(
        page.view.view_state(page.frames, page.frames.index(page.timeline.time), playing=False).colours
    ).ravel()
    until(lambda: np.allclose(web.evaluate("window.frames_drawn.at(-1).colours"), expected, atol=1e-6))
    assert len(np.unique(expected.reshape(-1, 3), axis=0)) > 5
    web.close()


def test_saved_picture_matches_the_page(browser: Any, studio: fa.Studio, tmp_path: Path) -> None:
    """After the user moved the camera."""
    from PIL import Image

    window = Window(browser, studio)
    web, page = window.web, window.page
    page.view._thicken.value = 12.0
    page.timeline.seek(0.8)
    page.submit(page.redraw)
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
    web.add_style_tag(content=".mantine-Notification-root { display: none }")  # they cover the view
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
    assert both / either > 0.98
    web.close()


def test_film_is_recorded_while_the_page_is_used(browser: Any, studio: fa.Studio, tmp_path: Path) -> None:
    from PIL import Image

    window = Window(browser, studio)
    web, page = window.web, window.page
    page.wait()
    page.timeline.speed = 5.0
    page.view._thicken.value = 12.0
    page.submit(page.redraw)
    page.files._kind.value = "GIF"
    web.get_by_role("tab", name="Files").click()
    save = web.get_by_role("button", name="Save", exact=True)
    with web.expect_download(timeout=120_000) as coming:
        save.click()
        until(lambda: page.pictures.task.is_busy)
        page.set_parameter(PAYLOAD, 0.3)
        page.wait()
        assert value_of(page.case, PAYLOAD) == 0.3
        assert page.pictures.task.is_busy
    coming.value.save_as(tmp_path / "film.gif")
    assert not page.status.error
    film = Image.open(tmp_path / "film.gif")
    assert film.n_frames == 6  # 1 s at five times the speed
    images = []
    for k in (0, 2):
        film.seek(k)
        images.append(np.asarray(film.convert("RGB")).astype(int))
        assert ((images[-1][..., 2] > images[-1][..., 0] + 40) & (images[-1][..., 2] > 70)).sum() > 100
    assert (np.abs(images[1] - images[0]).max(axis=-1) > 60).sum() > 100
    page.timeline.speed = 0.05  # a film that takes minutes
    save.click()
    web.get_by_role("button", name="Cancel the film").click()
    until(lambda: not page.pictures.task.is_busy)
    page.wait()
    assert not page.status.error
    save.click()
    until(lambda: page.pictures.task.is_busy)
    web.close()
    until(lambda: not page.pictures.task.is_busy)


def test_play_moves_the_arm(window: Window) -> None:
    page = window.page
    page.timeline.seek(0.0)
    page.submit(page.show)
    page.wait()
    time.sleep(0.5)
    before = window.pixels()
    window.web.get_by_role("button", name="Play").click()
    until(lambda: page.timeline.playing and 0.6 < page.timeline.time < 0.95)
    until(lambda: window.different(before))
    window.web.get_by_role("button", name="Pause").click()
    until(lambda: not page.timeline.playing)


PLOTS = """() => Object.values(window.__viserTestpoints.uplots).map(({chart}) => ({
  names: [...chart.root.querySelectorAll(".u-legend .u-label")].filter((each) => each.checkVisibility())
    .map((each) => each.textContent),
  range: [chart.scales.y.min, chart.scales.y.max],
  ticks: chart.axes[1]._values,
}))"""


def test_plots_name_all_curves_and_tolerate_gaps(browser: Any, studio: fa.Studio) -> None:
    window = Window(browser, studio)
    page = window.page
    page.wait()
    page.files.kept.keep()
    page.set_parameter("duration", 1.3)  # longer than the kept run
    page.wait()
    page.view._ghost_choice.value = "run 1"
    first, second, _ = page.plots._plots
    first._choice.value, second._choice.value = "energies", "energy balance"
    page.submit(page.redraw)
    page.wait()
    drawn = first._drawn.series
    assert len(drawn) > 8  # time, four energies of each of two runs, the cursor
    until(lambda: len(window.web.evaluate(PLOTS)) == 3)
    until(lambda: any(len(each["names"]) == len(drawn) - 1 for each in window.web.evaluate(PLOTS)))
    for plot in window.web.evaluate(PLOTS):
        assert all(isinstance(each, float | int) for each in plot["range"])  # gaps do not affect axes
        assert len(set(plot["ticks"])) == len(plot["ticks"]) > 1  # small values are readable
        assert "now" not in plot["names"]
    window.web.close()


def test_two_pages_are_independent(browser: Any, window: Window, studio: fa.Studio) -> None:
    """One shows another robot, many changes and a diverging run; the other page and the server are unaffected."""
    other = Window(browser, studio)
    for k in range(100):
        other.page.set_parameter(PAYLOAD, 0.501 + 0.001 * k)
    other.page.wait()
    window.page.wait()
    assert value_of(other.page.case, PAYLOAD) == 0.6
    assert value_of(window.page.case, PAYLOAD) == 0.15
    bar = fa.Robot("bar", links=[fa.Link("a", 1.0, fa.Revolute(viscous=1e6), mass=1.0)])
    wild = {"duration": 1.0, "method": "rk4", "dt": 0.05, "native": False, "torque": {"a": 1.0}}
    other.page.submit(lambda: other.page.open(StudioCase.from_robot(bar, {"duration": 0.1, "native": False})))
    other.page.submit(lambda: other.page.open(StudioCase.from_robot(bar, wild)))
    other.page.wait()
    assert other.page.status.error
    assert other.page.case.robot.name == "bar"
    assert window.page.case.robot == ARM
    window.page.set_parameter(PAYLOAD, 0.15)
    window.page.wait()
    assert not window.page.status.error
    assert urllib.request.urlopen(studio.url, timeout=10).status == 200
    number = other.page.client.client_id
    other.web.close()
    until(lambda: number not in studio.pages)  # its state is released


def test_saved_file_outlives_its_page(browser: Any, studio: fa.Studio, tmp_path: Path) -> None:
    window = Window(browser, studio)
    window.page.set_parameter(PAYLOAD, 0.25)
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
  const dispatch = (kind) => canvas.dispatchEvent(new DragEvent(kind, how));
  const kept = dispatch("dragover");
  dispatch("drop");
  return kept;
}"""


def test_files_can_be_dropped_anywhere(browser: Any, studio: fa.Studio) -> None:
    window = Window(browser, studio)
    page = window.page
    page.wait()
    window.web.get_by_role("tab", name="View").click()  # the tab Files need not be open
    robot = "links:\n  - {name: dropped, length: 1, mass: 1}\n"
    assert not window.web.evaluate(DROP, ["arm.yaml", robot, 0])  # the browser does not open the file
    until(lambda: page.case is not None and page.case.robot.links[0].name == "dropped")
    assert not page.status.error
    window.web.evaluate(DROP, ["arm.yaml", "links:\n  - {name: a, length: -1}\n", 0])
    until(lambda: "must be positive (m)" in page.status.error)
    window.web.evaluate(DROP, ["arm.exe", "", 0])
    until(lambda: "must be a robot (.yaml), or a run or a sweep (.nc)" in page.status.error)
    until(lambda: window.web.locator(ALERT).get_by_text("must be a robot (.yaml)").is_visible())
    window.web.evaluate(DROP, ["arm.nc", None, 50_000_001])  # rejected before it is sent
    until(lambda: "at most 50 MB can be opened" in page.status.error)
    page.submit(page.reset_status)
    window.web.get_by_role("tab", name="Files").click()
    large = "size => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(size)], 'b.nc')); "
    large += "const input = [...document.querySelectorAll('input[type=file]')].at(-1); input.files = data.files; "
    large += "input.dispatchEvent(new Event('change', { bubbles: true })); }"
    window.web.evaluate(large, 50_000_001)  # also by the button
    until(lambda: "'b.nc': has 50 MB; at most 50" in page.status.error)
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
        x, y = page.sweeps._map._positions[page.sweeps._map._members == 5][0]
        box = picture.bounding_box()
        picture.click(position={"x": x * box["width"], "y": y * box["height"]})
        until(lambda: value_of(page.case, "links.a.mass") == 3.0 and value_of(page.case, "torque.a") == 1.5)
        page.wait()
        assert not page.status.error
        until(lambda: window.web.get_by_text("member 5 (links.a.mass = 3 kg").is_visible())
        member = window.web.get_by_label("member")  # by keyboard
        member.focus()
        member.press("ArrowUp")
        until(lambda: window.web.get_by_text("member 6 (links.a.mass = 4 kg").is_visible())
        window.web.get_by_role("button", name="Open this member as a run").press("Enter")
        until(lambda: value_of(page.case, "links.a.mass") == 4.0)
        count = window.web.get_by_label("vary: count")  # counts change by one
        count.fill("1e1")
        count.press("ArrowUp")
        until(lambda: page.sweeps._ranges[0]._count.value == "11")
        window.web.close()
    finally:
        found.stop()


def test_invalid_file_gives_an_error_in_the_page(window: Window) -> None:
    bad = {"name": "arm.yaml", "mimeType": "text/yaml", "buffer": b"links:\n  - {name: a, length: -1}\n"}
    window.web.get_by_role("tab", name="Files").click()
    window.web.locator("input[type=file]").last.set_input_files(bad)
    until(lambda: "must be positive (m)" in window.page.status.error)
    until(lambda: window.web.locator(ALERT).get_by_text("must be positive (m)").is_visible())
    assert "arm.yaml:2" in window.page.status.error
    good = {"name": "arm.yaml", "mimeType": "text/yaml", "buffer": b"links:\n  - {name: a, length: 1, mass: 1}\n"}
    window.web.locator("input[type=file]").last.set_input_files(good)
    until(lambda: not window.page.status.error and window.page.case.robot.links[0].name == "a")
