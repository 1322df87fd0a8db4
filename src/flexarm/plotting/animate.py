"""Animation of a run: interpolated postures, frames and films."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.files import write_atomically
from flexarm.foundation.progress import Progress
from flexarm.foundation.validation import Array, real_number
from flexarm.plotting import films
from flexarm.plotting.arguments import (
    require_bool,
    require_optional_run,
    require_run,
    select_times,
)
from flexarm.plotting.arm_artist import PAYLOAD_COLOUR, ArmView, Sketch
from flexarm.plotting.arm_points import Arm, magnify_deflections
from flexarm.plotting.colours import COMPARISON_COLOUR
from flexarm.plotting.style import Picture, escape_math

if TYPE_CHECKING:
    from PIL import Image

    from flexarm.results.run import Run


MAX_CURVE_POINT_COUNT = 4000


def interpolate_coordinates(run: Run, times: Array) -> Array:
    """Interpolate the coordinates q, shape (n, nq), by monotone cubics, which do not overshoot the samples."""
    from scipy.interpolate import PchipInterpolator

    t, q = run.time.values, run.data["q"].values
    if len(t) < 2:
        return np.repeat(q, len(times), axis=0)
    return np.asarray(PchipInterpolator(t, q, axis=0)(np.clip(times, t[0], t[-1])))


class Snapshots:
    """Postures of a run at any times; `magnify` is the factor by which deflections are exaggerated."""

    def __init__(self, run: Run, magnify: float = 1.0) -> None:
        self.run, self.magnify = run, real_number("magnify", magnify, least=0)
        self.system = System(run.robot, native=False)

    def arm(self, times: Array) -> Arm:
        return Arm(self.system, interpolate_coordinates(self.run, times), self.magnify)

    def tip_path(self, until: Array) -> tuple[Array, Array]:
        """Return times that include `until`, and the tip positions (n, 3) at them, at most about 4000."""
        samples = self.run.time.values
        times = np.union1d(samples[:: max(1, len(samples) // MAX_CURVE_POINT_COUNT)], until)
        q = magnify_deflections(self.system, interpolate_coordinates(self.run, times), self.magnify)
        return times, self.system.tip(q)


WIDTH = 7.0  # inches
MAX_DPI = 1000  # a frame 7000 pixels wide


class Animation:
    """Film of the moving arm; notebooks show it as a player.

    Parameters
    ----------
    run : Run
        The run.
    fps : float, optional
        Frames per second of the film.
    speed : float, optional
        Simulated seconds per second of the film.
    magnify : float, optional
        Factor by which deflections are exaggerated.
    trace : bool, optional
        Draw the path of the tip.
    other : Run, optional
        Another run, drawn in grey for comparison at true scale.
    dpi : float, optional
        Resolution (pixels per inch); a frame is 7 inches wide.
    progress : bool, optional
        Show a progress bar; by default if the output is a terminal.

    See Also
    --------
    Run.animate : Create an animation, and save it if a path is given.
    """

    def __init__(
        self,
        run: Run,
        *,
        fps: float = 25.0,
        speed: float = 1.0,
        magnify: float = 1.0,
        trace: bool = True,
        other: Run | None = None,
        dpi: float = 100.0,
        progress: bool | None = None,
    ) -> None:
        self.run, self.other = require_run("run", run), require_optional_run("other", other)
        self.fps, self.speed = real_number("fps", fps, above=0), real_number("speed", speed, above=0)
        self.magnify = real_number("magnify", magnify, least=0)
        self.trace, self.dpi = require_bool("trace", trace), real_number("dpi", dpi, above=0, most=MAX_DPI)
        self.progress = None if progress is None else require_bool("progress", progress)
        self.times()  # raises if there are too many frames

    def times(self, fps: float | None = None) -> Array:
        """Return the simulated times of the frames.

        Parameters
        ----------
        fps : float, optional
            Frames per second; by default those of the film.

        Returns
        -------
        ndarray, shape (n,)
            Evenly spaced times (s), followed by the end of the run.
        """
        begin, end = float(self.run.time.values[0]), float(self.run.time.values[-1])
        rate = self.fps if fps is None else real_number("fps", fps, above=0)
        return films.frame_times(begin, end, rate, self.speed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the film to a file; an existing file is replaced only when the film is complete.

        Parameters
        ----------
        path : path_like
            Path that ends in .gif, .mp4 (needs ffmpeg) or .html.
        """
        suffix = films.require_film_file(path)
        fps = films.playable_rate(suffix, self.fps)
        stage = AnimationStage(self, self.times(fps))
        write = films.FILM_WRITERS[suffix]
        write_atomically(path, lambda part: write(part, self._images(stage), fps, [stage.image(-1)]))

    def figure(self, time: float) -> Picture:
        """Draw a single frame.

        Parameters
        ----------
        time : float
            Time of the frame (s); the path of the tip is drawn up to it.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        times = np.union1d(self.times(), select_times("time", self.run, [time]))
        return AnimationStage(self, times).show(int(np.searchsorted(times, time)))

    def _repr_html_(self) -> str:
        stage = AnimationStage(self, self.times())
        return films.html_player(self._images(stage), self.fps, [stage.image(-1)])

    def _images(self, stage: AnimationStage) -> Iterator[Image.Image]:
        with _DrawingProgress(len(stage.times), self.progress) as bar:
            for k in range(len(stage.times)):
                bar.update(k)
                yield stage.image(k)


class _DrawingProgress(Progress):
    """Progress bar of the drawn frames."""

    doing = "drawing"

    def words(self, t: float, pace: float) -> str:
        return f"{t:g} of {self.duration:g} frames"


class AnimationStage:
    """Figure of an animation with the lines that change from frame to frame."""

    def __init__(self, animation: Animation, times: Array) -> None:
        self.times = times
        actors = [(Snapshots(animation.run, animation.magnify), False)]
        if animation.other is not None:
            actors.insert(0, (Snapshots(animation.other), True))
        arms = [postures.arm(times) for postures, _ in actors]
        paths = [postures.tip_path(times) for postures, _ in actors]
        self.view = ArmView.fit(np.concatenate([*(arm.cloud for arm in arms), *(path for _, path in paths)]))
        self.figure, plot = self.view.figure(WIDTH)
        self.figure.set_dpi(animation.dpi)
        self._sketches = [Sketch(plot, self.view, arm, twin=twin) for arm, (_, twin) in zip(arms, actors, strict=True)]
        self._traces: list[tuple[Any, Array, Array]] = []
        for (when, path), (_, twin) in zip(paths, actors, strict=True):
            style = {"color": COMPARISON_COLOUR, "linestyle": "--"} if twin else {"color": PAYLOAD_COLOUR}
            if animation.trace:
                self._traces.append((self.view.line(plot, linewidth=1.0, zorder=1.5, **style), when, path))
        scale = "" if animation.magnify == 1 else f"   deflections x {animation.magnify:g}"
        plot.set_title(escape_math(_shorten(str(animation.run.data.attrs["robot"])) + scale), loc="left", fontsize=10)
        self._label = plot.set_title(self._text(-1), loc="right", fontsize=10, fontfamily="monospace")
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # the axes do not move with the arm

    @property
    def moving(self) -> list[Any]:
        """Artists that change from frame to frame, in drawing order."""
        traces = [drawn for drawn, _, _ in self._traces]
        found = [*traces, *(artist for sketch in self._sketches for artist in sketch.artists), self._label]
        return sorted(found, key=lambda artist: artist.get_zorder())

    def show(self, k: int) -> Picture:
        for sketch in self._sketches:
            sketch.show(k)
        for drawn, when, path in self._traces:
            self.view.update(drawn, path[: np.searchsorted(when, self.times[k], side="right")])
        self._label.set_text(self._text(k))
        return self.figure

    def image(self, k: int) -> Image.Image:
        """Return a frame as an image; what does not move is drawn once."""
        from PIL import Image

        canvas, background = self._canvas
        self.show(k)
        canvas.restore_region(background)
        for artist in self.moving:
            self.figure.draw_artist(artist)
        return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())

    @cached_property
    def _canvas(self) -> tuple[Any, Any]:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas: Any = FigureCanvasAgg(self.figure)
        for artist in self.moving:
            artist.set_animated(True)
        canvas.draw()
        return canvas, canvas.copy_from_bbox(self.figure.bbox)

    def _text(self, k: int) -> str:
        return f"t = {self.times[k]:.2f} s"


def _shorten(name: str, max_length: int = 50) -> str:
    return name if len(name) <= max_length else name[: max_length - 3] + "..."
