"""Panels over time that fill a figure without gaps, and curves that swing too fast to be drawn as lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.show.style import STYLES, Picture, grid, line, plain

HASH = 100  # turning points in a panel beyond which a curve is a hash
VISIBLE = 0.03  # of the panel: smaller swings are none
CYCLES = 3  # of the swing within the window whose range is drawn


def panels(count: int, height: float, columns: int = 2) -> tuple[Picture, list[Any]]:
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
        grid(plot)
        if row == sizes[column] - 1:
            plot.set_xlabel("time (s)")
        else:
            plot.tick_params(labelbottom=False)
    return figure, plots


def swing(plot: Any, k: int, t: Array, values: Array, label: str) -> None:
    """A line in the k-th style; of a curve that swings too fast to be followed, the range in which it does."""
    turns = _turns(values)
    if turns <= HASH:
        line(plot, k, t, values, label)
        return
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    window = max(3, round(CYCLES * 2 * len(values) / turns))
    colour, dashes = STYLES[k % len(STYLES)]
    edges = [extreme(values, window, mode="nearest") for extreme in (minimum_filter1d, maximum_filter1d)]
    plot.fill_between(t, *edges, color=colour, alpha=0.15, linewidth=0)
    for edge, words in zip(edges, (None, plain(f"{label} (range)"))):
        plot.plot(t, edge, color=colour, linestyle=dashes, linewidth=1.2, label=words)


def _turns(values: Array) -> int:
    """How often a curve turns back, as far as can be seen."""
    size = float(np.ptp(values))
    if not size > 0:
        return 0
    levels = np.round(values / (VISIBLE * size))
    return int((np.diff(np.sign(np.diff(levels[np.append(True, np.diff(levels) != 0)]))) != 0).sum())
