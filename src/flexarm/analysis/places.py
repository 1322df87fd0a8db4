"""Where a place on a robot is as its joints turn, links straight: frames, Jacobians in the world, and their rates."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.codegen.lock import building
from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.numbers import Numbers
from flexarm.mechanics.system import System
from flexarm.robot import Robot

ORTHOGONAL = 1e-6  # what the axes of a frame may be off


class Twin:
    """A robot beside its rigid twin, whose only coordinates are the joints.

    robot: as it was given. rigid: `robot.rigid()`, whose tip is that of the robot without deflections.
    """

    def __init__(self, robot: Robot | System) -> None:
        if not isinstance(robot, (Robot, System)):
            raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
        self.system = robot if isinstance(robot, System) else System(robot, native=False)
        self.robot = self.system.robot
        self.rigid = System(self.robot.rigid(), native=False)
        if not self.rigid.nq:
            raise ValueError(f"robot '{self.robot.name}' has no joint that could move")

    @cached_property
    def joints(self) -> list[int]:
        """Place of each of the twin's coordinates among those of the robot."""
        return [self.system.index(name) for name in self.rigid.names]

    @cached_property
    def travel(self) -> tuple[Array, Array]:
        """Lowest and highest joint coordinates, infinite where nothing limits them."""
        found = [self.robot.travel(each.link) or (-np.inf, np.inf) for each in self.rigid.coordinates]
        low, high = np.array(found).T
        return low, high

    def path(self, link: str) -> list[int]:
        """The twin's coordinates that move a link: of the joints between it and the ground."""
        names, parents = [each.name for each in self.robot.links], self.robot.parents
        at: int | None = names.index(link)
        above = set()
        while at is not None:
            above.add(names[at])
            at = parents[at]
        return [k for k, each in enumerate(self.rigid.coordinates) if each.link in above]

    def widened(self, values: Array) -> Array:
        """(..., nq) of the robot from (..., joints): no deflection, motors with their joints."""
        out = np.zeros((*values.shape[:-1], self.system.nq))
        out[..., self.joints] = values
        for each in self.system.coordinates:
            if each.kind == "motor":
                out[..., each.index] = out[..., self.system.joint(each.link).index]
        return out


class Place:
    """A section of one of the rigid twin's links."""

    def __init__(self, twin: Twin, link: str | None, x: float | None) -> None:
        self.system = twin.rigid
        self.link = twin.robot.links[-1].name if link is None else link
        self.number, self.x = self.system.place(self.link, x)
        self.tip = x is None

    def __str__(self) -> str:
        return f"the tip of '{self.link}'" if self.tip else f"'{self.link}' at {self.x:g} m"

    def __call__(self, q: Array) -> tuple[Array, Array, Array]:
        """Position (3,), axes (3, 3) and Jacobian (6, joints) in the world, rows of the position first."""
        p, R, J, _ = self._function(q, np.zeros_like(q))
        return p.full().ravel(), R.full(), J.full()

    def drift(self, q: Array, v: Array) -> Array:
        """(6,): accelerations where the joints' are none, those of the position first."""
        return np.asarray(self._function(q, v)[3].full().ravel())

    @cached_property
    def _function(self) -> Any:
        """The rates of the expressions of the twin's frame, differentiated once more along v."""
        system, n = self.system, self.system.nq
        there = Numbers()
        system.add_place(there, "place", self.number, self.x)
        with building:
            q, v = ca.MX.sym("q", n), ca.MX.sym("v", n)
            R, p = system.parametric.frame(self.number, there)(q, there.vector, system.numbers)
            own = system.parametric.jacobian(self.number, there)(q, there.vector, system.numbers)
            J = ca.vertcat(R @ own[3:, :], R @ own[:3, :])
            drift = ca.jtimes(J @ v, q, v)
            return ca.Function("place", [q, v], [p, R, J, drift])


def require_frames(name: str, frames: Array, single: bool = False) -> None:
    """Refuse what is no frame among matrices (n, 4, 4) that a user gave."""
    for k, frame in enumerate(frames):
        R = frame[:3, :3]
        off = np.abs(R.T @ R - np.eye(3)).max()
        if not off <= ORTHOGONAL or np.linalg.det(R) < 0 or not np.abs(frame[3] - [0, 0, 0, 1]).max() <= ORTHOGONAL:
            raise ValueError(
                f"{name if single else f'{name}[{k}]'} = {shown(frame.tolist())}: must be a frame, a rotation matrix "
                "and a position above a row 0, 0, 0, 1"
            )


def require_tree(system: System, what: str) -> None:
    """Refuse closed loops, where what each actuator has to do is not determined."""
    if system.constraints:
        raise ValueError(
            f"robot '{system.robot.name}' has constraints: which of its actuators would share the work is not "
            f"determined; {what} is for robots without closed loops"
        )
