"""Equations of a robot whose output follows a path, independent of the torques.

They are the equations of motion of the coordinates without actuators, M a + h = 0, and as many output conditions as
there are actuators,

    pinv(J_r) (x(q) - x_r) = 0,

x the pose of a point on the flexible robot, x_r and J_r those of the rigid twin on the path. If the joints can place
the point freely, this means x = x_r; if they cannot, as for a single link along its own axis, it means that no small
rotation of the twin's joints would bring it nearer. Joints that do not move the point are held where the twin's are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.analysis.rigid_kinematics import RigidTwin
from flexarm.codegen.library import building
from flexarm.control.inversion.rigid_reference import TwinPath
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array

SINGULAR_VALUE_TOLERANCE = 1e-6  # of the scaled Jacobian, relative to its largest singular value


@dataclass(frozen=True)
class ReferenceSamples:
    """Samples of the reference at n times.

    q, v, a (n, nq) are those of the rigid twin in the robot's coordinates; `columns` (m, n) the parameters of the
    functions; `positions` (n, 3) where the point should be.
    """

    q: Array
    v: Array
    a: Array
    columns: Array
    positions: Array


@dataclass(frozen=True)
class OutputConstraint:
    """Robot, point on it that follows, and path."""

    twin: RigidTwin
    place: tuple[str, float | None]
    path: TwinPath

    @property
    def system(self) -> System:
        return self.twin.system

    @cached_property
    def actuated(self) -> list[int]:
        """Return the coordinates on which actuators act, in the order of the twin's joints."""
        found = {each.link: each.coordinate.index for each in self.system.actuators}
        return [found[each.link] for each in self.twin.rigid.coordinates]

    @cached_property
    def passive(self) -> list[int]:
        """Return the coordinates without actuators."""
        return [k for k in range(self.system.nq) if k not in self.actuated]

    @cached_property
    def held(self) -> list[int]:
        """Return the twin's joints that follow their references whatever the position of the point."""
        return [k for k in range(self.twin.rigid.nq) if k not in self.path.moving]

    @cached_property
    def _weights(self) -> Array:
        """Return the weight of each component of the pose: lengths relative to the robot's, angles in rad."""
        length = self.twin.robot.size
        return np.array([1 / length if row < 3 else 1.0 for row in self.path.rows])

    # --- goals ---

    def goals(self, t: Array) -> ReferenceSamples:
        """Return the samples of the reference at times (n,)."""
        q, v, a = (self.path(t, order) for order in range(3))
        frames = self.twin.rigid.frame(*self.place, q)
        inverse = self._inverse(q, t)
        columns = [inverse.reshape(len(t), -1), frames[:, :3, 3], frames[:, :3, :3].reshape(len(t), 9), q[:, self.held]]
        q, v, a = (self.twin.expand(each) for each in (q, v, a))
        return ReferenceSamples(q, v, a, np.hstack(columns).T, frames[:, :3, 3])

    def _inverse(self, q: Array, t: Array) -> Array:
        """Return the pseudo-inverse (n, moving, rows): motions of the twin's joints that close a gap of the pose."""
        moving, rows = list(self.path.moving), list(self.path.rows)
        if not moving:
            return np.zeros((len(t), 0, len(rows)))
        J = self.twin.rigid.jacobian(*self.place, q, axes="world")[:, [3, 4, 5, 0, 1, 2]]
        scaled = J[:, rows][:, :, moving] * self._weights[:, None]
        sizes = np.linalg.svd(scaled, compute_uv=False)
        rank_short = sizes.shape[1] < len(moving)
        poor = (
            sizes[:, -1] < SINGULAR_VALUE_TOLERANCE * sizes[:, 0].max()
            if not rank_short
            else np.ones(len(t), dtype=bool)
        )
        if poor.any():
            names = ", ".join(self.twin.rigid.coordinates[k].link for k in moving)
            where = "" if poor.all() else f" at t = {t[int(poor.argmax())]:.4g} s"
            raise ValueError(
                f"tip: the path does not determine the joints of {names}{where}, since several of their motions leave "
                "the place where it is; let fewer of them move, or lead the path past the singular posture"
            )
        return np.asarray(np.linalg.pinv(scaled) * self._weights)

    # --- equations ---

    @cached_property
    def _expressions(self) -> tuple[list[Any], Any, Any]:
        """Return symbols (q, v, a, goal), equations, and generalised forces of the actuated coordinates."""
        system, rows = self.system, list(self.path.rows)
        place, there = system.place(*self.place), Parameters()
        system.add_place(there, "place", place)
        q, v, a = (ca.SX.sym(name, system.nq) for name in "qva")
        goal = ca.SX.sym("goal", len(self.path.moving) * len(rows) + 12 + len(self.held))
        count = len(self.path.moving) * len(rows)
        inverse = ca.reshape(goal[:count], len(rows), len(self.path.moving)).T
        position, axes = goal[count : count + 3], ca.reshape(goal[count + 3 : count + 12], 3, 3).T
        forces = system.casadi["inverse_dynamics"](q, v, a)
        R, p = system.parametric.frame(place.link, there)(q, there.vector, system.numbers)
        turned = sum((ca.cross(axes[:, k], R[:, k]) for k in range(3)), ca.SX.zeros(3)) / 2
        missing = inverse @ ca.vertcat(p - position, turned)[rows]
        at = ca.vertcat(*(q[self.actuated[k]] for k in self.held)) - goal[count + 12 :]
        conditions = ca.SX(self.twin.rigid.nq, 1)
        for k, joint in enumerate(self.path.moving):
            conditions[joint] = missing[k]
        for k, joint in enumerate(self.held):
            conditions[joint] = at[k]
        return [q, v, a, goal], ca.vertcat(forces[self.passive], conditions), forces[self.actuated]

    @cached_property
    def _residual(self) -> Any:
        with building:
            given, rows, _ = self._expressions
            return ca.Function("residual", given, [ca.densify(ca.cse(rows))])

    @cached_property
    def _slopes(self) -> Any:
        with building:
            given, rows, _ = self._expressions
            slopes = [ca.densify(ca.jacobian(rows, each)) for each in given[:3]]
            return ca.Function("slopes", given, ca.cse([ca.densify(rows), *slopes]))

    @cached_property
    def _statics(self) -> Any:
        """Return the function of the equations and their derivative by q only."""
        with building:
            given, rows, _ = self._expressions
            return ca.Function("statics", given, ca.cse([ca.densify(rows), ca.densify(ca.jacobian(rows, given[0]))]))

    @cached_property
    def _forces(self) -> Any:
        with building:
            given, _, forces = self._expressions
            return ca.Function("forces", given[:3], [ca.densify(ca.cse(forces))])

    def residual(self, q: Array, v: Array, a: Array, goals: ReferenceSamples) -> Array:
        """Return the residuals of the equations, shape (n, nq)."""
        return _map_columns(self._residual, q.T, v.T, a.T, goals.columns)[0][:, :, 0]

    def slopes(self, q: Array, v: Array, a: Array, goals: ReferenceSamples) -> list[Array]:
        """Return the residuals (n, nq, 1) and their derivatives (n, nq, nq) by q, v and a."""
        return _map_columns(self._slopes, q.T, v.T, a.T, goals.columns)

    def statics(self, q: Array, v: Array, a: Array, goals: ReferenceSamples) -> list[Array]:
        """Return the residuals (n, nq, 1) and their derivative (n, nq, nq) by q."""
        return _map_columns(self._statics, q.T, v.T, a.T, goals.columns)

    def torques(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torques (n, nu) in the order and units of the actuators."""
        forces = _map_columns(self._forces, q.T, v.T, a.T)[0][:, :, 0]
        order = [self.actuated.index(each.coordinate.index) for each in self.system.actuators]
        return np.asarray(forces[:, order] / np.array([each.gear for each in self.system.actuators]))


def _map_columns(function: Any, *given: Array) -> list[Array]:
    """Evaluate a function for all columns of its arguments; return outputs (n, rows, columns)."""
    count = given[0].shape[1]
    found = function.map(count)(*given)
    found = found if isinstance(found, (tuple, list)) else [found]
    out = []
    for each in found:
        whole = each.full()
        out.append(np.ascontiguousarray(whole.reshape(whole.shape[0], count, -1).swapaxes(0, 1)))
    return out
