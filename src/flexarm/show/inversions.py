"""Torques that were found for a path, and what becomes of it (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.motion.run import Run
from flexarm.show.panels import panels
from flexarm.show.style import TWIN, Picture, line, plain

if TYPE_CHECKING:
    from flexarm.control.inverse.inverted import Inversion

STILL = 1e-6  # of the largest motion of the place: what moves less is not shown


def plot_inversion(found: Inversion, run: Run | None = None) -> Picture:
    """Torques, the place along its path (grey), and how far it was off in a run; dotted where that begins and ends."""
    if run is not None and not isinstance(run, Run):
        raise TypeError(f"run = {shown(run)}: must be a Run, such as inversion.play() gives")
    figure, plots = panels(2 if run is None else 3, 1.9, columns=1)
    units = found.system.input_units
    for k, (name, values) in enumerate(zip(found.inputs, found.torques.T)):
        line(plots[0], k, found.t, values, name if len(set(units)) == 1 else f"{name} ({units[k]})")
    plots[0].set_ylabel(_quantity(units))
    reached = found.system.frame(*found.place, found.q)[:, :3, 3]
    for k, axis in enumerate(_moving(found.tip)):
        plots[1].plot(found.t, found.tip[:, axis], color=TWIN, linewidth=4.0, label=None if k else "path")
        line(plots[1], k, found.t, reached[:, axis], "xyz"[axis])
    link, x = found.place
    plots[1].set_ylabel(f"tip of {plain(link)} (m)" if x is None else f"{plain(link)} at {x:g} m (m)")
    if run is not None:
        line(plots[2], 0, run.array("time"), 1000 * found.missed(run), "run")
        plots[2].set_ylabel("off its path (mm)")
        plots[2].set_ylim(bottom=0)
    for plot in plots[:2] if len(found.inputs) > 1 else plots[1:2]:
        plot.legend(fontsize=8, frameon=False)
    for plot in plots:
        _mark(plot, found)
    return figure


def _quantity(units: tuple[str, ...]) -> str:
    """What actuators give."""
    if len(set(units)) > 1:
        return "torque, force"
    return f"{'force' if units[0] == 'N' else 'torque'} ({units[0]})"


def _mark(plot: Any, found: Inversion) -> None:
    for time in (found.before, found.duration - found.after):
        plot.axvline(time, color="0.6", linewidth=0.8, linestyle=":", zorder=0)


def _moving(path: Array) -> list[int]:
    """Axes along which the place moves."""
    extents = np.ptp(path, axis=0)
    return [k for k in range(3) if extents[k] > STILL * max(float(extents.max()), 1e-300)] or [0]
