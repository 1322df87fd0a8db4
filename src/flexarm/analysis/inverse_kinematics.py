"""Joint coordinates that bring a place of the rigid twin to a pose, or along a path of poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexarm.analysis.rigid_kinematics import COMPONENTS, Component, Place, PostureSearch, Target, Twin, require_frames
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, whole_number
from flexarm.robot import Pose, Robot

STARTS = 24  # beside q0


def inverse_kinematics(
    robot: Robot | System,
    pose: ArrayLike | Pose,
    q0: Vector = None,
    link: str | None = None,
    x: float | None = None,
    components: Sequence[Component] | None = None,
    joints: Sequence[str] | None = None,
    starts: int = STARTS,
) -> Array:
    """Coordinates (nq,) with which the straight links of a robot bring a place to a pose; (n, nq) along a path.

    They are those of the `robot` as it is given, deflections zero and motors where their joints are, so that they can
    be put into `simulate(q0=...)`; the tip is that of `robot.rigid()`. Joints keep to their travel. Constraints are
    kept. A pose that cannot be reached is a ValueError that tells how near it was.

    pose: position (3,) in m, frame (4, 4) or `fa.Pose`; a path of positions (n, 3) or frames (n, 4, 4), each found from
    the one before, so that joints move continuously.
    q0: where the search begins, by name or as an array (zero where not given). Its deflections do not count.
    link, x: the place: a link's tip, or x m from its root; the last link's tip unless given.
    components: which of x, y, z (m) and rx, ry, rz (rotations about the world's axes) matter; all that the pose tells
    unless given. A planar robot that need not point anywhere: ("x", "y").
    joints: links whose joints may move; the others stay at q0. All unless given.
    starts: how many other postures the search may begin from where q0 does not lead there. They are always the same;
    of those that get there the result is the one nearest to q0.

    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> q = inverse_kinematics(arm, (1.0, 0.5, 0.0), q0={"fore.q": 1.0})
    >>> System(arm).tip(q).round(9)
    array([1. , 0.5, 0. ])
    """
    search = search_of(robot, pose, q0, link, x, components, joints)
    positions, axes, single = _poses(pose)
    count = whole_number("starts", starts)
    targets = [Target(p, None if axes is None else axes[k]) for k, p in enumerate(positions)]
    out = [search.first(targets[0], count, "pose" if single else "pose[0]")]
    for k in range(1, len(targets)):
        out.append(search.onward(out[-1], targets[k - 1], targets[k], f"pose[{k}]"))
    answer = search.twin.widened(np.array(out))
    return np.asarray(answer[0] if single else answer)


def search_of(
    robot: Robot | System,
    pose: Any,
    q0: Vector,
    link: str | None,
    x: float | None,
    components: Sequence[Component] | None,
    joints: Sequence[str] | None,
) -> PostureSearch:
    """A search for postures from what a user gives, which is checked."""
    twin = Twin(robot)
    place = Place(twin, link, x)
    rows = _rows(components, _poses(pose)[1] is not None)
    return PostureSearch(twin, place, rows, tuple(_moving(twin, place, joints)), _start(twin, q0))


# --- what users give ---


def _poses(pose: Any) -> tuple[Array, Array | None, bool]:
    """Positions (n, 3), axes (n, 3, 3) or None, and whether it is a single pose."""
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
    known = COMPONENTS if frames else COMPONENTS[:3]
    if components is None:
        return tuple(range(len(known)))
    if isinstance(components, str) or not isinstance(components, Sequence) or not components:
        raise ValueError(f"components = {shown(components)}: must be some of {', '.join(COMPONENTS)}, in a tuple")
    for each in components:
        if each not in COMPONENTS:
            raise ValueError(f"components: there is no {shown(each)}; there are {', '.join(COMPONENTS)}")
        if each not in known:
            raise ValueError(f"components: {each!r} needs a pose with axes, a frame (4, 4) or fa.Pose, not a position")
    return tuple(k for k, name in enumerate(COMPONENTS) if name in components)


def _start(twin: Twin, q0: Vector) -> Array:
    given = twin.system.posture(q0, "q0")
    if given.ndim != 1:
        raise ValueError(f"q0 has shape {given.shape}: the search begins at one posture")
    low, high = twin.travel
    q = given[twin.joints]
    if q0 is None:
        return np.clip(q, low, high)
    for name, value, least, most in zip(twin.rigid.names, q, low, high, strict=True):
        if not least <= value <= most:
            if isinstance(q0, Mapping) and name not in q0:
                continue  # not given
            raise ValueError(f"q0 of '{name}' = {value:g}: must be within its travel, {least:g} to {most:g}")
    return np.clip(q, low, high)


def _moving(twin: Twin, place: Place, joints: Any) -> list[int]:
    """The joints that may move: those that move the place, or any where constraints tie them."""
    every = range(twin.rigid.nq)
    able = list(every) if twin.rigid.constraints else twin.path(place.link)
    if not able:
        raise ValueError(f"link = '{place.link}': no joint moves {place}")
    if joints is None:
        return able
    names = [each.link for each in twin.rigid.coordinates]
    if isinstance(joints, str) or not isinstance(joints, Sequence) or not joints:
        raise ValueError(f"joints = {shown(joints)}: must be names of links, in a list")
    for each in joints:
        if each not in names:
            raise KeyError(f"joints: no joint moves a link {shown(each)}{suggestion(each, names)}")
    chosen = [k for k in able if names[k] in joints]
    if not chosen:
        raise ValueError(f"joints = {shown(joints)}: none of them moves {place}")
    return chosen
