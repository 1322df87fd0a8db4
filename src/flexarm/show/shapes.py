"""Mode shapes (matplotlib)."""

from __future__ import annotations

from textwrap import fill

import numpy as np

from flexarm.analysis.modes import ModeSet
from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.system import System
from flexarm.show.arguments import count
from flexarm.show.style import JOINT, STYLES, Picture
from flexarm.show.view import View

REST = "0.65"
SWING = 0.15  # largest displacement drawn, as a fraction of the robot's size


def plot_modes(modes: ModeSet, most: int = 4) -> Picture:
    """The first vibration modes of a robot, at `most` so many, each drawn both ways against its posture at rest."""
    if not isinstance(modes, ModeSet):
        raise TypeError(f"modes = {shown(modes)}: must be what fa.modes gives")
    most = count("most", most)
    chosen = [k for k, kind in enumerate(modes.kinds) if kind != "rigid body"][:most]
    if not chosen:
        raise ValueError(f"'{modes.system.robot.name}' has no vibration mode to draw: nothing in it is elastic")
    system, rest = modes.system, _axes(modes.system, modes.q)
    cloud = np.concatenate(list(rest.values()))
    size = float(np.ptp(cloud, axis=0).max())
    swings = [_displacements(system, modes.q, modes.shapes[:, mode].real, SWING * size) for mode in chosen]
    moves = [np.concatenate(list(swing.values())) for swing in swings]
    view = View.of(np.concatenate([cloud, *(cloud + move for move in moves), *(cloud - move for move in moves)]))
    columns = 2 if len(chosen) % 2 == 0 else 1  # no gaps
    rows = len(chosen) // columns
    figure = Picture(figsize=(4.6 * columns, view.height(4.6) * rows + 0.4))
    colour = STYLES[0][0]
    for place, (mode, swing) in enumerate(zip(chosen, swings, strict=True)):
        plot = view.plot(figure, rows, columns, place + 1)
        for sign, dashes in ((1, "-"), (-1, ":")):
            for name, points in rest.items():
                width = 1.8 if sign > 0 else 1.2
                plot.plot(*view.data(points + sign * swing[name]), color=colour, linestyle=dashes, linewidth=width)
        for points in rest.values():
            plot.plot(*view.data(points), color=REST, linewidth=1.0, zorder=0)
        for name, points in rest.items():
            hinge = (points + swing[name])[:1]  # where the swinging link has it
            plot.plot(*view.data(hinge), markeredgecolor=JOINT, markerfacecolor="white", marker="o", markersize=5)
        plot.set_title(f"mode {mode + 1}: {modes.frequencies[mode]:.4g} Hz", fontsize=10)
    title = fill(f"{system.robot.name}: vibration modes (displacements magnified)", 48 * columns)
    figure.suptitle(title, fontsize=11, parse_math=False)  # a $ in a name is a $
    return figure


def _axes(system: System, q: Array) -> dict[str, Array]:
    return {link.name: system.axis(link.name, q) for link in system.robot.links}


def _displacements(system: System, q: Array, shape: Array, most: float) -> dict[str, Array]:
    """Small displacements of every link's axis along a mode, magnified so that the largest is `most`."""
    step = 1e-6 * shape / np.abs(shape).max()
    ahead, behind = _axes(system, q + step), _axes(system, q - step)
    moves = {name: ahead[name] - behind[name] for name in ahead}
    largest = max(float(np.linalg.norm(move, axis=1).max()) for move in moves.values())
    return {name: move * (most / largest) for name, move in moves.items()}
