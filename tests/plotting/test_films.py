import re
import shutil
import subprocess

import pytest

from flexarm.plotting.films import html_page, html_player

FRAMES = [b"one", b"two", b"three"]


def test_a_film_fetches_nothing():
    html = html_page(html_player(FRAMES, fps=25))
    assert "http" not in html
    assert "//" not in re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]*", "", html)
    assert not re.search(r"<link|@import|<script[^>]*src", html)


def test_two_players_on_a_page_do_not_meet():
    one, two = (re.search(r'id="([^"]*)"', html_player(FRAMES, fps=25)).group(1) for _ in range(2))
    assert one != two


def test_frames_follow_in_time():
    html = html_player(FRAMES, fps=8)
    assert "setInterval(next, 125)" in html
    assert re.findall(r"base64,([^\"]*)", html) == ["b25l", "dHdv", "dGhyZWU="]
    assert not re.search(r"\{(id|frames|pause)\}", html)


def test_the_program_in_it_is_valid(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    script = tmp_path / "player.js"
    script.write_text(re.search(r"<script>(.*)</script>", html_player(FRAMES, fps=8), re.S).group(1))
    assert subprocess.run(["node", "--check", str(script)], capture_output=True).returncode == 0
