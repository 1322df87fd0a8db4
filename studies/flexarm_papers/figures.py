"""Figures of the studies: curves in panels, legends outside them. Labels are mathtext: `$\\theta_2$`, `kg m$^2$`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from flexarm.plotting.colours import LINE_STYLES
from flexarm.plotting.style import Picture, draw_grid

Curves = Mapping[str, tuple[Any, Any]]  # by label: abscissa, ordinate

WIDTHS = {1: 7.0, 2: 8.6}  # inches, by columns: a page shows either at some 7, so that letters stay readable
LEGEND = {"fontsize": 9, "frameon": False, "handlelength": 2.6}


def curves(panels: Mapping[str, Curves], xlabel: str = "time (s)", columns: int = 1, title: str = "") -> Picture:
    """Panels by the label of their ordinate, each with curves by label, which look alike in all panels. One legend if
    some panel has them all, otherwise one over each."""
    rows = -(-len(panels) // columns)
    width = WIDTHS[min(columns, 2)]
    figure = Picture(figsize=(width, 1.0 + (2.6 if rows == 1 else 1.9) * rows))
    plots: list[Any] = list(figure.subplots(rows, columns, squeeze=False).flat)
    most = max(panels.values(), key=len)
    shared = all(panel.keys() <= most.keys() for panel in panels.values())
    orders = _orders([most, *panels.values()])[1:]
    for number, (plot, (ylabel, panel)) in enumerate(zip(plots, panels.items())):
        draw(plot, panel, orders[number])
        plot.set_ylabel(ylabel)
        plot.margins(x=0.01)
        if number + columns >= len(panels):
            plot.set_xlabel(xlabel)
        if not shared and len(panel) > 1:
            above(plot, width / columns)
    for plot in plots[len(panels) :]:
        plot.remove()
    if shared and len(most) > 1:
        full = next(plot for plot, panel in zip(plots, panels.values()) if panel is most)
        handles, names = full.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=legend_columns(names, width), **LEGEND)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def _orders(panels: Sequence[Curves]) -> list[list[str]]:
    """For each panel the labels that count: its own and those of panels that share some with it."""
    groups: list[list[str]] = []
    found = []
    for panel in panels:
        group = next((each for each in groups if panel.keys() & set(each)), None)
        if group is None:
            groups.append(group := [])
        group += [label for label in panel if label not in group]
        found.append(group)
    return found


def draw(plot: Any, panel: Curves, labels: Sequence[str]) -> None:
    """Curves in the styles of the house, each in that of its place among all labels."""
    for label, (x, y) in panel.items():
        colour, dashes = LINE_STYLES[labels.index(label) % len(LINE_STYLES)]
        plot.plot(x, y, color=colour, linestyle=dashes, linewidth=1.3, label=label)
    draw_grid(plot)


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
