"""Inverse kinematics: joint coordinates that bring a point of a robot to a pose or along a path, links straight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexarm.analysis.rigid_kinematics import (
    COMPONENTS,
    Component,
    LinkFrame,
    PostureSearch,
    RigidTwin,
    Target,
    require_frames,
)
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, whole_number
from flexarm.robot import Pose, Robot

DEFAULT_START_COUNT = 24  # further start postures after q0


def inverse_kinematics(
    robot: Robot | System,
    pose: ArrayLike | Pose,
    *,
    q0: Vector = None,
    link: str | None = None,
    x: float | None = None,
    components: Sequence[Component] | None = None,
    joints: Sequence[str] | None = None,
    starts: int = DEFAULT_START_COUNT,
) -> Array:
    """Find the joint coordinates with which a point of the robot, its links straight, reaches a pose.

    Parameters
    ----------
    robot : Robot or System
        Robot, or its equations of motion. Constraints are satisfied.
    pose : array_like or Pose
        Position (m) of shape (3,), frame of shape (4, 4) or `Pose`; or a path of positions (n, 3) or frames (n, 4, 4).
        Each pose of a path is found from the one before, so that joints move continuously.
    q0 : dict of str to float or array_like, shape (nq,), optional
        Posture at which the search begins, by coordinate name or as an array; zero by default. Deflections are ignored.
    link : str, optional
        Link that carries the point, or a frame; the robot's tip by default.
    x : float, optional
        Distance of the point from the root of the link (m); by default its tip.
    components : sequence of {"x", "y", "z", "rx", "ry", "rz"}, optional
        Components of the pose that matter: positions, and rotations about the world's axes. All that `pose` gives by
        default. For a planar robot of any orientation: ("x", "y").
    joints : sequence of str, optional
        Links whose joints may move; the others stay at `q0`. All by default.
    starts : int, optional
        Number of further start postures, always the same ones, that are tried if `q0` does not lead to the pose. Among
        the solutions found, the one nearest to `q0` is returned.

    Returns
    -------
    ndarray, shape (nq,) or (n, nq)
        Coordinates of the robot, within the travel of its joints, for `simulate(q0=...)`: deflections are zero, motors
        follow their joints. The tip is that of `robot.rigid()`.

    Raises
    ------
    ValueError
        If the pose is out of reach (with the distance of the nearest posture), or if joints would have to jump along a
        path.

    See Also
    --------
    rigid_torques : Torques along a path.

    Notes
    -----
    The search is the Levenberg-Marquardt method with bounds.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> q = inverse_kinematics(arm, (1.0, 0.5, 0.0), q0={"fore.q": 1.0})
    >>> System(arm).tip(q).round(9)
    array([1. , 0.5, 0. ])
    """
    positions, axes, single = _parse_poses(pose)
    search = posture_search(robot, axes is not None, q0, link, x, components, joints)
    count = whole_number("starts", starts)
    targets = [Target(p, None if axes is None else axes[k]) for k, p in enumerate(positions)]
    out = [search.solve(targets[0], count, "pose" if single else "pose[0]")]
    for k in range(1, len(targets)):
        out.append(search.follow(out[-1], targets[k - 1], targets[k], f"pose[{k}]"))
    answer = search.twin.expand(np.array(out))
    return np.asarray(answer[0] if single else answer)


def posture_search(
    robot: Robot | System,
    has_axes: bool,
    q0: Vector,
    link: str | None,
    x: float | None,
    components: Sequence[Component] | None,
    joints: Sequence[str] | None,
) -> PostureSearch:
    """Return the search for postures, of positions or (`has_axes`) frames, for the checked arguments of a user."""
    twin = RigidTwin(robot)
    place = LinkFrame(twin, link, x)
    rows, moving = _rows(components, has_axes), tuple(_moving_joints(twin, place, joints))
    return PostureSearch(twin, place, rows, moving, _start_posture(twin, q0))


# --- arguments ---


def _parse_poses(pose: Any) -> tuple[Array, Array | None, bool]:
    """Return positions (n, 3), axes (n, 3, 3) or None, and True if it is a single pose."""
    if isinstance(pose, Pose):
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = pose.matrix, pose.position
        pose = frame
    given = real_array("pose", pose)
    if given.shape[-2:] == (4, 4) and given.ndim in (2, 3):
        frames = given.reshape(-1, 4, 4)
        require_frames("pose", frames, given.ndim == 2)
        positions, axes = frames[:, :3, 3], frames[:, :3, :3]
    elif given.shape[-1:] == (3,) and given.ndim in (1, 2):
        positions, axes = given.reshape(-1, 3), None
    else:
        raise ValueError(
            f"pose has shape {given.shape}: must be a position (3,) or a frame (4, 4), or a path of them, (n, 3) or "
            "(n, 4, 4)"
        )
    if not np.isfinite(given).all():
        raise ValueError(f"pose = {shown(pose)}: must be finite")
    if not len(positions):
        raise ValueError("pose: a path must have at least one pose")
    return positions, axes, given.ndim == (1 if axes is None else 2)


def _rows(components: Any, frames: bool) -> tuple[int, ...]:
    available = COMPONENTS if frames else COMPONENTS[:3]
    if components is None:
        return tuple(range(len(available)))
    if isinstance(components, str) or not isinstance(components, Sequence) or not components:
        raise ValueError(f"components = {shown(components)}: must be some of {', '.join(COMPONENTS)}, in a tuple")
    for each in components:
        if each not in COMPONENTS:
            raise ValueError(f"components: there is no {shown(each)}; there are {', '.join(COMPONENTS)}")
        if each not in available:
            raise ValueError(f"components: {each!r} needs a pose with axes, a frame (4, 4) or fa.Pose, not a position")
    return tuple(k for k, name in enumerate(COMPONENTS) if name in components)


def _start_posture(twin: RigidTwin, q0: Vector) -> Array:
    given = twin.system.posture(q0, "q0")
    if given.ndim != 1:
        raise ValueError(f"q0 has shape {given.shape}: the search begins at one posture")
    low, high = twin.travel
    q = given[twin.joints]
    if q0 is None:
        return np.clip(q, low, high)
    for name, value, least, most in zip(twin.rigid.names, q, low, high, strict=True):
        is_given = not isinstance(q0, Mapping) or name in q0
        if is_given and not least <= value <= most:
            raise ValueError(f"q0 of '{name}' = {value:g}: must be within its travel, {least:g} to {most:g}")
    return np.clip(q, low, high)


def _moving_joints(twin: RigidTwin, place: LinkFrame, joints: Any) -> list[int]:
    """Return the joints that may move: those that move the point, or any if constraints couple them."""
    every = range(twin.rigid.nq)
    movable = list(every) if twin.rigid.constraints else twin.moving_joints(place.link)
    if not movable:
        raise ValueError(f"link = '{place.link}': no joint moves {place}")
    if joints is None:
        return movable
    names = [each.link for each in twin.rigid.coordinates]
    if isinstance(joints, str) or not isinstance(joints, Sequence) or not joints:
        raise ValueError(f"joints = {shown(joints)}: must be names of links, in a list")
    for each in joints:
        if each not in names:
            raise KeyError(f"joints: no joint moves a link {shown(each)}{suggestion(each, names)}")
    chosen = [k for k in movable if names[k] in joints]
    if not chosen:
        raise ValueError(f"joints = {shown(joints)}: none of them moves {place}")
    return chosen
