"""Time histories of one run, or of several side by side (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.sentences import shown
from flexarm.motion.series import available, coordinates_of, named
from flexarm.show.arguments import a_run, a_run_or_none, names
from flexarm.show.panels import panels
from flexarm.show.style import Picture, line, plain, wrapped

if TYPE_CHECKING:
    from flexarm.motion.run import Run

STILL = 1e-9  # of the robot's length: a tip that moves less does not move


def plot_compare(runs: Mapping[str, Run], *what: str) -> Picture:
    """Runs by their labels against each other, one panel for each quantity in `what`: else the joints and the tip.

    `fa.plot_compare({"flexible": run, "rigid": twin}, "upper.q", "tip.y")`; names are those of `run.plot`. Two runs
    without names also show how far apart their tips are.
    """
    if not isinstance(runs, Mapping) or not runs:
        raise TypeError(f'runs = {shown(runs)}: must be runs by label, {{"flexible": run, "rigid": twin}}')
    labelled = {str(label): a_run(f"runs[{label!r}]", run) for label, run in runs.items()}
    return _figure(labelled, names("what", what) or _shared(labelled), apart=not what and len(runs) == 2)


def history_figure(run: Run, what: Sequence[str], other: Run | None = None) -> Picture:
    """Chosen quantities of a run over time; `other` beside it."""
    runs = {str(run.data.attrs["robot"]): run}
    if (other := a_run_or_none("other", other)) is not None:
        label = beside(run, other)
        runs[label if label not in runs else f"{label} (other)"] = other
    return _figure(runs, names("what", what), apart=False)


def beside(run: Run, other: Run) -> str:
    """What another run is called in a figure of this one."""
    name = str(other.data.attrs["robot"])
    return "rigid twin" if name == f"{run.data.attrs['robot']} (rigid)" else name


def _figure(runs: Mapping[str, Run], chosen: list[str], apart: bool) -> Picture:
    count = len(chosen) + apart
    figure, plots = panels(count, height=1.9, columns=1 if count <= 3 else 2)
    for plot, name in zip(plots, chosen):
        for k, (label, run) in enumerate(runs.items()):
            if name not in available(run.data) and any(name in available(each.data) for each in runs.values()):
                continue  # a rigid twin has no elastic coordinates
            if ".strain(" in name:
                line(plot, k, run.time.values, run[name].values, label)
                plot.set_ylabel(plain(name))
                continue
            found = named(run.data, name)
            line(plot, k, run.time.values, found.of(run.data).values, label)
            plot.set_ylabel(plain(fill(found.label, 26)))
    if apart:
        one, two = runs.values()
        distance = 1000 * np.linalg.norm(one.compare(two)["tip"].values, axis=1)
        line(plots[len(chosen)], 0, one.time.values, distance, "")
        plots[len(chosen)].set_ylabel("tips apart (mm)")
    figure.align_ylabels()
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
    found = [
        name
        for name in coordinates_of(first.data, "joint")
        if all(name in run.data["coordinate"].values for run in runs.values())
    ]
    size = sum(link.length for link in first.robot.links)
    for axis in "xyz":
        values = np.concatenate([run.tip.sel(axis=axis).values for run in runs.values()])
        if np.ptp(values) > STILL * size:
            found.append(f"tip.{axis}")
    return found
