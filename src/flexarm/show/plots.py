"""Figures (matplotlib)."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.modes import ModeSet
from flexarm.beam.polynomials import Array
from flexarm.mechanics.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REST, BENT, JOINT = "0.65", "#0b5fa5", "0.15"
SWING = 0.15  # largest displacement drawn, as a fraction of the robot's size


def mode_shapes(modes: ModeSet, most: int = 4) -> Figure:
    """The first vibration modes of a robot, each drawn both ways against its posture at rest."""
    from matplotlib.figure import Figure

    chosen = [k for k, kind in enumerate(modes.kinds) if kind != "rigid body"][:most]
    if not chosen:
        raise ValueError(f"'{modes.system.robot.name}' has no vibration mode to draw: nothing in it is elastic")
    system, rest = modes.system, _axes(modes.system, modes.q)
    cloud = np.concatenate(list(rest.values()))
    flat = bool(np.ptp(cloud[:, 2]) < 1e-9) and _stays_flat(modes, chosen)
    size = float(np.ptp(cloud, axis=0).max())
    columns = min(2, len(chosen))
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(4.6 * columns, 2.9 * rows + 0.4), layout="constrained")
    for place, mode in enumerate(chosen):
        plot: Any = figure.add_subplot(rows, columns, place + 1, projection=None if flat else "3d")
        swings = _displacements(system, modes.q, modes.shapes[:, mode].real, SWING * size)
        for sign, style in ((1, "-"), (-1, ":")):
            for name, points in rest.items():
                moved = points + sign * swings[name]
                _draw(plot, moved, flat, color=BENT, linestyle=style, linewidth=1.8 if sign > 0 else 1.2)
        for points in rest.values():
            _draw(plot, points, flat, color=REST, linewidth=1.0, zorder=0)
            _draw(plot, points[:1], flat, color=JOINT, marker="o", markersize=3.5)
        plot.set_title(f"mode {mode + 1}: {modes.frequencies[mode]:.4g} Hz", fontsize=10)
        plot.set_xlabel("x (m)")
        plot.set_ylabel("y (m)")
        plot.set_aspect("equal", adjustable="datalim" if flat else "box")
        if not flat:
            plot.set_zlabel("z (m)")
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


def _stays_flat(modes: ModeSet, chosen: list[int]) -> bool:
    planar = {"q", "motor", "bend_y", "stretch"}
    kinds = [name.rsplit(".", 1)[1].split("[")[0] in planar for name in modes.names]
    return not np.abs(modes.shapes[~np.array(kinds)][:, chosen]).max(initial=0.0)


def _draw(plot: Any, points: Array, flat: bool, **style: Any) -> None:
    plot.plot(*(points[:, :2] if flat else points).T, **style)
