"""Tests of pictures and films by a stand-in for the browser; `test_browser` has them of the browser itself."""

import io
import time

import numpy as np
import pytest
from PIL import Image

import flexarm as fa
from flexarm.studio.case import StudioCase
from flexarm.studio.mesh_frames import COLOUR_MAP
from flexarm.studio.page import Page
from flexarm.studio.panels import pictures
from tests.studio.browserless import Client, value_of

BAR = fa.Robot("bar", links=[fa.Link("a", 1.0, mass=1.0)])
OPTIONS = {"duration": 0.4, "torque": {"a": 2.0}, "native": False}


def opened() -> Page:
    page = Page(Client(), StudioCase.from_robot(BAR, OPTIONS))
    page.wait()
    assert not page.status.error
    return page


def save(page: Page, kind: str) -> None:
    page.client.gui.made["save"].set_by_user(kind)
    page.client.gui.made["Save"].set_by_user()
    page.wait()


def corners(page: Page) -> np.ndarray:
    return np.array(page.scene._meshes["arm"].vertices)


def ended(page: Page) -> None:
    page.pictures.task._thread.join(10)
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
    ended(page)
    assert not page.status.error
    film = Image.open(io.BytesIO(page.client.files["bar.gif"]))
    assert film.n_frames == 21  # 0.4 s at half speed and 25 frames/s, both ends
    assert film.info["duration"] == 40
    film.seek(20)
    picture = np.asarray(picture.convert("RGB")).astype(int)
    far = np.abs(np.asarray(film.convert("RGB")).astype(int) - picture).max(axis=-1) > 60
    assert far.mean() < 0.002  # the last frame equals the picture, in fewer colours
    page.close()


def test_picture_has_name_time_and_legend() -> None:
    page = opened()
    save(page, "PNG")
    bare = np.asarray(Image.open(io.BytesIO(page.client.files["bar.png"])))
    assert (bare[:30, :60] < 100).any()  # the name
    assert (bare[:30, -80:] < 100).any()  # the time
    assert (bare[180:] == 255).all()
    page.client.gui.made["colour links by"].set_by_user("deflection")
    page.wait()
    save(page, "PNG")
    legend = np.asarray(Image.open(io.BytesIO(page.client.files["bar.png"])))[180:].astype(int)
    for colour in COLOUR_MAP:
        assert (np.abs(legend - colour).max(axis=-1) <= 3).any()
    page.close()


def test_large_views_are_scaled_down() -> None:
    page = opened()
    page.client.camera.image_width, page.client.camera.image_height = 4000, 2000
    save(page, "PNG")
    assert Image.open(io.BytesIO(page.client.files["bar.png"])).size == (2000, 1000)
    page.close()


def slow_down(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = page.client.get_render

    def slow(**options):
        time.sleep(0.1)
        return usual(**options)

    monkeypatch.setattr(page.client, "get_render", slow)


def test_film_shows_progress_and_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    page, other = opened(), opened()
    slow_down(page, monkeypatch)
    page.timeline.speed = 0.05
    save(page, "GIF")
    task = page.pictures.task
    assert task.is_busy
    for kind in ("GIF", "PNG"):
        save(page, kind)
        assert "film: one is being computed; cancel it" in page.status.error
    end = time.monotonic() + 20
    while "s left" not in task._text.content:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "of 201 frames" in task._text.content
    assert task._cancel.visible
    page.timeline.seek(0.2)
    page.submit(page.show)  # the page can be used meanwhile
    page.wait(5)
    assert not other.pictures.task.is_busy
    page.client.gui.made["Cancel the film"].set_by_user()
    ended(page)
    assert not task.is_busy
    assert not task._cancel.visible
    assert not page.client.files
    assert not other.client.files
    page.close()
    other.close()


def test_view_shows_the_film_and_then_the_page() -> None:
    page = opened()
    page.timeline.seek(0.4)
    page.submit(page.show)
    page.wait()
    before = corners(page)
    seen, usual = [], page.client.get_render

    def render(**options):
        seen.append(corners(page))
        if len(seen) == 5:  # a change while the film is recorded
            page.client.gui.made["links.a.mass"].set_by_user("2")
            page.wait()
            seen.append(corners(page))
        return usual(**options)

    page.client.get_render = render
    save(page, "GIF")
    ended(page)
    assert not page.status.error
    np.testing.assert_array_equal(seen[4], seen[5])
    np.testing.assert_array_equal(seen[-1], before)  # the film shows the run at the time of the request
    assert value_of(page.case, "links.a.mass") == 2.0
    assert np.abs(corners(page) - before).max() > 0.01  # the page its new run
    page.close()


def test_closed_page_ends_its_film(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened()
    slow_down(page, monkeypatch)
    page.timeline.speed = 0.05
    save(page, "GIF")
    page.close()
    with pytest.warns(UserWarning, match="the page was closed: its film was ended, and nothing is saved"):
        page.pictures.task._thread.join(10)
    assert not page.pictures.task.is_busy
    assert not page.client.files


@pytest.mark.parametrize("kind", ["PNG", "GIF"])
def test_browser_that_draws_nothing_is_reported(kind: str) -> None:
    page = opened()

    def never(**_: object) -> None:
        raise TimeoutError("the client did not return a frame.")

    page.client.get_render = never
    save(page, kind)
    if kind == "GIF":
        ended(page)
    assert "its tab must stay open and visible" in page.status.error
    page.client.gui.made["time (s)"].set_by_user(0.4)
    page.wait()
    arm = page.scene._meshes["arm"].vertices
    state = page.view.view_state(page.frames, page.frames.index(0.4), playing=False)
    np.testing.assert_allclose(arm[: len(state.points)], state.points, atol=1e-6)  # the page goes on
    page.close()


def test_failed_film_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened()

    def never(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setitem(pictures.FILM_WRITERS, ".gif", never)
    save(page, "GIF")
    ended(page)
    assert page.status.error == "no room"
    assert not page.pictures.task._bar.visible
    page.close()


def test_film_of_a_mode_is_one_period() -> None:
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
