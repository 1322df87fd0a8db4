"""The way of the tip, with the deformed arm at chosen times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.show.arguments import a_run_or_none, times_of
from flexarm.show.histories import beside
from flexarm.show.sketch import Sketch
from flexarm.show.snapshots import Snapshots
from flexarm.show.style import STYLES, TWIN, Picture, plain, wrapped
from flexarm.show.view import View

if TYPE_CHECKING:
    from flexarm.motion.run import Run

SMALL = 0.2  # of the picture: a way that is shorter is drawn a second time, close by
LEGEND = 0.5  # inches


def trajectory_figure(
    run: Run, times: Sequence[float] | int = 5, other: Run | None = None, magnify: float = 1.0
) -> Picture:
    """Path of the tip in the robot's plane or in space, and the arm at `times` (s), light to dark.

    `other` (the rigid twin, say) adds its path and its postures in grey. A path that is small beside the arm is also
    shown by itself.
    """
    from matplotlib import colormaps

    chosen, other = times_of("times", run, times), a_run_or_none("other", other)
    moments = Snapshots(run, magnify)
    (when, way), arm = moments.way(chosen), moments.arm(chosen)
    theirs = None if other is None else Snapshots(other).arm(chosen)
    ways = [way] if other is None else [way, other.tip.values]
    view = View.of(np.concatenate([*ways, arm.cloud] + ([] if theirs is None else [theirs.cloud])))
    figure, plot, near = _plots(view, np.concatenate(ways))
    shades = colormaps["Blues"](np.linspace(0.35, 1.0, len(chosen)))
    for k, time in enumerate(chosen):
        if theirs is not None:
            Sketch(plot, view, theirs, width=1.2, twin=True).show(k)
        Sketch(plot, view, arm, colour=shades[k], width=2.2, label=f"t = {time:.4g} s").show(k)
    for each in filter(None, (plot, near)):
        each.plot(*view.data(way), color=STYLES[1][0], linewidth=1.2, label="tip", zorder=2.5)
        if other is not None:
            label = plain(f"tip, {beside(run, other)}")
            each.plot(*view.data(other.tip.values), color=TWIN, linewidth=1.0, linestyle="--", label=label)
    if near is not None:
        for shade, place in zip(shades, way[np.searchsorted(when, chosen)], strict=True):
            near.plot(*view.data(place[None]), color=shade, marker="o", markeredgecolor="0.2", zorder=3)
        near.set_title("the way of the tip", fontsize=10)
    handles, labels = plot.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=4 if near is None else 8, fontsize=8, frameon=False
    )
    scale = "" if magnify == 1 else f" (deflections x {magnify:g})"
    width = figure.get_figwidth() * (1 if near is None else 0.5)
    plot.set_title(wrapped(str(run.data.attrs["robot"]) + scale, width), fontsize=10)
    return figure


def _plots(view: View, ways: Array) -> tuple[Picture, Any, Any]:
    """A figure, the plot of the arm and, if the way is small beside it, a plot of the way alone."""
    if np.ptp(ways, axis=0).max() > SMALL * (view.high - view.low).max() or not np.ptp(ways, axis=0).max():
        return *view.figure(legend=LEGEND), None
    close = view.close(ways)
    width = 5.2  # inches, of each
    height = min(max(view.height(width), close.height(width)), 0.8 * width)
    figure = Picture(figsize=(2 * width, height + LEGEND))
    return figure, view.plot(figure, 1, 2, 1), close.plot(figure, 1, 2, 2)
