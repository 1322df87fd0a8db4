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
from flexarm.foundation.files import write_atomically
from flexarm.foundation.validation import Array, real_number
from flexarm.plotting import films
from flexarm.plotting.arm_artist import PAYLOAD, ArmView, Sketch
from flexarm.plotting.arm_points import Arm, magnified
from flexarm.plotting.style import TWIN, Picture, a_run, a_run_or_none, flag, magnification, plain, times_of

if TYPE_CHECKING:
    from flexarm.results.run import Run


FINE = 4000  # points of a curve


def coordinates(run: Run, times: Array) -> Array:
    """q (n, nq) at times between the samples; monotone pieces, so that nothing swings out further than the samples."""
    from scipy.interpolate import PchipInterpolator

    t, q = run.time.values, run.data["q"].values
    if len(t) < 2:
        return np.repeat(q, len(times), axis=0)
    return np.asarray(PchipInterpolator(t, q, axis=0)(np.clip(times, t[0], t[-1])))


class Snapshots:
    """A run's robot as it is drawn, at any times; `magnify` multiplies deflections."""

    def __init__(self, run: Run, magnify: float = 1.0) -> None:
        self.run, self.magnify = run, magnification(magnify)
        self.system = System(run.robot, native=False)

    def arm(self, times: Array) -> Arm:
        return Arm(self.system, coordinates(self.run, times), self.magnify)

    def way(self, until: Array) -> tuple[Array, Array]:
        """Times, `until` among them, and the tip then (n, 3): as fine as the samples, but no finer than can be seen."""
        samples = self.run.time.values
        times = np.union1d(samples[:: max(1, len(samples) // FINE)], until)
        return times, self.system.tip(magnified(self.system, coordinates(self.run, times), self.magnify))


WIDTH = 7.0  # inches
MOST_FRAMES = 20_000  # more than half an hour of film
MOST_DPI = 1000  # a frame of 7000 pixels


def require_frames(duration: float, fps: float = 25.0, speed: float = 1.0) -> None:
    """Refuse a film that would never be ready."""
    if (frames := duration * fps / speed) > MOST_FRAMES:
        given = f"fps = {fps:g} and speed = {speed:g}"
        raise ValueError(f"{given} make {frames:.3g} frames of this run: at most {MOST_FRAMES}")


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
        self.run, self.other = a_run("run", run), a_run_or_none("other", other)
        self.fps, self.speed = real_number("fps", fps, above=0), real_number("speed", speed, above=0)
        self.magnify = magnification(magnify)
        self.trace, self.dpi = flag("trace", trace), real_number("dpi", dpi, above=0, most=MOST_DPI)
        self.progress = None if progress is None else flag("progress", progress)
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
        kind, target = films.kind_of(path), Path(path)
        write_atomically(target, lambda part: kind.write(self, part))

    def figure(self, time: float) -> Picture:
        """The single frame at `time` (s), the way of the tip up to it included."""
        times = np.union1d(self.times(), times_of("time", self.run, [time]))
        return AnimationStage(self, times).show(int(np.searchsorted(times, time)))

    def _repr_html_(self) -> str:
        return films.filmed(self)


class AnimationStage:
    """The figure in which an animation takes place."""

    def __init__(self, animation: Animation, times: Array) -> None:
        self.times = times
        actors = [(Snapshots(animation.run, animation.magnify), False)]
        if animation.other is not None:
            actors.insert(0, (Snapshots(animation.other), True))
        arms = [moments.arm(times) for moments, _ in actors]
        ways = [moments.way(times) for moments, _ in actors]
        self.view = ArmView.of(np.concatenate([*(arm.cloud for arm in arms), *(way for _, way in ways)]))
        self.figure, plot = self.view.figure(WIDTH)
        self.figure.set_dpi(animation.dpi)
        self._sketches = [Sketch(plot, self.view, arm, twin=twin) for arm, (_, twin) in zip(arms, actors, strict=True)]
        self._traces: list[tuple[Any, Array, Array]] = []
        for (when, way), (_, twin) in zip(ways, actors, strict=True):
            style = {"color": TWIN, "linestyle": "--"} if twin else {"color": PAYLOAD}
            if animation.trace:
                self._traces.append((self.view.line(plot, linewidth=1.0, zorder=1.5, **style), when, way))
        scale = "" if animation.magnify == 1 else f"   deflections x {animation.magnify:g}"
        plot.set_title(plain(_short(str(animation.run.data.attrs["robot"])) + scale), loc="left", fontsize=10)
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
