"""Draw the figure of deflection.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator

from deflection import DRAWN, MODELS, Findings, Point, Price, shape_in_plane
from flexarm.plotting.colours import LINE_STYLES
from flexarm.plotting.style import Picture, draw_grid
from tests.oracles import elastica

MARKERS = {"none": "v", "shortening": "s", "exact": "o"}
LOOKS = {"none": LINE_STYLES[3], "shortening": LINE_STYLES[1], "exact": LINE_STYLES[0]}


def draw(findings: Findings, path: Path) -> None:
    figure = Picture(figsize=(12.5, 7.6))
    plots = figure.subplots(2, 3)
    shapes(plots[0, 0])
    errors(plots[0, 1], findings.in_plane, "at rest in a plane, 4 shapes")
    errors(plots[0, 2], findings.in_space, "at rest in space, 3 shapes of a family")
    errors(plots[1, 0], findings.spin_up, "a beam spun up, 6 shapes")
    errors(plots[1, 1], findings.whip, "a bent bar let go, 3 shapes")
    costs(plots[1, 2], findings)
    handles, labels = plots[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=110)


def shapes(plot: Any) -> None:
    """A clamped bar under growing forces: what the models make of it, over the true shape."""
    x = np.linspace(0, 1, 41)
    for load in DRAWN:
        true = elastica.along(x, (0.0, load))
        plot.plot(true[:, 0], true[:, 1], color="0.82", linewidth=7, solid_capstyle="round", zorder=1)
        for model in MODELS:
            found = shape_in_plane(load, model, 4, x)
            colour, dashes = LOOKS[model]
            if found is not None and found[-1, 1] < 1.5:
                plot.plot(found[:, 0], found[:, 1], color=colour, linestyle=dashes, linewidth=1.4, zorder=2)
        plot.annotate(f"{load:g}", true[-1, :2], xytext=(9, 5), textcoords="offset points", fontsize=8, color="0.35")
    plot.plot([0, 0], [-0.12, 0.12], color="0.15", linewidth=4)
    plot.set_aspect("equal", "box")
    plot.set(xlim=(-0.05, 1.15), ylim=(-0.15, 1.1), xlabel="x / L", ylabel="y / L")
    plot.set_title("a bar under a force P L$^2$/EI (grey: the elastica)", fontsize=10)
    draw_grid(plot)


def errors(plot: Any, points: Sequence[Point], title: str) -> None:
    for model in MODELS:
        own = sorted((point for point in points if point.model == model), key=lambda point: point.deflection)
        colour, dashes = LOOKS[model]
        plot.loglog(
            [100 * point.deflection for point in own],
            [100 * point.error for point in own],
            color=colour,
            linestyle=dashes,
            marker=MARKERS[model],
            markersize=4.5,
            linewidth=1.2,
            label=f'"{model}"',
        )
    plot.axhline(0.1, color="0.6", linewidth=0.8, linestyle=":")
    plot.set_ylim(top=200)  # further off than the link is long means nothing
    plot.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    plot.yaxis.set_major_locator(LogLocator(base=100))
    plot.set(xlabel="deflection (% of the length)", ylabel="error of the tip (% of the length)")
    plot.set_title(title, fontsize=10)
    draw_grid(plot)


def costs(plot: Any, findings: Findings) -> None:
    for kind, own, filled in (("planar", findings.planar, True), ("spatial", findings.spatial, False)):
        for model in MODELS:
            line(plot, [price for price in own if price.model == model], model, filled)
        last = max(own, key=lambda price: (price.shapes, price.inverse_dynamics))
        place = (last.shapes, last.inverse_dynamics)
        plot.annotate(kind, place, xytext=(4, 6), textcoords="offset points", ha="right", va="bottom", fontsize=9)
    plot.set_yscale("log")
    plot.margins(y=0.12)
    plot.set(xlabel="shapes of a family", ylabel="instructions of the inverse dynamics")
    plot.set_xticks(sorted({price.shapes for price in findings.planar}))
    plot.set_title("cost of an arm of two links", fontsize=10)
    draw_grid(plot)


def line(plot: Any, own: Sequence[Price], model: str, filled: bool) -> None:
    colour, dashes = LOOKS[model]
    plot.plot(
        [price.shapes for price in own],
        [price.inverse_dynamics for price in own],
        color=colour,
        linestyle=dashes,
        marker=MARKERS[model],
        markersize=5,
        markerfacecolor=colour if filled else "white",
        linewidth=1.2,
    )
