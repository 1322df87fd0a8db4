"""Joints with several freedoms, each a rotation or a translation: universal, cylindrical and planar joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from flexarm.foundation.dataclass import dataclass
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Checked, Quantity, Vector3, finite_numbers, numbers_schema
from flexarm.robot.joints.base import (
    AXIS_MEANING,
    MOUNT_MEANING,
    Actuated,
    CompoundJoint,
    ElementaryMotion,
    Freedom,
    SlideAlong,
    TurnAbout,
    axis_text,
)
from flexarm.robot.pose import AxisCheck, Rotation, unit_axis

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_AXES_COSINE = 1e-9  # between axes that must be perpendicular
MIN_AXES_SINE = 1e-3  # between axes that must not be parallel


@dataclass(frozen=True)
class PerFreedom(Checked):
    """Validation of one number for each freedom of a joint, in its unit; 0 for all."""

    units: tuple[str, ...]
    least: float | None = None
    above: float | None = None

    @property
    def unit(self) -> str:
        """Unit of all numbers; empty if they have different ones."""
        return self.units[0] if len(set(self.units)) == 1 else ""

    def check(self, value: object) -> tuple[float, ...]:
        numbers = (0.0,) * len(self.units) if value == 0 and not isinstance(value, bool) else finite_numbers(value)
        if numbers is None or len(numbers) != len(self.units):
            allowed = "must be 0 or" if self.above is None else "must be"
            raise ValueError(f"{allowed} {len(self.units)} finite numbers ({', '.join(self.units)})")
        for unit, number in zip(self.units, numbers, strict=True):
            Quantity(unit, above=self.above, least=self.least).check(number)
        return numbers

    def json_schema(self) -> dict[str, Any]:
        schema = numbers_schema(len(self.units)) | {"unit": ", ".join(self.units)}
        return schema if self.above is not None else {"anyOf": [{"const": 0}, schema]}


@dataclass(frozen=True)
class LimitsPerFreedom(Checked):
    """Validation of the limits of each freedom of a joint: two numbers, or none."""

    units: tuple[str, ...]

    def check(self, value: object) -> tuple[tuple[float, ...] | None, ...]:
        items = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [...]
        found = [None if each is None else finite_numbers(each) for each in items]
        wrong = any(
            each is not None and (pair is None or len(pair) != 2) for each, pair in zip(items, found, strict=True)
        )
        if value is None:
            return (None,) * len(self.units)
        if wrong or len(items) != len(self.units):
            raise ValueError(
                f"must be {len(self.units)} pairs of lowest and highest coordinate ({', '.join(self.units)}), with "
                "null (None) for a freedom without limits"
            )
        return tuple(found)

    def json_schema(self) -> dict[str, Any]:
        count = len(self.units)
        pairs = {"anyOf": [numbers_schema(2), {"type": "null"}]}
        return {"type": "array", "items": pairs, "minItems": count, "maxItems": count, "unit": ", ".join(self.units)}


Pair = tuple[float, float]
Triple = tuple[float, float, float]
Pairs = tuple[Pair | None, ...]

_LIMITS = "lowest and highest coordinate of each freedom, null for one without limits"
_STIFFNESS = "stiffness of the spring of each freedom"
_REST = "where each spring is relaxed"
_VISCOUS = "viscous friction of each freedom"
_COULOMB = "Coulomb friction of each freedom"
_SPEED = "speeds v_s over which Coulomb friction is smoothed by tanh(v / v_s)"
_HINGES, _HINGE_FORCES = ("rad", "rad"), ("N m", "N m")


class Universal(CompoundJoint):
    """Universal joint (Cardan joint): rotation about one axis, then about a second one that moves with the first.

    The coordinates are the angles `link.q1` and `link.q2`.

    See Also
    --------
    Revolute, Cylindrical, Planar : Other joints.

    Examples
    --------
    >>> Universal(("y", "z"), stiffness=(200.0, 200.0))
    Universal(axes=('y', 'z'), stiffness=(200.0, 200.0))
    """

    type: Literal["universal"] = Field("universal", description="kind of joint")
    axes: tuple[Annotated[str | Vector3, AxisCheck()], Annotated[str | Vector3, AxisCheck()]] = Field(
        ("x", "y"), description=f"the first and the second axis {AXIS_MEANING}"
    )
    mount: Rotation = Field((0.0, 0.0, 0.0), description=MOUNT_MEANING)
    limits: Annotated[Pairs, LimitsPerFreedom(_HINGES)] = Field((None, None), description=f"{_LIMITS} (rad)")
    stiffness: Annotated[Pair, PerFreedom(("N m/rad", "N m/rad"), least=0)] = Field(
        (0.0, 0.0), description=f"{_STIFFNESS} (N m/rad)"
    )
    rest: Annotated[Pair, PerFreedom(_HINGES)] = Field((0.0, 0.0), description=f"{_REST} (rad)")
    viscous: Annotated[Pair, PerFreedom(("N m s/rad", "N m s/rad"), least=0)] = Field(
        (0.0, 0.0), description=f"{_VISCOUS} (N m s/rad)"
    )
    coulomb: Annotated[Pair, PerFreedom(_HINGE_FORCES, least=0)] = Field((0.0, 0.0), description=f"{_COULOMB} (N m)")
    coulomb_speed: Annotated[Pair, PerFreedom(("rad/s", "rad/s"), above=0)] = Field(
        (0.01, 0.01), description=f"{_SPEED} (rad/s)"
    )
    actuated: Actuated = False

    if TYPE_CHECKING:

        def __init__(
            self,
            axes: tuple[str | ArrayLike, str | ArrayLike] = ("x", "y"),
            mount: ArrayLike = (0, 0, 0),
            limits: Any = None,
            stiffness: ArrayLike = 0,
            rest: ArrayLike = 0,
            viscous: ArrayLike = 0,
            coulomb: ArrayLike = 0,
            coulomb_speed: ArrayLike = (0.01, 0.01),
            actuated: bool = False,
        ) -> None: ...

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return Freedom("q1", "rad"), Freedom("q2", "rad")

    @property
    def elementary_motions(self) -> tuple[ElementaryMotion, ...]:
        first, second = map(unit_axis, self.axes)
        return TurnAbout(first, 0, field="axes[0]"), TurnAbout(second, 1, field="axes[1]")

    @property
    def words(self) -> list[str]:
        return [f"universal {' '.join(map(axis_text, self.axes))}"]

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from super().conflicts()
        first, second = map(unit_axis, self.axes)
        if np.linalg.norm(np.cross(first, second)) < MIN_AXES_SINE:
            yield DescriptionProblem("axes", self.axes, "must not be parallel: take a Revolute joint")


_ALONG, _ALONG_FORCES = ("rad", "m"), ("N m", "N")


class Cylindrical(CompoundJoint):
    """Cylindrical joint: rotation about an axis and translation along it, independent of each other.

    The coordinates are the angle `link.q` and the distance `link.d`.

    See Also
    --------
    Revolute, Prismatic, Screw : Joints with one of these freedoms, or with both coupled.

    Examples
    --------
    >>> Cylindrical("z", limits=(None, (0.0, 0.1)))
    Cylindrical(limits=(None, (0.0, 0.1)))
    """

    type: Literal["cylindrical"] = Field("cylindrical", description="kind of joint")
    axis: Annotated[str | Vector3, AxisCheck()] = Field("z", description=f"axis {AXIS_MEANING}")
    mount: Rotation = Field((0.0, 0.0, 0.0), description=MOUNT_MEANING)
    limits: Annotated[Pairs, LimitsPerFreedom(_ALONG)] = Field((None, None), description=f"{_LIMITS} (rad, m)")
    stiffness: Annotated[Pair, PerFreedom(("N m/rad", "N/m"), least=0)] = Field(
        (0.0, 0.0), description=f"{_STIFFNESS} (N m/rad, N/m)"
    )
    rest: Annotated[Pair, PerFreedom(_ALONG)] = Field((0.0, 0.0), description=f"{_REST} (rad, m)")
    viscous: Annotated[Pair, PerFreedom(("N m s/rad", "N s/m"), least=0)] = Field(
        (0.0, 0.0), description=f"{_VISCOUS} (N m s/rad, N s/m)"
    )
    coulomb: Annotated[Pair, PerFreedom(_ALONG_FORCES, least=0)] = Field((0.0, 0.0), description=f"{_COULOMB} (N m, N)")
    coulomb_speed: Annotated[Pair, PerFreedom(("rad/s", "m/s"), above=0)] = Field(
        (0.01, 0.001), description=f"{_SPEED} (rad/s, m/s)"
    )
    actuated: Actuated = False

    if TYPE_CHECKING:

        def __init__(
            self,
            axis: str | ArrayLike = "z",
            mount: ArrayLike = (0, 0, 0),
            limits: Any = None,
            stiffness: ArrayLike = 0,
            rest: ArrayLike = 0,
            viscous: ArrayLike = 0,
            coulomb: ArrayLike = 0,
            coulomb_speed: ArrayLike = (0.01, 0.001),
            actuated: bool = False,
        ) -> None: ...

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return Freedom("q", "rad"), Freedom("d", "m")

    @property
    def elementary_motions(self) -> tuple[ElementaryMotion, ...]:
        axis = unit_axis(self.axis)
        return TurnAbout(axis, 0), SlideAlong(axis, 1)

    @property
    def words(self) -> list[str]:
        return [f"cylindrical {axis_text(self.axis)}"]


_PLANE, _PLANE_FORCES = ("m", "m", "rad"), ("N", "N", "N m")


class Planar(CompoundJoint):
    """Planar joint: translation along two perpendicular axes, and rotation about the normal of their plane.

    The coordinates are the distances `link.x` and `link.y` along the first and the second axis, and the angle `link.rz`
    about the normal, which is the first axis times the second.

    See Also
    --------
    Prismatic, Revolute, Cylindrical : Joints with fewer freedoms.

    Examples
    --------
    >>> Planar(("x", "z"), viscous=(5.0, 5.0, 0.1))  # in a vertical plane
    Planar(axes=('x', 'z'), viscous=(5.0, 5.0, 0.1))
    """

    type: Literal["planar"] = Field("planar", description="kind of joint")
    axes: tuple[Annotated[str | Vector3, AxisCheck()], Annotated[str | Vector3, AxisCheck()]] = Field(
        ("x", "y"), description=f"two perpendicular axes of the plane {AXIS_MEANING}"
    )
    mount: Rotation = Field((0.0, 0.0, 0.0), description=MOUNT_MEANING)
    limits: Annotated[Pairs, LimitsPerFreedom(_PLANE)] = Field((None, None, None), description=f"{_LIMITS} (m, m, rad)")
    stiffness: Annotated[Triple, PerFreedom(("N/m", "N/m", "N m/rad"), least=0)] = Field(
        (0.0, 0.0, 0.0), description=f"{_STIFFNESS} (N/m, N/m, N m/rad)"
    )
    rest: Annotated[Triple, PerFreedom(_PLANE)] = Field((0.0, 0.0, 0.0), description=f"{_REST} (m, m, rad)")
    viscous: Annotated[Triple, PerFreedom(("N s/m", "N s/m", "N m s/rad"), least=0)] = Field(
        (0.0, 0.0, 0.0), description=f"{_VISCOUS} (N s/m, N s/m, N m s/rad)"
    )
    coulomb: Annotated[Triple, PerFreedom(_PLANE_FORCES, least=0)] = Field(
        (0.0, 0.0, 0.0), description=f"{_COULOMB} (N, N, N m)"
    )
    coulomb_speed: Annotated[Triple, PerFreedom(("m/s", "m/s", "rad/s"), above=0)] = Field(
        (0.001, 0.001, 0.01), description=f"{_SPEED} (m/s, m/s, rad/s)"
    )
    actuated: Actuated = False

    if TYPE_CHECKING:

        def __init__(
            self,
            axes: tuple[str | ArrayLike, str | ArrayLike] = ("x", "y"),
            mount: ArrayLike = (0, 0, 0),
            limits: Any = None,
            stiffness: ArrayLike = 0,
            rest: ArrayLike = 0,
            viscous: ArrayLike = 0,
            coulomb: ArrayLike = 0,
            coulomb_speed: ArrayLike = (0.001, 0.001, 0.01),
            actuated: bool = False,
        ) -> None: ...

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return Freedom("x", "m"), Freedom("y", "m"), Freedom("rz", "rad")

    @property
    def normal(self) -> Vector3:
        """Normal of the plane as a unit vector in the joint's frame."""
        (ax, ay, az), (bx, by, bz) = map(unit_axis, self.axes)
        return ay * bz - az * by + 0.0, az * bx - ax * bz + 0.0, ax * by - ay * bx + 0.0

    @property
    def elementary_motions(self) -> tuple[ElementaryMotion, ...]:
        first, second = map(unit_axis, self.axes)
        return (
            SlideAlong(first, 0, field="axes[0]"),
            SlideAlong(second, 1, field="axes[1]"),
            TurnAbout(self.normal, 2, field="normal"),
        )

    @property
    def words(self) -> list[str]:
        return [f"planar {' '.join(map(axis_text, self.axes))}"]

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from super().conflicts()
        first, second = map(unit_axis, self.axes)
        if abs(np.dot(first, second)) > MAX_AXES_COSINE:
            yield DescriptionProblem("axes", self.axes, "must be perpendicular")
