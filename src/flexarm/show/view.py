"""From the world to the paper: the plane in which a robot moves, or a view in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.show.style import Picture, grid

FLAT = 1e-6  # of the size: what counts as nothing
LEAST = 0.3  # of the size: the least that a picture shows in any direction
MARGIN = 0.06


@dataclass(frozen=True)
class View:
    """Which world axes are drawn (two of a plane, or all), and between which limits."""

    axes: tuple[int, ...]
    low: Array
    high: Array

    @staticmethod
    def of(cloud: Array) -> View:
        """The view in which a cloud of points (n, 3) is seen best."""
        low, high = cloud.min(axis=0), cloud.max(axis=0)
        extent = high - low
        size = float(extent.max()) or 1.0
        drawn = next((pair for pair in ((0, 1), (0, 2), (1, 2)) if _rest(extent, pair) < FLAT * size), (0, 1, 2))
        return View(drawn, *_limits(cloud))

    def close(self, cloud: Array) -> View:
        """The same view of a part of what it shows."""
        return View(self.axes, *_limits(cloud))

    @property
    def flat(self) -> bool:
        return len(self.axes) == 2

    def figure(self, width: float = 7.0, legend: float = 0.0) -> tuple[Picture, Any]:
        """A figure of the right shape and its plot; room for a legend (inches)."""
        figure = Picture(figsize=(width, self.height(width) + legend))
        return figure, self.plot(figure)

    def plot(self, figure: Picture, *place: int) -> Any:
        """A plot at a place of a figure (rows, columns, number), with equal scales along all axes."""
        plot: Any = figure.add_subplot(*place, projection=None if self.flat else "3d")
        for k, letter in zip(self.axes, "xyz"):
            getattr(plot, f"set_{letter}lim")(self.low[k], self.high[k])
            getattr(plot, f"set_{letter}label")(
                f"{'xyz'[k]} (m)", labelpad=None if self.flat else (1 if letter == "z" else 5)
            )
        if self.flat:
            plot.set_aspect("equal", adjustable="box")
            grid(plot)
        else:
            self._space(plot)
        return plot

    def data(self, points: Array) -> list[Array]:
        """Columns to draw of points (n, 3)."""
        return [points[:, k] for k in self.axes]

    def line(self, plot: Any, **style: Any) -> Any:
        """A line without points yet."""
        nothing: list[list[float]] = [[] for _ in self.axes]
        return plot.plot(*nothing, **style)[0]

    def put(self, drawn: Any, points: Array) -> None:
        """Move a line to points (n, 3)."""
        if self.flat:
            drawn.set_data(*self.data(points))
        else:
            drawn.set_data_3d(*self.data(points))

    def height(self, width: float) -> float:
        """Height of a figure with one plot of this view (inches)."""
        if not self.flat:
            return 0.74 * width
        across, up = (self.high - self.low)[list(self.axes)]
        return float(np.clip((width - 1.0) * up / across + 1.0, 0.4 * width, 1.15 * width))

    def _space(self, plot: Any) -> None:
        extent = self.high - self.low
        plot.set_box_aspect(extent / extent.max(), zoom=1.0)
        for k, axis in enumerate((plot.xaxis, plot.yaxis, plot.zaxis)):
            axis.set_pane_color((0.97, 0.97, 0.97, 1.0))
            axis._axinfo["grid"].update(color="0.88", linewidth=0.6)
            axis.set_tick_params(labelsize=8)
            axis.label.set_fontsize(9)
            axis.set_major_locator(_few(5 * extent[k] / extent.max()))


def _limits(cloud: Array) -> tuple[Array, Array]:
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    extent = high - low
    size = float(extent.max()) or 1.0
    middle, half = (low + high) / 2, np.maximum(extent, LEAST * size) / 2 + MARGIN * size
    return middle - half, middle + half


def _rest(extent: Array, pair: tuple[int, int]) -> float:
    return float(max(extent[k] for k in range(3) if k not in pair))


def _few(most: float) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=max(2, round(most)))
