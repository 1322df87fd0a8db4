"""Time histories of one run, or of several side by side (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.show.series import available, beside, series
from flexarm.show.style import Picture, grid, line, plain, wrapped

if TYPE_CHECKING:
    from flexarm.motion.run import Run

STILL = 1e-9  # of the robot's length: a tip that moves less does not move


def plot_compare(runs: Mapping[str, Run], *what: str) -> Picture:
    """Runs by their labels against each other, one panel for each quantity in `what`: else the joints and the tip.

    `fa.plot_compare({"flexible": run, "rigid": twin}, "upper.q", "tip.y")`; names are those of `run.plot`. Two runs
    without names also show how far apart their tips are.
    """
    if not isinstance(runs, Mapping) or not runs:
        raise TypeError('plot_compare needs runs by label: {"flexible": run, "rigid": twin}')
    return _figure(runs, list(what) or _shared(runs), apart=not what and len(runs) == 2)


def history_figure(run: Run, what: Sequence[str], other: Run | None = None) -> Picture:
    """Chosen quantities of a run over time; `other` beside it."""
    runs = {str(run.data.attrs["robot"]): run}
    if other is not None:
        label = beside(run, other)
        runs[label if label not in runs else f"{label} (other)"] = other
    return _figure(runs, list(what), apart=False)


def _figure(runs: Mapping[str, Run], names: list[str], apart: bool) -> Picture:
    panels = len(names) + apart
    columns = 1 if panels <= 3 else 2
    rows = -(-panels // columns)
    figure = Picture(figsize=(7.0 if columns == 1 else 10.5, 1.0 + 1.9 * rows))
    plots: list[Any] = list(figure.subplots(rows, columns, sharex=True, squeeze=False).T.flat)
    for plot, name in zip(plots, names):
        for k, (label, run) in enumerate(runs.items()):
            if name not in available(run) and any(name in available(each) for each in runs.values()):
                continue  # a rigid twin has no elastic coordinates
            found = series(run, name)
            line(plot, k, run.time.values, found.values, label)
            plot.set_ylabel(plain(found.label))
    if apart:
        one, two = runs.values()
        distance = 1000 * np.linalg.norm(one.compare(two)["tip"].values, axis=1)
        line(plots[len(names)], 0, one.time.values, distance, "")
        plots[len(names)].set_ylabel("tips apart (mm)")
    for k, plot in enumerate(plots):
        if k >= panels:
            plot.remove()
            continue
        grid(plot)
        if k == panels - 1 or (k + 1) % rows == 0:
            plot.set_xlabel("time (s)")
            plot.xaxis.set_tick_params(labelbottom=True)
    _legend(figure, plots[0], runs)
    return figure


def _legend(figure: Picture, plot: Any, runs: Mapping[str, Run]) -> None:
    if len(runs) == 1:
        figure.suptitle(wrapped(next(iter(runs)), figure.get_figwidth()), fontsize=11)
        return
    handles, labels = plot.get_legend_handles_labels()
    columns = 1 if max(map(len, labels)) > 30 else min(4, len(labels))
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize=9, frameon=False)


def _shared(runs: Mapping[str, Run]) -> list[str]:
    """Joints that all runs have, and where a tip moves."""
    first = next(iter(runs.values()))
    joints = [str(name) for name in first.data["coordinate"].values if str(name).endswith(".q")]
    found = [name for name in joints if all(name in run.data["coordinate"].values for run in runs.values())]
    size = sum(link.length for link in first.robot.links)
    for axis in "xyz":
        values = np.concatenate([run.tip.sel(axis=axis).values for run in runs.values()])
        if np.ptp(values) > STILL * size:
            found.append(f"tip.{axis}")
    return found
