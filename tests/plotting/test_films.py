import base64
import io
import re
import shutil
import subprocess

import pytest
from PIL import Image

from flexarm.plotting.films import FILM_WRITERS, html_player, write_html, write_mp4

FRAMES = [Image.new("RGB", (8, 6), (0, 0, 100 * k)) for k in range(3)]


def player(fps: float = 25.0) -> str:
    return html_player(FRAMES, fps, FRAMES)


def test_film_loads_nothing_from_the_network(tmp_path):
    write_html(str(tmp_path / "film.html"), FRAMES, 25.0, FRAMES)
    html = (tmp_path / "film.html").read_text()
    assert html.startswith("<!DOCTYPE html>")
    assert "http" not in html
    assert "//" not in re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]*", "", html)
    assert not re.search(r"<link|@import|<script[^>]*src", html)


def test_players_have_unique_identifiers():
    one, two = (re.search(r'id="([^"]*)"', player()).group(1) for _ in range(2))
    assert one != two


def test_player_has_frame_interval_and_frames():
    html = player(8)
    assert "setInterval(next, 125)" in html
    frames = [Image.open(io.BytesIO(base64.b64decode(each))) for each in re.findall(r"base64,([^\"]*)", html)]
    assert [each.convert("RGB").getpixel((0, 0)) for each in frames] == [(0, 0, 0), (0, 0, 100), (0, 0, 200)]
    assert not re.search(r"\{(id|frames|pause)\}", html)


def test_script_of_the_player_is_valid(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    script = tmp_path / "player.js"
    script.write_text(re.search(r"<script>(.*)</script>", player(8), re.S).group(1))
    assert subprocess.run(["node", "--check", str(script)], capture_output=True).returncode == 0


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg")
def test_mp4_has_all_frames(tmp_path):
    images = [Image.new("RGB", (63, 48), (25 * k, 0, 0)) for k in range(10)]  # codecs need an even width
    write_mp4(str(tmp_path / "film.mp4"), images, 25.0, images)
    command = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames"]
    output = subprocess.run(
        [*command, "-of", "csv=p=0", tmp_path / "film.mp4"], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "64,48,10"


@pytest.mark.parametrize("kind", [".gif", ".mp4"])
def test_cancelled_film_ends_at_once(tmp_path, kind):
    if kind == ".mp4" and shutil.which("ffmpeg") is None:
        pytest.skip("no ffmpeg")

    def images():
        yield FRAMES[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FILM_WRITERS[kind](str(tmp_path / f"film{kind}"), images(), 25.0, FRAMES)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg")
def test_failure_of_ffmpeg_raises(tmp_path):
    with pytest.raises(OSError, match="ffmpeg could not write the film"):
        write_mp4(str(tmp_path / "missing" / "film.mp4"), FRAMES * 100, 25.0, FRAMES)
