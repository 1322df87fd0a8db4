"""A run at any times, whatever its samples are.

The moving arm: frames of a run, as a film or as a player in a notebook.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.files import atomically
from flexarm.foundation.validation import Array, real_number
from flexarm.plotting import films
from flexarm.plotting.arm_artist import PAYLOAD_COLOUR, ArmView, Sketch
from flexarm.plotting.arm_points import Arm, magnify_deflections
from flexarm.plotting.style import (
    COMPARISON_COLOUR,
    Picture,
    escape_math,
    require_bool,
    require_magnification,
    require_optional_run,
    require_run,
    select_times,
)

if TYPE_CHECKING:
    from flexarm.results.run import Run


MAX_CURVE_POINT_COUNT = 4000  # points of a curve


def interpolate_coordinates(run: Run, times: Array) -> Array:
    """q (n, nq) at times between the samples; monotone pieces, so that nothing swings out further than the samples."""
    from scipy.interpolate import PchipInterpolator

    t, q = run.time.values, run.data["q"].values
    if len(t) < 2:
        return np.repeat(q, len(times), axis=0)
    return np.asarray(PchipInterpolator(t, q, axis=0)(np.clip(times, t[0], t[-1])))


class Snapshots:
    """A run's robot as it is drawn, at any times; `magnify` multiplies deflections."""

    def __init__(self, run: Run, magnify: float = 1.0) -> None:
        self.run, self.magnify = run, require_magnification(magnify)
        self.system = System(run.robot, native=False)

    def arm(self, times: Array) -> Arm:
        return Arm(self.system, interpolate_coordinates(self.run, times), self.magnify)

    def tip_path(self, until: Array) -> tuple[Array, Array]:
        """Times, `until` among them, and the tip then (n, 3): as fine as the samples, but no finer than can be seen."""
        samples = self.run.time.values
        times = np.union1d(samples[:: max(1, len(samples) // MAX_CURVE_POINT_COUNT)], until)
        return times, self.system.tip(
            magnify_deflections(self.system, interpolate_coordinates(self.run, times), self.magnify)
        )


WIDTH = 7.0  # inches
MAX_FRAME_COUNT = 20_000  # more than half an hour of film
MAX_DPI = 1000  # a frame of 7000 pixels


def require_frames(duration: float, fps: float = 25.0, speed: float = 1.0) -> None:
    """Refuse a film that would never be ready."""
    if (frames := duration * fps / speed) > MAX_FRAME_COUNT:
        given = f"fps = {fps:g} and speed = {speed:g}"
        raise ValueError(f"{given} make {frames:.3g} frames of this run: at most {MAX_FRAME_COUNT}")


class Animation:
    """A run as a film: `save("arm.gif")`; a notebook shows it as a player.

    `fps`, `speed`, `magnify`, `trace`, `other`, `dpi` and `progress` are those of `run.animate`.
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
        self.magnify = require_magnification(magnify)
        self.trace, self.dpi = require_bool("trace", trace), real_number("dpi", dpi, above=0, most=MAX_DPI)
        self.progress = None if progress is None else require_bool("progress", progress)
        self.times()  # that there are not too many is known at once

    def times(self, fps: float | None = None) -> Array:
        """Simulated times of the frames (s), at `fps` or the film's own: even, the run's first and last among them."""
        begin, end = float(self.run.time.values[0]), float(self.run.time.values[-1])
        rate = self.fps if fps is None else real_number("fps", fps, above=0)
        require_frames(end - begin, rate, self.speed)
        step = self.speed / rate
        inner = np.arange(begin, end - 1e-6 * step, step)
        return np.append(inner, end)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a film at `path`, .gif, .mp4 or .html; an earlier file stays intact until the new one is complete."""
        kind, target = films.select_film_format(path), Path(path)
        atomically(target, lambda part: kind.write(self, part))

    def figure(self, time: float) -> Picture:
        """The single frame at `time` (s), the way of the tip up to it included."""
        times = np.union1d(self.times(), select_times("time", self.run, [time]))
        return AnimationStage(self, times).show(int(np.searchsorted(times, time)))

    def _repr_html_(self) -> str:
        return films.render_html_player(self)


class AnimationStage:
    """The figure in which an animation takes place."""

    def __init__(self, animation: Animation, times: Array) -> None:
        self.times = times
        actors = [(Snapshots(animation.run, animation.magnify), False)]
        if animation.other is not None:
            actors.insert(0, (Snapshots(animation.other), True))
        arms = [moments.arm(times) for moments, _ in actors]
        ways = [moments.tip_path(times) for moments, _ in actors]
        self.view = ArmView.fit(np.concatenate([*(arm.cloud for arm in arms), *(way for _, way in ways)]))
        self.figure, plot = self.view.figure(WIDTH)
        self.figure.set_dpi(animation.dpi)
        self._sketches = [Sketch(plot, self.view, arm, twin=twin) for arm, (_, twin) in zip(arms, actors, strict=True)]
        self._traces: list[tuple[Any, Array, Array]] = []
        for (when, way), (_, twin) in zip(ways, actors, strict=True):
            style = {"color": COMPARISON_COLOUR, "linestyle": "--"} if twin else {"color": PAYLOAD_COLOUR}
            if animation.trace:
                self._traces.append((self.view.line(plot, linewidth=1.0, zorder=1.5, **style), when, way))
        scale = "" if animation.magnify == 1 else f"   deflections x {animation.magnify:g}"
        plot.set_title(escape_math(_short(str(animation.run.data.attrs["robot"])) + scale), loc="left", fontsize=10)
        self._label = plot.set_title(self._text(-1), loc="right", fontsize=10, fontfamily="monospace")
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # the frame stands still while the arm moves

    @property
    def moving(self) -> list[Any]:
        """What changes from frame to frame, in the order of drawing."""
        traces = [drawn for drawn, _, _ in self._traces]
        found = [*traces, *(artist for sketch in self._sketches for artist in sketch.artists), self._label]
        return sorted(found, key=lambda artist: artist.get_zorder())

    def show(self, k: int) -> Picture:
        for sketch in self._sketches:
            sketch.show(k)
        for drawn, when, way in self._traces:
            self.view.put(drawn, way[: np.searchsorted(when, self.times[k], side="right")])
        self._label.set_text(self._text(k))
        return self.figure

    def frames(self) -> Iterator[int]:
        """Numbers of the frames, each shown when it is given out."""
        for k in range(len(self.times)):
            self.show(k)
            yield k

    def _text(self, k: int) -> str:
        return f"t = {self.times[k]:.2f} s"


def _short(name: str, most: int = 50) -> str:
    return name if len(name) <= most else name[: most - 3] + "..."
