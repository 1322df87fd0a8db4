"""Generalized coordinates of a robot, and its links with values or with symbols.

Coordinates are ordered link by link: the joint `upper.q`, the motor of an elastic drive `upper.motor`, the elastic
coordinates `upper.bend_y[1]`, ..., and those behind a joint that grips the link, `upper.rear.bend_y[1]`, ...
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
from flexarm.robot.joints import Joint

if TYPE_CHECKING:
    from flexarm.dynamics.links.model import LinkModel


@dataclass(frozen=True)
class LinkCoordinates:
    """Indices of one link's coordinates: `start` in the robot's vector, the others among the link's own coordinates.

    The coordinates of the joint come first: there are `freedoms` of them.
    """

    start: int
    freedoms: int
    motor: int | None
    elastic: slice = field(hash=False)  # slices cannot be hashed before Python 3.12
    count: int

    @property
    def all(self) -> slice:
        """Slice of the link's coordinates in the robot's vector."""
        return slice(self.start, self.start + self.count)

    @property
    def joints(self) -> range:
        """Indices of the joint's coordinates among the link's own coordinates."""
        return range(self.freedoms)

    @property
    def joint(self) -> int | None:
        """Index of the joint's only coordinate among the link's own coordinates; None for a weld."""
        if self.freedoms > 1:
            raise ValueError("the joint has several coordinates")
        return 0 if self.freedoms else None

    @property
    def own_joint(self) -> int:
        """Index of the joint's only coordinate, which must exist. Its motor comes next."""
        assert self.joint is not None
        return self.joint

    def place(self, own: int | None) -> int:
        """Return the index in the robot's vector of one of the link's own coordinates, which must exist."""
        assert own is not None
        return self.start + own


@dataclass(frozen=True)
class Coordinate:
    """Generalized coordinate.

    Parameters
    ----------
    name, link : str
        Name of the coordinate and of its link.
    kind : {"joint", "motor", "elastic"}
        A motor is that of an elastic drive, in the unit of the joint.
    unit : {"rad", "m", "m kg^1/2"}
        Modes, which are normalized to unit modal mass, have the last one.
    index : int
        Index in q.
    family : {"bend_y", "bend_z", "twist", "stretch"}, optional
        Deformation of an elastic coordinate.
    part : {"front", "rear"}, optional
        Part of the link, in front of its joint or behind it, of an elastic coordinate.
    """

    name: str
    link: str
    kind: Literal["joint", "motor", "elastic"]
    unit: str
    index: int
    family: str | None = None
    part: Literal["front", "rear"] | None = None
    _shapes: LinkIntegrals | None = field(default=None, repr=False, compare=False)
    _shape: int = field(default=0, repr=False, compare=False)

    @property
    def size(self) -> float:
        """Characteristic size: one radian or metre of a joint, a deflection as large as its link's length."""
        if self._shape < 0:
            raise AttributeError("the coordinates of a structure have no sizes: those are a robot's own")
        return 1.0 if self._shapes is None else float(self._shapes.sizes[self._shape])


@dataclass(frozen=True)
class ActuatorInput:
    """Input of an actuator.

    Parameters
    ----------
    name : str
        Name of the input: that of the link, or of the coordinate if the joint has several ("cart.x").
    link : str
        Link whose joint it drives.
    unit : {"N m", "N"}
        Unit of the input.
    coordinate : Coordinate
        Coordinate on which it acts.
    joint : Coordinate
        Coordinate of the joint that it moves, which is another one behind an elastic drive.
    gear : float, optional
        Generalized force per unit of the input: the gear ratio if torques are counted at the motor's shaft.
    """

    name: str
    link: str
    unit: Literal["N m", "N"]
    coordinate: Coordinate
    joint: Coordinate
    gear: float = 1.0


class Coordinates:
    """Coordinates and actuators of a robot, and their indices by link."""

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
            freedoms = len(link.joint.freedoms)
            motor = freedoms if first > freedoms else None
            self.locals.append(LinkCoordinates(start, freedoms, motor, slice(first, count), count))
        self.names = [each.name for each in self.all]
        self.input_matrix: Array = np.zeros((self.count, len(self.actuators)))
        for column, each in enumerate(self.actuators):
            self.input_matrix[each.coordinate.index, column] = each.gear

    def _add_joint(self, link: Link) -> None:
        joint = link.joint
        for freedom in joint.freedoms:
            moved = Coordinate(f"{link.name}.{freedom.name}", link.name, "joint", freedom.unit, self.count)
            self.all.append(moved)
            if not isinstance(joint, MovingJoint) and joint.actuated:
                self.actuators.append(ActuatorInput(moved.name, link.name, freedom.force_unit, moved, moved))
        if not isinstance(joint, MovingJoint):
            return
        acts_on = moved
        if elastic_drive(link):
            acts_on = Coordinate(f"{link.name}.motor", link.name, "motor", joint.unit, self.count)
            self.all.append(acts_on)
        if joint.actuated:
            at_motor = joint.drive is not None and joint.drive.torque_at == "motor"
            gear = 1.0 if joint.drive is None else joint.drive.force_per_input
            unit: Literal["N m", "N"] = "N m" if at_motor or joint.unit == "rad" else "N"
            self.actuators.append(ActuatorInput(link.name, link.name, unit, acts_on, moved, gear))

    def _add_shapes(self, link: Link, integrals: LinkIntegrals, part: Literal["front", "rear"]) -> None:
        stem = link.name if part == "front" else f"{link.name}.rear"
        for family, columns in integrals.columns.items():
            for number, shape in enumerate(range(columns.start, columns.stop)):
                assert link.flexible is not None
                name, unit = f"{stem}.{family}[{number + 1}]", link.flexible.basis.unit(family, number)
                self.all.append(
                    Coordinate(name, link.name, "elastic", unit, self.count, family, part, integrals, shape)
                )

    @property
    def count(self) -> int:
        """Number of coordinates."""
        return len(self.all)

    @cached_property
    def sizes(self) -> Array:
        """Characteristic size of each coordinate."""
        return np.array([each.size for each in self.all])

    @property
    def units(self) -> list[str]:
        """Units of the coordinates."""
        return [each.unit for each in self.all]

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs: links whose joint has an actuator, or coordinates of actuated compound joints."""
        return [each.name for each in self.actuators]

    @property
    def input_units(self) -> list[str]:
        """Units of the inputs."""
        return [each.unit for each in self.actuators]

    def index(self, name: str) -> int:
        """Return the index of a coordinate by name."""
        if name not in self.names:
            raise KeyError(f"there is no coordinate '{name}'{suggestion(name, self.names)}")
        return self.names.index(name)

    def vector(self, values: Mapping[str, float] | Any | None, what: str) -> Array:
        """Return an array of coordinates from a mapping by name (the others zero), an array, or None (zeros)."""
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


def freedom_paths(joint: Joint) -> list[str]:
    """Return the paths of the parameters of each freedom below those of the joint: its own, or `.x`, `.y`, ..."""
    names = [freedom.name for freedom in joint.freedoms]
    return [""] if len(names) == 1 else [f".{name}" for name in names]


def elastic_drive(link: Link) -> Drive | None:
    """Return the drive of a link's joint if it is elastic, so that its motor has a coordinate; else None."""
    drive = link.joint.drive if isinstance(link.joint, MovingJoint) else None
    return drive if drive is not None and drive.elastic else None


@dataclass(frozen=True)
class Body:
    """Link with its model, integrals, coordinates, and its position x (`hangs_at`) on its parent.

    A link that slides through its joint has its root frame at the joint, unless it moves as a whole. `integrals` are
    those of the part in front of the joint, `rear` those of the part behind (without shapes if rigid, None if absent).
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
    """Shapes of a link or of a part of it: columns by family, and symbols for their integrals."""

    columns: dict[str, slice]
    stiffening: str
    parameters: SymbolsUnder

    @property
    def count(self) -> int:
        """Number of shapes."""
        return max((place.stop for place in self.columns.values()), default=0)

    def order(self, family: str) -> int:
        """Return the order of derivative that is the strain of a family: 2 for bending, 1 for stretch and twist."""
        return FAMILIES[family].order


@dataclass(frozen=True)
class SymbolicBody:
    """Body with symbols for its parameters; its `link` has kinds only, all values in it are nan."""

    link: Link
    model: LinkModel
    local: LinkCoordinates
    parent: int | None
    shapes: ShapeSymbols
    rear: ShapeSymbols | None
    parameters: SymbolsUnder

    @property
    def elastic_count(self) -> int:
        """Number of elastic coordinates."""
        return int(self.local.elastic.stop - self.local.elastic.start)

    @property
    def length(self) -> Any:
        """Symbol of the length."""
        return self.parameters["length"]

    @property
    def freedoms(self) -> list[tuple[int, SymbolsUnder]]:
        """Index among the own coordinates and symbols of each freedom of the joint."""
        paths = freedom_paths(self.link.joint)
        return [(k, self.parameters.under(f"joint{path}")) for k, path in enumerate(paths)]

    def elastic(self, x: Any) -> Any:
        """Return the elastic part of the body's own coordinates, as a column even if empty."""
        return x[self.local.elastic, 0]

    def front(self, x: Any) -> Any:
        """Return the elastic coordinates of the part in front of the joint."""
        return self.elastic(x)[: self.shapes.count, 0]

    def behind(self, x: Any) -> Any:
        """Return the elastic coordinates of the part behind the joint."""
        return self.elastic(x)[self.shapes.count :, 0]

    @property
    def lumps(self) -> list[SymbolsUnder]:
        """Symbols of the masses fixed to the link: hub, payload, body, and masses along it."""
        return [self.parameters.under(name) for name, _, _ in self.link.lumps]


def make_symbolic(body: Body, parameters: SymbolsUnder) -> SymbolicBody:
    """Return a body with symbols in place of its values."""
    front = _shapes(body.integrals, parameters)
    rear = None if body.rear is None else _shapes(body.rear, parameters.under("rear"))
    return SymbolicBody(erase_values(body.link), body.model, body.local, body.parent, front, rear, parameters)


def _shapes(of: LinkIntegrals, parameters: SymbolsUnder) -> ShapeSymbols:
    return ShapeSymbols(of.columns, of.stiffening, parameters)


def erase_values(value: Any) -> Any:
    """Return a description with nan for every value, so that an accidental use in an expression is visible."""
    if isinstance(value, Description):
        fields = type(value).model_fields
        return value.model_copy(update={name: erase_values(getattr(value, name)) for name in fields})
    if isinstance(value, tuple):
        return tuple(erase_values(each) for each in value)
    return float("nan") if isinstance(value, float) else value
