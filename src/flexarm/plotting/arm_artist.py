"""Drawing of an arm: the view (a plane or space), its lines and markers, and rendered images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.plotting.arm_points import Arm
from flexarm.plotting.colours import COMPARISON_COLOUR, JOINT_COLOUR
from flexarm.plotting.films import render_pixels
from flexarm.plotting.style import Picture, draw_grid, escape_math
from flexarm.robot import Revolute

# Fractions of the largest extent of the robot
PLANE_TOLERANCE = 1e-6
MIN_EXTENT_FRACTION = 0.3
MARGIN_FRACTION = 0.06


@dataclass(frozen=True)
class ArmView:
    """World axes that are drawn (two for a plane, or all three) and their limits (m)."""

    axes: tuple[int, ...]
    low: Array
    high: Array

    @staticmethod
    def fit(cloud: Array) -> ArmView:
        """Return the view of points (n, 3): their coordinate plane if they lie in one, else space."""
        low, high = cloud.min(axis=0), cloud.max(axis=0)
        extent = high - low
        size = float(extent.max()) or 1.0
        planes = ((0, 1), (0, 2), (1, 2))
        drawn = (pair for pair in planes if np.delete(extent, pair).max() < PLANE_TOLERANCE * size)
        return ArmView(next(drawn, (0, 1, 2)), *_limits(cloud))

    def zoom(self, cloud: Array) -> ArmView:
        """Return the view of the same axes limited to some points (n, 3)."""
        return ArmView(self.axes, *_limits(cloud))

    @property
    def is_planar(self) -> bool:
        return len(self.axes) == 2

    def figure(self, width: float = 7.0, legend: float = 0.0) -> tuple[Picture, Any]:
        """Return a figure and its plot; `legend` is the height (inches) left for a legend."""
        figure = Picture(figsize=(width, self.height(width) + legend))
        return figure, self.plot(figure)

    def plot(self, figure: Picture, *place: int) -> Any:
        """Add a plot with equal scales to a figure; `place` is (rows, columns, number)."""
        plot: Any = figure.add_subplot(*place, projection=None if self.is_planar else "3d")
        pads = (None, None) if self.is_planar else (5, 5, 1)
        for k, letter, pad in zip(self.axes, "xyz", pads):
            getattr(plot, f"set_{letter}lim")(self.low[k], self.high[k])
            getattr(plot, f"set_{letter}label")(f"{'xyz'[k]} (m)", labelpad=pad)
        if self.is_planar:
            plot.set_aspect("equal", adjustable="box")
            draw_grid(plot)
        else:
            self._style_space(plot)
        return plot

    def data(self, points: Array) -> list[Array]:
        """Return the drawn coordinates of points (n, 3)."""
        return [points[:, k] for k in self.axes]

    def line(self, plot: Any, **style: Any) -> Any:
        """Add a line without points."""
        empty: list[list[float]] = [[] for _ in self.axes]
        return plot.plot(*empty, **style)[0]

    def update(self, drawn: Any, points: Array) -> None:
        """Move a line to points (n, 3)."""
        if self.is_planar:
            drawn.set_data(*self.data(points))
        else:
            drawn.set_data_3d(*self.data(points))

    def height(self, width: float) -> float:
        """Return the height (inches) of a figure with one plot of this view."""
        if not self.is_planar:
            return 0.74 * width
        across, up = (self.high - self.low)[list(self.axes)]
        return float(np.clip((width - 1.0) * up / across + 1.0, 0.4 * width, 1.15 * width))

    def _style_space(self, plot: Any) -> None:
        extent = self.high - self.low
        plot.set_box_aspect(extent / extent.max(), zoom=1.0)
        for k, axis in enumerate((plot.xaxis, plot.yaxis, plot.zaxis)):
            axis.set_pane_color((0.97, 0.97, 0.97, 1.0))
            axis._axinfo["grid"].update(color="0.88", linewidth=0.6)
            axis.set_tick_params(labelsize=8)
            axis.label.set_fontsize(9)
            axis.set_major_locator(MaxNLocator(nbins=max(2, round(5 * extent[k] / extent.max()))))


def _limits(cloud: Array) -> tuple[Array, Array]:
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    extent = high - low
    size = float(extent.max()) or 1.0
    middle, half = (low + high) / 2, np.maximum(extent, MIN_EXTENT_FRACTION * size) / 2 + MARGIN_FRACTION * size
    return middle - half, middle + half


ARM_COLOUR, PAYLOAD_COLOUR, GROUND_COLOUR = "#0b3c5d", "#d1495b", "0.45"


class Sketch:
    """Lines and markers of one arm; `show(k)` moves them to posture k.

    With `twin` the arm is drawn in grey behind the others, for comparison.
    """

    def __init__(
        self,
        plot: Any,
        view: ArmView,
        arm: Arm,
        colour: Any = ARM_COLOUR,
        width: float = 2.6,
        label: str | None = None,
        twin: bool = False,
    ) -> None:
        self.view = view
        self._moving: list[tuple[Any, Array]] = []
        over = 2 if twin else 3
        main, lump, joint = (COMPARISON_COLOUR,) * 3 if twin else (colour, PAYLOAD_COLOUR, JOINT_COLOUR)
        round_ends: dict[str, Any] = {"solid_capstyle": "round", "color": main, "zorder": over}
        for rail in arm.rails:
            plot.plot(*view.data(rail), color=GROUND_COLOUR, linewidth=1.0, linestyle=(0, (6, 3)), zorder=1)
        triangle = {"linestyle": "", "marker": "^", "markersize": 3.4 * width, "zorder": 1.2}
        for support in arm.supports:
            plot.plot(*view.data(support), color=GROUND_COLOUR, **triangle)
        for number, (name, points) in enumerate(arm.links.items()):
            wide = {"linewidth": 2.6 * width, "alpha": 0.45} if name in arm.sleeves else {"linewidth": width}
            drawn = view.line(plot, label=None if number else label, **wide, **round_ends)
            self._moving.append((drawn, points))
        self._add(plot, arm.brackets, linewidth=0.7 * width, **round_ends)
        self._add(plot, arm.guides, color=joint, linewidth=2.8 * width, solid_capstyle="butt", zorder=over + 0.1)
        self._add(plot, arm.masses, color=lump, linestyle="", marker="o", markersize=3.4 * width, zorder=over + 0.2)
        ring = {"markerfacecolor": "none", "markeredgecolor": joint, "markersize": 2.6 * width}
        self._add(plot, arm.mouths, linestyle="", marker="s", zorder=over + 0.15, **ring)
        hinge = {"markerfacecolor": "white", "markeredgecolor": joint, "markersize": 2.2 * width}
        self._add(plot, arm.hinges, linestyle="", marker="o", zorder=over + 0.3, **hinge)

    @property
    def artists(self) -> list[Any]:
        return [drawn for drawn, _ in self._moving]

    def show(self, k: int) -> None:
        for drawn, points in self._moving:
            self.view.update(drawn, points[k])

    def _add(self, plot: Any, points: Array, **style: Any) -> None:
        """Add points (n, k, 3) as markers, or line segments (n, k, 2, 3)."""
        if not points.shape[1]:
            return
        if points.ndim == 4:
            gap = np.full((*points.shape[:2], 1, 3), np.nan)
            points = np.concatenate([points, gap], axis=2).reshape(len(points), -1, 3)
        self._moving.append((self.view.line(plot, **style), points))


POSTURES_PER_JOINT = 12  # to estimate the workspace
WIDTH = 6.0  # inches
DPI = 80


class FrameRenderer:
    """Renderer of images of one size, whose view contains the workspace of a robot and marked points.

    The workspace is estimated by turning each joint from the posture `q` (nq,); `marks` are points (n, 3).
    """

    def __init__(self, system: System, q: Array, marks: Array) -> None:
        self.system = system
        self.view = ArmView.fit(np.concatenate([Arm(system, _sample_postures(system, q)).cloud, marks]))

    def image(self, q: Array, marks: Array, title: str = "") -> Any:
        """Return an image (height, width, 3) of the posture q (nq,) and marks (n, 3)."""
        figure, plot = self.view.figure(WIDTH)
        figure.set_dpi(DPI)
        Sketch(plot, self.view, Arm(self.system, q[None])).show(0)
        if len(marks):
            plot.plot(*self.view.data(marks), color=PAYLOAD_COLOUR, linestyle="", marker="x", markersize=9, zorder=5)
        plot.set_title(escape_math(title), loc="right", fontsize=10, fontfamily="monospace")
        return render_pixels(figure)


def _sample_postures(system: System, q: Array) -> Array:
    """Return the posture and, without constraints, postures with one joint turned; links are straight."""
    straight = np.where(system.elastic, 0.0, q)
    found = [straight]
    for link in system.robot.links if not system.constraints else ():
        if isinstance(link.joint, Revolute):
            for angle in np.linspace(-np.pi, np.pi, POSTURES_PER_JOINT, endpoint=False):
                found.append(straight.copy())
                found[-1][system.joint(link.name).index] = angle
    return np.array(found)
