"""Which generalised coordinates a robot has, in which order, and what they are called.

Link by link in the robot's order: the joint `upper.q`, the motor behind an elastic drive `upper.motor`, then the
elastic coordinates `upper.bend_y[1]`, ..., and those of a part behind a joint that grips the link,
`upper.rear.bend_y[1]`, ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import suggestion
from flexarm.robot import Drive, Link, MovingJoint, Robot


@dataclass(frozen=True)
class Local:
    """Where one link's coordinates stand: all of them in the robot's vector, and each kind among the link's own."""

    start: int
    joint: int | None
    motor: int | None
    elastic: slice = field(hash=False)  # slices have no hash
    count: int

    @property
    def all(self) -> slice:
        return slice(self.start, self.start + self.count)

    @property
    def own_joint(self) -> int:
        """The joint among the link's own coordinates, which it must have; its motor comes next."""
        assert self.joint is not None
        return self.joint

    def place(self, own: int | None) -> int:
        """Place in the robot's vector of one of the link's own coordinates, which it must have."""
        assert own is not None
        return self.start + own


@dataclass(frozen=True)
class Coordinate:
    """One generalised coordinate.

    kind: "joint", "motor" (behind an elastic drive, in the joint's unit) or "elastic".
    unit: rad or m of joints and motors, 1 of elastic coordinates, which carry none of their own.
    family, part: of an elastic one: bend_y, bend_z, twist or stretch, in "front" of the joint or in the "rear".
    """

    name: str
    link: str
    kind: Literal["joint", "motor", "elastic"]
    unit: Literal["rad", "m", "1"]
    index: int
    family: str | None = None
    part: Literal["front", "rear"] | None = None
    _shapes: LinkIntegrals | None = field(default=None, repr=False, compare=False)
    _shape: int = field(default=0, repr=False, compare=False)

    @property
    def size(self) -> float:
        """What is large for it: one radian or metre of a joint, a deflection as long as its link."""
        if self._shape < 0:
            raise AttributeError("the coordinates of a structure have no sizes: those are a robot's own")
        return 1.0 if self._shapes is None else float(self._shapes.sizes[self._shape])


@dataclass(frozen=True)
class Actuator:
    """One input: the link whose joint it drives, its unit (N m or N), the coordinate on which it acts.

    gear: generalised force per unit of the input; the gear ratio where torques are those at the motor's shaft.
    """

    link: str
    unit: Literal["N m", "N"]
    coordinate: Coordinate
    gear: float = 1.0


class Coordinates:
    """The records of a robot's coordinates and actuators, and where each link's stand."""

    def __init__(self, robot: Robot, integrals: list[LinkIntegrals], rears: Sequence[LinkIntegrals | None]) -> None:
        self.all: list[Coordinate] = []
        self.actuators: list[Actuator] = []
        self.locals: list[Local] = []
        for link, front, rear in zip(robot.links, integrals, rears, strict=True):
            start = self.count
            self._add_joint(link)
            first = self.count - start
            self._add_shapes(link, front, "front")
            if rear is not None:
                self._add_shapes(link, rear, "rear")
            count = self.count - start
            joint, motor = 0 if first else None, 1 if first == 2 else None
            self.locals.append(Local(start, joint, motor, slice(first, count), count))
        self.names = [each.name for each in self.all]
        self.input_matrix: Array = np.zeros((self.count, len(self.actuators)))
        for column, each in enumerate(self.actuators):
            self.input_matrix[each.coordinate.index, column] = each.gear

    def _add_joint(self, link: Link) -> None:
        joint = link.joint
        if not isinstance(joint, MovingJoint):
            return
        moved = Coordinate(f"{link.name}.q", link.name, "joint", joint.unit, self.count)
        self.all.append(moved)
        if elastic_drive(link):
            moved = Coordinate(f"{link.name}.motor", link.name, "motor", joint.unit, self.count)
            self.all.append(moved)
        at_motor = joint.drive is not None and joint.drive.torque_at == "motor"
        gear = 1.0 if joint.drive is None else joint.drive.force_per_input
        self.actuators.append(Actuator(link.name, "N m" if at_motor or joint.unit == "rad" else "N", moved, gear))

    def _add_shapes(self, link: Link, integrals: LinkIntegrals, part: Literal["front", "rear"]) -> None:
        stem = link.name if part == "front" else f"{link.name}.rear"
        for family, columns in integrals.columns.items():
            for number, shape in enumerate(range(columns.start, columns.stop), start=1):
                name = f"{stem}.{family}[{number}]"
                self.all.append(Coordinate(name, link.name, "elastic", "1", self.count, family, part, integrals, shape))

    @property
    def count(self) -> int:
        return len(self.all)

    @cached_property
    def sizes(self) -> Array:
        """What is large for each coordinate."""
        return np.array([each.size for each in self.all])

    @property
    def units(self) -> list[str]:
        return [each.unit for each in self.all]

    @property
    def inputs(self) -> list[str]:
        """Links whose joint has an actuator."""
        return [each.link for each in self.actuators]

    @property
    def input_units(self) -> list[str]:
        return [each.unit for each in self.actuators]

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
                if name not in self.names:
                    raise KeyError(f"{what}: there is no coordinate '{name}'{suggestion(name, self.names)}")
                out[self.index(name)] = real_number(f"{what}['{name}']", value)
            return out
        return real_array(what, values)


def elastic_drive(link: Link) -> Drive | None:
    """The drive behind a link's joint if it is elastic: then its motor has a coordinate of its own."""
    drive = link.joint.drive if isinstance(link.joint, MovingJoint) else None
    return drive if drive is not None and drive.elastic else None
