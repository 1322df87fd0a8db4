"""Newton's and Euler's equations of trees of rigid links, written anew with NumPy, in world axes: a second opinion."""

from __future__ import annotations

import numpy as np

import flexarm as fa

Vector = np.ndarray
Loads = tuple[tuple[int, Vector, Vector], ...]


def turn(axis: Vector, angle: float) -> Vector:
    """Rotation about a unit axis (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


class Moving:
    """A frame that moves, in the world: pose, angular velocity and acceleration, velocity and acceleration."""

    def __init__(self, R: Vector, p: Vector) -> None:
        self.R, self.p = np.array(R, float), np.array(p, float)
        self.omega, self.alpha, self.v, self.a = np.zeros((4, 3))

    def copy(self) -> Moving:
        out = Moving(self.R, self.p)
        out.omega, out.alpha, out.v, out.a = self.omega, self.alpha, self.v, self.a
        return out

    def shifted(self, r: Vector, dr: float = 0.0, ddr: float = 0.0) -> Moving:
        """By r in the frame's axes, whose length changes along x with these rates."""
        out, arm, along = self.copy(), self.R @ np.asarray(r, float), self.R[:, 0]
        out.p = self.p + arm
        out.v = self.v + np.cross(self.omega, arm) + along * dr
        out.a = (
            self.a
            + np.cross(self.alpha, arm)
            + np.cross(self.omega, np.cross(self.omega, arm))
            + 2 * np.cross(self.omega, along * dr)
            + along * ddr
        )
        return out

    def turned(self, R: Vector) -> Moving:
        out = self.copy()
        out.R = self.R @ np.asarray(R)
        return out

    def spun(self, axis: Vector, angle: float, rate: float, second: float) -> Moving:
        out, n = self.copy(), self.R @ axis
        out.R = self.R @ turn(axis, angle)
        out.omega = self.omega + n * rate
        out.alpha = self.alpha + np.cross(self.omega, n) * rate + n * second
        return out


def frames(robot: fa.Robot, system: fa.System, q: Vector, v: Vector, a: Vector) -> list[Moving]:
    """The root frames of all links."""
    found: list[Moving | None] = [None] * len(robot.links)
    for i in robot.order:
        link, parent = robot.links[i], robot.parents[i]
        joint = link.joint
        k = None if isinstance(joint, fa.Weld) else system.joint(link.name).index
        x, dx, ddx = (0.0, 0.0, 0.0) if k is None else (q[k], v[k], a[k])
        sliding = isinstance(joint, fa.SlidingPrismatic)
        if parent is None:
            at = Moving(robot.base.matrix, robot.base.position)
        else:
            at = found[parent]
            above = robot.links[parent].length
            if not sliding:
                at = at.shifted((above if link.at is None else link.at, 0, 0))
        if sliding:
            at = at.shifted((x, 0, 0), dx, ddx)
        at = at.shifted(link.offset).turned(joint.mount_matrix)
        if isinstance(joint, fa.Revolute):
            at = at.spun(np.array(joint.axis_vector), x, dx, ddx)
        elif isinstance(joint, fa.FixedPrismatic):
            at = at.shifted((x - link.length, 0, 0), dx, ddx)
        found[i] = at
    return found  # type: ignore[return-value]


def bodies(link: fa.Link) -> list[tuple[Vector, float, Vector]]:
    """Centre, mass and inertia about the centre of all that a link is made of, in its own axes."""
    L, m = link.length, link.total_mass
    lumps = [(0.0, link.hub), (L, link.payload), *((each.at, each) for each in link.masses)]
    lumps = [(x, each) for x, each in lumps if each is not None]
    m -= sum(each.mass for _, each in lumps)
    inertia = np.array([0.0, m * L**2 / 12, m * L**2 / 12])
    if link.section is not None:
        section = link.section.at(0.5)
        inertia += (
            m / section.A * np.array([section.I_p, *((section.I_y, section.I_z) if link.rotary_inertia else (0, 0))])
        )
    out = [(np.array([L / 2, 0, 0]), m, np.diag(inertia))]
    return out + [
        (np.array([x, 0, 0]) + np.array(each.offset), each.mass, np.array(each.inertia_matrix)) for x, each in lumps
    ]


def taken(link: fa.Link, at: Moving, gravity: Vector) -> tuple[Vector, Vector]:
    """Force that a link takes, and torque about its root."""
    force, torque = np.zeros(3), np.zeros(3)
    for centre, mass, inertia in bodies(link):
        here = at.shifted(centre)
        J = at.R @ inertia @ at.R.T
        push = mass * (here.a - gravity)
        force += push
        torque += np.cross(here.p - at.p, push) + J @ at.alpha + np.cross(at.omega, J @ at.omega)
    return force, torque


def joint_wrenches(
    robot: fa.Robot, system: fa.System, q: Vector, v: Vector, a: Vector, loads: Loads = ()
) -> list[tuple[Vector, Vector, Vector]]:
    """Of every joint: where it is, force and torque on its link about this point. Loads: link, point and wrench."""
    at, gravity = frames(robot, system, q, v, a), np.array(robot.gravity)
    found = [[*taken(link, frame, gravity)] for link, frame in zip(robot.links, at)]
    for link, p, wrench in loads:
        found[link][0] = found[link][0] - wrench[:3]
        found[link][1] = found[link][1] - wrench[3:] - np.cross(p - at[link].p, wrench[:3])
    for i in reversed(robot.order):
        if (parent := robot.parents[i]) is not None:
            found[parent][0] = found[parent][0] + found[i][0]
            found[parent][1] = found[parent][1] + found[i][1] + np.cross(at[i].p - at[parent].p, found[i][0])
    out = []
    for link, frame, (force, torque) in zip(robot.links, at, found):
        p = frame.p
        if isinstance(link.joint, fa.FixedPrismatic):
            p = frame.shifted((link.length - q[system.joint(link.name).index], 0, 0)).p
        out.append((p, force, torque - np.cross(p - frame.p, force)))
    return out
