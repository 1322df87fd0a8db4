"""Measure response times and memory of the studio.

    python benchmarks/studio.py [--turns 200] [--opens 3]

Chromium of the system is the browser, without a graphics card: how long it draws is not counted, only when the arm's
corners reach the page. The first opening may compile and is left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

FILE = "examples/two_link.yaml"
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PAYLOAD = "links.fore.payload.mass"
PORT = 8600
SMALL, WIDE = {"width": 400, "height": 300}, {"width": 1000, "height": 260}  # drawing without a card takes cores


class Heard:
    """When messages with the arm arrived in a page: a worker of the page reads them, and hands them on."""

    LISTEN = """
    window.heard = [];
    const Usual = window.Worker;
    window.Worker = class extends Usual {
      constructor(...given) {
        super(...given);
        this.addEventListener("message", ({ data }) => {
          if ((data.messages ?? []).some((each) => each.name === "/robot/arm")) window.heard.push(Date.now() / 1000);
        });
      }
    };
    """

    def __init__(self, web: Any) -> None:
        self._web = web
        web.add_init_script(self.LISTEN)

    def since(self, begin: float, seconds: float = 60.0) -> float:
        """Seconds from a moment to the first such message after it."""
        while time.time() < begin + seconds:
            if later := [each for each in self._web.evaluate("window.heard ?? []") if each > begin]:
                return float(later[0]) - begin
            self._web.wait_for_timeout(5)
        raise TimeoutError("the arm never came")


def answers(port: int, begin: float) -> float:
    """Seconds from a moment until a server gives its page."""
    while time.time() < begin + 60:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5) as page:
                page.read()
            return time.time() - begin
        except OSError:
            time.sleep(0.005)
    raise TimeoutError("no server")


def opening(browser: Any, port: int) -> tuple[float, float]:
    """Seconds from the command to a server that answers, and to the arm in a page that was opened then."""
    web = browser.new_page(viewport=SMALL)
    heard = Heard(web)
    program = Path(sys.executable).with_name("flexarm")
    begin = time.time()
    command = [str(program), "studio", FILE, "--no-browser", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        answered = answers(port, begin)
        web.goto(f"http://localhost:{port}", wait_until="commit")
        return answered, heard.since(begin)
    finally:
        web.close()
        server.terminate()
        server.wait()


def again(browser: Any, port: int, opens: int) -> list[float]:
    """Seconds from the address to the arm, of pages of a server that has nothing else to do: the browser's own part."""
    import flexarm as fa

    studio = fa.studio(FILE, browser=False, port=port)
    found = []
    for _ in range(opens + 1):
        web = browser.new_page(viewport=SMALL)
        heard = Heard(web)
        begin = time.time()
        web.goto(studio.url, wait_until="commit")
        found.append(heard.since(begin))
        web.close()
    studio.stop()
    return found[1:]


def memory() -> float:
    """MB that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def turning(browser: Any, port: int, turns: int) -> None:
    """Knobs of an open page."""
    import flexarm as fa

    studio = fa.studio(FILE, browser=False, port=port)
    web = browser.new_page(viewport=WIDE)
    heard = Heard(web)
    begin = time.time()
    web.goto(studio.url)
    heard.since(begin)
    page = next(iter(studio.pages.values()))
    page.timeline.seek(3.0)  # at its beginning every run is the same
    page.submit(page.show)
    page.wait()
    knob = web.get_by_label("payload.mass (kg)")
    knob.focus()
    seen = []
    for k in range(30):
        web.wait_for_timeout(300)
        pressed = time.time()
        knob.press("ArrowUp" if k % 2 else "ArrowDown")
        seen.append(heard.since(pressed))
    _told("knob to the arm's corners in the page", seen)
    web.close()
    page = _alone(studio, browser)
    own, sizes = [], []
    for k in range(30):
        time.sleep(0.3)  # until the browser, which has the same cores, is done with the one before
        own.append(_turned(page, 0.1 + 1e-3 * k))
    _told("knob to the picture, the server's side", own)
    for k in range(turns):
        _turned(page, 0.1 + 1e-4 * (k % 1000))
        if k in (turns // 3, turns - 1):
            sizes.append(memory())
    print(f"{'memory':45} {sizes[0]:.0f} MB after {turns // 3} runs, {sizes[-1]:.0f} MB after {turns}")
    studio.stop()


def _turned(page: Any, value: float) -> float:
    begin = time.time()
    page.set_parameter(PAYLOAD, value)
    page.wait()
    return time.time() - begin


def _alone(studio: Any, browser: Any) -> Any:
    """A page of its own, so that nobody else has part in what is measured."""
    while studio.pages:
        time.sleep(0.05)
    web = browser.new_page(viewport=SMALL)
    web.goto(studio.url)
    while not studio.pages:
        web.wait_for_timeout(50)
    page = next(iter(studio.pages.values()))
    page.timeline.seek(3.0)
    page.wait()
    return page


def _told(what: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    low, high = ordered[0], ordered[int(0.9 * (len(ordered) - 1))]
    print(f"{what:45} {statistics.median(ordered):.3f} s  (least {low:.3f}, nine of ten below {high:.3f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--opens", type=int, default=3)
    asked = parser.parse_args()
    from playwright.sync_api import sync_playwright

    print(f"{FILE}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=SOFTWARE)
        _told("a page of a server that runs, to the arm", again(browser, PORT + 40, asked.opens))
        found = [opening(browser, PORT + k) for k in range(asked.opens + 1)][1:]
        _told("command to a server that answers", [each[0] for each in found])
        _told("command to the arm's corners in the page", [each[1] for each in found])
        turning(browser, PORT + 50, asked.turns)
        browser.close()


if __name__ == "__main__":
    main()
