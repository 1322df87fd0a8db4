"""Robots from Denavit-Hartenberg parameters.

A link reaches from its joint along its own x axis, as all links do. In the standard convention a row is the transform
Rz(theta + q) Tz(d) Tx(a) Rx(alpha): the joint turns about z, the link has the length a, and d and alpha belong to the
joints, as `offset` along the axis and as rotation of the next `mount`. In the modified convention a row is
Rx(alpha) Tx(a) Rz(theta + q) Tz(d), so that a link has the length in the row after its own. If a is negative, the link
reaches along -x of its frame, and its own axes are turned by half a turn about z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from flexarm.foundation.messages import describe_unknown, format_number
from flexarm.foundation.validation import Array
from flexarm.robot.description import Description
from flexarm.robot.drives import Drive
from flexarm.robot.errors import DescriptionError, DescriptionProblem
from flexarm.robot.field_types import Quantity, Vector
from flexarm.robot.frames import Frame
from flexarm.robot.joints import MovingJoint, Prismatic, Revolute
from flexarm.robot.links import Link
from flexarm.robot.masses import RigidBody
from flexarm.robot.pose import LARGE_ANGLE, LOOKS_LIKE_DEGREES, Pose, rotation_matrix
from flexarm.robot.robot import Robot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

CONVENTIONS = ("standard", "modified")
ROW_FIELDS = ("a", "alpha", "d", "theta")
LENGTH_TOLERANCE_M = 1e-9
JOINTS: dict[str, type[MovingJoint]] = {"revolute": Revolute, "prismatic": Prismatic}
"""Kinds of joint of a row; each has an axis."""


class ParameterRow(Description):
    """Row of a table of Denavit-Hartenberg parameters, with what the link and its joint have beyond them."""

    a: Annotated[float, Quantity("m")] = Field(0.0, description="distance along x (m)")
    alpha: Annotated[float, Quantity("rad")] = Field(0.0, description="angle about x (rad)")
    d: Annotated[float, Quantity("m")] = Field(0.0, description="distance along z (m)")
    theta: Annotated[float, Quantity("rad")] = Field(0.0, description="angle about z at q = 0 (rad)")
    type: str = Field("revolute", description="kind of joint")
    name: str | None = Field(None, description="name of the link")
    limits: Annotated[tuple[float, float], Vector("rad or m", size=2)] | None = Field(
        None, description="limits of the joint (rad or m)"
    )
    drive: Drive | None = Field(None, description="drive of the joint")
    body: RigidBody | None = Field(None, description="rigid body, in the frame of the row")

    def unit_warnings(self) -> list[tuple[str, str]]:
        angles = {"alpha": self.alpha, "theta": self.theta}
        return [(name, LOOKS_LIKE_DEGREES) for name, angle in angles.items() if abs(angle) > LARGE_ANGLE]


def from_dh(
    rows: Sequence[Sequence[float] | Mapping[str, Any]],
    convention: Literal["standard", "modified"] = "standard",
    links: Sequence[Link | RigidBody | None] | None = None,
    *,
    name: str = "robot",
    gravity: ArrayLike = (0, 0, 0),
    base: Pose | None = None,
) -> Robot:
    """Make a robot from Denavit-Hartenberg parameters.

    Parameters
    ----------
    rows : sequence of (a, alpha, d, theta) or of mappings
        One row for each joint: distance (m) and angle (rad) along and about x, distance and angle along and about z;
        theta is added to the coordinate of the joint, or d if it is prismatic. A mapping has these names (0 unless
        given), and optionally `name` of the link, `type` of the joint ("revolute" or "prismatic"), its `limits` (rad or
        m) and `drive`, and the `body`.
    convention : {"standard", "modified"}, optional
        Order of the transforms. "standard" is Rz(theta) Tz(d) Tx(a) Rx(alpha): frame i is at the far end of link i.
        "modified" (Craig) is Rx(alpha) Tx(a) Rz(theta) Tz(d): frame i is at the joint of link i.
    links : sequence of Link, RigidBody or None, optional
        One entry for each row. A `Link` is a template: its name, beam, masses and joint (about or along z) are kept,
        its place is that of the row. A link that is a beam must have the length of the row, abs(a); in the modified
        convention that is the a of the next row. A `RigidBody` is a body in the frame of the row; None leaves the link
        without mass, unless the row has a body.
    name : str, optional
        Name of the robot.
    gravity : array_like, shape (3,), optional
        Acceleration of gravity (m/s2).
    base : Pose, optional
        Pose of frame 0 in the world.

    Returns
    -------
    Robot
        Links `link1`, `link2`, ... unless named, with the frames `frame1`, `frame2`, ... of the rows; the last one is
        the tip. Joint coordinates are those of the table.

    Raises
    ------
    DescriptionError
        If a row or a link is not possible; the message names it, as in `rows[2].alpha`.

    See Also
    --------
    RigidBody, Link, Frame : Parts of the robot.

    Notes
    -----
    `com` and `inertia` of a body, also of the body of a template, refer to frame i of the convention, as in data sheets
    and in other programs. In the robot they are written in the axes of the link, which are those of the joint. Hub,
    payload and masses of a template are in the axes of the link.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.dynamics.system import System
    >>> scara = from_dh([(0.4, 0, 0.3, 0), (0.25, np.pi, 0, 0)])
    >>> System(scara).pose("frame2", {"link2.q": np.pi / 2}).round(9) + 0.0
    array([[ 0.  ,  1.  ,  0.  ,  0.4 ],
           [ 1.  ,  0.  ,  0.  ,  0.25],
           [ 0.  ,  0.  , -1.  ,  0.3 ],
           [ 0.  ,  0.  ,  0.  ,  1.  ]])
    """
    if convention not in CONVENTIONS:
        sentence = describe_unknown("unknown convention", convention, CONVENTIONS)
        raise DescriptionError([DescriptionProblem("convention", convention, sentence)])
    table, templates = _rows(rows), _templates(links, len(rows))
    modified = convention == "modified"
    lengths = [*(row.a for row in table[1:]), 0.0] if modified else [row.a for row in table]
    found, frames = [], []
    to_row = np.eye(3)  # axes of frame i - 1 in those of the tip of link i - 1
    for k, (row, a) in enumerate(zip(table, lengths, strict=True)):
        flip = _about("z", pi if a < 0 else 0.0)
        to_joint = to_row @ _about("x", row.alpha) if modified else to_row
        offset = to_joint @ (0.0, 0.0, row.d) + ((row.a, 0.0, 0.0) if modified and k == 0 else (0.0, 0.0, 0.0))
        to_row = flip if modified else flip @ _about("x", row.alpha)
        x = 0.0 if modified else abs(a)
        link = _link(k, row, templates[k], abs(a), Pose(position=(x, 0, 0), rotation=to_row))
        joint = _joint(k, row, link, to_joint @ _about("z", row.theta) @ flip)
        found.append(link.model_copy(update={"joint": joint, "offset": _vector(offset), "parent": None, "at": None}))
        turned = None if np.array_equal(to_row, np.eye(3)) else to_row
        frames.append(Frame(f"frame{k + 1}", on=link.name, x=0.0 if modified and a else None, rotation=turned))
    return Robot(
        name, links=found, gravity=gravity, base=Pose() if base is None else base, frames=frames, tip=frames[-1].name
    )


def _rows(rows: Any) -> list[ParameterRow]:
    """Return the validated rows of a table."""
    if not isinstance(rows, (list, tuple, np.ndarray)) or not len(rows):
        sentence = "must be a list of rows (a, alpha, d, theta), at least one"
        raise DescriptionError([DescriptionProblem("rows", rows, sentence)])
    found, problems = [], []
    for k, given in enumerate(rows):
        path = f"rows[{k}]"
        if not isinstance(given, Mapping):
            if not isinstance(given, (list, tuple, np.ndarray)) or len(given) != len(ROW_FIELDS):
                problems.append(DescriptionProblem(path, given, "must be (a, alpha, d, theta) or a mapping with them"))
                continue
            given = dict(zip(ROW_FIELDS, given, strict=True))
        try:
            row = ParameterRow(**given)
        except DescriptionError as error:
            problems += [each.under(path) for each in error.problems]
            continue
        if row.type not in JOINTS:
            problems.append(DescriptionProblem(f"{path}.type", row.type, describe_unknown("unknown", row.type, JOINTS)))
        found.append(row)
    if problems:
        raise DescriptionError(problems)
    return found


def _templates(links: Any, count: int) -> Sequence[Link | RigidBody | None]:
    """Return the templates of all links."""
    if links is None:
        return [None] * count
    if not isinstance(links, (list, tuple)) or len(links) != count:
        sentence = f"must be a list of {count} entries (Link, RigidBody or None), one for each row"
        raise DescriptionError([DescriptionProblem("links", links, sentence)])
    for k, each in enumerate(links):
        if each is not None and not isinstance(each, (Link, RigidBody)):
            raise DescriptionError([DescriptionProblem(f"links[{k}]", each, "must be a Link, a RigidBody or None")])
    return links


def _link(k: int, row: ParameterRow, template: Link | RigidBody | None, length: float, frame: Pose) -> Link:
    """Return the link of a row without its place; `frame` is the pose of the row's frame in the link's axes."""
    given = template.body if isinstance(template, Link) else template
    if given is not None and row.body is not None:
        raise DescriptionError([DescriptionProblem(f"rows[{k}].body", ..., f"must be left out: links[{k}] has one")])
    body = given or row.body
    if not isinstance(template, Link):
        own = _moved(body or RigidBody(0.0), frame)
        return Link(row.name or f"link{k + 1}", length, body=own)
    problem = None
    if row.name not in (None, template.name):
        problem = DescriptionProblem(f"rows[{k}].name", row.name, f"must be that of links[{k}], {template.name!r}")
    elif body is not None and template.body is None:
        problem = DescriptionProblem(f"rows[{k}].body", ..., f"must be left out: links[{k}] is a beam")
    elif template.length and abs(template.length - length) > LENGTH_TOLERANCE_M:
        sentence = f"must be the length of the row, abs(a) = {format_number(length)} (m)"
        problem = DescriptionProblem(f"links[{k}].length", template.length, sentence)
    elif template.parent is not None or template.at is not None or any(template.offset):
        sentence = "must have no parent, at or offset: the rows give its place"
        problem = DescriptionProblem(f"links[{k}]", template.name, sentence)
    if problem is not None:
        raise DescriptionError([problem])
    if body is None:
        return template
    return template.model_copy(update={"length": length, "body": _moved(body, frame)})


def _joint(k: int, row: ParameterRow, link: Link, mount: Array) -> MovingJoint:
    """Return the joint of a row, of the template's joint if there is one."""
    kind = JOINTS[row.type]
    given = kind(axis="z") if link.joint == Revolute() else link.joint
    if not isinstance(given, kind) or given != given.model_copy(update={"axis": "z", "mount": (0.0, 0.0, 0.0)}):
        sentence = f"must be a {row.type} joint about z without mount: the rows give its place"
        raise DescriptionError([DescriptionProblem(f"links[{k}].joint", given, sentence)])
    own = {name: value for name, value in (("limits", row.limits), ("drive", row.drive)) if value is not None}
    turned = (0.0, 0.0, 0.0) if np.array_equal(mount, np.eye(3)) else _rows_of(mount)
    return kind.model_validate({**dict(given.given), **own, "mount": turned})


def _moved(body: RigidBody, frame: Pose) -> RigidBody:
    """Return a body given in a frame, in the axes in which the pose of the frame is given."""
    R = np.array(frame.matrix)
    inertia = None if body.inertia is None else _rows_of(R @ np.array(body.inertia_matrix) @ R.T)
    return RigidBody(body.mass, _vector(np.array(frame.position) + R @ np.array(body.com)), inertia)


def _about(axis: Literal["x", "z"], angle: float) -> Array:
    """Return the rotation matrix of an angle about x or z, exact at right angles."""
    return np.array(rotation_matrix((angle, 0.0, 0.0) if axis == "x" else (0.0, 0.0, angle)))


def _rows_of(matrix: Array) -> tuple[tuple[float, ...], ...]:
    """Return a matrix as tuples, without negative zeros."""
    return tuple(_vector(row) for row in matrix)


def _vector(values: Array) -> tuple[float, ...]:
    return tuple(float(each) + 0.0 for each in values)
