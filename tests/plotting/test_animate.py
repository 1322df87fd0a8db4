import sys

import numpy as np
import pytest
from PIL import Image

from flexarm.plotting.animate import AnimationStage, interpolate_coordinates
from flexarm.plotting.films import render_pixels

from .runs import cart, spatial, telescope, two_link


def test_gif_has_the_requested_frames_and_speed(tmp_path):
    two_link().animate(tmp_path / "a.gif", fps=10, speed=0.5)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 21  # 2 s of film and the last frame
        assert film.info["duration"] == 100
        assert film.info["loop"] == 0
        assert film.convert("RGB").getpixel((2, 2)) == (255, 255, 255)


def test_unsupported_frame_rate_of_gif_keeps_the_speed(tmp_path):
    two_link().animate(tmp_path / "a.gif", fps=30)  # 33 ms is no length of a GIF's frame; 30 ms is
    with Image.open(tmp_path / "a.gif") as film:
        assert film.info["duration"] * (film.n_frames - 1) / 1000 == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("made", [spatial, telescope, cart])
def test_films_of_different_robots_are_written(made, tmp_path):
    made().animate(tmp_path / "a.gif", fps=4, magnify=5, other=made())
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 5


def test_frames_are_interpolated_between_samples():
    run = two_link()
    times = run.animate(fps=7.0).times()
    assert times[0] == 0
    assert times[-1] == 1
    assert np.diff(times)[:-1] == pytest.approx(np.full(len(times) - 2, 1 / 7))
    q, samples = interpolate_coordinates(run, times), run.data["q"].values
    for k, name in enumerate(run.data["coordinate"].values):
        assert q[:, k] == pytest.approx(
            run[str(name)].interp(time=times).values, abs=2e-3 * np.abs(samples[:, k]).max()
        )
    assert (np.abs(q).max(axis=0) <= np.abs(samples).max(axis=0) + 1e-12).all()


def test_cached_background_gives_the_same_image():
    animation = two_link().animate(fps=4)
    stage = AnimationStage(animation, animation.times())
    quick = np.asarray(stage.image(2), dtype=float)
    slow = render_pixels(AnimationStage(animation, animation.times()).show(2)).astype(float)
    assert (np.abs(quick - slow).max(axis=2) > 30).mean() < 1e-3


def test_html_of_notebooks_and_files(tmp_path):
    animation = two_link().animate(fps=5)
    html = animation._repr_html_()
    assert html.count("data:image/png;base64") == 6
    animation.save(tmp_path / "a.html")
    written = (tmp_path / "a.html").read_text()
    assert written.startswith("<!DOCTYPE html>")
    assert written.count("data:image/png;base64") == 6


def test_trace_has_the_resolution_of_the_samples():
    run = two_link()
    stage = AnimationStage(run.animate(fps=2), np.array([0.0, 0.5, 1.0]))
    stage.show(1)
    trace = stage.moving[0].get_xydata()
    assert trace == pytest.approx(run.tip.sel(time=slice(0, 0.5)).values[:, :2], abs=1e-9)


def test_single_frame_is_labelled_with_its_time():
    figure = two_link().animate(magnify=10).figure(0.5)
    plot = figure.axes[0]
    assert plot.get_title(loc="right") == "t = 0.50 s"
    assert "deflections x 10" in plot.get_title(loc="left")


def test_arguments_are_validated_before_drawing(tmp_path, monkeypatch):
    run = two_link()
    with pytest.raises(ValueError, match=r"must end in \.gif, \.mp4 or \.html"):
        run.animate(tmp_path / "a.avi")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        run.animate(tmp_path / "no" / "a.gif")
    with pytest.raises(ValueError, match="fps = 0: must be positive"):
        run.animate(fps=0)
    with pytest.raises(ValueError, match="magnify = -1"):
        run.animate(tmp_path / "a.gif", magnify=-1)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"needs ffmpeg.*\.gif and \.html need nothing"):
        run.animate(tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())


def test_progress_bar_is_shown_on_request_only(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("flexarm.foundation.progress.BAR_DELAY_S", 0.0)
    two_link().animate(tmp_path / "a.gif", fps=4)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    two_link().animate(tmp_path / "a.gif", fps=4, progress=True)
    assert "drawing" in capsys.readouterr().err


def test_run_of_one_sample_is_a_single_frame(tmp_path):
    run = two_link()
    start = type(run)(run.data.isel(time=[0]))
    start.animate(tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as film:
        assert getattr(film, "n_frames", 1) == 1
    assert start.plot_trajectory(times=1).axes


def test_failed_film_leaves_the_earlier_file(tmp_path, monkeypatch):
    target = tmp_path / "a.gif"
    target.write_text("earlier")
    monkeypatch.setattr(AnimationStage, "show", lambda self, k: sys.exit("no"))
    with pytest.raises(SystemExit):
        two_link().animate(target)
    assert target.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]


def test_mp4_with_ffmpeg(tmp_path):
    from matplotlib.animation import writers

    if not writers.is_available("ffmpeg"):
        pytest.skip("no ffmpeg")
    two_link().animate(tmp_path / "a.mp4", fps=5)
    assert b"ftyp" in (tmp_path / "a.mp4").read_bytes()[:16]
