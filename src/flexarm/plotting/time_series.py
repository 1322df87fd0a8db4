"""Figures over time: chosen quantities, the overview of a run, comparison of runs, inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.plotting.arguments import require_names, require_optional_run, require_run
from flexarm.plotting.colours import COMPARISON_COLOUR, LINE_STYLES
from flexarm.plotting.style import (
    Picture,
    create_columns,
    draw_grid,
    draw_line,
    escape_math,
    place_legend,
    wrap_title,
)
from flexarm.results.by_name import coordinates_of, label_of, one_quantity
from flexarm.results.run import Run

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.control.inversion.result import Inversion
    from flexarm.results.run import Run


MAX_TURNING_POINT_COUNT = 100  # curves with more are drawn as the range of their oscillation
VISIBLE_SWING_FRACTION = 0.03  # of the height of the panel; smaller oscillations are ignored
ENVELOPE_CYCLE_COUNT = 3  # cycles in the window of the running range


def create_panels(count: int, height: float, columns: int = 2) -> tuple[Picture, list[Any]]:
    """Create a figure with plots over a shared time axis; plots of a column with fewer of them are taller."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Picture(figsize=(7.0 if columns == 1 else 10.5, 1.0 + height * rows))
    counts = [len(range(column, count, columns)) for column in range(columns)]
    filled = create_columns(figure, counts)
    for plots in filled:
        for plot in plots:
            draw_grid(plot)
            plot.tick_params(labelbottom=plot is plots[-1])
            if plot is not filled[0][0]:
                plot.sharex(filled[0][0])
        plots[-1].set_xlabel("time (s)")
    return figure, [filled[k % columns][k // columns] for k in range(count)]


def draw_oscillation(plot: Any, k: int, t: Array, values: Array, label: str) -> None:
    """Draw a curve in the k-th style or, if it oscillates too fast to be legible, its running range."""
    turns = _count_turning_points(values)
    if turns <= MAX_TURNING_POINT_COUNT:
        draw_line(plot, k, t, values, label)
        return
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    window = max(3, round(ENVELOPE_CYCLE_COUNT * 2 * len(values) / turns))
    colour, dashes = LINE_STYLES[k % len(LINE_STYLES)]
    edges = [extreme(values, window, mode="nearest") for extreme in (minimum_filter1d, maximum_filter1d)]
    plot.fill_between(t, *edges, color=colour, alpha=0.15, linewidth=0)
    for edge, edge_label in zip(edges, (None, escape_math(f"{label} (range)"))):
        plot.plot(t, edge, color=colour, linestyle=dashes, linewidth=1.2, label=edge_label)


def _count_turning_points(values: Array) -> int:
    """Return the number of visible turning points of a curve."""
    size = float(np.ptp(values))
    if not size > 0:
        return 0
    levels = np.round(values / (VISIBLE_SWING_FRACTION * size))
    return int((np.diff(np.sign(np.diff(levels[np.append(True, np.diff(levels) != 0)]))) != 0).sum())


TIP_MOTION_TOLERANCE = 1e-9  # fraction of the length of the robot


def plot_compare(runs: Mapping[str, Run], *what: str) -> Picture:
    """Plot quantities of several runs for comparison.

    Parameters
    ----------
    runs : mapping of str to Run
        Runs by label.
    *what : str
        Names of quantities as in `Run.plot`, with a panel each. By default the joint coordinates that all runs have and
        the moving coordinates of the tip; two runs are then also compared by the distance of their tips.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> import flexarm as fa
    >>> robot = fa.library.two_link_arm()
    >>> runs = {each.name: fa.simulate(each, 0.1, native=False) for each in (robot, robot.rigid())}
    >>> figure = plot_compare(runs, "upper.q", "tip.y")
    >>> [plot.get_ylabel() for plot in figure.axes]
    ['upper: angle (rad)', 'tip y (m)']
    """
    if not isinstance(runs, Mapping) or not runs:
        raise TypeError(f'runs = {shown(runs)}: must be runs by label, {{"flexible": run, "rigid": twin}}')
    labelled = {str(label): require_run(f"runs[{label!r}]", run) for label, run in runs.items()}
    return _figure(
        labelled, require_names("what", what) or _common_quantities(labelled), with_distance=not what and len(runs) == 2
    )


def history_figure(run: Run, what: Sequence[str], other: Run | None = None) -> Picture:
    """Plot quantities of a run over time and, for comparison, those of another run."""
    runs = {str(run.data.attrs["robot"]): run}
    if (other := require_optional_run("other", other)) is not None:
        label = comparison_label(run, other)
        runs[label if label not in runs else f"{label} (other)"] = other
    return _figure(runs, require_names("what", what), with_distance=False)


def comparison_label(run: Run, other: Run) -> str:
    """Return the label of another run in a figure of this one."""
    name = str(other.data.attrs["robot"])
    return "rigid twin" if name == f"{run.data.attrs['robot']} (rigid)" else name


def _figure(runs: Mapping[str, Run], chosen: list[str], with_distance: bool) -> Picture:
    count = len(chosen) + with_distance
    figure, plots = create_panels(count, height=1.9, columns=1 if count <= 3 else 2)
    for plot, name in zip(plots, chosen):
        for k, (label, series) in enumerate(_series_of_runs(runs, name).items()):
            if series is not None:
                draw_line(plot, k, series["time"].values, series.values, label)
                plot.set_ylabel(escape_math(fill(label_of(series), 26)))
    if with_distance:
        one, two = runs.values()
        distance = 1000 * np.linalg.norm(one.compare(two)["tip"].values, axis=1)
        draw_line(plots[len(chosen)], 0, one.time.values, distance, "")
        plots[len(chosen)].set_ylabel("tips apart (mm)")
    figure.align_ylabels()
    if len(runs) == 1:
        figure.suptitle(wrap_title(next(iter(runs)), figure.get_figwidth()), fontsize=11)
    else:
        labels = plots[0].get_legend_handles_labels()[1]
        columns = 1 if max(map(len, labels)) > 30 else min(4, len(labels))
        place_legend(figure, plots[0], "upper", ncols=columns, fontsize=9)
    return figure


def _series_of_runs(runs: Mapping[str, Run], name: str) -> dict[str, xr.DataArray | None]:
    """Return a quantity of each run; None for runs without it (a rigid twin has no strain) if another one has it."""
    found: dict[str, xr.DataArray | None] = {}
    problem: Exception | None = None
    for label, run in runs.items():
        try:
            found[label] = one_quantity(run, name)
        except (KeyError, ValueError) as error:
            found[label], problem = None, problem or error
    if problem is not None and all(each is None for each in found.values()):
        raise problem
    return found


def _common_quantities(runs: Mapping[str, Run]) -> list[str]:
    """Return the joint coordinates that all runs have, and the axes along which a tip moves."""
    first = next(iter(runs.values()))
    found = [
        name
        for name in coordinates_of(first.data, "joint")
        if all(name in run.data["coordinate"].values for run in runs.values())
    ]
    size = first.robot.size
    for axis in "xyz":
        values = np.concatenate([run.tip.sel(axis=axis).values for run in runs.values()])
        if np.ptp(values) > TIP_MOTION_TOLERANCE * size:
            found.append(f"tip.{axis}")
    return found


ENERGIES = ("kinetic", "elastic", "gravity", "drive", "work", "dissipated")
JOINT_AXIS_LABELS = {"rad": "angle (rad)", "m": "travel (m)"}  # by unit
ACTUATOR_AXIS_LABELS = {"N m": "torque (N m)", "N": "force (N)"}
MAX_LEGEND_ENTRY_COUNT = 16  # plots with more curves have no legend


def run_figure(run: Run, other: Run | None = None) -> Picture:
    """Plot an overview of a run: joints, tip deflections, torques and energies, without empty panels.

    The joints of another run, for example of the rigid robot, are drawn in grey.
    """
    other = require_optional_run("other", other)
    panels = _panels(run)
    figure, plots = create_panels(len(panels), height=3.1)
    for plot, (title, ylabel, curves) in zip(plots, panels, strict=True):
        draw = draw_oscillation if title == "energies" else draw_line
        for k, (name, values) in enumerate(curves.items()):
            draw(plot, k, run.time.values, values, name)
        if other is not None and title == "joints":
            names = [name for name in _joint_names(run) if name in other.data["coordinate"].values]
            style: dict[str, Any] = {"color": COMPARISON_COLOUR, "linewidth": 0.9, "zorder": 0}
            for k, name in enumerate(names):
                label = None if k else escape_math(comparison_label(run, other))
                plot.plot(other.time, other[name].values, label=label, **style)
        plot.set_title(title, fontsize=10)
        plot.set_ylabel(ylabel)
        count = len(plot.get_legend_handles_labels()[0])
        if 0 < count <= MAX_LEGEND_ENTRY_COUNT:
            plot.legend(fontsize=8 if count <= 8 else 6, ncols=1 if count <= 8 else 2, frameon=False)
    figure.suptitle(wrap_title(str(run.data.attrs["robot"]), figure.get_figwidth()), fontsize=11)
    return figure


def _panels(run: Run) -> list[tuple[str, str, dict[str, Array]]]:
    """Return the title, the axis label and the curves by label of each panel; empty ones are left out."""
    data = run.data
    joints = {name.removesuffix(".q").replace(".", " "): run[name].values for name in _joint_names(run)}
    ends = [(link, axis) for link in data["link"].values for axis in "yz"]
    deflections = {f"{link} {axis}": 1000 * run[f"deflection.{link}.{axis}"].values for link, axis in ends}
    bent = {label: values for label, values in deflections.items() if values.any()}
    torques = {str(name): run.torque.sel(input=name).values for name in data["input"].values}
    tip = {f"tip {axis}": run[f"tip.{axis}"].values for axis in "xyz"}
    found = [
        ("joints", _unit_label(run, "unit", JOINT_AXIS_LABELS), joints),
        ("tip deflection in the link's root frame", "deflection (mm)", bent) if bent else ("tip", "position (m)", tip),
        ("actuators", _unit_label(run, "input_unit", ACTUATOR_AXIS_LABELS), torques),
        ("energies", "energy (J)", {name: data[name].values for name in ENERGIES if data[name].values.any()}),
    ]
    return [each for each in found if each[2]]


def _joint_names(run: Run) -> list[str]:
    return coordinates_of(run.data, "joint", "motor")


def _unit_label(run: Run, coordinate: str, words: dict[str, str]) -> str:
    """Return the axis labels for the units that occur."""
    found = run.data[coordinate].values if coordinate in run.data.coords else ()  # files of earlier versions have none
    return ", ".join(label for unit, label in words.items() if unit in found) or next(iter(words.values()))


PATH_MOTION_TOLERANCE = 1e-6  # fraction of the largest motion; axes with less are not shown


def plot_inversion(found: Inversion, run: Run | None = None) -> Picture:
    """Plot the torques of an inversion, its path (grey) and, if a run is given, the error along the path.

    Dotted lines mark the start and the end of the motion.
    """
    if run is not None and not isinstance(run, Run):
        raise TypeError(f"run = {shown(run)}: must be a Run, such as inversion.play() gives")
    figure, plots = create_panels(2 if run is None else 3, 1.9, columns=1)
    units = found.system.input_units
    is_mixed = len(set(units)) > 1
    for k, (name, values) in enumerate(zip(found.inputs, found.torques.T)):
        draw_line(plots[0], k, found.t, values, f"{name} ({units[k]})" if is_mixed else name)
    plots[0].set_ylabel("torque, force" if is_mixed else ACTUATOR_AXIS_LABELS[units[0]])
    reached = found.system.frame(*found.place, found.q)[:, :3, 3]
    for k, axis in enumerate(_moving_axes(found.tip)):
        plots[1].plot(found.t, found.tip[:, axis], color=COMPARISON_COLOUR, linewidth=4.0, label=None if k else "path")
        draw_line(plots[1], k, found.t, reached[:, axis], "xyz"[axis])
    link, x = found.place
    plots[1].set_ylabel(f"tip of {escape_math(link)} (m)" if x is None else f"{escape_math(link)} at {x:g} m (m)")
    if run is not None:
        draw_line(plots[2], 0, run.array("time"), 1000 * found.missed(run), "run")
        plots[2].set_ylabel("path error (mm)")
        plots[2].set_ylim(bottom=0)
    for plot in plots[:2] if len(found.inputs) > 1 else plots[1:2]:
        plot.legend(fontsize=8, frameon=False)
    for plot in plots:
        for time in (found.before, found.duration - found.after):
            plot.axvline(time, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    return figure


def _moving_axes(path: Array) -> list[int]:
    """Return the axes along which a path moves."""
    extents = np.ptp(path, axis=0)
    return [k for k in range(3) if extents[k] > PATH_MOTION_TOLERANCE * max(float(extents.max()), 1e-300)] or [0]
