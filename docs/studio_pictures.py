"""Write the pictures of docs/studio.md: `python docs/studio_pictures.py` (needs Chromium and playwright)."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import flexarm as fa
from flexarm.studio.panels.linear import MODE_PERIOD_S

HERE = Path(__file__).parent
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SIZE = {"width": 1280, "height": 760}
SETTLING_TIME_S = 1.5  # until everything is drawn
Act = Callable[[Any, Any], None]


def look(web: Any, page: Any) -> None:
    """Show strain, the rigid twin and torques."""
    tab(web, "View")
    page.view._magnify.value, page.view._thicken.value = 3.0, 2.0
    page.view._colouring.value, page.view._ghost_choice.value, page.view._arrows.value = "strain", "rigid twin", True
    page.submit(page.redraw)
    seek(page, 1.6)


def second_mode(web: Any, page: Any) -> None:
    tab(web, "Modes")
    seek(page, 1.6)
    page.submit(page.modes.compute)
    page.wait()
    page.modes._choice.value = page.modes._choice.options[2]
    page.submit(page.modes.choose)
    page.wait()
    # so that it is far out when the picture is taken
    while not 0.3 < (time.monotonic() + SETTLING_TIME_S) % MODE_PERIOD_S < 0.4:
        time.sleep(0.02)


def set_point(web: Any, page: Any) -> None:
    """Show both joints going to a set point, and the run without control."""
    tab(web, "Control")
    page.set_parameter("torque.upper.amplitude", 0.0)
    web.get_by_label("upper (rad)").fill("0.6")
    web.get_by_label("fore (rad)").fill("0.4")
    page.wait()
    page.control_panel._feedback.value = "pd"
    page.submit_run(lambda: page.control_panel._switch(back=True, suit=True))
    page.wait()
    web.get_by_label("within (s)").fill("2.5")
    page.wait()
    web.get_by_role("button", name="Compare with the run without").click()
    time.sleep(0.5)
    seek(page, 1.6)


def sweep(web: Any, page: Any) -> None:
    tab(web, "Sweep")
    first, second = page.sweeps._ranges
    first.offer(page.case, "links.fore.payload.mass")
    second.offer(page.case, "torque.upper.amplitude")
    for each in (first, second):
        each._count.value = "17"
    page.submit(page.sweeps.begin)
    page.wait()
    page.sweeps.task._thread.join()
    page.wait()
    page.sweeps._quantity.value = "residual"
    page.submit(page.sweeps.draw)
    page.submit_run(lambda: page.sweeps.open(191))
    page.wait()
    seek(page, 1.6)


def tab(web: Any, name: str) -> None:
    web.get_by_role("tab", name=name).click()


def seek(page: Any, seconds: float) -> None:
    page.timeline.seek(seconds)
    page.submit(page.show)
    page.wait()


PICTURES: dict[str, Act] = {
    "studio": look,
    "studio_modes": second_mode,
    "studio_control": set_point,
    "studio_sweep": sweep,
}


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SOFTWARE)
        for name, act in PICTURES.items():
            studio = fa.studio(HERE.parent / "examples" / "two_link.yaml", browser=False, port=8399)
            web = browser.new_page(viewport=SIZE)
            web.goto(studio.url)
            while not studio.pages or next(iter(studio.pages.values())).frames is None:
                time.sleep(0.1)
            page = next(iter(studio.pages.values()))
            page.wait()
            time.sleep(2.0)
            if (close := web.locator(".mantine-Notification-closeButton")).count():  # there is no graphics card
                close.first.click()
            act(web, page)
            web.mouse.move(640, 700)
            time.sleep(SETTLING_TIME_S)
            web.screenshot(path=HERE / "images" / f"{name}.png")
            web.close()
            studio.stop()
        browser.close()


if __name__ == "__main__":
    main()
