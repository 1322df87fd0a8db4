"""Draw the figures of compare.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from growth import TITLES, Cost, exponent
from search import Survey
from workloads import Workload

if TYPE_CHECKING:
    from frontier import Way
    from precision import Point

LOOKS = {  # different markers, to be told apart in grey
    "flexarm": ("tab:blue", "o"),
    "Exudyn": ("tab:orange", "s"),
    "MuJoCo": ("tab:green", "^"),
    "solve_ivp Radau": ("tab:red", "x"),
    "solve_ivp DOP853": ("tab:purple", "+"),
}


def work_precision(workload: Workload, survey: Survey, path: Path) -> None:
    """Error against the time of the solver loop, every tool and setting that gave a result."""
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for tool in survey.tools:
        known = [trial for trial in survey.trials if trial.tool == tool and not trial.failure]
        axes.loglog(
            [1e3 * trial.loop for trial in known],
            [1e3 * trial.error for trial in known],
            linestyle="",
            color=LOOKS[tool][0],
            marker=LOOKS[tool][1],
            alpha=0.7,
            markersize=5,
            label=tool,
        )
    for target in workload.targets:
        axes.axhline(1e3 * target, color="0.6", linewidth=0.8, linestyle="--")
    axes.set(xlabel="solver loop (ms)", ylabel=f"largest error of the {workload.observed} (mm)", title=workload.title)
    axes.grid(which="both", alpha=0.2)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def growth(costs: dict[str, list[Cost]], path: Path) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for marker, (kind, found) in zip("os", costs.items()):
        known = [cost for cost in found if not cost.failure]
        n = [cost.coordinates for cost in known]
        for axes, of, scale in ((panels[0], "step", 1e6), (panels[1], "setup", 1.0)):
            label = f"{TITLES[kind]}: N^{exponent(found, of):.2f}"
            axes.loglog(n, [scale * getattr(cost, of) for cost in known], f"{marker}-", label=label)
    panels[0].set(xlabel="coordinates N", ylabel="a step (us)", title="cost of a step")
    panels[1].set(xlabel="coordinates N", ylabel="set-up (s)", title="set-up and compile time, empty cache")
    for axes in panels:
        axes.grid(which="both", alpha=0.2)
        axes.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


METHODS = {  # colours as in flexarm.plotting, and markers to be told apart in grey
    "auto": ("black", "*"),
    "esdirk": ("#0b3c5d", "o"),
    "dop853": ("#d1495b", "s"),
    "generalized-alpha": ("#2e8b57", "^"),
    "newmark": ("#a86e00", "v"),
    "rk45": ("#6a4c93", "D"),
    "rk4": ("#00798c", "P"),
    "adams": ("0.4", "x"),
    "bdf": ("0.6", "+"),
}


def by_method(title: str, points: Sequence[Point], path: Path) -> None:
    """Error against the time of the solver loop, a line for each method; that of the default lies on others."""
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    for name, (colour, marker) in METHODS.items():
        own = [point for point in points if point.method == name]
        look = {"linestyle": "", "markersize": 11, "fillstyle": "none"} if name == "auto" else {"markersize": 5}
        if own:
            axes.loglog(
                [1e3 * point.loop for point in own],
                [1e3 * point.error for point in own],
                color=colour,
                marker=marker,
                linewidth=1.2,
                label=name,
                **look,
            )
    axes.set(xlabel="solver loop (ms)", ylabel="largest error of the tip (mm)", title=title)
    axes.grid(which="both", alpha=0.2)
    figure.legend(loc="outside lower center", ncols=5, fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def frontier(ways: Sequence[Way], apart: float, path: Path) -> None:
    """W3: error against work, colours by shapes and markers by method."""
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    shapes = list(dict.fromkeys(way.shapes for way in ways))
    colours = dict(zip(shapes, ["0.6", "black", "#d1495b", "#a86e00", "#0b3c5d", "#2e8b57"]))
    for way in ways:
        axes.loglog(1e-6 * way.instructions, 1e3 * way.error, color=colours[way.shapes], marker=METHODS[way.method][1])
    for name, colour in colours.items():
        axes.plot([], [], "s", color=colour, label=name)
    for method in dict.fromkeys(way.method for way in ways):
        axes.plot([], [], METHODS[method][1], color="0.3", fillstyle="none", label=method)
    axes.axhline(1e3 * apart, color="0.6", linewidth=0.8, linestyle="--", label="references apart")
    axes.set(xlabel="millions of instructions", ylabel="largest error of the tip (mm)")
    axes.set_title("W3: shapes and methods")
    axes.grid(which="both", alpha=0.2)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)
