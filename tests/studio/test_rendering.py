"""Views as pictures and films: what needs no browser. That they are what a browser shows is in `test_browser`."""

import io
import shutil
import subprocess
import time
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

import flexarm as fa
from flexarm.studio import rendering
from flexarm.studio.case import StudioCase
from flexarm.studio.mesh_frames import FAINT, GHOST, STOPS
from flexarm.studio.page import Page
from flexarm.studio.rendering import Raster, Shots
from flexarm.studio.scene import Ground, Still, ViewCamera, bodies
from tests.studio.browserless import Client

RED, BLUE = (255.0, 0.0, 0.0), (0.0, 0.0, 255.0)
BAR = fa.Robot("bar", links=[fa.Link("a", 1.0, mass=1.0)])
OPTIONS = {"duration": 0.4, "torque": {"a": 2.0}, "native": False}


def triangle(x: float, size: float, near: float) -> np.ndarray:
    return np.array([[[x, 2.0, near], [x + size, 2.0, near], [x, 2.0 + size, near]]])


def plain(colour: tuple[float, ...]) -> np.ndarray:
    return np.broadcast_to(colour, (1, 3, 3))


def test_nearest_triangle_is_seen_in_whichever_order() -> None:
    for order in ((0, 1), (1, 0)):
        raster = Raster(40, 40)
        for which in order:
            raster.triangles(triangle(2, 30, (1.0, 2.0)[which]), plain((RED, BLUE)[which]))
        assert raster.pixels[10, 10].tolist() == [0, 0, 255]
    count = (raster.pixels == [0, 0, 255]).all(axis=-1).sum()
    assert count == pytest.approx(30 * 30 / 2, rel=0.04)
    assert (raster.pixels[0] == 255).all()


def test_triangles_that_cross_are_cut_where_they_do() -> None:
    raster = Raster(100, 10)
    for colour, near in ((RED, (1.0, 2.0)), (BLUE, (2.0, 1.0))):
        left, right = near
        a, b, c, d = (0.0, 0.0, left), (100.0, 0.0, right), (100.0, 10.0, right), (0.0, 10.0, left)
        raster.triangles(np.array([[a, b, d], [b, c, d]]), np.broadcast_to(colour, (2, 3, 3)))
    assert (raster.pixels[5, :48] == BLUE).all()
    assert (raster.pixels[5, 52:] == RED).all()


def test_colours_are_straight_between_corners() -> None:
    raster = Raster(50, 50)
    raster.triangles(triangle(2, 40, 1.0), np.array([[[0.0, 0, 0], [200.0, 0, 0], [0.0, 0, 0]]]))
    assert raster.pixels[3, 12, 0] == pytest.approx(200 * 10.5 / 40, abs=2)


def test_colours_are_straight_in_space() -> None:
    """A corner three times as near: half way on the screen is a quarter of the way to it, from the far one."""
    raster, corners = Raster(50, 50), triangle(2, 40, 1.0)
    corners[0, 1, 2] = 3.0
    raster.triangles(corners, np.array([[[0.0, 0, 0], [200.0, 0, 0], [0.0, 0, 0]]]))
    along = 20.5 / 40
    assert raster.pixels[2, 22, 0] == pytest.approx(200 * 3 * along / (1 + 2 * along), abs=4)


def test_ghosts_are_seen_through_and_hidden_behind_others() -> None:
    raster = Raster(40, 40)
    raster.triangles(triangle(2, 10, 3.0), plain(RED))
    twice = np.concatenate([triangle(2, 30, 2.0), triangle(2, 30, 1.0)])
    raster.triangles(twice, np.broadcast_to(GHOST, (2, 3, 3)), FAINT)
    assert raster.pixels[4, 4].tolist() == [255, 0, 0]
    assert raster.pixels[15, 10].tolist() == [round(FAINT * each + (1 - FAINT) * 255) for each in GHOST]  # once


def test_what_is_behind_or_beside_is_not_drawn() -> None:
    raster = Raster(40, 40)
    raster.triangles(triangle(2, 30, 0.0), plain(RED))
    raster.triangles(triangle(200, 30, 1.0), plain(RED))
    raster.lines(np.array([[[0.0, 5, 0], [40.0, 5, 1]], [[0.0, 500, 1], [40.0, 500, 1]]]), (255, 0, 0), 2)
    assert (raster.pixels == 255).all()
    raster.lines(np.array([[[0.0, 5, 1], [40.0, 5, 1]]]), (255, 0, 0), 2)
    assert (raster.pixels[..., 1] == 0).sum() == 80


def camera(**changed: object) -> ViewCamera:
    known = {"position": (0, -2, 0), "look_at": (0, 0, 0), "up_direction": (0, 0, 1), "fov": np.pi / 2}
    return ViewCamera.of(SimpleNamespace(**(known | {"image_width": 301, "image_height": 200} | changed)), 1000)


def test_camera_sees_as_a_pinhole_does() -> None:
    seen = camera().seen(np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 0, 1.0], [0.0, -3, 0]]))
    np.testing.assert_allclose(seen[:3], [[150, 100, 0.5], [200, 100, 0.5], [150, 50, 0.5]])
    assert seen[3, 2] == 0  # behind
    down = camera(position=(0, 0, 2)).seen(np.array([0.1, 0.0, 0.0]))
    assert np.isfinite(down).all()
    assert camera().finer(2).seen(np.array([1.0, 0, 0]))[0] == 400
    assert camera().width == 300  # films want even numbers
    assert camera(image_width=4000, image_height=2000).height == 500


def test_arrows_are_bodies_from_where_to_where() -> None:
    pairs = np.array([[[0.0, 0, 0], [1.0, 0, 0]], [[0.0, 0, 0], [0.0, 0, 1e-3]]])
    points, faces = bodies(pairs, 1.0)
    assert faces.max() + 1 == len(points) == 2 * len(bodies(pairs[:1], 1.0)[0])
    first = points[: len(points) // 2]
    assert (first[:, 0].min(), first[:, 0].max()) == (0.0, 1.0)
    assert np.hypot(first[:, 1], first[:, 2]).max() == pytest.approx(0.015)
    assert np.isfinite(points).all()


def test_picture_has_arm_ground_words_and_legend() -> None:
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0.5], [0, 0, 0.5]])
    ground = Ground.of(fa.Robot(links=BAR.links, gravity=(0, 0, -9.81)), square)
    still = Still(square, np.array([[0, 1, 2], [0, 2, 3]]), np.full((4, 3), (45, 110, 160), dtype=np.uint8))
    view = camera(position=(0.5, -2.0, 0.2), look_at=(0.5, 0.0, 0.2))
    bare = np.asarray(Shots(view, ground, None, None, "").image(still, ""))
    full = np.asarray(Shots(view, ground, None, ("strain", "0", "1"), "bar").image(still, "t = 1 s"))
    assert full.shape == (200, 300, 3)
    blue = (bare[..., 2] > bare[..., 0].astype(int) + 40).sum()
    expected = 0.5 * (100 / 2) ** 2  # half a square metre, 2 m away
    assert 0.8 * expected < blue < 1.02 * expected  # numbers of the ruler stand before it
    different = (bare != full).any(axis=-1)
    assert different[:30, :80].any()  # the name
    assert different[:30, -80:].any()  # the time
    for colour in STOPS:
        assert (np.abs(full[150:].astype(int) - colour).max(axis=-1) <= 3).any()


# --- films ---


def images(count: int) -> list[Image.Image]:
    """Each of another red, with a legend of all."""
    found = []
    for k in range(count):
        red = np.zeros((48, 64, 3), dtype=np.uint8)
        red[:40, :, 0], red[40:, :, 0] = 255 * k // count, np.linspace(0, 255, 64)
        found.append(Image.fromarray(red))
    return found


def test_films_have_all_their_frames() -> None:
    shown, heard = images(10), []
    content = rendering.filmed("gif", 10, shown.__getitem__, heard.append)
    assert heard == list(range(10))
    film = Image.open(io.BytesIO(content))
    assert film.n_frames == 10
    assert film.info["duration"] == 40
    film.seek(9)
    assert film.convert("RGB").getpixel((5, 5))[0] == pytest.approx(229, abs=8)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg")
def test_films_are_written_by_ffmpeg(tmp_path) -> None:
    (tmp_path / "film.mp4").write_bytes(rendering.filmed("mp4", 10, images(10).__getitem__, lambda _: None))
    asked = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames"]
    told = subprocess.run([*asked, "-of", "csv=p=0", tmp_path / "film.mp4"], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "64,48,10"


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_cancelled_film_ends_at_once(kind: str) -> None:
    if kind == "mp4" and shutil.which("ffmpeg") is None:
        pytest.skip("no ffmpeg")
    drawn = []

    def told(k: int) -> None:
        drawn.append(k)
        if k == 3:
            raise rendering.VideoCancelled

    with pytest.raises(rendering.VideoCancelled):
        rendering.filmed(kind, 10, images(10).__getitem__, told)
    assert drawn == [0, 1, 2, 3]


def opened() -> Page:
    page = Page(Client(), StudioCase.of_robot(BAR, OPTIONS))
    page.wait()
    assert not page.error
    return page


def save(page: Page, kind: str) -> None:
    page.client.gui.made["save"].hand(kind)
    page.client.gui.made["Save"].hand()
    page.wait()


def test_page_saves_what_it_shows() -> None:
    page = opened()
    page.line.seek(0.4)
    save(page, "PNG")
    picture = Image.open(io.BytesIO(page.client.files["bar.png"]))
    assert picture.size == (320, 240)
    page.line.seek(0.0)
    save(page, "PNG")
    other = Image.open(io.BytesIO(page.client.files["bar.png"]))
    assert other.tobytes() != picture.tobytes()
    page.line.speed = 0.5
    save(page, "GIF")
    page.pictures._thread.join(60)
    page.wait()
    assert not page.error
    film = Image.open(io.BytesIO(page.client.files["bar.gif"]))
    assert film.n_frames == 21  # 0.4 s, half as fast, 25 a second, both ends
    film.seek(20)
    picture = np.asarray(picture.convert("RGB")).astype(int)
    far = np.abs(np.asarray(film.convert("RGB")).astype(int) - picture).max(axis=-1) > 60
    assert far.mean() < 0.002  # the last frame is the picture of the end, in fewer colours
    page.close()


def test_film_is_told_of_and_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    page, other = opened(), opened()
    usual = Shots.image

    def slow(self, still, caption):
        time.sleep(0.1)
        return usual(self, still, caption)

    monkeypatch.setattr(Shots, "image", slow)
    page.line.speed = 0.05
    save(page, "GIF")
    assert page.pictures.busy
    save(page, "GIF")
    assert "a film is being drawn already" in page.error
    end = time.monotonic() + 20
    while "s left" not in page.pictures._said.content:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "of 201 frames" in page.pictures._said.content
    assert page.pictures._cancel.visible
    page.line.seek(0.2)
    page.do(page.show)  # the page can be used meanwhile
    page.wait(5)
    assert not other.pictures.busy
    page.client.gui.made["Cancel the film"].hand()
    page.pictures._thread.join(10)
    assert not page.pictures.busy
    assert not page.pictures._cancel.visible
    assert not page.client.files
    assert not other.client.files
    save(page, "GIF")
    page.close()  # nobody waits for it
    page.pictures._thread.join(10)
    assert not page.pictures.busy
    other.close()


def test_film_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened()

    def never(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("flexarm.studio.panels.pictures.filmed", never)
    save(page, "GIF")
    page.pictures._thread.join(10)
    page.wait()
    assert page.error == "no room"
    assert not page.pictures._done.visible
    page.close()


def test_film_of_a_shape_is_one_period() -> None:
    arm = fa.library.two_link_arm(damping=1e-3)
    page = Page(Client(), StudioCase.of_robot(arm, {"duration": 0.1, "native": False}))
    page.wait()
    page.client.gui.made["Modes at the posture shown"].hand()
    page.wait()
    moments, order = page.pictures._moments()
    assert len(moments) == len(order) == 50
    assert moments[0][1].startswith("mode 1: ")
    assert np.abs(moments[0][0].points - moments[12][0].points).max() > 0.05
    page.close()
