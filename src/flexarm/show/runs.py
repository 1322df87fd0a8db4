"""Figures of a run (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.show.arguments import a_run_or_none
from flexarm.show.histories import beside
from flexarm.show.style import TWIN, Picture, grid, line, plain, wrapped

if TYPE_CHECKING:
    from flexarm.motion.run import Run


def run_figure(run: Run, other: Run | None = None) -> Picture:
    """Joints, tip deflections, torques and energies of a run; `other` (the rigid twin, say) is drawn thin and grey."""
    other = a_run_or_none("other", other)
    figure = Picture(figsize=(10.5, 7.2))
    axes: Any = figure.subplots(2, 2, sharex=True)
    t = run.time.values
    joints = [name for name in run.data["coordinate"].values if str(name).endswith((".q", ".motor"))]
    for k, name in enumerate(joints):
        line(axes[0, 0], k, t, run[str(name)].values, str(name))
    if other is not None:
        shared = [str(name) for name in joints if name in other.data["coordinate"].values]
        for k, name in enumerate(shared):
            label = None if k else plain(beside(run, other))
            axes[0, 0].plot(other.time, other[name].values, color=TWIN, linewidth=0.9, zorder=0, label=label)
    _frame(axes[0, 0], "joints", _joint_label(run))
    if not _deflections(axes[0, 1], run):
        for k, axis in enumerate("xyz"):
            line(axes[0, 1], k, t, run.tip.sel(axis=axis).values, f"tip {axis}")
        _frame(axes[0, 1], "tip", "position (m)")
    for k, name in enumerate(run.data["input"].values):
        line(axes[1, 0], k, t, run.torque.sel(input=name).values, str(name))
    _frame(axes[1, 0], "actuators", _input_label(run), time=True)
    shown = ["kinetic", "elastic", "gravity", "drive", "work", "dissipated"]
    for k, name in enumerate(name for name in shown if np.abs(run.data[name].values).max() > 0):
        line(axes[1, 1], k, t, run.data[name].values, name)
    _frame(axes[1, 1], "energies", "energy (J)", time=True)
    figure.suptitle(wrapped(str(run.data.attrs["robot"]), 10.5), fontsize=11)
    return figure


def _joint_label(run: Run) -> str:
    kinds = {"rad": "angle (rad)", "m": "travel (m)"}
    return ", ".join(label for unit, label in kinds.items() if unit in run.data["unit"].values) or "angle (rad)"


def _input_label(run: Run) -> str:
    kinds = {"N m": "torque (N m)", "N": "force (N)"}
    if "input_unit" not in run.data.coords:  # a file of an earlier version
        return kinds["N m"]
    return ", ".join(label for unit, label in kinds.items() if unit in run.data["input_unit"].values) or kinds["N m"]


def _deflections(plot: Any, run: Run) -> bool:
    drawn = 0
    for link in run.data["link"].values:
        for axis in "yz":
            values = run.deflection(str(link)).sel(axis=axis).values
            if np.abs(values).max() > 0:
                line(plot, drawn, run.time.values, 1000 * values, f"{link} {axis}")
                drawn += 1
    _frame(plot, "tip deflection in the link's root frame", "deflection (mm)")
    return drawn > 0


def _frame(plot: Any, title: str, ylabel: str, time: bool = False) -> None:
    plot.set_title(title, fontsize=10)
    plot.set_ylabel(ylabel)
    if time:
        plot.set_xlabel("time (s)")
    grid(plot)
    handles, _ = plot.get_legend_handles_labels()
    if 0 < len(handles) <= 8:
        plot.legend(fontsize=8, frameon=False)
