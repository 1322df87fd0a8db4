"""Frames of links: positions, rotations and Jacobians.

A velocity is stored as a sum of vectors in the axes of several frames. Products of velocities of distant links then
contain the cosine and sine of one angle, the sum of all rotations between them, instead of products of many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import atan2
from typing import Any

import numpy as np

from flexarm.symbolic.algebra import ZERO, Expr, Vector, cos, cross, dot, number, plus, sin, times
from flexarm.symbolic.symbols import Abbreviations

Axis = tuple[float, float, float]
Z: Axis = (0.0, 0.0, 1.0)
IDENTITY = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
Matrix3 = tuple[Vector, Vector, Vector]


@dataclass(frozen=True)
class AxisRotation:
    """Rotation by an angle about a constant axis."""

    axis: Axis
    angle: Expr

    @property
    def matrix(self) -> Matrix3:
        n, c, s = self.axis, cos(self.angle), sin(self.angle)
        rows = [[_rodrigues(n, i, j, c, s) for j in range(3)] for i in range(3)]
        return tuple(map(tuple, rows))  # type: ignore[return-value]

    @property
    def inverse(self) -> AxisRotation:
        return AxisRotation(self.axis, -self.angle)


@dataclass(frozen=True)
class ConstantRotation:
    """Constant rotation that is not about z."""

    matrix: Matrix3

    @property
    def inverse(self) -> ConstantRotation:
        return ConstantRotation(_transposed(self.matrix))


Step = AxisRotation | ConstantRotation


def rotation_about(axis: Sequence[float], angle: Expr) -> AxisRotation:
    """Return the rotation about an axis, whose sign is normalized so that successive rotations can be merged."""
    lead = next(entry for entry in axis if entry)
    x, y, z = (float(entry) if lead > 0 else -float(entry) for entry in axis)
    return AxisRotation((x + 0.0, y + 0.0, z + 0.0), angle if lead > 0 else -angle)


def constant_rotation(matrix: Any) -> Step:
    """Return a constant rotation from its matrix, rounded to remove the errors of right angles."""
    rows = [[number(round(float(entry), 16) + 0.0) for entry in row] for row in matrix]
    return ConstantRotation(tuple(map(tuple, rows)))  # type: ignore[arg-type]


def yaw(matrix: Any) -> float | None:
    """Return the angle of a rotation about z, None for other rotations."""
    R = np.asarray(matrix, dtype=float)
    return atan2(R[1, 0], R[0, 0]) if abs(R[2, 2] - 1) < 1e-12 else None


def _rodrigues(n: Axis, i: int, j: int, c: Expr, s: Expr) -> Expr:
    if n == Z:  # avoids floating-point factors in planar robots
        return ((c, -s, 0), (s, c, 0), (0, 0, 1))[i][j]
    skew = ((0, -n[2], n[1]), (n[2], 0, -n[0]), (-n[1], n[0], 0))[i][j]
    along, across = n[i] * n[j], (1.0 if i == j else 0.0) - n[i] * n[j]
    parts = [(along, 1), (across, c), (skew, s)]
    return sum((number(weight) * part for weight, part in parts if weight), 0)


def _transposed(matrix: Matrix3) -> Matrix3:
    return tuple(zip(*matrix, strict=True))  # type: ignore[return-value]


def apply(matrix: Matrix3, vector: Vector) -> Vector:
    x, y, z = (dot(row, vector) for row in matrix)
    return x, y, z


def simplify_rotations(steps: Sequence[Step]) -> list[Step]:
    """Drop zero rotations and merge successive rotations about one axis."""
    out: list[Step] = []
    for step in steps:
        last = out[-1] if out else None
        if isinstance(step, AxisRotation) and isinstance(last, AxisRotation) and step.axis == last.axis:
            out.pop()
            step = AxisRotation(step.axis, last.angle + step.angle)
        idle = step.angle == 0 if isinstance(step, AxisRotation) else step.matrix == IDENTITY
        if not idle:
            out.append(step)
    return out


def rotation_product(steps: Sequence[Step]) -> Matrix3:
    """Return the rotation matrix of a sequence of rotations."""
    out: Matrix3 = IDENTITY
    for step in simplify_rotations(steps):
        columns = [apply(out, column) for column in _transposed(step.matrix)]
        out = step.matrix if out == IDENTITY else _transposed(tuple(columns))  # type: ignore[arg-type]
    return out


@dataclass(eq=False)
class Frame:
    """Frame relative to a parent; None is the parent of the ground.

    `origin` and `turns` are its position and rotations relative to the parent. `omega` and `velocity` are, for a unit
    rate of each coordinate, its angular velocity in its own axes and the velocity of its origin as a sum over frames.
    """

    parent: Frame | None = None
    origin: Vector = ZERO
    turns: tuple[Step, ...] = ()
    omega: dict[int, Vector] = field(default_factory=dict)
    velocity: dict[int, dict[Frame, Vector]] = field(default_factory=dict)
    _rotations: dict[Frame, Matrix3] = field(default_factory=dict, repr=False)

    @property
    def path(self) -> list[Frame]:
        """Frames from the ground to this frame, both included."""
        return [*(self.parent.path if self.parent is not None else []), self]

    def rotation(self, other: Frame) -> Matrix3:
        """Return the matrix that transforms components in another frame to components in this frame."""
        if other not in self._rotations:
            own, others = self.path, other.path
            common = sum(one is two for one, two in zip(own, others, strict=False))
            up = [step.inverse for frame in reversed(own[common:]) for step in reversed(frame.turns)]
            self._rotations[other] = rotation_product(
                [*up, *(step for frame in others[common:] for step in frame.turns)]
            )
        return self._rotations[other]

    def resolve(self, parts: Mapping[Frame, Vector]) -> Vector:
        """Return a sum of vectors given in several frames in the axes of this frame."""
        return plus(ZERO, *(v if frame is self else apply(self.rotation(frame), v) for frame, v in parts.items()))

    @property
    def moving_coordinates(self) -> list[int]:
        """Indices of the coordinates that move this frame."""
        return sorted({*self.omega, *self.velocity})

    def child(self, origin: Vector, turns: Sequence[Step], short: Abbreviations) -> Frame:
        """Return a frame relative to this one, whose origin and rotations may depend on coordinates."""
        velocity = {column: dict(parts) for column, parts in self.velocity.items()}
        for column, spin in self.omega.items():
            _add(velocity, column, self, cross(spin, origin))
        for at, column in short.coordinates(origin):
            x, y, z = (short.diff(entry, at) for entry in origin)
            _add(velocity, column, self, (x, y, z))
        omega = dict(self.omega)
        for step in turns:
            back = step.inverse.matrix
            omega = {column: apply(back, vector) for column, vector in omega.items()}
            if isinstance(step, AxisRotation):
                x, y, z = (number(entry) for entry in step.axis)
                for at, column in short.coordinates([step.angle]):
                    omega[column] = plus(omega.get(column, ZERO), times(short.diff(step.angle, at), (x, y, z)))
        return Frame(self, origin, tuple(turns), omega, velocity)


def _add(velocity: dict[int, dict[Frame, Vector]], column: int, frame: Frame, vector: Vector) -> None:
    if any(entry != 0 for entry in vector):
        parts = velocity.setdefault(column, {})
        parts[frame] = plus(parts.get(frame, ZERO), vector)
