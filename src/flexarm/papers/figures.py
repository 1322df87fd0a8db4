"""Figures that the studies share: curves in panels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexarm.show.style import Picture, grid, line, plain

Curves = Mapping[str, tuple[Any, Any]]  # by label: abscissa, ordinate


def curves(panels: Mapping[str, Curves], xlabel: str = "time (s)", columns: int = 1, title: str = "") -> Picture:
    """Panels by the label of their ordinate, each with curves by label; one legend if all panels share it."""
    rows = -(-len(panels) // columns)
    figure = Picture(figsize=(7.0 if columns == 1 else 10.5, 1.0 + (2.6 if rows == 1 else 2.0) * rows))
    plots: list[Any] = list(figure.subplots(rows, columns, squeeze=False).flat)
    labels = [list(panel) for panel in panels.values()]
    shared = all(each == labels[0] for each in labels)
    for number, (plot, (ylabel, panel)) in enumerate(zip(plots, panels.items())):
        for k, (label, (x, y)) in enumerate(panel.items()):
            line(plot, k, x, y, label)
        plot.set_ylabel(plain(ylabel))
        if number + columns >= len(panels):
            plot.set_xlabel(xlabel)
        grid(plot)
        if not shared and len(panel) > 1:
            plot.legend(fontsize=8, frameon=False)
    for plot in plots[len(panels) :]:
        plot.remove()
    if shared and len(labels[0]) > 1:
        handles, names = plots[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=min(4, len(names)), fontsize=9, frameon=False)
    if title:
        figure.suptitle(plain(title), fontsize=11)
    return figure
