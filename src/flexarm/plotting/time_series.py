"""Panels over time that fill a figure without gaps, and curves that swing too fast to be drawn as lines.

Time histories of one run, or of several side by side (matplotlib).

The overview of a run (matplotlib).

Torques that were found for a path, and what becomes of it (matplotlib).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.plotting.style import (
    COMPARISON_COLOUR,
    LINE_STYLES,
    Picture,
    draw_grid,
    draw_line,
    escape_math,
    require_names,
    require_optional_run,
    require_run,
    wrap_title,
)
from flexarm.results.by_name import available, coordinates_of, named
from flexarm.results.run import Run

if TYPE_CHECKING:
    from flexarm.control.inversion.result import Inversion
    from flexarm.results.run import Run


MAX_TURNING_POINT_COUNT = 100  # turning points in a panel beyond which a curve is a hash
VISIBLE_SWING_FRACTION = 0.03  # of the panel: smaller swings are none
ENVELOPE_CYCLE_COUNT = 3  # of the swing within the window whose range is drawn


def create_panels(count: int, height: float, columns: int = 2) -> tuple[Picture, list[Any]]:
    """A figure with so many plots over one time axis; a column that has fewer of them has taller ones."""
    columns = min(columns, count)
    tall = -(-count // columns)
    figure = Picture(figsize=(7.0 if columns == 1 else 10.5, 1.0 + height * tall))
    sizes = [len(range(column, count, columns)) for column in range(columns)]
    units = int(np.lcm.reduce(sizes))
    cells = figure.add_gridspec(units, columns)
    plots: list[Any] = []
    for k in range(count):
        row, column = divmod(k, columns)
        span = units // sizes[column]
        plot = figure.add_subplot(cells[row * span : (row + 1) * span, column], sharex=plots[0] if plots else None)
        plots.append(plot)
        draw_grid(plot)
        if row == sizes[column] - 1:
            plot.set_xlabel("time (s)")
        else:
            plot.tick_params(labelbottom=False)
    return figure, plots


def draw_oscillation(plot: Any, k: int, t: Array, values: Array, label: str) -> None:
    """A line in the k-th style; of a curve that swings too fast to be followed, the range in which it does."""
    turns = _turns(values)
    if turns <= MAX_TURNING_POINT_COUNT:
        draw_line(plot, k, t, values, label)
        return
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    window = max(3, round(ENVELOPE_CYCLE_COUNT * 2 * len(values) / turns))
    colour, dashes = LINE_STYLES[k % len(LINE_STYLES)]
    edges = [extreme(values, window, mode="nearest") for extreme in (minimum_filter1d, maximum_filter1d)]
    plot.fill_between(t, *edges, color=colour, alpha=0.15, linewidth=0)
    for edge, words in zip(edges, (None, escape_math(f"{label} (range)"))):
        plot.plot(t, edge, color=colour, linestyle=dashes, linewidth=1.2, label=words)


def _turns(values: Array) -> int:
    """How often a curve turns back, as far as can be seen."""
    size = float(np.ptp(values))
    if not size > 0:
        return 0
    levels = np.round(values / (VISIBLE_SWING_FRACTION * size))
    return int((np.diff(np.sign(np.diff(levels[np.append(True, np.diff(levels) != 0)]))) != 0).sum())


TIP_MOTION_TOLERANCE = 1e-9  # of the robot's length: a tip that moves less does not move


def plot_compare(runs: Mapping[str, Run], *what: str) -> Picture:
    """Runs by their labels against each other, one panel for each quantity in `what`: else the joints and the tip.

    `fa.plot_compare({"flexible": run, "rigid": twin}, "upper.q", "tip.y")`; names are those of `run.plot`. Two runs
    without names also show how far apart their tips are.
    """
    if not isinstance(runs, Mapping) or not runs:
        raise TypeError(f'runs = {shown(runs)}: must be runs by label, {{"flexible": run, "rigid": twin}}')
    labelled = {str(label): require_run(f"runs[{label!r}]", run) for label, run in runs.items()}
    return _figure(labelled, require_names("what", what) or _shared(labelled), apart=not what and len(runs) == 2)


def history_figure(run: Run, what: Sequence[str], other: Run | None = None) -> Picture:
    """Chosen quantities of a run over time; `other` beside it."""
    runs = {str(run.data.attrs["robot"]): run}
    if (other := require_optional_run("other", other)) is not None:
        label = comparison_label(run, other)
        runs[label if label not in runs else f"{label} (other)"] = other
    return _figure(runs, require_names("what", what), apart=False)


def comparison_label(run: Run, other: Run) -> str:
    """What another run is called in a figure of this one."""
    name = str(other.data.attrs["robot"])
    return "rigid twin" if name == f"{run.data.attrs['robot']} (rigid)" else name


def _figure(runs: Mapping[str, Run], chosen: list[str], apart: bool) -> Picture:
    count = len(chosen) + apart
    figure, plots = create_panels(count, height=1.9, columns=1 if count <= 3 else 2)
    for plot, name in zip(plots, chosen):
        for k, (label, run) in enumerate(runs.items()):
            if name not in available(run.data) and any(name in available(each.data) for each in runs.values()):
                continue  # a rigid twin has no elastic coordinates
            if ".strain(" in name:
                draw_line(plot, k, run.time.values, run[name].values, label)
                plot.set_ylabel(escape_math(name))
                continue
            found = named(run.data, name)
            draw_line(plot, k, run.time.values, found.of(run.data).values, label)
            plot.set_ylabel(escape_math(fill(found.label, 26)))
    if apart:
        one, two = runs.values()
        distance = 1000 * np.linalg.norm(one.compare(two)["tip"].values, axis=1)
        draw_line(plots[len(chosen)], 0, one.time.values, distance, "")
        plots[len(chosen)].set_ylabel("tips apart (mm)")
    figure.align_ylabels()
    _figure_legend(figure, plots[0], runs)
    return figure


def _figure_legend(figure: Picture, plot: Any, runs: Mapping[str, Run]) -> None:
    if len(runs) == 1:
        figure.suptitle(wrap_title(next(iter(runs)), figure.get_figwidth()), fontsize=11)
        return
    handles, labels = plot.get_legend_handles_labels()
    columns = 1 if max(map(len, labels)) > 30 else min(4, len(labels))
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize=9, frameon=False)


def _shared(runs: Mapping[str, Run]) -> list[str]:
    """Joints that all runs have, and where a tip moves."""
    first = next(iter(runs.values()))
    found = [
        name
        for name in coordinates_of(first.data, "joint")
        if all(name in run.data["coordinate"].values for run in runs.values())
    ]
    size = sum(link.length for link in first.robot.links)
    for axis in "xyz":
        values = np.concatenate([run.tip.sel(axis=axis).values for run in runs.values()])
        if np.ptp(values) > TIP_MOTION_TOLERANCE * size:
            found.append(f"tip.{axis}")
    return found


ENERGIES = ("kinetic", "elastic", "gravity", "drive", "work", "dissipated")
JOINT_AXIS_LABELS = {"rad": "angle (rad)", "m": "travel (m)"}  # by unit
ACTUATOR_AXIS_LABELS = {"N m": "torque (N m)", "N": "force (N)"}
MAX_LEGEND_ENTRY_COUNT = 16  # curves that a legend names


def run_figure(run: Run, other: Run | None = None) -> Picture:
    """Joints, tip deflections, torques and energies of a run, those that it has; `other` (the rigid twin, say) is drawn
    thin and grey."""
    other = require_optional_run("other", other)
    shown: list[Callable[[Any], None]] = [lambda plot: _joints(plot, run, other)] if _joint_names(run) else []
    bent = _bent(run)
    shown.append(lambda plot: _deflections(plot, run, bent) if bent else _tip(plot, run))
    if run.data.sizes["input"]:
        shown.append(lambda plot: _actuators(plot, run))
    lively = [name for name in ENERGIES if np.abs(run.data[name].values).max() > 0]
    if lively:
        shown.append(lambda plot: _energies(plot, run, lively))
    figure, plots = create_panels(len(shown), height=3.1)
    for draw, plot in zip(shown, plots, strict=True):
        draw(plot)
        _joint_legend(plot)
    figure.suptitle(wrap_title(str(run.data.attrs["robot"]), figure.get_figwidth()), fontsize=11)
    return figure


def _joint_names(run: Run) -> list[str]:
    return coordinates_of(run.data, "joint", "motor")


def _joints(plot: Any, run: Run, other: Run | None) -> None:
    names = _joint_names(run)
    for k, name in enumerate(names):
        draw_line(plot, k, run.time.values, run[name].values, name.removesuffix(".q").replace(".", " "))
    if other is not None:
        for k, name in enumerate(name for name in names if name in other.data["coordinate"].values):
            label = None if k else escape_math(comparison_label(run, other))
            plot.plot(other.time, other[name].values, color=COMPARISON_COLOUR, linewidth=0.9, zorder=0, label=label)
    _head(plot, "joints", _units(run, "unit", JOINT_AXIS_LABELS))


def _bent(run: Run) -> list[tuple[str, str]]:
    """Links and directions in which their tips deflect."""
    pairs = [(str(link), axis) for link in run.data["link"].values for axis in "yz"]
    return [(link, axis) for link, axis in pairs if np.abs(run[f"deflection.{link}.{axis}"].values).max() > 0]


def _deflections(plot: Any, run: Run, bent: list[tuple[str, str]]) -> None:
    for k, (link, axis) in enumerate(bent):
        draw_line(plot, k, run.time.values, 1000 * run[f"deflection.{link}.{axis}"].values, f"{link} {axis}")
    _head(plot, "tip deflection in the link's root frame", "deflection (mm)")


def _tip(plot: Any, run: Run) -> None:
    for k, axis in enumerate("xyz"):
        draw_line(plot, k, run.time.values, run[f"tip.{axis}"].values, f"tip {axis}")
    _head(plot, "tip", "position (m)")


def _actuators(plot: Any, run: Run) -> None:
    for k, name in enumerate(run.data["input"].values):
        draw_line(plot, k, run.time.values, run.torque.sel(input=name).values, str(name))
    _head(plot, "actuators", _units(run, "input_unit", ACTUATOR_AXIS_LABELS))


def _energies(plot: Any, run: Run, names: list[str]) -> None:
    for k, name in enumerate(names):
        draw_oscillation(plot, k, run.time.values, run.data[name].values, name)
    _head(plot, "energies", "energy (J)")


def _units(run: Run, coordinate: str, words: dict[str, str]) -> str:
    """Words for the units that occur."""
    found = run.data[coordinate].values if coordinate in run.data.coords else ()  # a file of an earlier version
    return ", ".join(label for unit, label in words.items() if unit in found) or next(iter(words.values()))


def _head(plot: Any, title: str, ylabel: str) -> None:
    plot.set_title(title, fontsize=10)
    plot.set_ylabel(ylabel)


def _joint_legend(plot: Any) -> None:
    handles, _ = plot.get_legend_handles_labels()
    if 0 < len(handles) <= MAX_LEGEND_ENTRY_COUNT:
        plot.legend(fontsize=8 if len(handles) <= 8 else 6, ncols=1 if len(handles) <= 8 else 2, frameon=False)


PATH_MOTION_TOLERANCE = 1e-6  # of the largest motion of the place: what moves less is not shown


def plot_inversion(found: Inversion, run: Run | None = None) -> Picture:
    """Torques, the place along its path (grey), and how far it was off in a run; dotted where that begins and ends."""
    if run is not None and not isinstance(run, Run):
        raise TypeError(f"run = {shown(run)}: must be a Run, such as inversion.play() gives")
    figure, plots = create_panels(2 if run is None else 3, 1.9, columns=1)
    units = found.system.input_units
    for k, (name, values) in enumerate(zip(found.inputs, found.torques.T)):
        draw_line(plots[0], k, found.t, values, name if len(set(units)) == 1 else f"{name} ({units[k]})")
    plots[0].set_ylabel(_quantity(units))
    reached = found.system.frame(*found.place, found.q)[:, :3, 3]
    for k, axis in enumerate(_moving(found.tip)):
        plots[1].plot(found.t, found.tip[:, axis], color=COMPARISON_COLOUR, linewidth=4.0, label=None if k else "path")
        draw_line(plots[1], k, found.t, reached[:, axis], "xyz"[axis])
    link, x = found.place
    plots[1].set_ylabel(f"tip of {escape_math(link)} (m)" if x is None else f"{escape_math(link)} at {x:g} m (m)")
    if run is not None:
        draw_line(plots[2], 0, run.array("time"), 1000 * found.missed(run), "run")
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
    return [k for k in range(3) if extents[k] > PATH_MOTION_TOLERANCE * max(float(extents.max()), 1e-300)] or [0]
