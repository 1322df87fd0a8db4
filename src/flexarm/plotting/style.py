"""Style of figures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from flexarm.plotting.colours import LINE_STYLES


class Picture(Figure):
    """Figure without a window; notebooks display it, and `savefig` writes it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()


def draw_line(plot: Any, k: int, t: Any, values: Any, label: str) -> None:
    """Draw a curve in the k-th style."""
    colour, dashes = LINE_STYLES[k % len(LINE_STYLES)]
    plot.plot(t, values, color=colour, linestyle=dashes, linewidth=1.2, label=escape_math(label))


def escape_math(text: str) -> str:
    """Escape dollar signs, which Matplotlib would read as mathematics."""
    return text.replace("$", r"\$")


def wrap_title(text: str, width: float) -> str:
    """Escape a title and break it into lines that fit a width (inches)."""
    return escape_math(fill(text, int(11 * width)))


def create_columns(figure: Picture, counts: Sequence[int]) -> list[list[Any]]:
    """Add columns with numbers of plots to a figure; plots of a column with fewer of them are taller."""
    units = int(np.lcm.reduce(counts))
    cells = figure.add_gridspec(units, len(counts))
    plots: list[list[Any]] = [[] for _ in counts]
    for row in range(max(counts)):
        for column in (k for k, count in enumerate(counts) if row < count):
            span = units // counts[column]
            plots[column].append(figure.add_subplot(cells[row * span : (row + 1) * span, column]))
    return plots


def place_legend(figure: Picture, plot: Any, side: str, **options: Any) -> None:
    """Draw the legend of a plot at the "upper" or "lower" side of its figure."""
    place: Any = f"outside {side} center"
    figure.legend(*plot.get_legend_handles_labels(), loc=place, frameon=False, **options)


def label_plot(plot: Any, x: str, y: str, legend: bool = False, **options: Any) -> None:
    """Label the axes of a plot, and draw its grid and, if wanted, its legend."""
    plot.set_xlabel(escape_math(x))
    plot.set_ylabel(escape_math(y))
    draw_grid(plot)
    if legend:
        plot.legend(fontsize=8, frameon=False, **options)


def draw_grid(plot: Any) -> None:
    plot.grid(color="0.9", linewidth=0.6)
    plot.set_axisbelow(True)
