"""Images of a robot in one posture after the other, all in one view."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.robot import Revolute
from flexarm.show.arm import Arm
from flexarm.show.pixels import pixels
from flexarm.show.sketch import PAYLOAD, Sketch
from flexarm.show.style import plain
from flexarm.show.view import View

TURNS = 12  # of each joint: postures from which it is seen where a robot may go
WIDTH = 6.0  # inches
DPI = 80


class Camera:
    """It shows where a robot can be when its joints turn from the posture q (nq,), and the `marks` (n, 3)."""

    def __init__(self, system: System, q: Array, marks: Array) -> None:
        self.system = system
        self.view = View.of(np.concatenate([Arm(system, _turned(system, q)).cloud, marks]))

    def image(self, q: Array, marks: Array, title: str = "") -> Any:
        """The posture q (nq,) and marks (n, 3) as an array (height, width, 3) of bytes."""
        figure, plot = self.view.figure(WIDTH)
        figure.set_dpi(DPI)
        Sketch(plot, self.view, Arm(self.system, q[None])).show(0)
        if len(marks):
            plot.plot(*self.view.data(marks), color=PAYLOAD, linestyle="", marker="x", markersize=9, zorder=5)
        plot.set_title(plain(title), loc="right", fontsize=10, fontfamily="monospace")
        return pixels(figure)


def _turned(system: System, q: Array) -> Array:
    """The posture and, where nothing closes a loop, others with one joint turned; links straight."""
    straight = np.where(system.elastic, 0.0, q)
    found = [straight]
    for link in system.robot.links if not system.constraints else ():
        if isinstance(link.joint, Revolute):
            for angle in np.linspace(-np.pi, np.pi, TURNS, endpoint=False):
                found.append(straight.copy())
                found[-1][system.joint(link.name).index] = angle
    return np.array(found)
