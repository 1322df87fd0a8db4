"""Where a robot stands in its view: which way is up, the ground with its ruler, and from where all of it is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.robot import Robot

AXES = 0.06  # of the robot: length of the axes of its base


@dataclass(frozen=True)
class Ground:
    """The surroundings of a robot that is somewhere in a cloud of points.

    What is up for the robot is made the view's z: `turn` (angle, axis) leads from the robot's directions to the view's.
    All places are the view's, but `base`, which is the robot's.
    """

    turn: tuple[float, Array]
    low: Array
    high: Array
    base: tuple[float, ...]

    @staticmethod
    def of(robot: Robot, cloud: Array) -> Ground:
        turn = standing(upward(robot, cloud))
        seen = cloud @ rotation(*turn).T
        return Ground(turn, seen.min(axis=0), seen.max(axis=0), tuple(robot.base.position))

    @property
    def size(self) -> float:
        return float(max((self.high - self.low).max(), 1e-6))

    @property
    def cell(self) -> float:
        """How far lines of the ground are apart (m)."""
        return nice(self.size / 8)

    @property
    def extent(self) -> float:
        return float(self.cell * np.ceil(1.6 * self.size / self.cell))

    @property
    def middle(self) -> Array:
        found = np.round((self.low + self.high) / 2 / self.cell) * self.cell
        found[2] = self.low[2] - 0.03 * self.size
        return np.asarray(found)

    @property
    def axes(self) -> float:
        """Length of the axes at the base (m)."""
        return AXES * self.size

    def labels(self) -> list[tuple[str, Array]]:
        """Numbers along the ground in front of the robot, and how large its squares are, with their places."""
        step, middle = nice(self.size / 4), self.middle
        count = int(np.floor(0.75 * self.size / step))
        front = middle - np.array([0.0, np.round(0.4 * self.size / self.cell) * self.cell, 0.0])
        begin = np.round(middle[0] / step) * step
        places = [float(f"{begin + k * step:.6g}") for k in range(-count, count + 1)]
        found = [(f"{each:g} m", np.array([each, front[1], front[2]])) for each in places]
        return [*found, (f"squares of {self.cell:g} m", front - [0.0, 1.2 * self.cell, 0.0])]

    def camera(self) -> tuple[Array, Array]:
        """From where, and whereto, one looks first."""
        flat = self.high[2] - self.low[2] < 0.1 * self.size
        at = (self.low + self.high) / 2
        return at + self.size * np.array([0.0, -0.85 if flat else -1.15, 0.85 if flat else 0.45]), at


def upward(robot: Robot, cloud: Array) -> Array:
    """Against gravity; without any, across the plane in which the robot is, z unless it is another."""
    gravity = np.array(robot.gravity)
    if gravity.any():
        axis = int(np.abs(gravity).argmax())
        return np.asarray(-np.sign(gravity[axis]) * np.eye(3)[axis])
    flat = np.flatnonzero(np.ptp(cloud, axis=0) < 0.05 * np.ptp(cloud, axis=0).max())
    return np.asarray(np.eye(3)[2 if 2 in flat or not len(flat) else int(flat[0])])


def standing(up: Array) -> tuple[float, Array]:
    """Angle and axis of the turn that makes a direction along one of the axes point along z."""
    axis = np.cross(up, [0.0, 0.0, 1.0])
    if axis.any():
        return np.pi / 2, axis
    return (0.0 if up[2] > 0 else np.pi), np.array([1.0, 0.0, 0.0])


def rotation(angle: float, axis: Array) -> Array:
    """The matrix of a turn about a unit vector.

    >>> rotation(*standing(np.array([0.0, 1.0, 0.0]))).round(9) @ [0.0, 1.0, 0.0]
    array([0., 0., 1.])
    """
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def nice(size: float) -> float:
    """The nearest of 1, 2, 5, 10, 20, ... that is not smaller.

    >>> nice(0.13), nice(3.0)
    (0.2, 5.0)
    """
    power = 10.0 ** np.floor(np.log10(size))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= size * (1 - 1e-9)))
