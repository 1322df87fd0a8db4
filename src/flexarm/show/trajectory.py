"""The way of the tip, with the deformed arm at chosen times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexarm.show.arguments import a_run_or_none, times_of
from flexarm.show.histories import beside
from flexarm.show.sketch import Sketch
from flexarm.show.snapshots import Snapshots
from flexarm.show.style import STYLES, TWIN, Picture, plain, wrapped
from flexarm.show.view import View

if TYPE_CHECKING:
    from flexarm.motion.run import Run


def trajectory_figure(
    run: Run, times: Sequence[float] | int = 5, other: Run | None = None, magnify: float = 1.0
) -> Picture:
    """Path of the tip in the robot's plane or in space, and the arm at `times` (s), light to dark.

    `other` (the rigid twin, say) adds its path and its postures in grey.
    """
    from matplotlib import colormaps

    chosen, other = times_of("times", run, times), a_run_or_none("other", other)
    moments = Snapshots(run, magnify)
    (_, way), arm = moments.way(chosen), moments.arm(chosen)
    theirs = None if other is None else Snapshots(other).arm(chosen)
    cloud = [way, arm.cloud] + ([] if other is None or theirs is None else [other.tip.values, theirs.cloud])
    view = View.of(np.concatenate(cloud))
    figure, plot = view.figure(legend=0.5)
    shades = colormaps["Blues"](np.linspace(0.35, 1.0, len(chosen)))
    for k, time in enumerate(chosen):
        if theirs is not None:
            Sketch(plot, view, theirs, width=1.2, twin=True).show(k)
        Sketch(plot, view, arm, colour=shades[k], width=2.2, label=f"t = {time:.4g} s").show(k)
    plot.plot(*view.data(way), color=STYLES[1][0], linewidth=1.2, label="tip", zorder=2.5)
    if other is not None:
        plot.plot(
            *view.data(other.tip.values),
            color=TWIN,
            linewidth=1.0,
            linestyle="--",
            label=plain(f"tip, {beside(run, other)}"),
        )
    figure.legend(loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    scale = "" if magnify == 1 else f" (deflections x {magnify:g})"
    plot.set_title(wrapped(str(run.data.attrs["robot"]) + scale, figure.get_figwidth()), fontsize=10)
    return figure
