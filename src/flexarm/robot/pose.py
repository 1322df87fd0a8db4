"""Poses, rotations and axes."""

from __future__ import annotations

from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from flexarm.foundation.messages import describe_unknown
from flexarm.robot.description import Description
from flexarm.robot.field_types import (
    Checked,
    Matrix3,
    Vector,
    Vector3,
    finite_matrix,
    finite_numbers,
    matrix_schema,
    numbers_schema,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


_AXES: dict[str, Vector3] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}


class AxisCheck(Checked):
    """Validation of an axis, given by name or as a direction."""

    def check(self, value: object) -> str | tuple[float, ...]:
        if isinstance(value, str):
            if value not in _AXES:
                raise ValueError(describe_unknown("unknown axis", value, _AXES) + " or three numbers")
            return value
        direction = finite_numbers(value)
        if direction is None or len(direction) != 3:
            raise ValueError(f"must be an axis ({', '.join(_AXES)}) or three numbers")
        if not any(direction):
            raise ValueError("must not be zero: it has no direction")
        return direction

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(_AXES)}, numbers_schema(3)]}


def unit_axis(axis: str | Vector3) -> Vector3:
    """Return a validated axis as a unit vector.

    >>> unit_axis("-z"), unit_axis((0.0, 3.0, 4.0))
    ((0.0, 0.0, -1.0), (0.0, 0.6, 0.8))
    """
    if isinstance(axis, str):
        return _AXES[axis]
    size = hypot(*axis)
    return axis[0] / size, axis[1] / size, axis[2] / size


class RotationCheck(Checked):
    """Validation of three angles (roll, pitch, yaw in rad) or a 3x3 rotation matrix."""

    unit = "rad"
    tolerance = 1e-6

    def check(self, value: object) -> Vector3 | Matrix3:
        angles = finite_numbers(value)
        if angles is not None and len(angles) == 3:
            return angles
        rows = finite_matrix(value)
        if rows is None:
            raise ValueError("must be three angles (roll, pitch, yaw in rad) or a 3x3 rotation matrix")
        R = np.array(rows)
        if (gap := float(np.abs(R @ R.T - np.eye(3)).max())) > self.tolerance:
            raise ValueError(f"must be a rotation matrix, but its rows are not orthonormal (R R' is off by {gap:.2g})")
        if np.linalg.det(R) < 0:
            raise ValueError("must be a rotation matrix, but its determinant is -1: it mirrors")
        return rows

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [numbers_schema(3) | {"unit": "rad"}, matrix_schema()]}


Rotation = Annotated[Vector3 | Matrix3, RotationCheck()]
ROTATION_MEANING = (
    "three angles roll, pitch, yaw (rad), meaning R = Rz(yaw) Ry(pitch) Rx(roll), or a 3x3 rotation matrix (no unit)"
)
LARGE_ANGLE = 4 * pi
LOOKS_LIKE_DEGREES = "looks like degrees; angles are in rad"


def rotation_matrix(rotation: Vector3 | Matrix3) -> Matrix3:
    """Return the matrix of a validated rotation, from coordinates in the rotated frame to those in its parent frame."""
    first, second, third = rotation
    if isinstance(first, tuple):
        return rotation  # type: ignore[return-value]
    cr, sr, cp, sp, cy, sy = *_cos_sin(first), *_cos_sin(second), *_cos_sin(third)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def looks_like_degrees(rotation: Vector3 | Matrix3) -> bool:
    """Return True if an angle of a rotation is larger than any usual angle in rad."""
    return any(not isinstance(angle, tuple) and abs(angle) > LARGE_ANGLE for angle in rotation)


def _cos_sin(angle: Any) -> tuple[float, float]:
    """Return cosine and sine, exact at right angles."""
    quarters = angle / (pi / 2)
    if abs(quarters - round(quarters)) < 1e-15 * max(1.0, abs(quarters)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarters) % 4]
    return cos(angle), sin(angle)


class Pose(Description):
    """Position and orientation of a frame in another one."""

    position: Annotated[Vector3, Vector("m")] = Field((0.0, 0.0, 0.0), description="position of the origin (m)")
    rotation: Rotation = Field((0.0, 0.0, 0.0), description=f"orientation: {ROTATION_MEANING}")

    if TYPE_CHECKING:

        def __init__(self, position: ArrayLike = (0, 0, 0), rotation: ArrayLike = (0, 0, 0)) -> None: ...

    @property
    def matrix(self) -> Matrix3:
        """Rotation as a 3x3 matrix."""
        return rotation_matrix(self.rotation)

    def unit_warnings(self) -> list[tuple[str, str]]:
        return [("rotation", LOOKS_LIKE_DEGREES)] if looks_like_degrees(self.rotation) else []
