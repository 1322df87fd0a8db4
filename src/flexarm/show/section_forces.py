"""Diagrams of the forces and moments along a link (matplotlib)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.run import Run
from flexarm.show.arguments import times_of
from flexarm.show.style import Picture, grid, line, wrapped

if TYPE_CHECKING:
    import xarray as xr

POINTS = 201  # along the link
BESIDE = 1e-8  # of the length: just beyond something that is fixed there
NOTHING = 1e-9  # of the largest of its kind: what is less is not drawn
WORDS = {
    "moment": {"x": "torsion (N m)", "y": "bending moment about y (N m)", "z": "bending moment about z (N m)"},
    "force": {"x": "axial force (N)", "y": "shear force along y (N)", "z": "shear force along z (N)"},
}


def section_forces_figure(run: Run, link: str, times: Sequence[float] | int = 3) -> Picture:
    """Moments and forces across the sections of a link, those that there are, at the samples nearest to `times`."""
    chosen, samples = times_of("times", run, times), run.time.values
    nearest = np.unique(np.abs(samples[:, None] - chosen).argmin(axis=0))
    few, x = Run(run.data.isel(time=nearest)), _places(run, link)
    both = {"moment": few.moment(link, x), "force": few.force(link, x)}
    drawn = {kind: _present(found) for kind, found in both.items()}
    counts = [len(axes) for axes in drawn.values()]
    figure, units = Picture(figsize=(10.0, 1.0 + 2.3 * max(counts))), int(np.lcm.reduce(counts))
    cells = figure.add_gridspec(units, 2)  # a column that has fewer diagrams has taller ones
    for column, (kind, axes) in enumerate(drawn.items()):
        span = units // len(axes)
        for row, axis in enumerate(axes):
            plot = figure.add_subplot(cells[row * span : (row + 1) * span, column])
            _diagram(plot, both[kind].sel(axis=axis))
            plot.set_title(WORDS[kind][axis], fontsize=10)
        plot.set_xlabel(f"x along {link} (m)", parse_math=False)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    figure.suptitle(wrapped(f"{run.data.attrs['robot']}: {link}", figure.get_figwidth()), fontsize=11)
    return figure


def _places(run: Run, link: str) -> Array:
    """Places along a link, both sides of what is fixed to it among them: there diagrams jump."""
    own = run.robot.link(link)
    robot = run.robot
    number = [each.name for each in robot.links].index(link)
    pairs = zip(robot.links, robot.parents, strict=True)
    hung = [each.at for each, parent in pairs if parent == number and each.at is not None]
    loads = [x for name, x in run.options.get("load_places", []) if name == link]
    jumps = np.array([*(mass.at or 0.0 for mass in own.masses), *hung, *loads])
    beside = np.minimum(jumps + BESIDE * own.length, own.length)
    return np.unique(np.concatenate([np.linspace(0.0, own.length, POINTS), jumps, beside]))


def _present(found: xr.DataArray) -> list[str]:
    """Axes about or along which there is something; all if there is nothing at all."""
    largest = np.nan_to_num(np.abs(found.values)).max(axis=(0, 1))
    axes = [str(axis) for axis in found["axis"].values]
    return [axis for axis, size in zip(axes, largest, strict=True) if size > NOTHING * largest.max()] or axes


def _diagram(plot: Any, found: xr.DataArray) -> None:
    for k, time in enumerate(found["time"].values):
        line(plot, k, found["x"].values, found.values[k], f"t = {time:.4g} s")
    plot.axhline(0.0, color="0.5", linewidth=0.8, zorder=1)
    grid(plot)
