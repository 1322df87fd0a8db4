"""Figures of the studies: curves in panels, strips of poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flexarm.motion.run import Run
from flexarm.show.sketch import PAYLOAD, Sketch
from flexarm.show.snapshots import Snapshots
from flexarm.show.style import Picture, grid, line, plain
from flexarm.show.view import View

Curves = Mapping[str, tuple[Any, Any]]  # by label: abscissa, ordinate


def curves(panels: Mapping[str, Curves], xlabel: str = "time (s)", columns: int = 1, title: str = "") -> Picture:
    """Panels by the label of their ordinate, each with curves by label; one legend if all panels share it."""
    rows = -(-len(panels) // columns)
    figure = Picture(figsize=(7.0 if columns == 1 else 10.5, 1.0 + (2.6 if rows == 1 else 2.0) * rows))
    plots: list[Any] = list(figure.subplots(rows, columns, squeeze=False).flat)
    labels = [list(panel) for panel in panels.values()]
    shared = all(each == labels[0] for each in labels)
    for number, (plot, (ylabel, panel)) in enumerate(zip(plots, panels.items())):
        for k, (label, (x, y)) in enumerate(panel.items()):
            line(plot, k, x, y, label)
        plot.set_ylabel(plain(ylabel))
        if number + columns >= len(panels):
            plot.set_xlabel(xlabel)
        grid(plot)
        if not shared and len(panel) > 1:
            plot.legend(fontsize=8, frameon=False)
    for plot in plots[len(panels) :]:
        plot.remove()
    if shared and len(labels[0]) > 1:
        handles, names = plots[0].get_legend_handles_labels()
        ncols = legend_columns(names, figure.get_figwidth())
        figure.legend(handles, names, loc="outside upper center", ncols=ncols, fontsize=9, frameon=False)
    if title:
        figure.suptitle(plain(title), fontsize=11)
    return figure


def legend_columns(labels: Sequence[str], width: float) -> int:
    """As many columns as fit into a figure of this width (inches), four at most, and evenly filled."""
    most = min(4, int(13 * width / (max(map(len, labels)) + 9)))  # 13 letters to an inch; 9 for line and gap
    rows = -(-len(labels) // max(1, most))
    return -(-len(labels) // rows)


def strip_of_poses(run: Run, times: Sequence[float], columns: int = 4) -> Picture:
    """A spatial arm at some times side by side, with the way of its tip so far."""
    moments, chosen = Snapshots(run), np.asarray(times, dtype=float)
    arm, (moment, way) = moments.arm(chosen), moments.way(chosen)
    view = View.of(np.concatenate([arm.cloud, way]))
    rows = -(-len(chosen) // columns)
    figure = Picture(figsize=(2.9 * columns, 3.0 * rows))
    for k, time in enumerate(chosen):
        plot = view.plot(figure, rows, columns, k + 1)
        Sketch(plot, view, arm, width=1.8).show(k)
        plot.plot(*view.data(way[moment <= time]), color=PAYLOAD, linewidth=0.9)
        plot.set_title(f"t = {time:.3g} s", fontsize=9, y=0.97)
        plot.set_box_aspect(view.high - view.low, zoom=0.92)
        for axis in "xyz":  # close to the small picture
            plot.tick_params(axis, pad=-1, labelsize=7)
            getattr(plot, f"set_{axis}label")(f"{axis} (m)", fontsize=8, labelpad=-4)
    return figure
