"""Tests of pictures and videos without a browser; `test_browser` compares them with the page."""

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
from flexarm.studio.mesh_frames import COLOUR_MAP, GHOST_COLOUR, GHOST_OPACITY
from flexarm.studio.page import Page
from flexarm.studio.panels import pictures
from flexarm.studio.rendering import Raster, ViewRenderer
from flexarm.studio.scene import Ground, ViewCamera, ViewState, arrow_solids
from tests.studio.browserless import Client

RED, BLUE = (255.0, 0.0, 0.0), (0.0, 0.0, 255.0)
BAR = fa.Robot("bar", links=[fa.Link("a", 1.0, mass=1.0)])
OPTIONS = {"duration": 0.4, "torque": {"a": 2.0}, "native": False}


def triangle(x: float, size: float, near: float) -> np.ndarray:
    return np.array([[[x, 2.0, near], [x + size, 2.0, near], [x, 2.0 + size, near]]])


def plain(colour: tuple[float, ...]) -> np.ndarray:
    return np.broadcast_to(colour, (1, 3, 3))


def test_nearest_triangle_is_visible_in_any_order() -> None:
    for order in ((0, 1), (1, 0)):
        raster = Raster(40, 40)
        for which in order:
            raster.draw_triangles(triangle(2, 30, (1.0, 2.0)[which]), plain((RED, BLUE)[which]))
        assert raster.pixels[10, 10].tolist() == [0, 0, 255]
    count = (raster.pixels == [0, 0, 255]).all(axis=-1).sum()
    assert count == pytest.approx(30 * 30 / 2, rel=0.04)
    assert (raster.pixels[0] == 255).all()


def test_intersecting_triangles_are_cut() -> None:
    raster = Raster(100, 10)
    for colour, near in ((RED, (1.0, 2.0)), (BLUE, (2.0, 1.0))):
        left, right = near
        a, b, c, d = (0.0, 0.0, left), (100.0, 0.0, right), (100.0, 10.0, right), (0.0, 10.0, left)
        raster.draw_triangles(np.array([[a, b, d], [b, c, d]]), np.broadcast_to(colour, (2, 3, 3)))
    assert (raster.pixels[5, :48] == BLUE).all()
    assert (raster.pixels[5, 52:] == RED).all()


def test_colours_are_interpolated_between_corners() -> None:
    raster = Raster(50, 50)
    raster.draw_triangles(triangle(2, 40, 1.0), np.array([[[0.0, 0, 0], [200.0, 0, 0], [0.0, 0, 0]]]))
    assert raster.pixels[3, 12, 0] == pytest.approx(200 * 10.5 / 40, abs=2)


def test_colours_are_interpolated_with_perspective() -> None:
    """One corner is three times as near: half way on the screen is a quarter of the way in space."""
    raster, corners = Raster(50, 50), triangle(2, 40, 1.0)
    corners[0, 1, 2] = 3.0
    raster.draw_triangles(corners, np.array([[[0.0, 0, 0], [200.0, 0, 0], [0.0, 0, 0]]]))
    along = 20.5 / 40
    assert raster.pixels[2, 22, 0] == pytest.approx(200 * 3 * along / (1 + 2 * along), abs=4)


def test_ghosts_are_transparent_and_can_be_hidden() -> None:
    raster = Raster(40, 40)
    raster.draw_triangles(triangle(2, 10, 3.0), plain(RED))
    twice = np.concatenate([triangle(2, 30, 2.0), triangle(2, 30, 1.0)])
    raster.draw_triangles(twice, np.broadcast_to(GHOST_COLOUR, (2, 3, 3)), GHOST_OPACITY)
    assert raster.pixels[4, 4].tolist() == [255, 0, 0]
    assert raster.pixels[15, 10].tolist() == [
        round(GHOST_OPACITY * each + (1 - GHOST_OPACITY) * 255) for each in GHOST_COLOUR
    ]  # drawn once


def test_points_outside_the_view_are_not_drawn() -> None:
    raster = Raster(40, 40)
    raster.draw_triangles(triangle(2, 30, 0.0), plain(RED))
    raster.draw_triangles(triangle(200, 30, 1.0), plain(RED))
    raster.draw_lines(np.array([[[0.0, 5, 0], [40.0, 5, 1]], [[0.0, 500, 1], [40.0, 500, 1]]]), (255, 0, 0), 2)
    assert (raster.pixels == 255).all()
    raster.draw_lines(np.array([[[0.0, 5, 1], [40.0, 5, 1]]]), (255, 0, 0), 2)
    assert (raster.pixels[..., 1] == 0).sum() == 80


def camera(**changed: object) -> ViewCamera:
    known = {"position": (0, -2, 0), "look_at": (0, 0, 0), "up_direction": (0, 0, 1), "fov": np.pi / 2}
    return ViewCamera.from_page(SimpleNamespace(**(known | {"image_width": 301, "image_height": 200} | changed)), 1000)


def test_camera_is_a_pinhole() -> None:
    seen = camera().project(np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 0, 1.0], [0.0, -3, 0]]))
    np.testing.assert_allclose(seen[:3], [[150, 100, 0.5], [200, 100, 0.5], [150, 50, 0.5]])
    assert seen[3, 2] == 0  # behind
    down = camera(position=(0, 0, 2)).project(np.array([0.1, 0.0, 0.0]))
    assert np.isfinite(down).all()
    assert camera().scaled(2).project(np.array([1.0, 0, 0]))[0] == 400
    assert camera().width == 300  # video codecs need even numbers
    assert camera(image_width=4000, image_height=2000).height == 500


def test_arrows_are_solids_between_their_ends() -> None:
    pairs = np.array([[[0.0, 0, 0], [1.0, 0, 0]], [[0.0, 0, 0], [0.0, 0, 1e-3]]])
    points, faces = arrow_solids(pairs, 1.0)
    assert faces.max() + 1 == len(points) == 2 * len(arrow_solids(pairs[:1], 1.0)[0])
    first = points[: len(points) // 2]
    assert (first[:, 0].min(), first[:, 0].max()) == (0.0, 1.0)
    assert np.hypot(first[:, 1], first[:, 2]).max() == pytest.approx(0.015)
    assert np.isfinite(points).all()


def test_picture_has_arm_ground_text_and_legend() -> None:
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0.5], [0, 0, 0.5]])
    ground = Ground.from_points(fa.Robot(links=BAR.links, gravity=(0, 0, -9.81)), square)
    still = ViewState(square, np.array([[0, 1, 2], [0, 2, 3]]), np.full((4, 3), (45, 110, 160), dtype=np.uint8))
    view = camera(position=(0.5, -2.0, 0.2), look_at=(0.5, 0.0, 0.2))
    bare = np.asarray(ViewRenderer(view, ground, None, None, "").render(still, ""))
    full = np.asarray(ViewRenderer(view, ground, None, ("strain", "0", "1"), "bar").render(still, "t = 1 s"))
    assert full.shape == (200, 300, 3)
    blue = (bare[..., 2] > bare[..., 0].astype(int) + 40).sum()
    expected = 0.5 * (100 / 2) ** 2  # half a square metre at 2 m
    assert 0.8 * expected < blue < 1.02 * expected  # ruler labels cover a part
    different = (bare != full).any(axis=-1)
    assert different[:30, :80].any()  # the name
    assert different[:30, -80:].any()  # the time
    for colour in COLOUR_MAP:
        assert (np.abs(full[150:].astype(int) - colour).max(axis=-1) <= 3).any()


# --- videos ---


def images(count: int) -> list[Image.Image]:
    """Return images in different shades of red, with a legend of all."""
    found = []
    for k in range(count):
        red = np.zeros((48, 64, 3), dtype=np.uint8)
        red[:40, :, 0], red[40:, :, 0] = 255 * k // count, np.linspace(0, 255, 64)
        found.append(Image.fromarray(red))
    return found


def test_gif_has_all_frames() -> None:
    shown, reported = images(10), []
    content = rendering.encode_video("gif", 10, shown.__getitem__, reported.append)
    assert reported == list(range(10))
    film = Image.open(io.BytesIO(content))
    assert film.n_frames == 10
    assert film.info["duration"] == 40
    film.seek(9)
    assert film.convert("RGB").getpixel((5, 5))[0] == pytest.approx(229, abs=8)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg")
def test_mp4_is_written_by_ffmpeg(tmp_path) -> None:
    (tmp_path / "film.mp4").write_bytes(rendering.encode_video("mp4", 10, images(10).__getitem__, lambda _: None))
    command = ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames"]
    output = subprocess.run(
        [*command, "-of", "csv=p=0", tmp_path / "film.mp4"], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "64,48,10"


@pytest.mark.parametrize("kind", ["gif", "mp4"])
def test_cancelled_video_ends_at_once(kind: str) -> None:
    if kind == "mp4" and shutil.which("ffmpeg") is None:
        pytest.skip("no ffmpeg")
    drawn = []

    def report(k: int) -> None:
        drawn.append(k)
        if k == 3:
            raise rendering.VideoCancelled

    with pytest.raises(rendering.VideoCancelled):
        rendering.encode_video(kind, 10, images(10).__getitem__, report)
    assert drawn == [0, 1, 2, 3]


def opened() -> Page:
    page = Page(Client(), StudioCase.from_robot(BAR, OPTIONS))
    page.wait()
    assert not page.error
    return page


def save(page: Page, kind: str) -> None:
    page.client.gui.made["save"].set_by_user(kind)
    page.client.gui.made["Save"].set_by_user()
    page.wait()


def test_page_saves_its_view() -> None:
    page = opened()
    page.timeline.seek(0.4)
    save(page, "PNG")
    picture = Image.open(io.BytesIO(page.client.files["bar.png"]))
    assert picture.size == (320, 240)
    page.timeline.seek(0.0)
    save(page, "PNG")
    other = Image.open(io.BytesIO(page.client.files["bar.png"]))
    assert other.tobytes() != picture.tobytes()
    page.timeline.speed = 0.5
    save(page, "GIF")
    page.pictures._thread.join(60)
    page.wait()
    assert not page.error
    film = Image.open(io.BytesIO(page.client.files["bar.gif"]))
    assert film.n_frames == 21  # 0.4 s at half speed and 25 frames/s, both ends
    film.seek(20)
    picture = np.asarray(picture.convert("RGB")).astype(int)
    far = np.abs(np.asarray(film.convert("RGB")).astype(int) - picture).max(axis=-1) > 60
    assert far.mean() < 0.002  # the last frame equals the picture, in fewer colours
    page.close()


def test_video_shows_progress_and_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    page, other = opened(), opened()
    usual = ViewRenderer.render

    def slow(self, still, caption):
        time.sleep(0.1)
        return usual(self, still, caption)

    monkeypatch.setattr(ViewRenderer, "render", slow)
    page.timeline.speed = 0.05
    save(page, "GIF")
    assert page.pictures.is_busy
    save(page, "GIF")
    assert "a video is being drawn already" in page.error
    end = time.monotonic() + 20
    while "s left" not in page.pictures._text.content:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "of 201 frames" in page.pictures._text.content
    assert page.pictures._cancel.visible
    page.timeline.seek(0.2)
    page.submit(page.show)  # the page can be used meanwhile
    page.wait(5)
    assert not other.pictures.is_busy
    page.client.gui.made["Cancel the film"].set_by_user()
    page.pictures._thread.join(10)
    assert not page.pictures.is_busy
    assert not page.pictures._cancel.visible
    assert not page.client.files
    assert not other.client.files
    save(page, "GIF")
    page.close()  # ends the video
    page.pictures._thread.join(10)
    assert not page.pictures.is_busy
    other.close()


def test_failed_video_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened()

    def never(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(pictures, "encode_video", never)
    save(page, "GIF")
    page.pictures._thread.join(10)
    page.wait()
    assert page.error == "no room"
    assert not page.pictures._progress_bar.visible
    page.close()


def test_video_of_a_mode_is_one_period() -> None:
    arm = fa.library.two_link_arm(damping=1e-3)
    page = Page(Client(), StudioCase.from_robot(arm, {"duration": 0.1, "native": False}))
    page.wait()
    page.client.gui.made["Modes at the posture shown"].set_by_user()
    page.wait()
    frames, order = page.pictures._frames_in_order()
    assert len(frames) == len(order) == 50
    assert frames[0][1].startswith("mode 1: ")
    assert np.abs(frames[0][0].points - frames[12][0].points).max() > 0.05
    page.close()
