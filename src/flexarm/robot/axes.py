"""Axes and directions, by name or as three numbers."""

from __future__ import annotations

from math import hypot
from typing import Any

from flexarm.foundation.sentences import unknown

from .quantities import Checked, Vector3, finite_numbers, numbers_schema

_AXES: dict[str, Vector3] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}


class AxisCheck(Checked):
    """An axis by name or as a direction."""

    def check(self, value: object) -> str | tuple[float, ...]:
        if isinstance(value, str):
            if value not in _AXES:
                raise ValueError(unknown("unknown axis", value, _AXES) + " or three numbers")
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
    """A validated axis as a unit vector.

    >>> unit_axis("-z"), unit_axis((0.0, 3.0, 4.0))
    ((0.0, 0.0, -1.0), (0.0, 0.6, 0.8))
    """
    if isinstance(axis, str):
        return _AXES[axis]
    size = hypot(*axis)
    return axis[0] / size, axis[1] / size, axis[2] / size
