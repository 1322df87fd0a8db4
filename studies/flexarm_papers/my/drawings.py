"""Pictures of the robots: their axes and parameters, the nine of the appendix, and how they move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.foundation.validation import Array
from flexarm.plotting.animate import Snapshots
from flexarm.plotting.arm_artist import GROUND_COLOUR, PAYLOAD_COLOUR, ArmView, Sketch
from flexarm.plotting.arm_points import Arm
from flexarm.plotting.colours import COMPARISON_COLOUR, JOINT_COLOUR, LINE_STYLES
from flexarm.plotting.style import Picture
from flexarm_papers.my.robots import ELEMENTS, NINE, posed

FIRST, SECOND, HELD = (LINE_STYLES[k][0] for k in (1, 0, 3))  # links 1 and 2, what is held
CARRIAGE = "0.55"  # slides and guides


def nine_pictures() -> Picture:
    """The robots of the appendix."""
    poses = [(posed(*kinds, bend=0.0), posed(*kinds)) for kinds in NINE]
    arms = [[Arm(system, q[None]) for system, q in pair] for pair in poses]
    view = ArmView.fit(np.concatenate([arm.cloud for pair in arms for arm in pair]))
    across, up = (view.high - view.low)[:2]
    figure = Picture(figsize=(10.5, 9.6 * up / across + 1.2))
    for number, (kinds, (straight, bent)) in enumerate(zip(NINE, arms, strict=True), start=1):
        plot = view.plot(figure, 3, 3, number)
        Sketch(plot, view, straight, width=1.3, twin=True).show(0)
        Sketch(plot, view, bent, width=2.2).show(0)
        plot.set_title("".join(kinds), fontsize=11)
        plot.label_outer()
    return figure


# --- axes and parameters ---


def parameters() -> Picture:
    """Both robots of section 4.5 with their symbols; not to scale across the links."""
    figure = Picture(figsize=(10.0, 4.3))
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
    _draw_par(left)
    _draw_rpb(right)
    return figure


def _draw_par(plot: Any) -> None:
    slide, hinge, angle = np.array([0.35, 0.0]), np.array([0.35, 0.3]), np.deg2rad(40.0)
    along = np.array([np.cos(angle), np.sin(angle)])
    tip = hinge + 0.8 * along
    _ground(plot, (0.0, 0.0), 0.95, 0.5)
    plot.plot([-0.05, 0.85], [0, 0], color=GROUND_COLOUR, linewidth=1.0, linestyle=(0, (6, 3)))
    _box(plot, slide, 0.09, 0.05)
    plot.plot(*zip(slide, hinge, strict=True), color=FIRST, linewidth=5, solid_capstyle="round")
    _mesh(plot, hinge, tip, ELEMENTS["C_PaR"])
    plot.plot(*tip, color=PAYLOAD_COLOUR, marker="o", markersize=9, zorder=6)
    plot.plot(*hinge, color=JOINT_COLOUR, marker="o", markerfacecolor="white", markersize=8)
    _length(plot, (0.0, -0.12), (slide[0], -0.12), "$d_1$")
    _length(plot, slide - [0.13, 0], hinge - [0.13, 0], "$l_1$", side=-1)
    across = 0.11 * np.array([along[1], -along[0]])
    _length(plot, hinge + across, tip + across, "$l_2$")
    _arc(plot, hinge, 0.22, 90, 40)
    ahead = np.add(hinge, [0, 0.33])
    plot.plot(*zip(hinge, ahead, strict=True), color="0.6", linewidth=0.8, linestyle=":")
    plot.annotate(r"$\theta_2$, negative here", ahead, (-46, 4), textcoords="offset points")
    _arc(plot, slide, 0.12, 0, 90, r"$\gamma_1$")
    plot.annotate("$m_t$", tip, (6, 6), textcoords="offset points")
    plot.annotate("link 1, rigid", slide, (30, -16), textcoords="offset points", color=FIRST)
    plot.annotate("link 2, 3 elements", hinge + 0.7 * along, (-118, 10), textcoords="offset points", color=SECOND)
    _finish(plot, "C_PaR", (-0.15, 1.15), (-0.25, 1.0))


def _draw_rpb(plot: Any) -> None:
    angle = np.deg2rad(20.0)
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    root, guide = np.array([0.0, 0.0]), 0.3 * along
    rear, tip = guide - 0.5 * along, guide + 0.3 * along  # d_2 = 0.3 m of 0.8 m
    _ground(plot, root, 0.85, 0.11)
    plot.plot(*zip(root, guide, strict=True), color=FIRST, linewidth=9, alpha=0.55, solid_capstyle="round")
    _mesh(plot, rear, tip, ELEMENTS["C_RPb"])
    nodes = [rear + 0.8 * along * k / 5 for k in (3, 4)]
    plot.plot(*zip(*nodes, strict=True), color=HELD, linewidth=4, zorder=4, solid_capstyle="butt")
    plot.plot(
        *zip(*nodes, strict=True), color=HELD, linestyle="", marker="|", markersize=15, markeredgewidth=2, zorder=5
    )
    _box(plot, guide, 0.05, 0.07, angle)
    plot.plot(*tip, color=PAYLOAD_COLOUR, marker="o", markersize=9, zorder=6)
    plot.plot(*root, color=JOINT_COLOUR, marker="o", markerfacecolor="white", markersize=8, zorder=6)
    _length(plot, guide + 0.17 * across, tip + 0.17 * across, "$d_2$", side=-1)
    _length(plot, rear + 0.17 * across, guide + 0.17 * across, "$l_2 - d_2$", side=-1)
    _length(plot, root - 0.13 * across, guide - 0.13 * across, "$l_1$")
    _arc(plot, root, 0.7, 0, 20, r"$\theta_1$")
    plot.annotate("$m_t$", tip, (4, 8), textcoords="offset points")
    plot.annotate("link 1, rigid", root, (-8, -66), textcoords="offset points", color=FIRST)
    plot.annotate("link 2, 5 elements", rear, (-8, -24), textcoords="offset points", color=SECOND)
    told = "element $k$ in the guide:\nboth nodes held"
    where = (np.mean(nodes, axis=0) - 0.04 * across, (-24, -84))
    arrow = {"arrowstyle": "-", "color": HELD, "linewidth": 0.8}
    plot.annotate(told, where[0], where[1], textcoords="offset points", color=HELD, arrowprops=arrow)
    _finish(plot, r"C_RPb ($\gamma_2$ = 0)", (-0.35, 0.95), (-0.3, 0.55))


def _ground(plot: Any, origin: Any, across: float, up: float) -> None:
    """The axes of O_0."""
    arrow = {"arrowstyle": "->", "color": "0.3", "linewidth": 1.0}
    for end, label in (((across, 0.0), "$X_0$"), ((0.0, up), "$Y_0$")):
        to = np.add(origin, end)
        plot.annotate("", to, origin, arrowprops=arrow)
        plot.annotate(label, to, (3, 3), textcoords="offset points", color="0.3")
    plot.annotate("$O_0$", origin, (-8, -18), textcoords="offset points", color="0.3")


def _mesh(plot: Any, start: Array, end: Array, count: int) -> None:
    """A link with the nodes of its elements."""
    nodes = np.linspace(start, end, count + 1)
    plot.plot(*nodes.T, color=SECOND, linewidth=2.2, marker="o", markersize=4, zorder=3)


def _box(plot: Any, middle: Array, half: float, tall: float, angle: float = 0.0) -> None:
    """A slide or a guide: open, so that what is in it is seen."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * [half, tall]
    plot.plot(*(middle + corners @ turn.T).T, color=CARRIAGE, linewidth=1.6, zorder=2.5)


def _length(plot: Any, start: Any, end: Any, label: str, side: int = 1) -> None:
    """A length between two points; its label below the line, or above it (-1)."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    arrow = {"arrowstyle": "<->", "color": "0.35", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
    plot.annotate("", end, start, arrowprops=arrow)
    step = end - start
    away = 11 * side * np.array([step[1], -step[0]]) / np.linalg.norm(step)
    middle = (start + end) / 2
    plot.annotate(label, middle, away, textcoords="offset points", ha="center", va="center")


def _arc(plot: Any, middle: Array, radius: float, start: float, end: float, label: str = "") -> None:
    """An angle (degrees), with its label beside the middle of the arc."""
    angles = np.deg2rad(np.linspace(start, end, 40))
    points = middle + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    plot.plot(*points.T, color="0.35", linewidth=0.9)
    plot.annotate("", points[-1], points[-2], arrowprops={"arrowstyle": "->", "color": "0.35", "linewidth": 0.9})
    half = points[len(points) // 2]
    away = 8 * (half - middle) / radius
    plot.annotate(label, half, away, textcoords="offset points", va="center")


def _finish(plot: Any, title: str, across: tuple[float, float], up: tuple[float, float]) -> None:
    plot.set_title(title, fontsize=11)
    plot.set_xlim(*across)
    plot.set_ylim(*up)
    plot.set_aspect("equal")
    plot.axis("off")


# --- motions ---


def poses(run: fa.Run, rigid: fa.Run, times: Sequence[float], magnify: float, columns: int) -> Picture:
    """One panel for each time: both links, slide or guide, the way of the tip so far; the rigid robot in grey."""
    chosen = np.asarray(times, dtype=float)
    own, theirs = Snapshots(run, magnify), Snapshots(rigid)
    arm, twin, (when, way) = own.arm(chosen), theirs.arm(chosen), own.tip_path(chosen)
    cloud = np.concatenate([arm.cloud, twin.cloud, way])
    view, margin = ArmView.fit(cloud), np.array([0.06, 0.06, 0.0])
    view = ArmView(view.axes, cloud.min(axis=0) - margin, cloud.max(axis=0) + margin)
    across, up = (view.high - view.low)[:2]
    rows = -(-len(times) // columns)
    width = 10.0 if columns > 1 else 7.5
    figure = Picture(figsize=(width, rows * (width / columns - 0.5) * up / across + 0.8))
    for k, time in enumerate(chosen):
        plot = view.plot(figure, rows, columns, k + 1)
        for rail in arm.rails:
            plot.plot(*view.data(rail), color=GROUND_COLOUR, linewidth=0.8, linestyle=(0, (6, 3)), zorder=1)
        plot.plot(*view.data(way[when <= time]), color=PAYLOAD_COLOUR, linewidth=0.7, alpha=0.6, label="way of the tip")
        for number, points in enumerate(twin.links.values()):
            plot.plot(
                *view.data(points[k]), color=COMPARISON_COLOUR, linewidth=1.0, label="" if number else "rigid robot"
            )
        for (name, points), colour, thick in zip(arm.links.items(), (FIRST, SECOND), (4.5, 1.8), strict=True):
            label = f"link {name.removeprefix('link')}"
            plot.plot(*view.data(points[k]), color=colour, linewidth=thick, solid_capstyle="round", label=label)
        for start, end in arm.guides[k]:
            middle, step = (start + end)[:2] / 2, (end - start)[:2]
            _box(plot, middle, float(np.linalg.norm(step)) / 3, 0.02, float(np.arctan2(step[1], step[0])))
        for hinge in arm.hinges[k]:
            plot.plot(*hinge[:2], color=JOINT_COLOUR, marker="o", markerfacecolor="white", markersize=5, zorder=6)
        for mass in arm.masses[k]:
            plot.plot(*mass[:2], color=PAYLOAD_COLOUR, marker="o", markersize=6, zorder=6)
        plot.set_title(f"t = {time:g} s", fontsize=10)
        plot.label_outer()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    return figure
