"""Figures of the studies: curves in panels, legends outside them. Labels are mathtext: `$\\theta_2$`, `kg m$^2$`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from flexarm.show.style import STYLES, Picture, grid

Curves = Mapping[str, tuple[Any, Any]]  # by label: abscissa, ordinate

WIDTHS = {1: 7.0, 2: 8.6}  # inches, by columns: a page shows either at some 7, so that letters stay readable
LEGEND = {"fontsize": 9, "frameon": False, "handlelength": 2.6}


def curves(panels: Mapping[str, Curves], xlabel: str = "time (s)", columns: int = 1, title: str = "") -> Picture:
    """Panels by the label of their ordinate, each with curves by label; one legend if all panels share it."""
    rows = -(-len(panels) // columns)
    width = WIDTHS[min(columns, 2)]
    figure = Picture(figsize=(width, 1.0 + (2.6 if rows == 1 else 1.9) * rows))
    plots: list[Any] = list(figure.subplots(rows, columns, squeeze=False).flat)
    labels = [list(panel) for panel in panels.values()]
    shared = all(each == labels[0] for each in labels)
    for number, (plot, (ylabel, panel)) in enumerate(zip(plots, panels.items())):
        draw(plot, panel)
        plot.set_ylabel(ylabel)
        plot.margins(x=0.01)
        if number + columns >= len(panels):
            plot.set_xlabel(xlabel)
        if not shared and len(panel) > 1:
            above(plot, width / columns)
    for plot in plots[len(panels) :]:
        plot.remove()
    if shared and len(labels[0]) > 1:
        handles, names = plots[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=legend_columns(names, width), **LEGEND)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def draw(plot: Any, panel: Curves) -> None:
    """Curves in the styles of the house, in order."""
    for (colour, dashes), (label, (x, y)) in zip(STYLES, panel.items()):
        plot.plot(x, y, color=colour, linestyle=dashes, linewidth=1.3, label=label)
    grid(plot)


def above(plot: Any, width: float) -> None:
    """The legend of one plot of this width (inches), over its frame."""
    _, names = plot.get_legend_handles_labels()
    ncols = legend_columns(names, width)
    plot.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), borderaxespad=0.2, ncols=ncols, **LEGEND)


def legend_columns(labels: Sequence[str], width: float) -> int:
    """As many columns as fit into a figure of this width (inches), four at most, and evenly filled."""
    letters = max(len(re.sub(r"\\[a-z]+", "x", label).replace("$", "")) for label in labels)
    most = min(4, int(13 * width / (letters + 9)))  # 13 letters to an inch; 9 for line and gap
    rows = -(-len(labels) // max(1, most))
    return -(-len(labels) // rows)
