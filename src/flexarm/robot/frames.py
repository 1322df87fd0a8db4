"""Frames: named poses on links, for tools, sensors, loads and constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from flexarm.robot.description import Description
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Matrix3, Vector, Vector3, nonnegative
from flexarm.robot.links import NameCheck
from flexarm.robot.pose import LOOKS_LIKE_DEGREES, ROTATION_MEANING, Rotation, looks_like_degrees, rotation_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

RESERVED_NAMES = ("tip", "deflection", "torque", "reaction", "law", "loads", "base")
"""Words with which names of quantities begin."""


class Frame(Description):
    """Frame fixed to a section of a link, usable by name wherever a point or a frame is asked for.

    See Also
    --------
    Robot : `Robot(frames=[...], tip="tool")`.
    System.pose : Pose of a frame.

    Examples
    --------
    >>> Frame("tool", on="wrist", position=(0, 0, 0.1), rpy=(0, 1.5, 0))
    Frame(name='tool', on='wrist', position=(0.0, 0.0, 0.1), rpy=(0.0, 1.5, 0.0))
    """

    name: Annotated[str, NameCheck()] = Field(
        description="name, unique among frames and links: letters, digits, _ and -"
    )
    on: str = Field(description="name of the link that carries the frame")
    x: Annotated[float, nonnegative("m")] | None = Field(
        None, description="section that carries the frame, from the link's root (m); its tip unless given"
    )
    position: Annotated[Vector3, Vector("m")] = Field(
        (0.0, 0.0, 0.0), description="origin of the frame, from that section's axis, in the section's axes (m)"
    )
    rpy: Annotated[Vector3, Vector("rad")] = Field(
        (0.0, 0.0, 0.0),
        description="orientation: angles roll, pitch, yaw (rad), meaning R = Rz(yaw) Ry(pitch) Rx(roll)",
    )
    rotation: Rotation | None = Field(None, description=f"orientation instead of rpy: {ROTATION_MEANING}")

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            on: str,
            x: float | None = None,
            position: ArrayLike = (0, 0, 0),
            rpy: ArrayLike = (0, 0, 0),
            rotation: ArrayLike | None = None,
        ) -> None: ...

    @property
    def matrix(self) -> Matrix3:
        """Rotation from the frame's axes to those of the section, as a 3x3 matrix."""
        return rotation_matrix(self.rpy if self.rotation is None else self.rotation)

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.name in RESERVED_NAMES:
            yield DescriptionProblem("name", self.name, "must be another name: quantities of a run begin with it")
        if self.rotation is not None and any(self.rpy):
            yield DescriptionProblem("rotation", ..., "must be left out if rpy is given")

    def unit_warnings(self) -> list[tuple[str, str]]:
        given = {"rpy": self.rpy, "rotation": self.rotation}
        return [(name, LOOKS_LIKE_DEGREES) for name, each in given.items() if each and looks_like_degrees(each)]
