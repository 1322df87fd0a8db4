"""Frames of links: positions, rotations and Jacobians.

A velocity is stored as a sum of vectors in the axes of several frames. Products of velocities of distant links then
contain the cosine and sine of one angle, the sum of all rotations between them, instead of products of many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import matmul
from typing import Any

import numpy as np

from flexarm.symbolic.algebra import ZERO, Expr, ExprArray, cos, numbers, sin
from flexarm.symbolic.symbols import Abbreviations

IDENTITY = np.eye(3, dtype=object)


@dataclass(frozen=True)
class Rotation:
    """Rotation by an angle about a constant axis."""

    axis: tuple[float, float, float]
    angle: Expr

    @property
    def matrix(self) -> ExprArray:
        """Rotation matrix by Rodrigues' formula; its numbers are exact for axes of the frame."""
        n = np.array(self.axis)
        along, skew = np.outer(n, n), np.cross(n, np.eye(3)).T
        out = numbers(along) + numbers(np.eye(3) - along) * cos(self.angle) + numbers(skew) * sin(self.angle)
        return np.asarray(out)

    @property
    def inverse(self) -> Rotation:
        return Rotation(self.axis, -self.angle)


@dataclass(frozen=True, eq=False)
class ConstantRotation:
    """Constant rotation that is not about z."""

    matrix: ExprArray

    @property
    def inverse(self) -> ConstantRotation:
        return ConstantRotation(self.matrix.T)


Step = Rotation | ConstantRotation


def rotation_about(axis: Sequence[float], angle: Expr) -> Rotation:
    """Return the rotation about an axis, whose sign is normalized so that successive rotations can be merged."""
    lead = next(entry for entry in axis if entry)
    x, y, z = (float(entry) if lead > 0 else -float(entry) for entry in axis)
    return Rotation((x + 0.0, y + 0.0, z + 0.0), angle if lead > 0 else -angle)


def constant_rotation(matrix: Any) -> ConstantRotation:
    """Return a constant rotation from its matrix, rounded to remove the errors of right angles."""
    return ConstantRotation(numbers(np.round(np.asarray(matrix, dtype=float), 16)))


def simplify_rotations(steps: Sequence[Step]) -> list[Step]:
    """Drop zero rotations and merge successive rotations about one axis."""
    out: list[Step] = []
    for step in steps:
        last = out[-1] if out else None
        if isinstance(step, Rotation) and isinstance(last, Rotation) and step.axis == last.axis:
            out.pop()
            step = Rotation(step.axis, last.angle + step.angle)
        if step.angle != 0 if isinstance(step, Rotation) else (step.matrix != IDENTITY).any():
            out.append(step)
    return out


@dataclass(eq=False)
class SymbolicFrame:
    """Frame relative to a parent; None is the parent of the ground.

    `origin` and `turns` are its position and rotations relative to the parent. `omega` and `velocity` are, for a unit
    rate of each coordinate, its angular velocity in its own axes and the velocity of its origin as a sum over frames.
    """

    parent: SymbolicFrame | None = None
    origin: ExprArray = field(default_factory=ZERO.copy)
    turns: tuple[Step, ...] = ()
    omega: dict[int, ExprArray] = field(default_factory=dict)
    velocity: dict[int, dict[SymbolicFrame, ExprArray]] = field(default_factory=dict)
    _rotations: dict[SymbolicFrame, ExprArray] = field(default_factory=dict, repr=False)

    @property
    def path(self) -> list[SymbolicFrame]:
        """Frames from the ground to this frame, both included."""
        return [*(self.parent.path if self.parent is not None else []), self]

    def rotation(self, other: SymbolicFrame) -> ExprArray:
        """Return the matrix that transforms components in another frame to components in this frame."""
        if other not in self._rotations:
            own, others = self.path, other.path
            common = sum(one is two for one, two in zip(own, others, strict=False))
            steps = [step.inverse for frame in reversed(own[common:]) for step in reversed(frame.turns)]
            steps += [step for frame in others[common:] for step in frame.turns]
            self._rotations[other] = reduce(matmul, (step.matrix for step in simplify_rotations(steps)), IDENTITY)
        return self._rotations[other]

    def resolve(self, parts: Mapping[SymbolicFrame, ExprArray]) -> ExprArray:
        """Return a sum of vectors given in several frames in the axes of this frame."""
        return sum((v if frame is self else self.rotation(frame) @ v for frame, v in parts.items()), ZERO)

    @property
    def moving_coordinates(self) -> list[int]:
        """Indices of the coordinates that move this frame."""
        return sorted({*self.omega, *self.velocity})

    def child(self, origin: ExprArray, turns: Sequence[Step], short: Abbreviations) -> SymbolicFrame:
        """Return a frame relative to this one, whose origin and rotations may depend on coordinates."""
        velocity = {column: dict(parts) for column, parts in self.velocity.items()}
        moved = [(column, np.cross(spin, origin)) for column, spin in self.omega.items()]
        moved += [(column, short.diff(origin, at)) for at, column in short.coordinates(origin)]
        for column, part in moved:
            if (part != 0).any():
                parts = velocity.setdefault(column, {})
                parts[self] = parts.get(self, ZERO) + part
        omega = dict(self.omega)
        for step in turns:
            back = step.inverse.matrix
            omega = {column: back @ spin for column, spin in omega.items()}
            if isinstance(step, Rotation):
                for at, column in short.coordinates([step.angle]):
                    spin = short.diff(step.angle, at) * numbers(step.axis)
                    omega[column] = omega.get(column, ZERO) + spin
        return SymbolicFrame(self, origin, tuple(turns), omega, velocity)
