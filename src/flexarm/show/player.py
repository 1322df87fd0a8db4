"""A film as HTML: frames inside the page, buttons of plain characters, nothing fetched from anywhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from uuid import uuid4

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>flexarm</title></head><body>
{player}
</body></html>
"""

# {id}, {pause} and {frames} are filled in; several players may stand on one page, as in a notebook
PLAYER = """<div id="{id}" style="display: inline-block; max-width: 100%">
<img alt="a frame of the film" style="max-width: 100%">
<div style="display: flex; gap: 0.5em; align-items: center">
<button type="button" title="play or pause" style="width: 3em">&#9654;</button>
<input type="range" min="0" value="0" step="1" title="frame" style="flex: 1">
<label><input type="checkbox" checked> again and again</label>
</div>
<script>
(function () {
  const frames = {frames};
  const root = document.getElementById("{id}");
  const image = root.querySelector("img"), button = root.querySelector("button");
  const [slider, again] = root.querySelectorAll("input");
  let timer = null;
  slider.max = frames.length - 1;
  function show() { image.src = frames[slider.value]; }
  function stop() { clearInterval(timer); timer = null; button.textContent = "\\u25b6"; }
  function next() {
    const last = Number(slider.value) >= frames.length - 1;
    if (last && !again.checked) { stop(); return; }
    slider.value = last ? 0 : Number(slider.value) + 1;
    show();
  }
  function play() {
    if (Number(slider.value) >= frames.length - 1) { slider.value = 0; show(); }
    timer = setInterval(next, {pause});
    button.textContent = "\\u2016";
  }
  button.addEventListener("click", () => timer === null ? play() : stop());
  slider.addEventListener("input", () => { stop(); show(); });
  show();
  play();
})();
</script>
</div>"""


def player(frames: Iterable[bytes], fps: float) -> str:
    """PNG pictures and what plays them, a piece of HTML."""
    images = ["data:image/png;base64," + base64.b64encode(frame).decode("ascii") for frame in frames]
    parts = {"{id}": f"film-{uuid4().hex}", "{pause}": f"{1000 / fps:.6g}", "{frames}": json.dumps(images)}
    html = PLAYER
    for name, value in parts.items():
        html = html.replace(name, value)
    return html


def page(content: str) -> str:
    """A whole page for a browser."""
    return PAGE.replace("{player}", content)
