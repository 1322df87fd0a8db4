"""Figures of arms: internal forces along a link, path of the tip, mode shapes."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.modes import ModeSet
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, whole_number
from flexarm.plotting.animate import Snapshots
from flexarm.plotting.arguments import require_optional_run, select_times
from flexarm.plotting.arm_artist import ArmView, Sketch
from flexarm.plotting.colours import COMPARISON_COLOUR, JOINT_COLOUR, LINE_STYLES
from flexarm.plotting.style import (
    Picture,
    create_columns,
    draw_grid,
    draw_line,
    escape_math,
    place_legend,
    wrap_title,
)
from flexarm.plotting.time_series import comparison_label
from flexarm.results.run import Run

if TYPE_CHECKING:
    import xarray as xr

    from flexarm.results.run import Run


STATION_COUNT = 201  # along the link
JUMP_OFFSET = 1e-8  # fraction of the length, to evaluate both sides of a jump
NEGLIGIBLE_FRACTION = 1e-9  # components below this fraction of the largest are not drawn
DIAGRAM_TITLES = {
    "moment": {"x": "torsion (N m)", "y": "bending moment about y (N m)", "z": "bending moment about z (N m)"},
    "force": {"x": "axial force (N)", "y": "shear force along y (N)", "z": "shear force along z (N)"},
}


def section_forces_figure(run: Run, link: str, times: Sequence[float] | int = 3) -> Picture:
    """Plot the nonzero internal moments and forces along a link at the samples nearest to `times`."""
    chosen, samples = select_times("times", run, times), run.time.values
    nearest = np.unique(np.abs(samples[:, None] - chosen).argmin(axis=0))
    selected, x = Run(run.data.isel(time=nearest)), _stations(run, link)
    both = {"moment": selected.moment(link, x), "force": selected.force(link, x)}
    drawn = {kind: _nonzero_axes(found) for kind, found in both.items()}
    counts = [len(axes) for axes in drawn.values()]
    figure = Picture(figsize=(10.0, 1.0 + 2.3 * max(counts)))
    for plots, (kind, axes) in zip(create_columns(figure, counts), drawn.items(), strict=True):
        for plot, axis in zip(plots, axes, strict=True):
            found = both[kind].sel(axis=axis)
            for k, time in enumerate(found["time"].values):
                draw_line(plot, k, found["x"].values, found.values[k], f"t = {time:.4g} s")
            plot.axhline(0.0, color="0.5", linewidth=0.8, zorder=1)
            draw_grid(plot)
            plot.set_title(DIAGRAM_TITLES[kind][axis], fontsize=10)
        plots[-1].set_xlabel(f"x along {link} (m)", parse_math=False)
    place_legend(figure, figure.axes[0], "lower", ncols=6, fontsize=8)
    figure.suptitle(wrap_title(f"{run.data.attrs['robot']}: {link}", figure.get_figwidth()), fontsize=11)
    return figure


def _stations(run: Run, link: str) -> Array:
    """Return stations along a link, including both sides of masses, joints and loads, where diagrams jump."""
    robot, own = run.robot, run.robot.link(link)
    number = [each.name for each in robot.links].index(link)
    children = [each.at for each, parent in zip(robot.links, robot.parents) if parent == number and each.at is not None]
    places = [robot.place(*each) for each in run.options.get("load_places", [])]
    loads = [x for index, x, _ in places if index == number]
    jumps = np.array([*(mass.at or 0.0 for mass in own.masses), *children, *loads])
    beyond = np.minimum(jumps + JUMP_OFFSET * own.length, own.length)
    return np.unique(np.concatenate([np.linspace(0.0, own.length, STATION_COUNT), jumps, beyond]))


def _nonzero_axes(found: xr.DataArray) -> list[str]:
    """Return the axes with nonzero components, or all axes if there are none."""
    largest = np.nan_to_num(np.abs(found.values)).max(axis=(0, 1))
    axes = [str(axis) for axis in found["axis"].values]
    nonzero = [axis for axis, size in zip(axes, largest) if size > NEGLIGIBLE_FRACTION * largest.max()]
    return nonzero or axes


SMALL_PATH_FRACTION = 0.2  # of the figure; a smaller path is drawn again in a plot of its own
LEGEND_HEIGHT = 0.5  # inches


def trajectory_figure(
    run: Run, times: Sequence[float] | int = 5, other: Run | None = None, magnify: float = 1.0
) -> Picture:
    """Plot the path of the tip and the arm at `times` (s), from light to dark.

    Another run, for example of the rigid robot, is drawn in grey. A path that is small compared with the arm is also
    shown in a plot of its own.
    """
    from matplotlib import colormaps

    chosen, other = select_times("times", run, times), require_optional_run("other", other)
    postures = Snapshots(run, magnify)
    (when, path), arm = postures.tip_path(chosen), postures.arm(chosen)
    compared = None if other is None else Snapshots(other).arm(chosen)
    paths = [path] if other is None else [path, other.tip.values]
    view = ArmView.fit(np.concatenate([*paths, arm.cloud] + ([] if compared is None else [compared.cloud])))
    figure, plot, near = _plots(view, np.concatenate(paths))
    shades = colormaps["Blues"](np.linspace(0.35, 1.0, len(chosen)))
    for k, time in enumerate(chosen):
        if compared is not None:
            Sketch(plot, view, compared, width=1.2, twin=True).show(k)
        Sketch(plot, view, arm, colour=shades[k], width=2.2, label=f"t = {time:.4g} s").show(k)
    for each in filter(None, (plot, near)):
        each.plot(*view.data(path), color=LINE_STYLES[1][0], linewidth=1.2, label="tip", zorder=2.5)
        if other is not None:
            label = escape_math(f"tip, {comparison_label(run, other)}")
            each.plot(*view.data(other.tip.values), color=COMPARISON_COLOUR, linewidth=1.0, linestyle="--", label=label)
    if near is not None:
        for shade, place in zip(shades, path[np.searchsorted(when, chosen)], strict=True):
            near.plot(*view.data(place[None]), color=shade, marker="o", markeredgecolor="0.2", zorder=3)
        near.set_title("path of the tip", fontsize=10)
    columns = 4 if near is None else 8
    place_legend(figure, plot, "lower", ncols=columns, fontsize=8)
    scale = "" if magnify == 1 else f" (deflections x {magnify:g})"
    width = figure.get_figwidth() * (1 if near is None else 0.5)
    plot.set_title(wrap_title(str(run.data.attrs["robot"]) + scale, width), fontsize=10)
    return figure


def _plots(view: ArmView, paths: Array) -> tuple[Picture, Any, Any]:
    """Return a figure, the plot of the arm and, if the path is small compared with it, a plot of the path."""
    extent = np.ptp(paths, axis=0).max()
    if extent > SMALL_PATH_FRACTION * (view.high - view.low).max() or not extent:
        return *view.figure(legend=LEGEND_HEIGHT), None
    close = view.zoom(paths)
    width = 5.2  # inches, of each
    height = min(max(view.height(width), close.height(width)), 0.8 * width)
    figure = Picture(figsize=(2 * width, height + LEGEND_HEIGHT))
    return figure, view.plot(figure, 1, 2, 1), close.plot(figure, 1, 2, 2)


REST_COLOUR = "0.65"
MODE_AMPLITUDE = 0.15  # largest drawn displacement as a fraction of the robot's size


def plot_modes(modes: ModeSet, *, most: int = 4) -> Picture:
    """Plot the first vibration modes of a robot, each in both directions from the posture at rest.

    Parameters
    ----------
    modes : ModeSet
        Modes of a robot, as from `modes`.
    most : int, optional
        Largest number of modes to plot; rigid-body modes are left out.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; displacements are magnified.

    Raises
    ------
    ValueError
        If the robot has no vibration mode.

    Examples
    --------
    >>> import flexarm as fa
    >>> figure = plot_modes(fa.modes(fa.library.two_link_arm()), most=2)
    >>> [plot.get_title() for plot in figure.axes]
    ['mode 3: ...Hz', 'mode 4: ...Hz']
    """
    if not isinstance(modes, ModeSet):
        raise TypeError(f"modes = {shown(modes)}: must be what fa.modes gives")
    most = whole_number("most", most, least=1)
    chosen = [k for k, kind in enumerate(modes.kinds) if kind != "rigid body"][:most]
    if not chosen:
        raise ValueError(f"'{modes.system.robot.name}' has no vibration mode to draw: nothing in it is elastic")
    system, rest = modes.system, _axes(modes.system, modes.q)
    cloud = np.concatenate(list(rest.values()))
    size = float(np.ptp(cloud, axis=0).max())
    swings = [_displacements(system, modes.q, modes.shapes[:, mode].real, MODE_AMPLITUDE * size) for mode in chosen]
    moves = [np.concatenate(list(swing.values())) for swing in swings]
    view = ArmView.fit(np.concatenate([cloud, *(cloud + move for move in moves), *(cloud - move for move in moves)]))
    columns = 2 if len(chosen) % 2 == 0 else 1  # no empty cells
    rows = len(chosen) // columns
    figure = Picture(figsize=(4.6 * columns, view.height(4.6) * rows + 0.4))
    colour = LINE_STYLES[0][0]
    for place, (mode, swing) in enumerate(zip(chosen, swings, strict=True)):
        plot = view.plot(figure, rows, columns, place + 1)
        for sign, dashes, width in ((1, "-", 1.8), (-1, ":", 1.2)):
            for name, points in rest.items():
                plot.plot(*view.data(points + sign * swing[name]), color=colour, linestyle=dashes, linewidth=width)
        ring = {"markeredgecolor": JOINT_COLOUR, "markerfacecolor": "white", "marker": "o", "markersize": 5}
        for name, points in rest.items():
            plot.plot(*view.data(points), color=REST_COLOUR, linewidth=1.0, zorder=0)
            plot.plot(*view.data((points + swing[name])[:1]), **ring)  # at the root of the displaced link
        plot.set_title(f"mode {mode + 1}: {modes.frequencies[mode]:.4g} Hz", fontsize=10)
    title = fill(f"{system.robot.name}: vibration modes (displacements magnified)", 48 * columns)
    figure.suptitle(title, fontsize=11, parse_math=False)
    return figure


def _axes(system: System, q: Array) -> dict[str, Array]:
    return {link.name: system.axis(link.name, q) for link in system.robot.links}


def _displacements(system: System, q: Array, shape: Array, amplitude: float) -> dict[str, Array]:
    """Return the displacements of the axis of each link in a mode, scaled to a largest one of `amplitude` (m)."""
    step = 1e-6 * shape / np.abs(shape).max()
    ahead, behind = _axes(system, q + step), _axes(system, q - step)
    moves = {name: ahead[name] - behind[name] for name in ahead}
    largest = max(float(np.linalg.norm(move, axis=1).max()) for move in moves.values())
    return {name: move * (amplitude / largest) for name, move in moves.items()}
