"""Which generalised coordinates a robot has, in which order, and what they are called.

Link by link in the robot's order: the joint `upper.q`, the motor behind an elastic drive `upper.motor`, then the
elastic coordinates `upper.bend_y[1]`, ..., and those of a part behind a joint that grips the link,
`upper.rear.bend_y[1]`, ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import suggestion
from flexarm.robot import Drive, Link, MovingJoint, Robot


@dataclass(frozen=True)
class Local:
    """Where one link's coordinates stand: all of them in the robot's vector, and each kind among the link's own."""

    start: int
    joint: int | None
    motor: int | None
    elastic: slice
    count: int

    @property
    def all(self) -> slice:
        return slice(self.start, self.start + self.count)

    def place(self, own: int | None) -> int:
        """Place in the robot's vector of one of the link's own coordinates, which it must have."""
        assert own is not None
        return self.start + own


class Coordinates:
    """Names and places of the coordinates; `inputs` are the links whose joint has an actuator.

    `units` are rad or m for joints and motors; elastic coordinates carry none of their own.
    `sizes` say what is large for each: one radian or metre of a joint, a deflection as long as its link.
    """

    def __init__(self, robot: Robot, integrals: list[LinkIntegrals], rears: Sequence[LinkIntegrals | None]) -> None:
        self.names: list[str] = []
        self.locals: list[Local] = []
        self.inputs: list[str] = []
        self._parts: list[tuple[int, list[LinkIntegrals]]] = []  # of each link: coordinates before its elastic ones
        self.units: list[str] = []
        self.input_units: list[str] = []
        actuated: list[int] = []
        for link, integral, rear in zip(robot.links, integrals, rears, strict=True):
            start = len(self.names)
            joint = motor = None
            if isinstance(link.joint, MovingJoint):
                joint = 0
                self.names.append(f"{link.name}.q")
                if elastic_drive(link):
                    motor = 1
                    self.names.append(f"{link.name}.motor")
                self.inputs.append(link.name)
                self.units += [link.joint.unit] * (2 if motor else 1)
                self.input_units.append("N m" if link.joint.unit == "rad" else "N")
                actuated.append(len(self.names) - 1)  # an actuator acts on the motor where there is one
            first = len(self.names) - start
            self._parts.append((first, [part for part in (integral, rear) if part is not None]))
            for part, prefix in ((integral, ""), (rear, "rear.")):
                if part is not None:
                    self.names += [f"{link.name}.{prefix}{name}" for name in part.coordinate_names]
                    self.units += ["1"] * part.count
            count = len(self.names) - start
            self.locals.append(Local(start, joint, motor, slice(first, count), count))
        self.count = len(self.names)
        self.input_matrix: Array = np.zeros((self.count, len(actuated)))
        self.input_matrix[actuated, range(len(actuated))] = 1.0

    @cached_property
    def sizes(self) -> list[float]:
        """What is large for each coordinate."""
        out: list[float] = []
        for first, parts in self._parts:
            out += [1.0] * first
            for part in parts:
                out += part.sizes.tolist()
        return out

    def index(self, name: str) -> int:
        """The place of a coordinate by its name."""
        if name not in self.names:
            raise KeyError(f"there is no coordinate '{name}'{suggestion(name, self.names)}")
        return self.names.index(name)

    def vector(self, values: Mapping[str, float] | Any | None, what: str) -> Array:
        """An array of coordinates from a mapping by name (the others zero), an array, or None (all zero)."""
        if values is None:
            return np.zeros(self.count)
        if isinstance(values, Mapping):
            out = np.zeros(self.count)
            for name, value in values.items():
                out[self.index(name)] = real_number(f"{what}['{name}']", value)
            return out
        return real_array(what, values)


def elastic_drive(link: Link) -> Drive | None:
    """The drive behind a link's joint if it is elastic: then its motor has a coordinate of its own."""
    drive = link.joint.drive if isinstance(link.joint, MovingJoint) else None
    return drive if drive is not None and drive.elastic else None
