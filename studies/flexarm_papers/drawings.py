"""Drawings of the robots: joint axes, lengths, angles. Schematic, not to scale; symbols as the pages write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.validation import Array
from flexarm.plotting.colours import LINE_STYLES
from flexarm.plotting.style import Picture

LINK, TURN, LOAD = (LINE_STYLES[k][0] for k in (0, 1, 2))  # links; joint axes and angles; forces and torques
LINES = "0.35"  # dimensions and frames
LETTERS = 10.0  # pt

Point = tuple[float, float]


def moved(point: Any, *by: float) -> Array:
    return np.asarray(np.add(point, by))


class Sheet:
    """A plane to draw in, units of its own, the same along both axes."""

    def __init__(self, plot: Any, low: Point, high: Point, title: str = "") -> None:
        self.plot = plot
        plot.set_xlim(low[0], high[0])
        plot.set_ylim(low[1], high[1])
        plot.set_aspect("equal")
        plot.axis("off")
        if title:
            plot.set_title(title, fontsize=LETTERS)

    def line(self, *points: Any, colour: str = LINES, width: float = 0.9, dashes: Any = "-", over: float = 2) -> None:
        x, y = np.array(points, dtype=float).T
        self.plot.plot(x, y, color=colour, linewidth=width, linestyle=dashes, solid_capstyle="round", zorder=over)

    def link(self, *points: Any, rigid: bool = False) -> None:
        """A bar; rigid ones are drawn thicker."""
        self.line(*points, colour=LINK, width=6.0 if rigid else 3.2, over=3)

    def hinge(self, at: Any) -> None:
        self.plot.plot(
            *at, "o", markersize=9, markerfacecolor="white", markeredgecolor=LINK, markeredgewidth=1.8, zorder=5
        )

    def mass(self, at: Any) -> None:
        self.plot.plot(*at, "o", markersize=9, color=LINK, zorder=5)

    def words(self, at: Any, text: str, colour: str = "0.1", across: str = "center", up: str = "center") -> None:
        self.plot.text(*at, text, color=colour, ha=across, va=up, fontsize=LETTERS, zorder=6)

    def arrow(self, start: Any, end: Any, colour: str = LINES, both: bool = False, width: float = 1.1) -> None:
        style = {"arrowstyle": "<|-|>" if both else "-|>", "color": colour, "linewidth": width}
        style |= {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 10}
        self.plot.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=style, zorder=4)

    def dimension(self, start: Any, end: Any, text: str, off: float) -> None:
        """A length between two points, drawn `off` to the left of the way from one to the other."""
        start, end = np.array(start, dtype=float), np.array(end, dtype=float)
        along = (end - start) / np.linalg.norm(end - start)
        aside = off * np.array([-along[1], along[0]])
        for point in (start, end):
            self.line(point + 0.15 * aside, point + 1.08 * aside, width=0.6)
        self.arrow(start + aside, end + aside, both=True, width=0.8)
        self.along((start + end) / 2 + aside, along, text)

    def along(self, at: Any, way: Any, text: str) -> None:
        """Words along a line, to be read from below or from the right."""
        turn = 90 - (90 - np.rad2deg(np.arctan2(way[1], way[0]))) % 180
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        placed = {"ha": "center", "va": "center", "rotation": turn, "rotation_mode": "anchor"}
        self.plot.text(*at, text, fontsize=LETTERS, bbox=box, zorder=6, **placed)

    def angle(self, centre: Any, radius: float, start: float, end: float, text: str, out: float = 1.3) -> None:
        """A turn from one direction to another (rad), its name in the middle of the arc."""
        phi = np.linspace(start, end, 60)
        arc = np.array(centre) + radius * np.stack([np.cos(phi), np.sin(phi)], axis=1)
        self.line(*arc[:-4], colour=TURN, width=1.2)
        self.arrow(arc[-6], arc[-1], TURN)
        middle = (start + end) / 2
        self.words(np.array(centre) + out * radius * np.array([np.cos(middle), np.sin(middle)]), text, TURN)

    def ground(self, at: Any, width: float, up: float = np.pi / 2) -> None:
        """A hatched wall or floor through a point; `up` points away from it."""
        out = np.array([np.cos(up), np.sin(up)])
        along, at = np.array([out[1], -out[0]]), np.array(at, dtype=float)
        self.line(at - width / 2 * along, at + width / 2 * along, width=1.4)
        for place in np.linspace(-0.5, 0.4, 7):
            foot = at + place * width * along
            self.line(foot, foot + 0.12 * width * (along - out), width=0.7)

    def frame(self, at: Any, size: float, names: Point | tuple[str, str], turn: float = 0.0) -> None:
        """Two axes with their names."""
        for k, name in enumerate(names):
            way = np.array([np.cos(turn + k * np.pi / 2), np.sin(turn + k * np.pi / 2)])
            self.arrow(at, np.array(at) + size * way)
            self.words(np.array(at) + 1.18 * size * way, str(name), LINES)


class Oblique(Sheet):
    """The same of space: x to the right, z up, y away from the reader, shortened."""

    DEPTH = np.array([0.42, 0.27])

    def at(self, x: float, y: float, z: float) -> Array:
        return np.asarray(np.array([x, z]) + y * self.DEPTH)

    def axis(
        self, centre: Any, way: Any, text: str, behind: float = 0.8, reach: float = 1.0, across: str = "center"
    ) -> None:
        """A joint axis: a chain line from behind a point (x, y, z) to beyond it, and the way in which it turns."""
        centre, way = np.array(centre, dtype=float), np.array(way, dtype=float)
        ends = [self.at(*(centre + s * way)) for s in (-behind, reach)]
        self.line(*ends, colour=TURN, width=1.0, dashes=(0, (8, 2, 2, 2)), over=4)
        self.turning(centre + 0.72 * reach * way, way)
        self.words(self.at(*(centre + (reach + 0.28) * way)), text, TURN, across)

    def turning(self, centre: Any, way: Any, radius: float = 0.3, colour: str = TURN) -> None:
        """Three quarters of a circle about an axis, in the sense of a positive turn."""
        way = np.array(way, dtype=float) / np.linalg.norm(way)
        across = np.cross(way, [0.0, 0.0, 1.0] if abs(way[2]) < 0.9 else [1.0, 0.0, 0.0])
        across /= np.linalg.norm(across)
        third = np.cross(way, across)
        phi = np.linspace(0.3, 0.3 + 1.5 * np.pi, 60)
        ring = [self.at(*(np.array(centre) + radius * (np.cos(p) * across + np.sin(p) * third))) for p in phi]
        self.line(*ring[:-3], colour=colour, width=1.1, over=5)
        self.arrow(ring[-6], ring[-1], colour)


def _bent(start: Any, turn: float, length: float, rise: float, points: int = 40) -> Array:
    """A cantilever that leaves its root along `turn`, its end off by `rise`."""
    x = np.linspace(0, length, points)
    y = rise * (3 * (x / length) ** 2 - (x / length) ** 3) / 2
    c, s = np.cos(turn), np.sin(turn)
    return np.asarray(np.array(start) + np.stack([c * x - s * y, s * x + c * y], axis=1))


# --- the spatial manipulators ---


def rotating_beam() -> Picture:
    """Section 4.1: a beam whose root turns as prescribed."""
    figure = Picture(figsize=(6.2, 2.9))
    sheet = Sheet(figure.subplots(), (-1.6, -0.9), (10.4, 4.9))
    turn, length = 0.42, 8.0
    way, up = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    beam = _bent((0, 0), turn, length, -1.5)
    sheet.frame((0, 0), 2.2, ("$X$", "$Y$"))
    sheet.line((0, 0), 9.0 * way, dashes=(0, (6, 3)))
    sheet.words(9.3 * way, "$x$", LINES)
    sheet.link(*beam)
    sheet.ground((0, -0.3), 1.4)
    sheet.hinge((0, 0))
    sheet.angle((0, 0), 3.4, 0.0, turn, r"$\theta(t)$", out=1.18)
    sheet.arrow(length * way, beam[-1], LOAD)
    sheet.words(length * way - 0.75 * up + 0.6 * way, "$u_y < 0$", LOAD)
    sheet.dimension((0, 0), length * way, "$L_1$ = 8 m", 1.2)
    sheet.arrow(6.4 * way, 6.4 * way + 0.85 * up)
    sheet.words(6.7 * way + 0.6 * up, "$y$", LINES)
    return figure


def canadarm2(boom: float, offset: float, wrist: tuple[float, float, float]) -> Picture:
    """Section 4.2: two booms and a wrist of three links; the posture at the start, and an elastic joint."""
    figure = Picture(figsize=(8.4, 4.9))
    sheet = Oblique(figure.subplots(), (-3.3, -1.8), (15.2, 7.9))
    turn, aside = 0.4 * np.pi, -1.5  # the offset is drawn larger, towards the reader
    level = np.array([0.0, -1.0, 0.0])
    out, high = 6.0 * np.cos(turn), 6.0 * np.sin(turn)
    elbow = np.array([out, 0.0, high])
    lower = moved(elbow, 0.0, aside, 0.0)
    pitch, yaw, roll, tip = (moved(lower, x, 0.0, 0.0) for x in (5.6, 7.0, 8.5, 10.4))
    sheet.ground((0, -0.25), 1.8)
    sheet.line(sheet.at(0, 0, 0), sheet.at(*(1.35 * elbow)), dashes=(0, (6, 3)))
    sheet.line(sheet.at(0, 0, 0), sheet.at(3.0, 0, 0), dashes=(0, (6, 3)))
    sheet.link(sheet.at(0, 0, 0), sheet.at(*elbow))
    sheet.link(sheet.at(*elbow), sheet.at(*lower), rigid=True)
    sheet.link(sheet.at(*lower), sheet.at(*pitch))
    sheet.link(sheet.at(*pitch), sheet.at(*tip), rigid=True)
    for number, centre in enumerate(((0.0, 0.0, 0.0), lower, pitch), 1):
        name = {1: "shoulder, $q_{21}$", 2: "elbow, $q_{22}$", 3: "pitch, $q_{23}$"}[number]
        sheet.axis(centre, level, name, behind=3.2 if number == 2 else 1.4, reach=2.4, across="right")
    sheet.axis(yaw, (0, 0, 1), "yaw, $q_{24}$", behind=1.0, reach=1.7)
    sheet.axis(roll, (1, 0, 0), "roll, $q_{25}$", behind=0.0, reach=3.6, across="left")
    for joint in ((0.0, 0.0, 0.0), lower, pitch, yaw, roll):
        sheet.hinge(sheet.at(*joint))
    sheet.angle(sheet.at(0, 0, 0), 1.9, 0.0, turn, r"$0.4\,\pi$", out=1.3)
    sheet.angle(sheet.at(*elbow), 1.5, turn, 0.0, r"$-0.4\,\pi$", out=1.4)
    along = np.array([np.cos(turn), np.sin(turn)])
    sheet.along(3.2 * along - 0.45 * np.array([along[1], -along[0]]), along, f"upper boom, {boom:g} m")
    sheet.dimension(sheet.at(*pitch), sheet.at(*lower), f"lower boom, {boom:g} m", 2.2)
    for start, end, length in zip((pitch, yaw, roll), (yaw, roll, tip), wrist):
        sheet.dimension(sheet.at(*end), sheet.at(*start), f"{length:.2f}", 2.2)
    sheet.words(moved((sheet.at(*elbow) + sheet.at(*lower)) / 2, -0.05, 0.6), f"$d$ = {offset:g} m", across="right")
    sheet.arrow((13.9, 4.4), (13.9, 2.8), LOAD)
    sheet.words((14.15, 3.6), "$g$", LOAD, "left")
    corner = np.array([-2.9, 6.0])
    sheet.frame(corner, 1.2, ("$x$", "$z$"))
    sheet.arrow(corner, corner + 2.4 * Oblique.DEPTH)
    sheet.words(corner + 3.0 * Oblique.DEPTH, "$y$", LINES)
    _elastic_joint(sheet, (5.6, 0.1))
    return figure


def _elastic_joint(sheet: Sheet, at: Point) -> None:
    """Rotor, spring, link: what each joint is."""
    x, y = at
    sheet.line((x, y - 0.5), (x + 1.0, y - 0.5), (x + 1.0, y + 0.5), (x, y + 0.5), (x, y - 0.5), colour=LINK, width=1.6)
    sheet.words((x + 0.5, y), "$J_r$")
    coil = np.linspace(0, 1, 9)
    spring = np.stack([x + 1.4 + 1.6 * coil, y + 0.28 * np.resize([0, 1, 0, -1], 9)], axis=1)
    sheet.line((x + 1.0, y), *spring, (x + 3.4, y), colour=LINK, width=1.6)
    sheet.words((x + 2.2, y + 0.65), "$K_t$")
    sheet.link((x + 3.4, y), (x + 5.2, y))
    sheet.words((x + 0.5, y - 0.95), "motor, $q_{1i}$", TURN)
    sheet.words((x + 4.6, y - 0.95), "link, $q_{2i}$", TURN)
    sheet.words((x + 2.6, y - 1.5), r"each joint: $\epsilon_i = q_{2i} - q_{1i}$", TURN)


# --- Moolam, Braghin and Vicentini ---


def rrr_arm(lengths: tuple[float, ...], torque: float, stiffness: float) -> Picture:
    """The posture at the start, as chosen."""
    figure = Picture(figsize=(8.0, 3.1))
    sheet = Oblique(figure.subplots(), (-2.2, -1.0), (10.4, 3.4))
    foot, top, elbow, tip = (0.0, 0.0, 0.0), (0.0, 0.0, 1.5), (4.0, 0.0, 1.5), (7.5, 0.0, 1.5)
    sheet.ground((0, -0.2), 1.5)
    sheet.link(*(sheet.at(*point) for point in (foot, top, elbow, tip)))
    sheet.axis(foot, (0, 0, 1), r"$\theta_1$", behind=0.0, reach=2.8)
    sheet.axis(top, (0, 1, 0), r"$\theta_2$", behind=1.2, reach=2.0)
    sheet.axis(elbow, (0, 1, 0), r"$\theta_3$", behind=1.2, reach=2.0)
    for point in (foot, top, elbow):
        sheet.hinge(sheet.at(*point))
    sheet.dimension(sheet.at(*foot), sheet.at(*top), f"{lengths[0]:g} m", 1.1)
    sheet.dimension(sheet.at(*elbow), sheet.at(*top), f"upper, {lengths[1]:g} m", 0.9)
    sheet.dimension(sheet.at(*tip), sheet.at(*elbow), f"fore, {lengths[2]:g} m", 0.9)
    sheet.arrow(sheet.at(*tip), sheet.at(8.7, 0, 1.5))
    sheet.arrow(sheet.at(*tip), sheet.at(7.5, 0, 2.6))
    sheet.arrow(sheet.at(*tip), sheet.at(7.5, 2.0, 1.5))
    sheet.words(sheet.at(8.95, 0, 1.5), "$X$", LINES)
    sheet.words(sheet.at(7.5, 0, 2.82), "$Z$", LINES)
    sheet.words(sheet.at(7.5, 2.5, 1.5), "$Y$", LINES)
    sheet.words((5.2, -0.55), f"every joint: torque {torque:g} N m on the motor, spring of {stiffness:g} N m/rad", LOAD)
    return figure


# --- Bien and My ---


def planar_links(length: float, fore_length: float) -> Picture:
    """A link on a hinge, two links on hinges, a link on a slide."""
    figure = Picture(figsize=(8.6, 2.7))
    plots = figure.subplots(1, 3, width_ratios=(1.0, 1.25, 1.0))
    _on_a_hinge(plots[0], length)
    _two_links(plots[1], length, fore_length)
    _on_a_slide(plots[2], length)
    return figure


def _on_a_hinge(plot: Any, length: float) -> None:
    sheet = Sheet(plot, (-0.3, -0.3), (1.4, 1.0), "link on a hinge")
    turn = 0.55
    way = np.array([np.cos(turn), np.sin(turn)])
    _nodes(sheet, _bent((0, 0), turn, 1.0, -0.22), 4)
    sheet.frame((0, 0), 0.45, ("$X$", "$Y$"))
    sheet.line((0, 0), 1.25 * way, dashes=(0, (6, 3)))
    sheet.hinge((0, 0))
    sheet.angle((0, 0), 0.4, 0.0, turn, "$q_1$")
    end = _bent((0, 0), turn, 1.0, -0.22)[-1]
    sheet.arrow(way, end, LOAD)
    sheet.words(moved((way + end) / 2, 0.11, 0.02), "$u$", LOAD)
    sheet.dimension((0, 0), way, f"$L_1$ = {length:g} m", 0.22)
    sheet.mass(end)
    sheet.words(moved(end, 0.02, -0.14), "$m_t$")
    sheet.words((-0.17, -0.16), r"$\tau_1$", LOAD)


def _two_links(plot: Any, length: float, fore_length: float) -> None:
    sheet = Sheet(plot, (-0.3, -0.3), (1.8, 1.0), "two links on hinges")
    first = _bent((0, 0), 0.35, 1.0, -0.12)
    slope = float(np.arctan2(*(first[-1] - first[-2])[::-1]))
    bend = slope + 0.75
    second = _bent(first[-1], bend, 0.6, -0.06)
    sheet.link(*first)
    sheet.link(*second)
    sheet.frame((0, 0), 0.45, ("$X$", "$Y$"))
    sheet.line((0, 0), 0.85 * np.array([np.cos(0.35), np.sin(0.35)]), dashes=(0, (6, 3)))
    sheet.line(first[-1], first[-1] + 0.62 * np.array([np.cos(slope), np.sin(slope)]), dashes=(0, (6, 3)))
    sheet.hinge((0, 0))
    sheet.hinge(first[-1])
    sheet.angle((0, 0), 0.72, 0.0, 0.3, "$q_1$", out=1.14)
    sheet.angle(first[-1], 0.32, slope, bend, "$q_2$", out=1.4)
    sheet.words((0.52, 0.42), f"upper,\n{length:g} m")
    sheet.words(moved(second[20], -0.27, 0.1), f"fore,\n{fore_length:g} m")
    sheet.mass(second[-1])
    sheet.words(moved(second[-1], 0.16, 0.02), "$m_t$")
    sheet.words((-0.17, -0.16), r"$\tau_1$", LOAD)
    sheet.words(moved(first[-1], 0.02, -0.18), r"$\tau_2$", LOAD)


def _on_a_slide(plot: Any, length: float) -> None:
    sheet = Sheet(plot, (-0.45, -0.3), (1.25, 1.0), "link on a slide")
    root = np.array([0.0, 0.5])
    link = _bent(root, 0.0, 1.0, -0.22)
    sheet.line((-0.06, -0.28), (-0.06, 0.98), width=1.4)
    sheet.line((0.06, -0.28), (0.06, 0.98), width=1.4)
    sheet.line(root, moved(root, 1.15, 0), dashes=(0, (6, 3)))
    _nodes(sheet, link, 4)
    sheet.line(moved(root, 0, -0.12), moved(root, 0, 0.12), colour=LINK, width=9.0, over=4)
    sheet.frame((0.2, -0.25), 0.35, ("$X$", "$Y$"))
    sheet.arrow((-0.2, -0.25), (-0.2, 0.5), TURN)
    sheet.words((-0.32, 0.12), "$q_1$", TURN)
    sheet.arrow(moved(root, -0.2, 0.08), moved(root, -0.2, 0.42), LOAD)
    sheet.words(moved(root, -0.32, 0.28), "$F$", LOAD)
    sheet.arrow(moved(root, 1.0, 0), link[-1], LOAD)
    sheet.words(moved(root, 1.12, -0.1), "$u$", LOAD)
    sheet.dimension(root, moved(root, 1.0, 0), f"$L_1$ = {length:g} m", 0.22)
    sheet.mass(link[-1])
    sheet.words(moved(link[-1], -0.02, -0.14), "$m_t$")


def _nodes(sheet: Sheet, link: Array, elements: int) -> None:
    """A link with the nodes between its elements."""
    sheet.link(*link)
    for k in np.linspace(0, len(link) - 1, elements + 1).round().astype(int)[1:-1]:
        sheet.plot.plot(*link[k], "|", color="white", markersize=7, markeredgewidth=1.6, zorder=4)


# --- Pan, Scott and Ulsoy ---


def supported_beam(length: float, span: float) -> Picture:
    """Section 5: the beam at the start of a push, bent by the load that is taken away at t = 0."""
    figure = Picture(figsize=(7.6, 2.8))
    sheet = Sheet(figure.subplots(), (-9.4, -2.8), (4.5, 2.3))
    left, right, first, second = -7.25, 3.2, 0.0, 2.5
    x = np.linspace(left, right, 120)
    rise = np.where(x < first, 1.4 * (x / left) ** 2 * (3 - x / left) / 2, -0.06 * np.sin(np.pi * x / (second - first)))
    sheet.line((left, 0), (4.0, 0), dashes=(0, (6, 3)))
    sheet.link(*np.stack([x, np.where(x > second, 0.075 * (x - second), rise)], axis=1))
    for place in (first, second):
        for up, marker in ((-0.36, "^"), (0.36, "v")):
            sheet.plot.plot(place, up, marker, color="0.45", markersize=11, zorder=4)
        sheet.ground((place, -0.68), 0.9)
    sheet.words((left - 0.1, 1.85), "$H$")
    sheet.words((right + 0.25, 0.4), "$E$")
    sheet.arrow((left, 0), (left, 1.32), TURN)
    sheet.words((left - 0.2, 0.7), "rise", TURN, "right")
    sheet.dimension((first, 0), (left, 0), "$W(t)$", 1.3)
    sheet.dimension((second, 0), (first, 0), f"$D$ = {span:g} m", 1.3)
    sheet.dimension((right, 0), (left, 0), f"$L$ = {length:g} m", 2.3)
    sheet.arrow((left - 1.9, 1.4), (left - 0.2, 1.4), LOAD, width=1.8)
    sheet.words((left - 1.2, 1.85), "drive", LOAD)
    sheet.arrow((0.2, 1.5), (2.3, 1.5), LINES)
    sheet.words((1.2, 1.85), "push: $W$ falls", LINES)
    sheet.words((4.2, 0.0), "$x$", LINES)
    return figure


def sleeve_on_a_hinge(carrier: float, length: float) -> Picture:
    """A rigid link with a sleeve, turned by theta, and a beam in it that is pushed to and fro by s."""
    figure = Picture(figsize=(7.6, 3.6))
    sheet = Sheet(figure.subplots(), (-1.2, -2.1), (12.4, 4.2))
    turn = 0.3
    way = np.array([np.cos(turn), np.sin(turn)])
    aside = np.array([-way[1], way[0]])
    end, mouth, tip = 2.6, 6.0, 11.0
    for side in (-1, 1):
        sheet.line(0.3 * side * aside, (mouth - 0.35) * way + 0.3 * side * aside, colour=LINK, width=2.4)
    x = np.linspace(end, tip, 160)
    inside, out = (x - end) / (mouth - end), (x - mouth) / (tip - mouth)
    sag = np.where(x < mouth, 0.675 * inside**2 * (1 - inside), -(out + out**2))  # with one slope at the mouth
    sheet.link(*(x[:, None] * way + sag[:, None] * aside))
    block = [end * way + dx * way + dy * aside for dx, dy in ((-0.2, -0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2))]
    sheet.line(*block, block[0], colour=LINK, width=2.0, over=4)
    for side, down in ((1, 180), (-1, 0)):
        at = mouth * way + 0.36 * side * aside
        sheet.plot.plot(*at, marker=(3, 0, np.rad2deg(turn) + down), color="0.45", markersize=11, zorder=5)
    sheet.line((0, 0), (4.2, 0), dashes=(0, (6, 3)))
    sheet.line((0, 0), 12.2 * way, dashes=(0, (6, 3)))
    sheet.ground((0, -0.35), 1.6)
    sheet.hinge((0, 0))
    sheet.angle((0, 0), 3.4, 0.0, turn, r"$\theta$", 1.12)
    sheet.dimension((0, 0), end * way, "$s$", 1.0)
    sheet.dimension((0, 0), mouth * way, f"{carrier:g} m", 1.75)
    sheet.dimension(tip * way, end * way, f"$L$ = {length:g} m", 2.6)
    sheet.words(mouth * way + 0.8 * aside + 0.45 * way, "$D'$")
    sheet.words(1.3 * way - 0.75 * aside, "link 1", LINES)
    sheet.words(8.2 * way - 1.3 * aside, "link 2", LINES)
    return figure
