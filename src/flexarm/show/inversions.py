"""Torques that were found for a path, and what becomes of it (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.motion.run import Run
from flexarm.show.panels import panels
from flexarm.show.style import Picture, line

if TYPE_CHECKING:
    from flexarm.control.inverted import Inversion

STILL = 1e-6  # of the largest motion of the place: what moves less is not shown


def plot_inversion(found: Inversion, run: Run | None = None) -> Picture:
    """Torques, the place along its path, and how far it was off in a run; dotted lines where the path begins and ends."""
    if run is not None and not isinstance(run, Run):
        raise TypeError(f"run = {shown(run)}: must be a Run, such as inversion.play() gives")
    figure, plots = panels(2 if run is None else 3, 1.9, columns=1)
    for k, (name, values) in enumerate(zip(found.inputs, found.torques.T)):
        line(plots[0], k, found.t, values, f"{name} ({found.system.input_units[k]})")
    plots[0].set_ylabel("torque" if "N" not in found.system.input_units else "torque, force")
    reached = found.system.frame(*found.place, found.q)[:, :3, 3]
    for k, axis in enumerate(_moving(found.tip)):
        line(plots[1], 2 * k, found.t, found.tip[:, axis], f"{'xyz'[axis]}, wanted")
        line(plots[1], 2 * k + 1, found.t, reached[:, axis], f"{'xyz'[axis]}, found")
    link, x = found.place
    plots[1].set_ylabel(f"{'tip of ' if x is None else ''}{link}{'' if x is None else f' at {x:g} m'} (m)")
    if run is not None:
        line(plots[2], 0, run.array("time"), 1000 * found.missed(run), "run")
        plots[2].set_ylabel("off its path (mm)")
        plots[2].set_ylim(bottom=0)
    for plot in plots:
        _mark(plot, found)
        if len(plot.get_lines()) > 3:  # beside the two marks
            plot.legend(fontsize=8, frameon=False, loc="upper left")
    return figure


def _mark(plot: Any, found: Inversion) -> None:
    for time in (found.before, found.duration - found.after):
        plot.axvline(time, color="0.6", linewidth=0.8, linestyle=":", zorder=0)


def _moving(path: Array) -> list[int]:
    """Axes along which the place moves."""
    extents = np.ptp(path, axis=0)
    return [k for k in range(3) if extents[k] > STILL * max(float(extents.max()), 1e-300)] or [0]
