"""Which generalised coordinates a robot has, in which order, and what they are called.

Link by link in the robot's order: the joint `upper.q`, the motor behind an elastic drive `upper.motor`, then the
elastic coordinates `upper.bend_y[1]`, ..., and those of a part behind a joint that grips the link,
`upper.rear.bend_y[1]`, ...

Links as the equations see them: with their values, and with symbols for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import suggestion
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.robot import Drive, Link, MovingJoint, Robot
from flexarm.robot.description import Description
from flexarm.robot.flexibility import FAMILIES

if TYPE_CHECKING:
    from flexarm.dynamics.links.model import LinkModel


@dataclass(frozen=True)
class LinkCoordinates:
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
class ActuatorInput:
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
        self.actuators: list[ActuatorInput] = []
        self.locals: list[LinkCoordinates] = []
        for link, front, rear in zip(robot.links, integrals, rears, strict=True):
            start = self.count
            self._add_joint(link)
            first = self.count - start
            self._add_shapes(link, front, "front")
            if rear is not None:
                self._add_shapes(link, rear, "rear")
            count = self.count - start
            joint, motor = 0 if first else None, 1 if first == 2 else None
            self.locals.append(LinkCoordinates(start, joint, motor, slice(first, count), count))
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
        self.actuators.append(ActuatorInput(link.name, "N m" if at_motor or joint.unit == "rad" else "N", moved, gear))

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


@dataclass(frozen=True)
class Body:
    """A link of some kind (`model`) with its integrals, its coordinates, and where (x) it hangs on which other body.

    A link that slides through its joint has its root frame where the joint grips it, unless it moves as a whole. Its
    `integrals` are those of the part in front, `rear` those of the part behind the joint (without shapes if that is
    rigid, None if it is not there).
    """

    link: Link
    model: LinkModel
    integrals: LinkIntegrals
    rear: LinkIntegrals | None
    local: LinkCoordinates
    parent: int | None
    hangs_at: float | None


@dataclass(frozen=True)
class ShapeSymbols:
    """Of a link, or of a part of it: how many there are of each family, and their integrals as symbols."""

    columns: dict[str, slice]
    stiffening: str
    parameters: SymbolsUnder

    @property
    def count(self) -> int:
        return max((place.stop for place in self.columns.values()), default=0)

    def order(self, family: str) -> int:
        return FAMILIES[family].order


@dataclass(frozen=True)
class SymbolicBody:
    """A body with symbols for its numbers. Its `link` tells the kinds of things; no number can be read from it."""

    link: Link
    model: LinkModel
    local: LinkCoordinates
    parent: int | None
    shapes: ShapeSymbols
    rear: ShapeSymbols | None
    parameters: SymbolsUnder

    @property
    def elastic_count(self) -> int:
        return int(self.local.elastic.stop - self.local.elastic.start)

    @property
    def length(self) -> Any:
        return self.parameters["length"]

    def elastic(self, x: Any) -> Any:
        """The elastic part of the body's own coordinates (as a column even where it is empty)."""
        return x[self.local.elastic, 0]

    def front(self, x: Any) -> Any:
        """The elastic coordinates of the part in front of the joint."""
        return self.elastic(x)[: self.shapes.count, 0]

    def behind(self, x: Any) -> Any:
        """The elastic coordinates of the part behind the joint."""
        return self.elastic(x)[self.shapes.count :, 0]

    @property
    def lumps(self) -> list[SymbolsUnder]:
        """Everything fixed to the link."""
        link = self.link
        names = ["hub"] * (link.hub is not None) + ["payload"] * (link.payload is not None)
        return [self.parameters.under(name) for name in (*names, *(f"masses.{k}" for k in range(len(link.masses))))]


def make_symbolic(body: Body, parameters: SymbolsUnder) -> SymbolicBody:
    """The body with symbols instead of its numbers."""
    front = _shapes(body.integrals, parameters)
    rear = None if body.rear is None else _shapes(body.rear, parameters.under("rear"))
    return SymbolicBody(erase_values(body.link), body.model, body.local, body.parent, front, rear, parameters)


def _shapes(of: LinkIntegrals, parameters: SymbolsUnder) -> ShapeSymbols:
    return ShapeSymbols(of.columns, of.stiffening, parameters)


def erase_values(value: Any) -> Any:
    """A description without its numbers: what is computed from one by mistake is not a number."""
    if isinstance(value, Description):
        fields = type(value).model_fields
        return value.model_copy(update={name: erase_values(getattr(value, name)) for name in fields})
    if isinstance(value, tuple):
        return tuple(erase_values(each) for each in value)
    return float("nan") if isinstance(value, float) else value
