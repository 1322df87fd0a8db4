"""The overview of a run (matplotlib)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.motion.series import coordinates_of
from flexarm.show.arguments import a_run_or_none
from flexarm.show.histories import beside
from flexarm.show.panels import panels, swing
from flexarm.show.style import TWIN, Picture, line, plain, wrapped

if TYPE_CHECKING:
    from flexarm.motion.run import Run

ENERGIES = ("kinetic", "elastic", "gravity", "drive", "work", "dissipated")
JOINTS = {"rad": "angle (rad)", "m": "travel (m)"}  # by unit
ACTUATORS = {"N m": "torque (N m)", "N": "force (N)"}
LISTED = 16  # curves that a legend names


def run_figure(run: Run, other: Run | None = None) -> Picture:
    """Joints, tip deflections, torques and energies of a run, those that it has; `other` (the rigid twin, say) is drawn
    thin and grey."""
    other = a_run_or_none("other", other)
    shown: list[Callable[[Any], None]] = [lambda plot: _joints(plot, run, other)] if _joint_names(run) else []
    bent = _bent(run)
    shown.append(lambda plot: _deflections(plot, run, bent) if bent else _tip(plot, run))
    if run.data.sizes["input"]:
        shown.append(lambda plot: _actuators(plot, run))
    lively = [name for name in ENERGIES if np.abs(run.data[name].values).max() > 0]
    if lively:
        shown.append(lambda plot: _energies(plot, run, lively))
    figure, plots = panels(len(shown), height=3.1)
    for draw, plot in zip(shown, plots, strict=True):
        draw(plot)
        _legend(plot)
    figure.suptitle(wrapped(str(run.data.attrs["robot"]), figure.get_figwidth()), fontsize=11)
    return figure


def _joint_names(run: Run) -> list[str]:
    return coordinates_of(run.data, "joint", "motor")


def _joints(plot: Any, run: Run, other: Run | None) -> None:
    names = _joint_names(run)
    for k, name in enumerate(names):
        line(plot, k, run.time.values, run[name].values, name.removesuffix(".q").replace(".", " "))
    if other is not None:
        for k, name in enumerate(name for name in names if name in other.data["coordinate"].values):
            label = None if k else plain(beside(run, other))
            plot.plot(other.time, other[name].values, color=TWIN, linewidth=0.9, zorder=0, label=label)
    _head(plot, "joints", _units(run, "unit", JOINTS))


def _bent(run: Run) -> list[tuple[str, str]]:
    """Links and directions in which their tips deflect."""
    pairs = [(str(link), axis) for link in run.data["link"].values for axis in "yz"]
    return [(link, axis) for link, axis in pairs if np.abs(run[f"deflection.{link}.{axis}"].values).max() > 0]


def _deflections(plot: Any, run: Run, bent: list[tuple[str, str]]) -> None:
    for k, (link, axis) in enumerate(bent):
        line(plot, k, run.time.values, 1000 * run[f"deflection.{link}.{axis}"].values, f"{link} {axis}")
    _head(plot, "tip deflection in the link's root frame", "deflection (mm)")


def _tip(plot: Any, run: Run) -> None:
    for k, axis in enumerate("xyz"):
        line(plot, k, run.time.values, run[f"tip.{axis}"].values, f"tip {axis}")
    _head(plot, "tip", "position (m)")


def _actuators(plot: Any, run: Run) -> None:
    for k, name in enumerate(run.data["input"].values):
        line(plot, k, run.time.values, run.torque.sel(input=name).values, str(name))
    _head(plot, "actuators", _units(run, "input_unit", ACTUATORS))


def _energies(plot: Any, run: Run, names: list[str]) -> None:
    for k, name in enumerate(names):
        swing(plot, k, run.time.values, run.data[name].values, name)
    _head(plot, "energies", "energy (J)")


def _units(run: Run, coordinate: str, words: dict[str, str]) -> str:
    """Words for the units that occur."""
    found = run.data[coordinate].values if coordinate in run.data.coords else ()  # a file of an earlier version
    return ", ".join(label for unit, label in words.items() if unit in found) or next(iter(words.values()))


def _head(plot: Any, title: str, ylabel: str) -> None:
    plot.set_title(title, fontsize=10)
    plot.set_ylabel(ylabel)


def _legend(plot: Any) -> None:
    handles, _ = plot.get_legend_handles_labels()
    if 0 < len(handles) <= LISTED:
        plot.legend(fontsize=8 if len(handles) <= 8 else 6, ncols=1 if len(handles) <= 8 else 2, frameon=False)
